"""What the annotations of external-dns on an object ask for.

| annotation                              | Route | Gateway          | ListenerSet          |
| hostname, gateway-hostname-source       | yes   | no effect        | no effect            |
| set-identifier                          | yes   | no effect        | no effect            |
| target                                  | first | third            | second               |
| ttl and provider settings               | first | third, a default | second, a default    |
| controller                              | yes   | yes              | yes                  |
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from gatepost.dns.endpoint import Property
from gatepost.dns.names import record_name
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref

PREFIX = "external-dns.kubernetes.io/"
LEGACY_PREFIX = "external-dns.alpha.kubernetes.io/"
CONTROLLER = "dns-controller"

ONLY_FOR_ROUTES = ("hostname", "gateway-hostname-source", "set-identifier")
_PLAIN = (
    "hostname",
    "gateway-hostname-source",
    "set-identifier",
    "target",
    "ttl",
    "controller",
    "alias",
    "record-type",
)
_FAMILIES = ("aws-", "scw-", "webhook-", "coredns-")
_CLOUDFLARE = tuple(
    f"cloudflare-{name}" for name in ("proxied", "custom-hostname", "region-key", "record-comment", "tags")
)
_ALIAS_VALUES = ("true", "false", "A", "AAAA")

LONGEST_TTL = 2**31 - 1
"""In seconds. Source: RFC 2181 8."""
_LONGEST_NUMBER = 50  # more characters are no TTL; without a limit, reading them could take long
_DURATION = re.compile(r"([+-]?)((?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_PART = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}


class Wishes(Struct, frozen=True):
    """The annotations of one object, read.

    Attributes:
        present: the names (without prefix) that were found.
        refused: (name, why) of those that were found and have no effect.
    """

    controller: str | None = None
    hostnames: tuple[str, ...] = ()
    hostname_source: str = ""
    dns_targets: tuple[str, ...] = ()
    ttl: int = 0
    set_identifier: str = ""
    properties: tuple[Property, ...] = ()
    present: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def is_for_another_controller(self) -> bool:
        return self.controller is not None and self.controller != CONTROLLER

    def remarks(self, at: Ref, without_effect: tuple[str, ...] = ()) -> tuple[Skipped, ...]:
        """What was written and has no effect: values that cannot be read, and annotations that do not belong here."""
        found = [Skipped("InvalidAnnotation", why, at, f"metadata.annotations[{name}]") for name, why in self.refused]
        found += [
            Skipped("MisplacedAnnotation", f"has no effect on a {at.kind}", at, f"metadata.annotations[{name}]")
            for name in self.present
            if name in without_effect
        ]
        return tuple(found)


NO_WISHES = Wishes()


class AnnotationReader:
    """Reads annotations under a prefix; by default under both prefixes of external-dns, the newer first, key by key.

    Args:
        prefix: None for the default, else the only prefix that counts.
    """

    def __init__(self, prefix: str | None = None) -> None:
        self._prefixes = (prefix,) if prefix is not None else (PREFIX, LEGACY_PREFIX)

    def read(self, annotations: Mapping[str, str]) -> Wishes:
        """What the annotations ask for; `NO_WISHES` if none of them is ours."""
        if not annotations:
            return NO_WISHES
        found: dict[str, str] = {}
        for prefix in self._prefixes:
            for key, value in annotations.items():
                if key.startswith(prefix):
                    found.setdefault(key[len(prefix) :], value)
        return self._wishes(found) if found else NO_WISHES

    def _wishes(self, found: Mapping[str, str]) -> Wishes:
        refused: list[tuple[str, str]] = []
        ttl = ttl_seconds(found["ttl"]) if "ttl" in found else 0
        if "ttl" in found and ttl == 0:
            refused.append(("ttl", f"found {found['ttl']!r}, wanted 1 to {LONGEST_TTL} seconds or a duration like 5m"))
        source = found.get("gateway-hostname-source", "").lower()
        if source and source not in ("annotation-only", "defined-hosts-only"):
            refused.append(
                ("gateway-hostname-source", f"found {source!r}, wanted annotation-only or defined-hosts-only")
            )
            source = ""
        properties = self._properties(found, refused)
        return Wishes(
            controller=found.get("controller"),
            hostnames=entries(found.get("hostname", "")),
            hostname_source=source,
            dns_targets=tuple(_dns_target(text) for text in entries(found.get("target", ""))),
            ttl=ttl,
            set_identifier=found.get("set-identifier", ""),
            properties=properties,
            present=tuple(sorted(found)),
            refused=tuple(refused),
        )

    def _properties(self, found: Mapping[str, str], refused: list[tuple[str, str]]) -> tuple[Property, ...]:
        properties: dict[str, Property] = {}
        for name, value in sorted(found.items()):
            property_name = self._property_name(name)
            if property_name is None:
                if name not in _PLAIN:
                    refused.append((name, "is not an annotation that gatepost knows"))
            elif name == "alias" and value not in _ALIAS_VALUES:
                refused.append((name, f"found {value!r}, wanted one of {', '.join(_ALIAS_VALUES)}"))
            else:
                properties[property_name] = Property(property_name, value)
        return tuple(properties[name] for name in sorted(properties))

    def _property_name(self, name: str) -> str | None:
        if name in ("alias", "record-type"):
            return name
        for family in _FAMILIES:
            if name.startswith(family):
                return f"{family[:-1]}/{name[len(family) :]}"
        if name == "azure-tags":
            return "azure/tags"
        # Cloudflare's are named by the whole key; the first prefix stands for both, so that a change of prefix in a
        # manifest does not change the record.
        return self._prefixes[0] + name if name in _CLOUDFLARE else None


def entries(text: str) -> tuple[str, ...]:
    """The entries of a comma list. Blanks count nowhere, other white space only inside; empty entries are dropped."""
    return tuple(entry for entry in text.replace(" ", "").strip().split(",") if entry)


def _dns_target(text: str) -> str:
    return text.removesuffix(".") if text.isascii() else record_name(text)


def ttl_seconds(text: str) -> int:
    """A TTL written as seconds or as a duration like `1h30m`, cut to whole seconds; 0 if DNS cannot hold it."""
    if len(text) > _LONGEST_NUMBER:
        return 0
    seconds = duration_seconds(text)
    if seconds is None:
        seconds = int(text) if _INTEGER.fullmatch(text) and text.isascii() else 0
    return seconds if 1 <= seconds <= LONGEST_TTL else 0


def duration_seconds(text: str) -> int | None:
    """A duration as Go writes it, cut to whole seconds; None if the text is none."""
    nanoseconds = duration_nanoseconds(text)
    if nanoseconds is None:
        return None
    return abs(nanoseconds) // 10**9 * (-1 if nanoseconds < 0 else 1)


def duration_nanoseconds(text: str) -> int | None:
    """A duration as Go writes it, such as 1m30s or 500ms; None if the text is none."""
    found = _DURATION.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if found is None or not text.replace("µ", "u").replace("μ", "u").isascii():
        return None
    nanoseconds = sum(_whole(number, _NANOSECONDS[unit]) for number, unit in _PART.findall(found.group(2)))
    return nanoseconds * (-1 if found.group(1) == "-" else 1)


def _whole(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    return int(whole or "0") * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
