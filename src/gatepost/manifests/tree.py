"""Builds the value of one document from what its parser meets, and remembers the line of every field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gatepost.manifests.problems import Fault, Path, Refused, described
from gatepost.manifests.scalars import MERGE, Letter, key_text

deepest: Final = 200
"""Levels of nesting. Real objects, CRD schemas included, stay below 60; code that walks objects may recurse."""
most_faults: Final = 1000
"""Repeated keys after which a document is refused: what has so many was not written as a manifest."""
most_aliased: Final = 400_000
"""Values that the aliases of one document may stand for together: more is an alias bomb ("billion laughs")."""
maps_of_strings: Final = frozenset(("labels", "annotations", "matchLabels", "data", "stringData"))
"""Fields of the API whose entries are strings and nothing else."""
strings: Final = frozenset(("name", "namespace", "sectionName", "setIdentifier", "key", "value"))
"""Fields that are strings in every kind that is read here."""
lists_of_strings: Final = frozenset(("values", "hostnames", "targets"))
"""Fields of these kinds whose items are strings: those of selectors, of Routes and of DNS records."""
_no_key: Final = object()
_unfinished: Final = object()


class _Frame:
    """A mapping or list whose end was not met yet."""

    __slots__ = ("anchor", "before", "container", "has_null", "key", "line", "lines", "merged")

    def __init__(self, container: Any, lines: Any, line: int, anchor: str | None, before: int) -> None:
        self.container = container
        self.lines = lines
        self.line = line
        self.anchor = anchor
        self.before = before
        self.key: Any = _no_key
        self.has_null = False
        self.merged: dict[str, int] = {}


class Tree:
    """The value of one document. A parser calls `scalar`, `open`, `close` and `alias` in the order of the text.

    Entries whose value is null are left out, as the API server leaves them out. A repeated key is a fault; the last one
    counts, as with kubectl. Aliased values are shared: nobody may change what was read.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self.line = 0
        self.faults: list[Fault] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._values = 0
        self._aliased = 0
        # Lines of the entries of each container: dicts by key for mappings, lists for lists.
        self._lines: dict[int, Any] = {}

    def scalar(self, value: Any, line: int, column: int, anchor: str | None = None) -> None:
        self._values += 1
        if value.__class__ is Letter:
            value = value.text if self._is_a_string() else value.value
        if value.__class__ is str:
            self._values += len(value) >> 4  # long texts weigh more, for the bound on aliases
        if anchor is not None:
            self._anchors[anchor] = (value, 1 + (len(value) >> 4 if isinstance(value, str) else 0), line)
        self._put(value, line, column)

    def open(self, container: dict[str, Any] | list[Any], line: int, column: int, anchor: str | None = None) -> None:
        if self._stack and self._stack[-1].key is _no_key and isinstance(self._stack[-1].container, dict):
            wanted = "a string as the key (is this {{ template }} text that was not rendered?)"
            raise self._refused(line, column, f"{described(container)} as a key", wanted)
        if len(self._stack) >= deepest:
            raise self._refused(line, column, f"values nested deeper than {deepest} levels", "a flatter document")
        self._values += 1
        lines: dict[str, int] | list[int] = {} if isinstance(container, dict) else []
        self._stack.append(_Frame(container, lines, line, anchor, self._values))
        if anchor is not None:
            self._anchors[anchor] = (_unfinished, 0, line)

    def close(self) -> None:
        frame = self._stack.pop()
        container = frame.container
        self._lines[id(container)] = {**frame.merged, **frame.lines} if frame.merged else frame.lines
        if frame.has_null:
            for key in [key for key, value in container.items() if value is None]:
                del container[key]
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (container, 1 + self._values - frame.before, frame.line)
        self._put(container, frame.line, 0)

    def alias(self, name: str, line: int, column: int) -> None:
        if name not in self._anchors:
            raise self._refused(
                line, column, f"the alias *{name} without an anchor", f"&{name} earlier in this document"
            )
        value, weight, anchor_line = self._anchors[name]
        if value is _unfinished:
            found = f"the alias *{name} inside the value that it stands for"
            raise self._refused(line, column, found, f"an end of &{name} (line {anchor_line}) before its alias")
        self._values += weight
        self._aliased += weight
        if self._aliased > most_aliased:
            found = f"aliases that stand for more than {most_aliased} values"
            raise self._refused(line, column, found, "the values written out")
        self._put(value, line, column)

    def _is_a_string(self) -> bool:
        """Whether the API takes only a string as the value that comes next."""
        if not self._stack:
            return False
        top = self._stack[-1]
        field = self._stack[-2].key if len(self._stack) > 1 else _no_key
        if isinstance(top.container, list):
            return field in lists_of_strings
        return field in maps_of_strings or (top.key is not _no_key and top.key in strings)

    def _put(self, value: Any, line: int, column: int) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and top.key is _no_key and top.container.__class__ is dict:
            self._take_key(top, value, line, column)
            return
        if value is MERGE:
            value = "<<"
        elif value.__class__ is float and value - value != 0:
            raise self._refused(line, column, f"the number {value}", "a finite number: JSON has no other")
        if top is None:
            self.value, self.line = value, line
        elif top.container.__class__ is list:
            top.lines.append(line)
            top.container.append(value)
        else:
            self._put_entry(top, value, line, column)

    def _put_entry(self, top: _Frame, value: Any, line: int, column: int) -> None:
        if top.key is MERGE:
            self._merge(top, value, line, column)
        else:
            if value is None:
                top.has_null = True
            top.container[top.key] = value
        top.key = _no_key

    def _take_key(self, top: _Frame, key: Any, line: int, column: int) -> None:
        if key.__class__ is not str and key is not MERGE:
            text = key_text(key)
            if text is None:
                raise self._refused(line, column, f"{described(key)} as a key", "a string as the key")
            key = text
        if key in top.lines:
            found = f'the key "{key}" a second time (first on line {top.lines[key]}; the last one counts)'
            self.faults.append(Fault(line, found, "each key once", column, (*self._path(), key)))
            if len(self.faults) > most_faults:
                raise self._refused(line, column, f"more than {most_faults} repeated keys", "each key once")
        top.key = key
        if key is not MERGE:
            top.lines[key] = line

    def _merge(self, top: _Frame, value: Any, line: int, column: int) -> None:
        """Puts the entries of merged mappings where `<<` stands: later entries win over earlier ones.

        YAML's merge type says that a mapping's own keys always win; kubectl's library lets `<<` overwrite keys
        above it, and what it reads is what the cluster gets.
        """
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise self._refused(line, column, f"{described(value)} after <<", "a mapping, or a list of mappings")
        for mapping in reversed(mappings):
            top.container.update(mapping)
            top.merged.update(self._lines[id(mapping)])

    def line_of(self, path: Path) -> int:
        """The line of a field: that of its key, or where a list item begins. For what is absent, its nearest parent."""
        container, line = self.value, self.line
        for part in path:
            lines = self._lines.get(id(container)) if isinstance(container, dict | list) else None
            if isinstance(lines, dict) and isinstance(part, str):
                found = lines.get(part)
            elif isinstance(lines, list) and isinstance(part, int) and -len(lines) <= part < len(lines):
                found = lines[part]
            else:
                found = None
            if found is None:
                break
            line = found
            container = container.get(part) if isinstance(container, dict) else container[part]
        return line

    def _path(self) -> Path:
        return tuple(
            len(frame.container) if isinstance(frame.container, list) else "<<" if frame.key is MERGE else frame.key
            for frame in self._stack
            if isinstance(frame.container, list) or frame.key is not _no_key
        )

    def _refused(self, line: int, column: int, found: str, wanted: str) -> Refused:
        return Refused(Fault(line, found, wanted, column, self._path()))


def path_in(value: Any, field: str | Sequence[str | int]) -> Path:
    """The path that a field's name means inside a value.

    Keys with dots may be quoted in brackets (`labels["a.b/c"]`), bare in brackets (`labels[a.b/c]`) or just appended
    (`labels.a.b/c`): the value decides.
    """
    if not isinstance(field, str):
        return tuple(field)
    path: list[str | int] = []
    parts = _parts(field)
    while parts:
        part = parts.pop(0)
        if isinstance(value, dict) and isinstance(part, str):
            rest = parts
            joined, length = part, 0
            while joined not in value and length < len(rest) and isinstance(rest[length], str):
                joined += f".{rest[length]}"
                length += 1
            if joined in value:
                part, parts = joined, rest[length:]
        path.append(part)
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
    return tuple(path)


def _parts(field: str) -> list[str | int]:
    parts: list[str | int] = []
    while field:
        if field[0] == "[":
            quote = field[1:2] if field[1:2] in ('"', "'") else ""
            end = field.find(f"{quote}]", 1 + len(quote))
            end = len(field) if end < 0 else end
            inner = field[1 + len(quote) : end]
            parts.append(int(inner) if not quote and inner.isascii() and inner.isdigit() else inner)
            field = field[end + len(quote) + 1 :]
        else:
            field = field.removeprefix(".")
            ends = [at for at in (field.find("."), field.find("[")) if at >= 0]
            end = min(ends, default=len(field))
            if end:
                parts.append(field[:end])
            field = field[end:]
    return parts
