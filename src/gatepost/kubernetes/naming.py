"""The namespace and the name that a new object gets."""

from __future__ import annotations

from collections.abc import Callable

from gatepost.kubernetes.errors import bad_request
from gatepost.kubernetes.resources import Resource
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import Ref

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_PREFIX = 58


def with_namespace(raw: Raw, resource: Resource) -> Raw:
    """The object with a namespace if its kind has one: `default` where none is given.

    Raises: ApiError (400) if a namespace is given to a kind that has none.
    """
    metadata = {key: value for key, value in raw["metadata"].items() if key != "namespace"}
    namespace = raw["metadata"].get("namespace") or ""
    if resource.namespaced:
        metadata["namespace"] = namespace or "default"
    elif namespace:
        raise bad_request(f"metadata.namespace: found {namespace!r}, {resource.kind} objects have no namespace")
    return {**raw, "metadata": metadata}


class NameMaker:
    """Makes names from generateName. The same requests in the same order get the same names.

    Args: is_taken: whether an object of that name is there.
    """

    def __init__(self, is_taken: Callable[[Ref], bool]) -> None:
        self._is_taken = is_taken
        self._made = 0

    def with_name(self, raw: Raw, resource: Resource) -> Raw:
        """The object with its name; from generateName, with five letters behind it, if it has none.

        Raises: ApiError (400) if it has neither.
        """
        metadata = raw["metadata"]
        if metadata.get("name"):
            return raw
        prefix = metadata.get("generateName")
        if not isinstance(prefix, str) or not prefix:
            raise bad_request(f"{resource.kind}: metadata.name or metadata.generateName is required")
        while True:
            name = prefix[:_LONGEST_PREFIX] + self._suffix()
            if not self._is_taken(Ref(resource.group, resource.kind, metadata.get("namespace", ""), name)):
                return {**raw, "metadata": {**metadata, "name": name}}

    def _suffix(self) -> str:
        self._made += 1
        # The factor shares no divisor with the number of suffixes: they look unlike each other and none comes twice.
        number = self._made * 7_368_787 % len(_LETTERS) ** _SUFFIX_LENGTH
        suffix = ""
        for _ in range(_SUFFIX_LENGTH):
            number, letter = divmod(number, len(_LETTERS))
            suffix += _LETTERS[letter]
        return suffix
