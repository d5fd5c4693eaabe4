"""Which form of an answer a client asks for in its Accept header.

The forms differ by media type parameters: `as=Table;g=meta.k8s.io;v=v1` for tables, `as=PartialObjectMetadata...`
for metadata alone, `as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2` for discovery in one answer.
"""

from __future__ import annotations

from msgspec import Struct

from gatepost.kubernetes.errors import ApiError

JSON = "application/json"


class Form(Struct, frozen=True):
    """One form of an answer: plain JSON has an empty `as_kind`."""

    as_kind: str = ""
    group: str = ""
    version: str = ""

    @property
    def content_type(self) -> str:
        """The content type of the answer; clients compare its parameters with those they asked for."""
        if not self.as_kind:
            return JSON
        return f"{JSON};g={self.group};v={self.version};as={self.as_kind}"


PLAIN = Form()
TABLE = Form("Table", "meta.k8s.io", "v1")
METADATA = Form("PartialObjectMetadata", "meta.k8s.io", "v1")
METADATA_LIST = Form("PartialObjectMetadataList", "meta.k8s.io", "v1")
DISCOVERY = Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")
DISCOVERY_BETA = Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1")


def accepted_form(accept: str, offered: tuple[Form, ...]) -> Form:
    """The first form in the client's order that is offered; q values break the order, as HTTP says.

    Raises: ApiError 406 if none of them fits, for example when only protobuf is accepted.
    """
    for media_type, parameters in _ranges(accept):
        if media_type not in (JSON, "application/*", "*/*"):
            continue
        wanted = Form(parameters.get("as", ""), parameters.get("g", ""), parameters.get("v", ""))
        if wanted in offered:
            return wanted
    message = f"only JSON is served here, and the request accepts none of its forms: {accept}"
    raise ApiError(406, "NotAcceptable", message)


def _ranges(accept: str) -> list[tuple[str, dict[str, str]]]:
    ranges: list[tuple[float, str, dict[str, str]]] = []
    for part in (accept or "*/*").split(","):
        media_type, *rest = (piece.strip() for piece in part.split(";"))
        parameters = dict(piece.split("=", 1) for piece in rest if "=" in piece)
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 1.0
        if quality > 0:
            ranges.append((quality, media_type.lower(), parameters))
    ranges.sort(key=lambda item: -item[0])
    return [(media_type, parameters) for _, media_type, parameters in ranges]
