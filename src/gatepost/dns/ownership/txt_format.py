"""How ownership is written down in DNS: the name and the text of the TXT record that goes with each record.

Both are those of external-dns, to the byte, so that either can take over from the other. Where external-dns gives a
name that no zone can hold (the apex of a zone), gatepost uses the name of a label below it.
Source: external-dns, the affix name mapper and the label serialiser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from gatepost.dns.names import too_long_label

OWNED_RECORD = "ownedRecord"

_HERITAGE = "heritage"
_OURS = "external-dns"
_KEY_PREFIX = "external-dns/"
_TEMPLATE = "%{record_type}"
_APEX = "_apex"  # no hostname starts with an underscore
_LONGEST_NAME = 253


class Cipher(Protocol):
    """Seals the text of ownership records and opens it again."""

    def seal(self, text: str) -> str: ...

    def open(self, text: str) -> str | None:
        """The text, None if this was not sealed with our key."""
        ...


def ownership_text(labels: Mapping[str, str]) -> str:
    """The text of an ownership record, in double quotes: `"heritage=external-dns,external-dns/owner=me"`."""
    parts = [f"{_HERITAGE}={_OURS}", *(f"{_KEY_PREFIX}{key}={labels[key]}" for key in sorted(labels))]
    return f'"{",".join(parts)}"'


def labels_in(text: str) -> dict[str, str] | None:
    """The labels that an ownership text holds, None if it is the text of an ordinary TXT record."""
    found: dict[str, str] = {}
    heritage = ""
    # A long text is kept as several strings of up to 255 octets (RFC 1035, 3.3), which some providers list as such.
    for part in text.strip('"').replace('" "', "").split(","):
        key, _, value = part.partition("=")
        if key == _HERITAGE:
            heritage = value
        elif key.startswith(_KEY_PREFIX):
            found[key.removeprefix(_KEY_PREFIX)] = value
    return found if heritage == _OURS else None


class OwnershipNames(Struct, frozen=True):
    """The names of ownership records.

    | affix                          | app.example.com A         | *.example.com A, replacement `any` |
    | none                           | a-app.example.com         | a-any.example.com                  |
    | prefix `ext-`                  | ext-a-app.example.com     | ext-a-any.example.com              |
    | prefix `x-%{record_type}.`     | x-a.app.example.com       | x-a.any.example.com                |
    | suffix `-%{record_type}.own`   | app-a.own.example.com     | any-a.own.example.com              |

    Attributes:
        wildcard: what stands for `*`; "" keeps it, which most providers refuse.
        zones: the zones that can be written to, as far as they are known.
    """

    prefix: str = ""
    suffix: str = ""
    wildcard: str = ""
    zones: tuple[str, ...] = ()

    def for_record(self, name: str, record_type: str) -> str:
        """The name under which the ownership of a record is written."""
        zone = self._zone_of(name)
        plain = self._mapped(name, record_type)
        # Only the apex of a zone can lead out of it: there the first label belongs to the zone's own name.
        return plain if zone is None or _is_within(plain, zone) else self._mapped(f"{_APEX}.{name}", record_type)

    def to_read(self, name: str, record_type: str, *, is_alias: bool = False) -> Iterable[str]:
        """The names under which ownership may be found, the one that is written first.

        Read as well: the name with the wildcard left in, that of external-dns where ours differs, the form `cname-`
        that aliases once had, and the form without a type from before external-dns 0.12, which never spoke for AAAA.
        """
        names = [self.for_record(name, record_type), *self._variants(name, record_type)]
        if record_type == "A" and is_alias:
            names += self._variants(name, "CNAME")
        if record_type != "AAAA":
            names += self._variants(name, "")
        return dict.fromkeys(names)

    def refusal(self, name: str, record_type: str) -> str | None:
        """Why the ownership of a record cannot be written down, None if it can."""
        written = self.for_record(name, record_type)
        label = too_long_label(written)
        if label is not None:
            return f"its ownership record {written} would have a label of {len(label)} characters, at most 63 fit"
        if len(written) > _LONGEST_NAME:
            return f"its ownership record {written} would have {len(written)} characters, at most {_LONGEST_NAME} fit"
        zone = self._zone_of(name)
        if zone is not None and not _is_within(written, zone):
            return f"its ownership record {written} would lie outside of zone {zone}"
        return None

    def _variants(self, name: str, record_type: str) -> list[str]:
        variants = [self._mapped(name, record_type)]
        if name.startswith("*.") and self.wildcard:
            variants.append(self._mapped(name, record_type, replace=False))
        return variants

    def _mapped(self, name: str, record_type: str, *, replace: bool = True) -> str:
        """The name by the rule of external-dns; without a record type, in its old format."""
        if record_type and not (self.prefix or self.suffix or name.startswith("*")):
            return f"{record_type.lower()}-{name}"  # as nearly always; in a large zone this is asked very often
        head, dot, rest = name.partition(".")
        if head == "*" and self.wildcard and replace:
            head = self.wildcard
        prefix, suffix = self.prefix.lower(), self.suffix.lower()
        type_ = record_type.lower()
        if type_ and _TEMPLATE not in prefix and _TEMPLATE not in suffix:
            head = f"{type_}-{head}"
        return f"{prefix.replace(_TEMPLATE, type_)}{head}{suffix.replace(_TEMPLATE, type_)}{dot}{rest}"

    def _zone_of(self, name: str) -> str | None:
        found: str | None = None
        for zone in self.zones:
            if _is_within(name, zone) and (found is None or len(zone) > len(found)):
                found = zone
        return found


def _is_within(name: str, zone: str) -> bool:
    return not zone or name == zone or name.endswith("." + zone)
