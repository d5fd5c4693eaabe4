"""docs/flags.md names every flag of every command, as the command itself does."""

from __future__ import annotations

from pathlib import Path

from flags_page import page

PAGE = Path(__file__).parents[2] / "docs" / "flags.md"


def test_the_page_is_as_the_commands_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` writes it anew"


def test_it_names_the_flags_of_each_command() -> None:
    rows = {line.split(" | ")[0]: line.split(" | ")[1] for line in page().splitlines() if line.startswith("| `")}
    owner = next(commands for flag, commands in rows.items() if flag.startswith("| `--txt-owner-id "))
    assert {"plan", "run"} <= set(owner.split(", "))
    assert any(
        flag.startswith("| `--handed-over") and commands == "migrate services" for flag, commands in rows.items()
    )
