"""Reading the values of Knative's ConfigMaps: keys with older names, booleans, whole seconds, named choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref

UNREADABLE = "ConfigMapUnreadable"

_GO_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


class UnreadableValue(Exception):
    """A value of a ConfigMap that cannot be understood: its key, what was found and what was wanted."""

    def __init__(self, key: str, found: str, wanted: str) -> None:
        super().__init__(f"data.{key}: found {found!r}, wanted {wanted}")
        self.key = key
        self.found = found
        self.wanted = wanted

    def as_problem(self, config_map: Ref) -> Problem:
        """The problem that a rule gives in place of the parsed ConfigMap."""
        return Problem(
            UNREADABLE,
            f"found {self.found!r}, wanted {self.wanted}.",
            config_map,
            f"data.{self.key}",
            "Correct the value; until then everything that depends on it stays as it is.",
        )


class Values:
    """The `data` of a ConfigMap, asked by key. `_example` is never asked for, so it plays no part.

    The first key that is present gives the value, so newer spellings stand before older ones.
    """

    def __init__(self, data: Mapping[str, str]) -> None:
        self._data = data

    def present(self, *keys: str) -> str | None:
        """The first of the keys that is present, whatever its value."""
        return next((key for key in keys if key in self._data), None)

    def text(self, keys: Sequence[str], default: str) -> str:
        """The value without surrounding blanks."""
        key = self.present(*keys)
        return default if key is None else self._data[key].strip()

    def boolean(self, keys: Sequence[str], *, default: bool) -> bool:
        """Raises: UnreadableValue if the value is no boolean in one of the spellings of Go."""
        key = self.present(*keys)
        if key is None:
            return default
        value = go_boolean(self._data[key].strip())
        if value is None:
            raise UnreadableValue(key, self._data[key], "true or false")
        return value

    def whole_seconds(self, keys: Sequence[str], default: int) -> int:
        """Raises: UnreadableValue if the value is no bare number, or negative."""
        key = self.present(*keys)
        if key is None:
            return default
        text = self._data[key].strip()
        if not (text.isascii() and text.removeprefix("+").isdigit()):
            raise UnreadableValue(key, self._data[key], "a number of whole seconds, 0 or more")
        return int(text)

    def choice(self, keys: Sequence[str], choices: Sequence[str], default: str) -> str:
        """The choice that the value names in whatever case; an empty value counts as none.

        Raises: UnreadableValue if it names none of them.
        """
        key = self.present(*keys)
        text = "" if key is None else self._data[key].strip().lower()
        if key is None or not text:
            return default
        if text not in choices:
            raise UnreadableValue(key, self._data[key], f"one of {', '.join(choices)}")
        return text


def go_boolean(text: str) -> bool | None:
    """The boolean that a text stands for in Go, None if it stands for none. Source: Go strconv.ParseBool."""
    return _GO_BOOLEANS.get(text)
