"""Between endpoints and the records of Cloudflare, which keeps one record for each target.

| Cloudflare             | endpoint                                                      |
| ttl 1 ("automatic")    | no TTL                                                        |
| proxied                | property .../cloudflare-proxied, on A, AAAA and CNAME always  |
| comment                | property .../cloudflare-record-comment, unless empty          |
| tags                   | property .../cloudflare-tags, sorted, with commas between     |
| content in quotes      | TXT target, in strings of up to 255 octets                    |
| MX, SRV, NAPTR in parts| one text                                                      |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gatepost.dns.endpoint import Endpoint, Property
from gatepost.providers.as_planned import Key
from gatepost.providers.bundles import RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.spelling import canonical_name, listed_form, rdata_of, target_of

TYPES = ("A", "AAAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SRV", "TXT")
PROXIABLE = ("A", "AAAA", "CNAME")
AUTOMATIC_TTL = 1
_PREFIX = "external-dns.kubernetes.io/"
PROXIED, COMMENT, TAGS = (f"{_PREFIX}cloudflare-{name}" for name in ("proxied", "record-comment", "tags"))
_KEPT = {name.removeprefix(_PREFIX): name for name in (PROXIED, COMMENT, TAGS)}


class Row(Struct, frozen=True):
    """A record as Cloudflare keeps it, with its target as endpoints spell it."""

    id: str
    name: str
    type: str
    target: str
    ttl: int
    proxied: bool = False
    comment: str = ""
    tags: tuple[str, ...] = ()


Rows = dict[Key, tuple[Row, ...]]
"""By canonical name and type, in the order of their targets."""


class Operations(Struct, frozen=True):
    """What to send: ids of records to delete, records to create, and for records that stay what changes about them."""

    deletes: tuple[dict[str, Any], ...] = ()
    patches: tuple[dict[str, Any], ...] = ()
    posts: tuple[dict[str, Any], ...] = ()

    @property
    def size(self) -> int:
        return len(self.deletes) + len(self.patches) + len(self.posts)

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.deletes + other.deletes, self.patches + other.patches, self.posts + other.posts)


def rows_of(records: Iterable[Any]) -> Rows:
    """The records of types that gatepost knows. Args: records: as the library gives them."""
    found: dict[Key, list[Row]] = {}
    for record in records:
        if record.type in TYPES:
            row = _row(record)
            found.setdefault((row.name, row.type), []).append(row)
    return {key: tuple(sorted(rows, key=lambda row: (row.target, row.id))) for key, rows in found.items()}


def _row(record: Any) -> Row:
    text = _text_of(record)
    try:
        target = target_of(record.type, rdata_of(record.type, text))
    except RefusedError:
        target = text  # it is not ours, and shows as it is
    return Row(
        record.id,
        _name(record.name),
        record.type,
        target,
        int(record.ttl),
        bool(record.proxied),
        record.comment or "",
        tuple(sorted(record.tags or ())),
    )


def _name(name: str) -> str:
    try:
        return canonical_name(name)
    except ValueError:
        return name.lower()  # it cannot be ours, and must not hide the others


def _text_of(record: Any) -> str:
    """The record in the text form of zone files. The priority may be missing in the content, hence the parts."""
    content = str(record.content or "")
    if record.type == "MX":
        return f"{int(record.priority or 0)} {content}"
    parts = _parts(record)
    if not parts:
        return content
    names = ("priority", "weight", "port") if record.type == "SRV" else ("order", "preference")
    numbers = " ".join(str(int(parts.get(name) or 0)) for name in names)
    if record.type == "SRV":
        return f"{numbers} {parts.get('target')}"
    texts = " ".join(_quoted(parts.get(name) or "") for name in ("flags", "service", "regex"))
    return f"{numbers} {texts} {parts.get('replacement') or '.'}"


def _parts(record: Any) -> Mapping[str, Any]:
    """The `data` of SRV and NAPTR records, which the library gives as a model or, where in doubt, as a mapping."""
    parts = getattr(record, "data", None) if record.type in ("SRV", "NAPTR") else None
    if parts is None or isinstance(parts, Mapping):
        return parts or {}
    return dict(parts)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def endpoint_of(rows: tuple[Row, ...]) -> Endpoint:
    """The record set that these records of one name and type make up; its settings are those of the first."""
    first = rows[0]
    properties = []
    if first.type in PROXIABLE:
        properties.append(Property(PROXIED, "true" if first.proxied else "false"))
    if first.comment:
        properties.append(Property(COMMENT, first.comment))
    if first.tags:
        properties.append(Property(TAGS, ",".join(first.tags)))
    ttl = 0 if first.ttl == AUTOMATIC_TTL else first.ttl
    targets = tuple(row.target for row in rows)
    return Endpoint(first.name, first.type, targets, ttl, provider_specific=tuple(sorted(properties)))


def adjusted(endpoint: Endpoint, *, proxied: bool, comment: str) -> Endpoint:
    """The endpoint as it will be listed, without the properties that have no effect here.

    Args: proxied, comment: what counts where the endpoint says nothing.
    """
    listed = listed_form(endpoint)
    values = {PROXIED: "true" if proxied else "false", COMMENT: comment}
    for given in sorted(endpoint.provider_specific, key=lambda p: (p.name.startswith(_PREFIX), p.name)):
        kept = _KEPT.get(given.name.rpartition("/")[2])
        if kept is not None:
            values[kept] = given.value
    settings = _Settings.of(values, listed.record_type)
    ttl = 0 if settings.proxied or listed.record_ttl == AUTOMATIC_TTL else listed.record_ttl
    properties = [Property(COMMENT, settings.comment)] if settings.comment else []
    if settings.tags:
        properties.append(Property(TAGS, ",".join(settings.tags)))
    if listed.record_type in PROXIABLE:
        properties.append(Property(PROXIED, "true" if settings.proxied else "false"))
    return replace(listed, record_ttl=ttl, provider_specific=tuple(sorted(properties)))


class _Settings(Struct, frozen=True):
    proxied: bool
    comment: str
    tags: tuple[str, ...]

    @staticmethod
    def of(values: Mapping[str, str], record_type: str) -> _Settings:
        tags = {tag.strip() for tag in values.get(TAGS, "").split(",")} - {""}
        proxied = record_type in PROXIABLE and values.get(PROXIED) == "true"
        return _Settings(proxied, values.get(COMMENT, ""), tuple(sorted(tags)))


def operations(change: RecordChange, there: tuple[Row, ...]) -> Operations:
    """What to send for a change: records whose target stays keep their id.

    Args: there: the records that are there now.
    Raises: RefusedError if the new record set cannot be at Cloudflare.
    """
    if change.new is None:
        return Operations(deletes=tuple({"id": row.id} for row in there))
    _check(change.new)
    new = listed_form(change.new)
    settings = _Settings.of({p.name: p.value for p in new.provider_specific}, new.record_type)
    kept = there[0].ttl if there else AUTOMATIC_TTL
    ttl = AUTOMATIC_TTL if settings.proxied else new.record_ttl or kept
    stays = {row.target: row for row in there if row.target in new.targets}
    ids = {row.id for row in stays.values()}
    deletes = tuple({"id": row.id} for row in there if row.id not in ids)
    patches = tuple(_patch(row, settings, ttl) for row in stays.values() if not _is_as(row, settings, ttl))
    posts = tuple(_post(new, target, settings, ttl) for target in new.targets if target not in stays)
    return Operations(deletes, patches, posts)


def _check(new: Endpoint) -> None:
    named = f"{new.record_type} {new.dns_name}"
    if new.set_identifier:
        raise RefusedError(f"{named}: Cloudflare has no set identifiers; found {new.set_identifier!r}")
    if new.record_type not in TYPES:
        raise RefusedError(f"{named}: records of this type are not written; written are {', '.join(TYPES)}")
    if not new.targets:
        raise RefusedError(f"{named}: it has no target")
    for target in new.targets:
        rdata_of(new.record_type, target)


def _is_as(row: Row, settings: _Settings, ttl: int) -> bool:
    return (row.ttl, row.proxied, row.comment, row.tags) == (ttl, settings.proxied, settings.comment, settings.tags)


def _patch(row: Row, settings: _Settings, ttl: int) -> dict[str, Any]:
    """Tags are told only where they change: zones whose plan has none refuse them."""
    patch: dict[str, Any] = {"id": row.id, "name": row.name, "type": row.type, "ttl": ttl}
    if row.type in PROXIABLE:
        patch["proxied"] = settings.proxied
    if row.comment != settings.comment:
        patch["comment"] = settings.comment
    if row.tags != settings.tags:
        patch["tags"] = list(settings.tags)
    return patch


def _post(new: Endpoint, target: str, settings: _Settings, ttl: int) -> dict[str, Any]:
    post: dict[str, Any] = {"name": canonical_name(new.dns_name), "type": new.record_type, "ttl": ttl}
    if new.record_type in PROXIABLE:
        post["proxied"] = settings.proxied
    if settings.comment:
        post["comment"] = settings.comment
    if settings.tags:
        post["tags"] = list(settings.tags)
    return post | _value(new.record_type, target)


def _value(record_type: str, target: str) -> dict[str, Any]:
    rdata: Any = rdata_of(record_type, target)
    if record_type == "MX":
        return {"content": _host(rdata.exchange), "priority": rdata.preference}
    if record_type == "SRV":
        numbers = {"priority": rdata.priority, "weight": rdata.weight, "port": rdata.port}
        return {"data": {**numbers, "target": _host(rdata.target)}}
    if record_type == "NAPTR":
        texts = {"flags": rdata.flags, "service": rdata.service, "regex": rdata.regexp}
        data = {"order": rdata.order, "preference": rdata.preference, "replacement": _host(rdata.replacement)}
        return {"data": data | {name: text.decode(errors="replace") for name, text in texts.items()}}
    return {"content": target}


def _host(name: Any) -> str:
    return str(name.to_text(omit_final_dot=True)) or "."
