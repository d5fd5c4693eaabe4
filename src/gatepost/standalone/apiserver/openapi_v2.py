"""The one thing that kubectl still asks of OpenAPI v2: whether the server validates fields of a `kind: List`.

For a List kubectl looks for a PATCH of Namespace with the parameter `fieldValidation` in the old document, and takes
only protobuf. So the document holds that operation and nothing else; everything else is in the v3 documents.
Source: the message definitions of OpenAPI v2 in gnostic (Document, PathItem, Operation), which kubectl decodes.
"""

from __future__ import annotations

from typing import Final

CONTENT_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")
_NAMESPACE = "group: ''\nkind: Namespace\nversion: v1\n"


def document() -> bytes:
    """The document in protobuf. The numbers are those of the fields in the message definitions."""
    parameters = [_field(8, _field(1, _field(2, _field(3, _query_parameter(name))))) for name in _PARAMETERS]
    kind = _field(1, "x-kubernetes-group-version-kind") + _field(2, _field(2, _NAMESPACE))
    operation = b"".join([*parameters, _field(13, kind)])
    path = _field(1, "/api/v1/namespaces/{name}") + _field(2, _field(8, operation))
    about = _field(1, "Kubernetes") + _field(2, "v1")
    return _field(1, "2.0") + _field(2, about) + _field(8, _field(2, path))


def _query_parameter(name: str) -> bytes:
    return _field(2, "query") + _field(4, name) + _field(6, "string")


def _field(number: int, content: bytes | str) -> bytes:
    """A field of a message whose content is text or another message."""
    octets = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(octets)) + octets


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])
