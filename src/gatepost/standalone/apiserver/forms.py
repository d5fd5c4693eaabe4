"""Objects, lists and watch events in the form that a client asked for: plain, as a table, or metadata alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from gatepost.kubernetes.resources import Resource, Version, in_version
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import api_version_of
from gatepost.standalone.apiserver.columns import columns_of
from gatepost.standalone.apiserver.negotiation import METADATA, METADATA_LIST, PLAIN, TABLE, Form
from gatepost.standalone.apiserver.table import Column, printer_columns, table

INITIAL_EVENTS_END = "k8s.io/initial-events-end"

_encode = msgspec.json.Encoder().encode


class Shown(msgspec.Struct, frozen=True):
    """How the objects of one request are shown: the kind, the version and the form that were asked for.

    `include` is what table rows carry beside their cells ("None", "Metadata" or "Object").
    """

    resource: Resource
    version: Version
    form: Form = PLAIN
    include: str = "Metadata"

    @property
    def api_version(self) -> str:
        return api_version_of(self.resource.group, self.version.name)

    def one(self, raw: Raw) -> Raw:
        """The object in that form."""
        shown = in_version(raw, self.resource.group, self.version.name)
        if self.form == TABLE:
            version = {"resourceVersion": raw["metadata"].get("resourceVersion", "")}
            return table([shown], self._columns(), _now(), include=self.include, list_metadata=version)
        if self.form in (METADATA, METADATA_LIST):
            return _metadata_of(raw)
        return shown

    def many(self, objects: Iterable[Raw], list_metadata: Raw) -> Raw:
        """The list of them in that form."""
        group, version = self.resource.group, self.version.name
        shown = (in_version(raw, group, version) for raw in objects)
        if self.form == TABLE:
            return table(shown, self._columns(), _now(), include=self.include, list_metadata=list_metadata)
        if self.form in (METADATA, METADATA_LIST):
            kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
            items = [_metadata_of(raw) for raw in shown]
        else:
            kind, api_version, items = self.resource.list_kind, self.api_version, list(shown)
        return {"kind": kind, "apiVersion": api_version, "metadata": list_metadata, "items": items}

    def event(self, type_: str, raw: Raw) -> bytes:
        """A line of a watch."""
        return b'{"type":"%s","object":%s}\n' % (type_.encode(), _encode(self.one(raw)))

    def bookmark(self, resource_version: int, *, ends_initial_events: bool = False) -> bytes:
        """A line of a watch that says how far it has come."""
        metadata: Raw = {"resourceVersion": str(resource_version)}
        if ends_initial_events:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        raw: Raw = {"kind": self.resource.kind, "apiVersion": self.api_version, "metadata": metadata}
        if self.form == TABLE:
            row = {"cells": [None] * len(self._columns()), "object": _metadata_of(raw)}
            empty = table((), self._columns(), _now(), list_metadata={"resourceVersion": str(resource_version)})
            raw = {**empty, "rows": [row]}
        elif self.form in (METADATA, METADATA_LIST):
            raw = _metadata_of(raw)
        return b'{"type":"BOOKMARK","object":%s}\n' % _encode(raw)

    def _columns(self) -> tuple[Column, ...]:
        if self.resource.custom:
            return printer_columns(self.version.printer_columns)
        return columns_of(self.resource.group_kind)


def error_event(status: Raw) -> bytes:
    """The last line of a watch that cannot go on."""
    return b'{"type":"ERROR","object":%s}\n' % _encode(status)


def _metadata_of(raw: Raw) -> Raw:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": raw["metadata"]}


def _now() -> datetime:
    return datetime.now(UTC)
