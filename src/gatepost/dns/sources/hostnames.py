"""Which hostnames a Route asks for: those of its spec, of --fqdn-template, of its annotation, or of the listeners.

Source: external-dns, gateway sources (order and annotations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from gatepost.dns.annotations import Wishes
from gatepost.dns.names import hostname, record_name
from gatepost.dns.settings import DnsSettings
from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref

Template = Callable[[GatewayRoute, str], str]
"""Gives the text that --fqdn-template makes of a Route, for the source of that name: names, separated by commas.

Raises: TemplateFailed
"""

_WITHOUT_HOSTNAMES = ("TCPRoute", "UDPRoute")
LISTENER_HOSTNAME = ""
"""Among the hostnames of a Route: whatever the listener says."""

TEMPLATE_FAILED = "TemplateFailed"

_SPEC, _TEMPLATE, _ANNOTATION = "spec.hostnames", "--fqdn-template", "metadata.annotations[hostname]"


class TemplateFailed(ValueError):
    """A template that cannot be executed for one Route; the text says why. Its other names are not affected."""


class Hostnames(Struct, gc=False):
    """What one Route asks for.

    Attributes:
        fields: the hostnames in canonical form, each with the field that it comes from.
        passed_over: names that stand on the Route and count for nothing: no hostnames, or not to be looked at.
    """

    fields: dict[str, str]
    passed_over: list[str]


class HostnameRule:
    """Reads the hostnames of the Routes of one kind.

    | gateway-hostname-source | names                                                                        |
    | absent                  | spec, template, annotation; without names in the spec the listener's as well |
    | annotation-only         | annotation                                                                   |
    | defined-hosts-only      | spec, template                                                               |

    The annotation does not keep the listener's hostnames away; that is an old surprise which
    `--listener-hostname-fallback` takes care of.
    """

    def __init__(self, kind: str, settings: DnsSettings, template: Template | None) -> None:
        self._source = f"gateway-{kind.lower()}"
        self._has_hostnames = kind not in _WITHOUT_HOSTNAMES
        self._settings = settings
        self._template = template

    def __call__(self, route: GatewayRoute, ref: Ref, wishes: Wishes, skipped: list[Skipped]) -> Hostnames:
        """What a Route asks for; `skipped` gets a line for each name that counts for nothing."""
        asked = Hostnames({}, [])
        in_spec = route.spec.hostnames if self._has_hostnames else ()
        if wishes.hostname_source != "annotation-only":
            _add(asked, in_spec, ref, _SPEC, skipped)
            if self._template is not None and (not in_spec or self._settings.combine_fqdn_annotation):
                _add(asked, self._from_template(self._template, route, ref, skipped), ref, _TEMPLATE, skipped)
        if not wishes.hostname_source and not in_spec and self._settings.listener_hostname_fallback != "none":
            asked.fields[LISTENER_HOSTNAME] = _SPEC
        if wishes.hostnames:
            self._add_annotated(asked, ref, wishes, skipped)
        if not asked.fields:
            why = self._why_none(asked, wishes, has_names=bool(in_spec))
            skipped.append(Skipped("NoHostname", why, ref, _SPEC))
        return asked

    def _why_none(self, asked: Hostnames, wishes: Wishes, *, has_names: bool) -> str:
        if wishes.hostname_source:
            return f"asks for no hostname: gateway-hostname-source={wishes.hostname_source} leaves none"
        if has_names or asked.passed_over:
            return "asks for no hostname that DNS can hold"
        return "asks for no hostname, and --listener-hostname-fallback none takes none of a listener"

    def _add_annotated(self, asked: Hostnames, ref: Ref, wishes: Wishes, skipped: list[Skipped]) -> None:
        if self._settings.ignore_hostname_annotation:
            against = "--ignore-hostname-annotation"
        elif wishes.hostname_source == "defined-hosts-only":
            against = "gateway-hostname-source=defined-hosts-only"
        else:
            _add(asked, wishes.hostnames, ref, _ANNOTATION, skipped)
            return
        for text in wishes.hostnames:
            skipped.append(Skipped("IgnoredHostname", f"{text!r} has no effect beside {against}", ref, _ANNOTATION))
            asked.passed_over.append(record_name(text))

    def _from_template(
        self, template: Template, route: GatewayRoute, ref: Ref, skipped: list[Skipped]
    ) -> tuple[str, ...]:
        try:
            text = template(route, self._source)
        except TemplateFailed as error:
            skipped.append(Skipped(TEMPLATE_FAILED, str(error), ref, _TEMPLATE))
            return ()
        return tuple(sorted({name.strip() for name in text.split(",")} - {"", "."}))


def _add(asked: Hostnames, texts: Iterable[str], ref: Ref, field: str, skipped: list[Skipped]) -> None:
    for text in texts:
        name = hostname(text)
        if name is None:
            skipped.append(Skipped("InvalidHostname", f"found {text!r}, wanted a DNS name", ref, field))
            asked.passed_over.append(record_name(text))
        else:
            asked.fields.setdefault(name, field)
