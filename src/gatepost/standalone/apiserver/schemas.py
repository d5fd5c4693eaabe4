"""The OpenAPI documents, made once for each state of the table of kinds."""

from __future__ import annotations

from collections.abc import Sequence

from gatepost.kubernetes.resources import Resource, Resources
from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver import openapi
from gatepost.standalone.apiserver.answers import page_not_found


class Schemas:
    """Documents by place. A published CRD makes large ones, and kubectl asks for them with every command."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._made_for: tuple[Resource, ...] = ()
        self._index: Raw = {}
        self._documents: dict[tuple[str, str], Raw | None] = {}

    def at(self, place: Sequence[str]) -> Raw:
        """The index for the empty place, or the document of ("api", "v1") and ("apis", GROUP, VERSION).

        Raises: ApiError 404 for any other place.
        """
        self._forget_if_changed()
        match place:
            case []:
                self._index = self._index or openapi.index(self._resources)
                return self._index
            case ["api", version]:
                return self._document("", version)
            case ["apis", group, version] if group:
                return self._document(group, version)
        raise page_not_found()

    def _document(self, group: str, version: str) -> Raw:
        key = (group, version)
        if key not in self._documents:
            self._documents[key] = openapi.document(self._resources, group, version)
        document = self._documents[key]
        if document is None:
            raise page_not_found()
        return document

    def _forget_if_changed(self) -> None:
        # A kind that changes becomes another Resource, which is compared by identity.
        current = tuple(self._resources)
        if current != self._made_for:
            self._made_for, self._index, self._documents = current, {}, {}
