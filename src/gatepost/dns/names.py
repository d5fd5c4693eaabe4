"""Names in DNS: the one form in which they are compared, which of them are hostnames, and where two of them meet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOSTNAME = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*")
_LONGEST = 253  # what is left of 255 octets without the first length octet and the root (RFC 1035 2.3.4)
_LONGEST_LABEL = 63


def hostname(text: str) -> str | None:
    """The canonical form of a hostname, which may start with `*.`; None if the text is none.

    Canonical is lower case, without final dot, international labels as punycode. IP addresses, underscores, empty
    labels and a bare `*` are no hostnames.
    Source: Gateway API, Hostname; RFC 1123 2.1.
    """
    if _HOSTNAME.fullmatch(text) is None:
        if text != text.strip():
            return None
        text = record_name(text)
        if _HOSTNAME.fullmatch(text) is None:
            return None
    if len(text) > _LONGEST or (text[-1].isdigit() and is_address(text)):
        return None
    return text


def record_name(text: str) -> str:
    """The canonical form of any name that a record may have; underscores and the like are left to the provider."""
    name = text.strip().lower()
    name = name[:-1] if name.endswith(".") else name
    # Punycode is never shorter, so what is too long already stays as it is.
    return name if name.isascii() or len(name) > _LONGEST else _punycode(name)


def _punycode(name: str) -> str:
    import idna  # its tables take longer to load than most runs last, and few names need them

    try:
        labels = idna.uts46_remap(name, std3_rules=False).split(".")
        return ".".join(label if label.isascii() else _punycode_label(label) for label in labels)
    except idna.IDNAError:
        return name


def _punycode_label(label: str) -> str:
    import idna

    try:
        return idna.alabel(label).decode("ascii")
    except idna.InvalidCodepoint:
        # Symbols such as emoji: IDNA 2008 has none, but UTS 46, whose check is behind us, has them, and they are used.
        return f"xn--{label.encode('punycode').decode('ascii')}"


def unicode_name(text: str) -> str:
    """The canonical form with international labels in Unicode, which is how domain filters are compared.

    Labels that are not international, an asterisk or `_dmarc`, stay what they are.
    """
    name = record_name(text)
    return ".".join(map(_unicode_label, name.split("."))) if "xn--" in name else name


def _unicode_label(label: str) -> str:
    if not label.startswith("xn--") or len(label) > _LONGEST_LABEL:
        return label
    import idna

    try:
        return idna.ulabel(label)
    except idna.IDNAError:
        return label


def is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def zone_of(name: str, zones: Iterable[str] | Mapping[str, object]) -> str | None:
    """The longest of these zones that a name is in, compared label by label; None if it is in none of them.

    Args: zones: names in canonical form, as is `name`.
    """
    known = zones if isinstance(zones, Mapping | set | frozenset) else set(zones)
    labels = name.split(".")
    for start in range(len(labels)):
        zone = ".".join(labels[start:])
        if zone in known:
            return zone
    return None


def too_long_label(name: str) -> str | None:
    """The first label that DNS cannot hold, None if all fit."""
    return next((label for label in name.split(".") if len(label) > _LONGEST_LABEL), None)


def intersection(listener: str, route: str) -> str | None:
    """The names that both a listener and a route stand for, as one hostname; both in canonical form, "" is unset.

    | listener, route                        | result              |
    | equal, or one of them unset            | the one that is set |
    | `*.S` and a name (or wildcard) below S | the more specific   |
    | anything else, and both unset          | None                |

    A wildcard stands for one or more labels, never for none: `*.example.com` and `example.com` do not meet.
    Source: Gateway API, HTTPRouteSpec.hostnames.
    """
    if not listener or not route or listener == route:
        return listener or route or None
    if listener[0] == "*" and route.endswith(listener[1:]):
        return route
    if route[0] == "*" and listener.endswith(route[1:]):
        return listener
    return None
