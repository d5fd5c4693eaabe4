"""Reads manifests: all objects that can be read, and all problems that keep others from it."""

from __future__ import annotations

import pathlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

from msgspec import Struct

from gatepost.manifests.documents import Document, documents_of
from gatepost.manifests.identity import Kinds, in_namespace, items_of, misses_of, title_of
from gatepost.manifests.parse import Parsed, parse
from gatepost.manifests.problems import Fault, InputProblem, Path, Refused, field_name
from gatepost.manifests.sources import contents_of
from gatepost.manifests.tree import Tree, path_in
from gatepost.objects.refs import GroupKind, Ref, ref_of

default_size_limit: Final = 256 * 1024 * 1024
most_problems: Final = 1000
"""Problems of one file after which reading it stops: what has so many is no manifest."""


class Manifest(Struct, frozen=True):
    """An object and where it stands. `raw` is as kubectl would send it; nobody may change it, parts may be shared."""

    ref: Ref
    raw: Mapping[str, Any]
    file: str
    line: int
    document: Document
    start: int
    """The character of the document's text at which the value starts that the object is in, and its path therein."""
    path: Path

    def __repr__(self) -> str:
        return f"Manifest({self.ref}, {self.file}:{self.line})"


class Manifests:
    """What was read: `objects` in the order of the input, one for each Ref, and every problem met."""

    def __init__(self, objects: Sequence[Manifest] = (), problems: Sequence[InputProblem] = ()) -> None:
        self.objects = tuple(objects)
        self.problems = tuple(problems)
        self._last: tuple[Document, int, Tree] | None = None

    def line_of(self, manifest: Manifest, field: str | Sequence[str | int] = ()) -> int:
        """The line in `manifest.file` on which a field of the object stands, for complaints about it.

        Args:
            field: a path such as `spec.parentRefs[0].name`, or its parts.
        Returns: the line of the field's key (of a list item: where it begins); where the object has no such field, the
            line of the nearest parent that it has.
        """
        # Lines are not kept while reading: they would take more memory than the objects. Complaints come object by
        # object, so the last document parsed again serves most of them.
        document, start = manifest.document, manifest.start
        if self._last is None or self._last[0] is not document or self._last[1] != start:
            self._last = document, start, next(parse(document, start)).tree
        return self._last[2].line_of((*manifest.path, *path_in(manifest.raw, field)))


def read_manifests(
    paths: Sequence[str | pathlib.Path],
    stdin: BinaryIO | None = None,
    *,
    known_versions: Mapping[GroupKind, Collection[str]] | None = None,
    cluster_scoped: Collection[GroupKind] = (),
    default_namespace: str = "default",
    size_limit: int = default_size_limit,
) -> Manifests:
    """The objects in files, folders and stdin, as kubectl would read them.

    Args:
        paths: files, folders (their *.yaml, *.yml and *.json at any depth, hidden ones skipped), `-` for stdin.
        known_versions: the kinds that the caller knows, with their versions; another version of these is a problem.
            Kinds not listed pass untouched.
        cluster_scoped: those of the known kinds that have no namespace. The others get `default_namespace` where they
            state none; unknown kinds keep what they have.
        size_limit: bytes of one file; a larger one is refused.
    Returns: objects and problems. An object with a repeated key still counts (the last one wins); of two objects
        with one Ref the first counts; what cannot be an object at all is left out. Nothing raises because of the input.
    """
    reader = _Reader(Kinds(known_versions or {}, cluster_scoped, default_namespace))
    for content in contents_of(paths, stdin, size_limit):
        if isinstance(content, InputProblem):
            reader.problems.append(content)
        else:
            reader.read(*content)
    return Manifests(reader.objects, reader.problems)


class _Reader:
    """Collects over all files; duplicates are told across them."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.problems: list[InputProblem] = []
        self._objects: dict[Ref, Manifest] = {}

    @property
    def objects(self) -> list[Manifest]:
        return list(self._objects.values())

    def read(self, file: str, content: bytes) -> None:
        before = len(self.problems)
        try:
            for document in documents_of(file, content):
                for _ in self._read_document(document):
                    if len(self.problems) - before >= most_problems:
                        found = f"{most_problems} problems up to here; the rest was not read"
                        self.problems.append(InputProblem(file, self.problems[-1].line, found, "manifests"))
                        return
        except Refused as refused:
            self.problems.append(_problem(file, refused.fault))

    def _read_document(self, document: Document) -> Iterator[None]:
        """Takes in what one document holds, with a pause after each object so that the caller may stop."""
        try:
            for parsed in parse(document):
                value, faults = parsed.tree.value, parsed.tree.faults
                if value is None:
                    continue
                items = items_of(value)
                for path, raw in items:
                    within, faults = _split(faults, path)
                    problems = [_problem(document.file, fault, path, raw) for fault in within]
                    problems += self._take(document, parsed, path, raw)
                    self.problems += sorted(problems, key=lambda problem: problem.line)
                    yield
                self.problems += [_problem(document.file, fault) for fault in faults]
                yield
        except Refused as refused:
            self.problems.append(_problem(document.file, refused.fault))
            yield

    def _take(self, document: Document, parsed: Parsed, path: Path, raw: Any) -> Iterator[InputProblem]:
        """Adds one object, or gives the problems that it has."""
        tree = parsed.tree
        misses = misses_of(raw, self.kinds)
        for miss in misses:
            at = (*path, *miss.path)
            yield _problem(document.file, Fault(tree.line_of(at), miss.found, miss.wanted, 0, at), path, raw)
        if misses:
            return
        raw = in_namespace(raw, self.kinds)
        manifest = Manifest(ref_of(raw), raw, document.file, tree.line_of(path), document, parsed.start, path)
        first = self._objects.setdefault(manifest.ref, manifest)
        if first is not manifest:
            found = "a second object of this name"
            wanted = f"one; the first, at {first.file}:{first.line}, counts"
            yield InputProblem(manifest.file, manifest.line, found, wanted, object=str(manifest.ref))


def _split(faults: Sequence[Fault], path: Path) -> tuple[list[Fault], list[Fault]]:
    """The faults inside the item at a path, and the others."""
    inside = [fault.path[: len(path)] == path for fault in faults]
    return (
        [fault for fault, is_inside in zip(faults, inside, strict=True) if is_inside],
        [fault for fault, is_inside in zip(faults, inside, strict=True) if not is_inside],
    )


def _problem(file: str, fault: Fault, path: Path = (), raw: Any = None) -> InputProblem:
    """The fault as a problem of the object at a path, if that object says what it is; else of the document."""
    title = title_of(raw)
    field = field_name(fault.path[len(path) :] if title else fault.path)
    return InputProblem(file, fault.line, fault.found, fault.wanted, fault.column, field, title)
