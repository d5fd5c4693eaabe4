"""From the paths on a command line to the bytes to read: files, folders and stdin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from gatepost.manifests.problems import InputProblem

endings: Final = (".yaml", ".yml", ".json")
stdin_label: Final = "<stdin>"


def contents_of(
    paths: Sequence[str | Path], stdin: BinaryIO | None, size_limit: int
) -> Iterator[tuple[str, bytes] | InputProblem]:
    """What each path holds, with the label for messages, in the order of the paths; or why it cannot be read.

    A folder gives its manifests at any depth, sorted by path; names that begin with a dot are skipped. A file named
    twice, or by its folder as well, is read once.
    """
    seen: set[str] = set()
    for path in paths:
        for file in _files_of(path):
            if isinstance(file, InputProblem):
                yield file
                continue
            real = os.path.realpath(file) if file else ""  # of a link to itself too, where Path.resolve raises
            if real not in seen:
                seen.add(real)
                yield _content_of(file, stdin, size_limit)


def _files_of(path: str | Path) -> Iterator[Path | InputProblem | None]:
    """The files behind one path; None stands for stdin."""
    if str(path) == "-":
        yield None
        return
    path = Path(path)
    if not path.is_dir():
        yield path
        return
    found: list[Path] = []
    unread: list[InputProblem] = []

    def unreadable(error: OSError) -> None:
        unread.append(InputProblem(str(error.filename), 0, _reason(error), "a folder that can be listed"))

    for folder, folders, names in os.walk(path, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(folder, name) for name in names if not name.startswith("."))
        # Reading a pipe would wait for ever. A link without its file stays in: that is worth a problem.
        found += [file for file in files if file.name.endswith(endings) and (file.is_file() or not file.exists())]
    yield from unread
    if not found and not unread:
        yield InputProblem(str(path), 0, "a folder without manifests", f"files that end with {', '.join(endings)}")
    yield from sorted(found, key=lambda file: file.parts)


def _content_of(file: Path | None, stdin: BinaryIO | None, size_limit: int) -> tuple[str, bytes] | InputProblem:
    label = str(file) if file else stdin_label
    try:
        if file:
            with file.open("rb") as stream:
                content = stream.read(size_limit + 1)
        elif stdin:
            content = stdin.read(size_limit + 1)
        else:
            return InputProblem(label, 0, "no standard input", "objects on it, as - was given")
    except OSError as error:
        return InputProblem(label, 0, _reason(error), "a file that can be read")
    if len(content) > size_limit:
        return InputProblem(label, 0, f"more than {size_limit} bytes", "a smaller file, or a higher size limit")
    return label, content


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
