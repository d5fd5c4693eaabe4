"""The ConfigMap `config-gateway`: which Gateway serves which visibility of a KIngress, and what that Gateway can do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from gatepost.configmaps.reading import config_map_ref, maps_named, parsed
from gatepost.configmaps.values import UnreadableValue
from gatepost.objects.core import Service
from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.meta import Kind
from gatepost.objects.networking import CLUSTER_LOCAL, EXTERNAL_IP
from gatepost.objects.plain_yaml import NotYaml, read_yaml
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

NAME = "config-gateway"
EXTERNAL_KEY = "external-gateways"
LOCAL_KEY = "local-gateways"

REQUEST_TIMEOUT = "HTTPRouteRequestTimeout"

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SECTION_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class GatewayEntry(Struct, frozen=True):
    """One entry of the ConfigMap: a Gateway and what is known of it.

    Attributes:
        visibility: EXTERNAL_IP or CLUSTER_LOCAL, by the list that the entry stands in.
        service: the Service in front of the data plane; None while the Gateway's own addresses count.
        supported_features: names of Gateway API features; None leaves it to the GatewayClass to say.
        proxy_protocol: whether the data plane wants a PROXY header first.
        https_port: the port of the TLS listeners that are put on the Gateway.
        redirect_port: the port that clients reach TLS by, if that is not 443: redirects name it. 0 leaves it out.
        section_name: the one listener of the Gateway that plain requests come in by; "" for all of them.
        selector: labels that a KIngress must have to be served here; () is the entry for all the others.
    """

    visibility: str
    gateway: Ref
    service: Ref | None = None
    class_name: str = ""
    supported_features: tuple[str, ...] | None = None
    proxy_protocol: bool = False
    https_port: int = 443
    redirect_port: int = 0
    section_name: str = ""
    selector: tuple[tuple[str, str], ...] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        return all(labels.get(key) == value for key, value in self.selector)


class GatewayConfig(Struct, frozen=True):
    """The entries of both lists. In each list exactly one has no selector."""

    external: tuple[GatewayEntry, ...]
    local: tuple[GatewayEntry, ...]

    def entry_for(self, visibility: str, labels: Mapping[str, str]) -> GatewayEntry:
        """The entry that serves a KIngress with these labels: of those that select it the one with most labels.

        Only ClusterLocal goes to the local list; anything else is external.
        """
        entries = self.local if visibility == CLUSTER_LOCAL else self.external
        return max((entry for entry in entries if entry.selects(labels)), key=lambda entry: len(entry.selector))


def _istio(visibility: str, gateway: str, service: str) -> GatewayEntry:
    namespace = "istio-system"
    return GatewayEntry(
        visibility,
        Gateway.KIND.ref(namespace, gateway),
        Service.KIND.ref(namespace, service),
        "istio",
        (REQUEST_TIMEOUT,),
    )


DEFAULT = GatewayConfig(
    external=(_istio(EXTERNAL_IP, "knative-gateway", "istio-ingressgateway"),),
    local=(_istio(CLUSTER_LOCAL, "knative-local-gateway", "knative-local-gateway"),),
)


class _Entry(Struct, rename="kebab"):
    """An entry as written. Keys that are not known play no part."""

    class_: str = field(name="class")
    gateway: str
    service: str = ""
    supported_features: tuple[str, ...] | None = None
    proxy_protocol_enabled: bool = False
    https_port: int = 443
    redirect_port: int = 0
    section_name: str = ""
    selector: dict[str, str] = field(default_factory=dict)


def parse(data: Mapping[str, str]) -> GatewayConfig:
    """The settings in the data of a `config-gateway`. A list that is missing or empty falls back to its own default.

    Raises: UnreadableValue for the first list that cannot be understood.
    Source: net-gateway-api, config-gateway; `selector`, `https-port`, `redirect-port`, `section-name` are our own.
    """
    return GatewayConfig(
        external=_entries(EXTERNAL_KEY, data.get(EXTERNAL_KEY, ""), EXTERNAL_IP) or DEFAULT.external,
        local=_entries(LOCAL_KEY, data.get(LOCAL_KEY, ""), CLUSTER_LOCAL) or DEFAULT.local,
    )


def _entries(key: str, text: str, visibility: str) -> tuple[GatewayEntry, ...]:
    entries = tuple(_entry(key, raw, visibility) for raw in _raw_entries(key, text))
    without_selector = [entry for entry in entries if not entry.selector]
    if entries and len(without_selector) != 1:
        found = f"{len(entries)} entries, {len(without_selector)} of them without selector"
        raise UnreadableValue(key, found, "one entry without selector, for all that no selector fits")
    return entries


def _raw_entries(key: str, text: str) -> list[_Entry]:
    wanted = "a list of entries with class and gateway, in YAML"
    try:
        listed: Any = read_yaml(text)
    except NotYaml as error:
        raise UnreadableValue(key, text, wanted) from error
    if listed is None:
        return []
    try:
        return msgspec.convert(_without_nulls(listed), list[_Entry])
    except msgspec.ValidationError as error:
        raise UnreadableValue(key, text, f"{wanted} ({error})") from error


def _without_nulls(listed: Any) -> Any:
    if not isinstance(listed, list):
        return listed
    return [
        {name: value for name, value in entry.items() if value is not None} if isinstance(entry, dict) else entry
        for entry in listed
    ]


def _entry(key: str, written: _Entry, visibility: str) -> GatewayEntry:
    if not written.class_.strip():
        raise UnreadableValue(key, written.class_, "the name of a GatewayClass under class")
    if not 1 <= written.https_port <= 65535:
        raise UnreadableValue(key, str(written.https_port), "a port from 1 to 65535 under https-port")
    if not 0 <= written.redirect_port <= 65535:
        raise UnreadableValue(key, str(written.redirect_port), "a port from 1 to 65535 under redirect-port")
    if written.section_name and not _SECTION_NAME.fullmatch(written.section_name):
        raise UnreadableValue(key, written.section_name, "the name of a listener under section-name")
    return GatewayEntry(
        visibility=visibility,
        gateway=_ref(key, "gateway", written.gateway, Gateway.KIND),
        service=_ref(key, "service", written.service, Service.KIND) if written.service else None,
        class_name=written.class_,
        supported_features=written.supported_features,
        proxy_protocol=written.proxy_protocol_enabled,
        https_port=written.https_port,
        redirect_port=written.redirect_port,
        section_name=written.section_name,
        selector=tuple(sorted(written.selector.items())),
    )


def _ref(key: str, name: str, text: str, kind: Kind) -> Ref:
    parts = text.split("/")
    if len(parts) != 2 or not all(_DNS_LABEL.fullmatch(part) for part in parts):
        raise UnreadableValue(key, text, f"NAMESPACE/NAME under {name}, both of them DNS labels")
    return kind.ref(*parts)


CONFIG_MAPS = maps_named(NAME)

CONFIG_GATEWAY: Rule[GatewayConfig | Problem] = Rule(NAME, parsed(NAME, parse, DEFAULT), rank=0, over=CONFIG_MAPS)


def current_gateway_config(view: View) -> GatewayConfig | Problem:
    """The settings in force: those of `config-gateway` in Knative's namespace."""
    return view.value(CONFIG_GATEWAY, config_map_ref(NAME, view))
