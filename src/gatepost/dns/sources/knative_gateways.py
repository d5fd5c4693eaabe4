"""What objects of Knative lead to from outside: Services with load balancers, and the Gateways of config-gateway.

Thousands of Routes share one Service and one ConfigMap. They read values made from these, so that a change that
matters to none of them wakes none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gatepost.objects.core import ConfigMap, Service
from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.plain_yaml import NotYaml, read_yaml
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

CONFIG_GATEWAY = "config-gateway"
EXTERNAL_GATEWAYS = "external-gateways"

_RANK = 20
_FIELD = f"data[{EXTERNAL_GATEWAYS}]"


class ExternalGateway(Struct, frozen=True):
    """An entry of the list: the Gateway, and the labels that a KIngress must have to be served there."""

    gateway: Ref
    selector: tuple[tuple[str, str], ...] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        return all(labels.get(key) == value for key, value in self.selector)


class ExternalGateways(Struct, frozen=True):
    """The Gateways that the ConfigMap lists for names outside the cluster; `lacking` says why there are none."""

    entries: tuple[ExternalGateway, ...] = ()
    lacking: Skipped | None = None

    def gateway_for(self, labels: Mapping[str, str]) -> Ref | None:
        """The Gateway that serves a KIngress with these labels: of those that select it the one with most labels."""
        fitting = [entry for entry in self.entries if entry.selects(labels)]
        return max(fitting, key=lambda entry: len(entry.selector)).gateway if fitting else None


def _external_gateways(ref: Ref, view: View) -> ExternalGateways:
    config_map = view.get(ConfigMap, ref)
    if config_map is None:
        return ExternalGateways(lacking=Skipped("NoGateway", "does not exist, so no Gateway is known", ref))
    try:
        listed: Any = read_yaml(config_map.data.get(EXTERNAL_GATEWAYS, ""))
    except NotYaml as error:
        return ExternalGateways(lacking=Skipped("NoGateway", f"is no YAML: {error}", ref, _FIELD))
    entries = [_entry(written) for written in listed] if isinstance(listed, list) else []
    read = tuple(entry for entry in entries if entry is not None)
    if not read or len(read) < len(entries):  # what one bad entry selects is not known, so no other can stand for it
        message = "found no list of entries with gateway: NAMESPACE/NAME, wanted one"
        return ExternalGateways(lacking=Skipped("NoGateway", message, ref, _FIELD))
    return ExternalGateways(read)


def _entry(written: Any) -> ExternalGateway | None:
    if not isinstance(written, dict) or not isinstance(written.get("gateway"), str):
        return None
    namespace, slash, name = written["gateway"].partition("/")
    selector = written.get("selector") or {}
    if not (namespace and slash and name) or not isinstance(selector, dict):
        return None
    labels = tuple(sorted((str(key), str(value)) for key, value in selector.items()))
    return ExternalGateway(Gateway.KIND.ref(namespace, name), labels)


def _balancer_addresses(ref: Ref, view: View) -> tuple[str, ...]:
    service = view.get(Service, ref)
    if service is None:
        return ()
    balancers = service.status.load_balancer.ingress
    return tuple(address for entry in balancers for address in (entry.ip, entry.hostname) if address)


KNATIVE_GATEWAYS: Rule[ExternalGateways] = Rule("dns knative gateways", _external_gateways, rank=_RANK)
"""The key is the Ref of the ConfigMap."""

BALANCER_ADDRESSES: Rule[tuple[str, ...]] = Rule("dns load balancers", _balancer_addresses, rank=_RANK)
"""IPs and hostnames of the load balancer of a Service; the key is its Ref."""
