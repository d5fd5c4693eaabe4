"""What the documents name must exist: functions by their dotted name, files by their path, commands of make."""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DOTTED = re.compile(r"`(gatepost(?:\.\w+)+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
TARGET = re.compile(r"`make ([a-z-]+)|^    make ([a-z-]+)", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_names_only_what_exists(document: pathlib.Path) -> None:
    text = document.read_text()
    missing = [name for name in DOTTED.findall(text) if not exists(name)]
    missing += [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    missing += [f"make {name}" for pair in TARGET.findall(text) for name in pair if name and name not in targets]
    assert missing == []


@pytest.mark.parametrize("index", ["README.md", "docs/decisions/README.md"])
def test_an_index_leads_to_every_page(index: str) -> None:
    file = ROOT / index
    linked = {(file.parent / link).resolve() for link in LINK.findall(file.read_text())}
    pages = {page.resolve() for page in (ROOT / "docs" if file.parent == ROOT else file.parent).glob("*.md")}
    assert pages - linked - {file.resolve()} == set()


def test_no_two_decisions_share_a_number() -> None:
    numbers = [file.name[:4] for file in (ROOT / "docs" / "decisions").glob("0*.md")]
    assert len(set(numbers)) == len(numbers)


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False
