"""Which rules and indexes there are: the one place that knows all of them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from gatepost.dns.rules import rules as dns_rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.networking import KIngress
from gatepost.objects.refs import GroupKind
from gatepost.objects.serving import DomainMapping, Route
from gatepost.state.rule import Rule
from gatepost.state.store import Index

CONTROLLERS: Mapping[str, str] = {
    "domainmapping": "gatepost.reconcilers.domainmapping",
    "route": "gatepost.reconcilers.route",
    "gateway": "gatepost.reconcilers.gateway",
}
"""Name of a controller, as on the command line -> its package, which exports RULES and INDEXES."""

WRITTEN: Mapping[str, tuple[type[KubernetesObject], ...]] = {
    "domainmapping": (DomainMapping,),
    "route": (Route,),
    "gateway": (KIngress, Gateway),
}
"""Name of a controller -> the kinds that it writes to though it did not make the objects."""


class Wiring(Struct, frozen=True):
    """Rules and indexes that belong together, each once."""

    rules: tuple[Rule[Any], ...]
    indexes: tuple[Index, ...]


def reconcilers(names: Sequence[str] = tuple(CONTROLLERS)) -> Wiring:
    """The rules and indexes of these controllers. Raises: KeyError for a name that is none of `CONTROLLERS`."""
    packages = [importlib.import_module(CONTROLLERS[name]) for name in names]
    rules = {rule.name: rule for package in packages for rule in package.RULES}
    indexes = {index.name: index for package in packages for index in package.INDEXES}
    return Wiring(tuple(rules.values()), tuple(indexes.values()))


def probing(names: Sequence[str]) -> Wiring:
    """What these controllers need in addition if the data plane is probed."""
    packages = [importlib.import_module(CONTROLLERS[name]) for name in names]
    indexes = {index.name: index for package in packages for index in getattr(package, "PROBING_INDEXES", ())}
    return Wiring((), tuple(indexes.values()))


def dns_part(settings: DnsSettings, *, writes_status: bool = False) -> Wiring:
    """The rules and indexes from Gateways and Routes to DNS.

    Args: writes_status: also gives the rule for the status of DNSEndpoints, for those who write to a cluster.
    Raises: BadSettings
    """
    return Wiring(*dns_rules(settings, writes_status=writes_status))


def together(*wirings: Wiring) -> Wiring:
    """Several wirings as one.

    Raises: ValueError if two different rules, or two different indexes, have one name.
    """
    rules: dict[str, Rule[Any]] = {}
    indexes: dict[str, Index] = {}
    for wiring in wirings:
        for rule in wiring.rules:
            if rules.setdefault(rule.name, rule) is not rule:
                raise ValueError(f"two rules are called {rule.name!r}")
        for index in wiring.indexes:
            if indexes.setdefault(index.name, index) is not index:
                raise ValueError(f"two indexes are called {index.name!r}")
    for name in rules.keys() & indexes.keys():
        raise ValueError(f"a rule and an index are both called {name!r}")
    return Wiring(tuple(rules.values()), tuple(indexes.values()))


def written_kinds(names: Sequence[str], dns: DnsSettings | None = None) -> frozenset[GroupKind]:
    """The kinds whose objects these controllers write to; what these objects control in turn is theirs as well.

    Args: dns: the settings of the DNS part if there is one, which writes the status of DNSEndpoints.
    """
    types = [type_ for name in names for type_ in WRITTEN[name]]
    if dns is not None and "crd" in dns.sources:
        types.append(DNSEndpoint)
    return frozenset(type_.KIND.group_kind for type_ in types)
