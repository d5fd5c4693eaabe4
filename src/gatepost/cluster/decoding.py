"""From the bytes of an answer straight to typed objects, each on its own, so that a bad one spoils no other."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.kinds import unreadable
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.refs import GroupKind, Ref
from gatepost.objects.route_rules import with_rules

ObjectT = TypeVar("ObjectT", bound=KubernetesObject)


class ListMeta(Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Struct, frozen=True):
    """A page of a list. The items stay bytes until each is decoded."""

    metadata: ListMeta = ListMeta()
    items: tuple[msgspec.Raw, ...] = ()


class WatchEvent(Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _HeadMeta(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class Head(Struct, frozen=True):
    """The little of an object that a watch needs whatever the kind."""

    metadata: _HeadMeta = _HeadMeta()


_page = msgspec.json.Decoder(Page)
_event = msgspec.json.Decoder(WatchEvent)
_head = msgspec.json.Decoder(Head)


def page_in(answer: bytes) -> Page:
    """Raises: msgspec.DecodeError if the answer is cut or no list."""
    return _page.decode(answer)


def event_in(line: bytes) -> WatchEvent:
    """Raises: msgspec.DecodeError."""
    return _event.decode(line)


def head_in(raw: msgspec.Raw | bytes) -> Head:
    """Raises: msgspec.DecodeError."""
    return _head.decode(raw)


class ObjectDecoder(Generic[ObjectT]):
    """Decodes the objects of one kind.

    Args: whole: whether Routes keep their rules.
    """

    def __init__(self, group_kind: GroupKind, type_: type[ObjectT], *, whole: bool = False) -> None:
        self._group_kind = group_kind
        self._decoder = msgspec.json.Decoder(type_)
        self._whole = whole

    def decode(self, raw: msgspec.Raw | bytes) -> tuple[Ref, ObjectT]:
        """The object and its Ref. Raises: UnreadableObject."""
        try:
            obj = self._decoder.decode(raw)
        except msgspec.ValidationError as error:
            hint = "It is left as it was last understood; mend the field, or its custom resource definition."
            raise unreadable(self._ref_in(raw), error, hint) from error
        if self._whole and isinstance(obj, GatewayRoute):
            obj = with_rules(obj, raw)
        return self.ref(obj.metadata.namespace, obj.metadata.name), obj

    def ref(self, namespace: str, name: str) -> Ref:
        # Not obj.ref: a kind that gatepost does not know is read through a type that cannot tell its kind.
        return Ref(self._group_kind.group, self._group_kind.kind, namespace, name)

    def _ref_in(self, raw: msgspec.Raw | bytes) -> Ref:
        try:
            metadata = head_in(raw).metadata
        except msgspec.DecodeError:
            metadata = _HeadMeta(name="?")  # not even the name can be read
        return self.ref(metadata.namespace, metadata.name)
