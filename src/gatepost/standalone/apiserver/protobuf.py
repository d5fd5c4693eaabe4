"""Reads the protobuf bodies of kubectl's typed commands, such as `kubectl create namespace` and `kubectl auth can-i`.

Only the few kinds that those commands make are known here. A message with anything beyond these tables is refused
with 415, as every other protobuf body is; nothing is dropped in silence. Answers are always JSON.
Source: protobuf encoding (protobuf.dev); the field numbers of the Kubernetes API types and their envelope, the magic
bytes `k8s` and a runtime.Unknown.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from gatepost.kubernetes.values import Raw

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class UnreadableProtobuf(ValueError):
    """A body that is broken or holds a kind or a field that is not known here."""


class Field(Struct, frozen=True):
    """How one field is read.

    `type` is a scalar ("text", "bytes", "integer", "flag", "time", "int-or-text") or the name of a message. A `map` has
    texts as keys. An `optional` field counts even when it is zero or empty; others are then left out, as in JSON.
    """

    name: str
    type: str = "text"
    repeated: bool = False
    map: bool = False
    optional: bool = False


def _flag(name: str) -> Field:
    return Field(name, "flag", optional=True)


_MESSAGES: dict[str, dict[int, Field]] = {
    "Unknown": {1: Field("type", "TypeMeta"), 2: Field("raw", "bytes"), 3: Field("encoding"), 4: Field("contentType")},
    "TypeMeta": {1: Field("apiVersion"), 2: Field("kind")},
    "ObjectMeta": {
        1: Field("name"),
        2: Field("generateName"),
        3: Field("namespace"),
        4: Field("selfLink"),
        5: Field("uid"),
        6: Field("resourceVersion"),
        7: Field("generation", "integer"),
        8: Field("creationTimestamp", "time"),
        11: Field("labels", map=True),
        12: Field("annotations", map=True),
        13: Field("ownerReferences", "OwnerReference", repeated=True),
        14: Field("finalizers", repeated=True),
    },
    "OwnerReference": {
        1: Field("kind"),
        3: Field("name"),
        4: Field("uid"),
        5: Field("apiVersion"),
        6: _flag("controller"),
        7: _flag("blockOwnerDeletion"),
    },
    "Namespace": {1: Field("metadata", "ObjectMeta"), 2: Field("spec", "NamespaceSpec"), 3: Field("status", "Empty")},
    "NamespaceSpec": {1: Field("finalizers", repeated=True)},
    "Empty": {1: Field("loadBalancer", "Nothing")},
    "Nothing": {},
    "ConfigMap": {
        1: Field("metadata", "ObjectMeta"),
        2: Field("data", map=True),
        3: Field("binaryData", "bytes", map=True),
        4: _flag("immutable"),
    },
    "Secret": {
        1: Field("metadata", "ObjectMeta"),
        2: Field("data", "bytes", map=True),
        3: Field("type"),
        4: Field("stringData", map=True),
        5: _flag("immutable"),
    },
    "ServiceAccount": {
        1: Field("metadata", "ObjectMeta"),
        4: _flag("automountServiceAccountToken"),
    },
    "Service": {1: Field("metadata", "ObjectMeta"), 2: Field("spec", "ServiceSpec"), 3: Field("status", "Empty")},
    "ServiceSpec": {
        1: Field("ports", "ServicePort", repeated=True),
        2: Field("selector", map=True),
        3: Field("clusterIP"),
        4: Field("type"),
        5: Field("externalIPs", repeated=True),
        7: Field("sessionAffinity"),
        8: Field("loadBalancerIP"),
        9: Field("loadBalancerSourceRanges", repeated=True),
        10: Field("externalName"),
        11: Field("externalTrafficPolicy"),
        12: Field("healthCheckNodePort", "integer"),
        13: Field("publishNotReadyAddresses", "flag"),
        18: Field("clusterIPs", repeated=True),
    },
    "ServicePort": {
        1: Field("name"),
        2: Field("protocol"),
        3: Field("port", "integer"),
        4: Field("targetPort", "int-or-text"),
        5: Field("nodePort", "integer"),
        6: Field("appProtocol", optional=True),
    },
    "IntOrString": {1: Field("type", "integer"), 2: Field("number", "integer"), 3: Field("text")},
    "SelfSubjectAccessReview": {
        1: Field("metadata", "ObjectMeta"),
        2: Field("spec", "SelfSubjectAccessReviewSpec"),
        3: Field("status", "SubjectAccessReviewStatus"),
    },
    "SelfSubjectAccessReviewSpec": {
        1: Field("resourceAttributes", "ResourceAttributes"),
        2: Field("nonResourceAttributes", "NonResourceAttributes"),
    },
    "ResourceAttributes": {
        1: Field("namespace"),
        2: Field("verb"),
        3: Field("group"),
        4: Field("version"),
        5: Field("resource"),
        6: Field("subresource"),
        7: Field("name"),
    },
    "NonResourceAttributes": {1: Field("path"), 2: Field("verb")},
    "SubjectAccessReviewStatus": {
        1: Field("allowed", "flag"),
        2: Field("reason"),
        3: Field("evaluationError"),
        4: Field("denied", "flag"),
    },
}

_KINDS = {
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
}


def object_from_protobuf(content: bytes) -> Raw:
    """The object in a body, as it would be in JSON.

    Raises: UnreadableProtobuf.
    """
    if not content.startswith(_MAGIC):
        raise UnreadableProtobuf("it does not begin with the magic bytes of Kubernetes")
    envelope = _message("Unknown", content[len(_MAGIC) :], as_json=False)
    kind = envelope.get("type", {})
    named = (kind.get("apiVersion", ""), kind.get("kind", ""))
    if named not in _KINDS:
        raise UnreadableProtobuf(f"kind {named[1]!r} of {named[0]!r} is read as JSON only")
    return {"apiVersion": named[0], "kind": named[1], **_message(named[1], envelope.get("raw", b""))}


def _message(name: str, content: bytes, *, as_json: bool = True) -> Raw:
    fields = _MESSAGES[name]
    read: Raw = {}
    for number, value in _entries(content):
        field = fields.get(number)
        if field is None:
            raise UnreadableProtobuf(f"field {number} of {name} is not known")
        if field.map:
            entry = dict(_entries(_bytes(value)))
            key = _scalar("text", entry.get(1, b""))
            read.setdefault(field.name, {})[key] = _value(field.type, entry.get(2, b""), as_json=as_json)
            continue
        found = _value(field.type, value, as_json=as_json)
        if field.repeated:
            read.setdefault(field.name, []).append(found)
        elif found or field.optional:
            read[field.name] = found
    return read


def _value(type_: str, value: Any, *, as_json: bool) -> Any:
    if type_ in _MESSAGES:
        return _message(type_, _bytes(value), as_json=as_json)
    if type_ == "int-or-text":
        port = _message("IntOrString", _bytes(value))
        return port.get("text", "") if port.get("type") else port.get("number", 0)
    if type_ == "bytes":
        return base64.b64encode(_bytes(value)).decode() if as_json else _bytes(value)
    return _scalar(type_, value)


def _scalar(type_: str, value: Any) -> Any:
    if type_ == "text":
        try:
            return _bytes(value).decode()
        except UnicodeDecodeError as error:
            raise UnreadableProtobuf("a text is not UTF-8") from error
    if type_ == "time":
        return _time(dict(_entries(_bytes(value))).get(1, 0))
    return bool(value) if type_ == "flag" else _signed(value)


def _time(seconds: Any) -> str | None:
    """RFC 3339; None for the zero time, which stands for "not set"."""
    try:
        return datetime.fromtimestamp(_signed(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else None
    except (OverflowError, OSError, ValueError) as error:
        raise UnreadableProtobuf(f"{seconds} is not a time") from error


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise UnreadableProtobuf("a number stands where a text or message belongs")
    return value


def _signed(value: Any) -> int:
    if not isinstance(value, int):
        raise UnreadableProtobuf("a text or message stands where a number belongs")
    return value - (1 << 64) if value >= 1 << 63 else value


def _entries(content: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers with their values: an integer, or bytes whose meaning the table knows."""
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(content, at)
            yield number, value
        elif wire == _LENGTH:
            size, at = _varint(content, at)
            if at + size > len(content):
                raise UnreadableProtobuf("it ends in the middle of a field")
            yield number, content[at : at + size]
            at += size
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
            if at + size > len(content):
                raise UnreadableProtobuf("it ends in the middle of a field")
            yield number, struct.unpack("<Q" if size == 8 else "<I", content[at : at + size])[0]
            at += size
        else:
            raise UnreadableProtobuf(f"wire type {wire} is not known")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(content) or shift > 63:
            raise UnreadableProtobuf("it ends in the middle of a number")
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if not byte & 0x80:
            return value, at
        shift += 7
