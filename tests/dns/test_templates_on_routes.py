"""Where the names of --fqdn-template go. What executes the template stands outside; here it is a function."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dns_objects import START, gateway, listener, parent, route, value_at

from gatepost.dns.claims import CLAIMS
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine


def names(
    obj: KubernetesObject,
    template: Callable[[GatewayRoute, str], str],
    *,
    edge: KubernetesObject | None = None,
    sources: tuple[str, ...] = ("gateway-httproute",),
    combine: bool = False,
) -> list[str]:
    settings = DnsSettings(sources=sources, fqdn_template=("given",), combine_fqdn_annotation=combine)
    engine = Engine(*rules(settings, template), START)
    engine.put(edge or gateway())
    engine.put(obj)
    engine.run_stale()
    assert not engine.failures
    return sorted(claim.name for claim in value_at(engine, CLAIMS, obj.ref).claims)


def of_name(obj: GatewayRoute, source: str) -> str:
    name = obj.metadata.name
    return f" {name}.one.example.com, {name}.two.example.com. , ,{name}.one.example.com"


def test_a_template_names_routes_without_hostnames() -> None:
    assert names(route(hostnames=[]), of_name) == ["cart.one.example.com", "cart.two.example.com"]


@pytest.mark.parametrize(
    ("combine", "expected"),
    [(False, ["app.example.com"]), (True, ["app.example.com", "cart.one.example.com", "cart.two.example.com"])],
)
def test_a_template_adds_to_hostnames_only_if_asked(combine: bool, expected: list[str]) -> None:
    assert names(route(), of_name, combine=combine) == expected


def test_names_of_a_template_must_meet_the_listener() -> None:
    edge = gateway(listeners=[listener(hostname="*.two.example.com")])
    assert names(route(), of_name, edge=edge, combine=True) == ["cart.two.example.com"]


def test_a_template_knows_its_source() -> None:
    udp = route(hostnames=[], kind="UDPRoute")
    edge = gateway(listeners=[listener(protocol="UDP")])
    found = names(udp, lambda obj, source: f"{source}.example.com", edge=edge, sources=("gateway-udproute",))
    assert found == ["gateway-udproute.example.com"]


def test_a_template_that_fails_on_a_route_leaves_its_hostnames_and_is_told() -> None:
    def fails(obj: GatewayRoute, source: str) -> str:
        raise TemplateFailed("index 1 is out of range")

    settings = DnsSettings(sources=("gateway-httproute",), fqdn_template=("given",), combine_fqdn_annotation=True)
    engine = Engine(*rules(settings, fails), START)
    for obj in (gateway(), one := route(parents=[parent()])):
        engine.put(obj)
    engine.run_stale()
    claims = value_at(engine, CLAIMS, one.ref)
    assert [claim.name for claim in claims.claims] == ["app.example.com"]
    assert [(why.reason, why.message, why.field) for why in claims.skipped] == [
        ("TemplateFailed", "index 1 is out of range", "--fqdn-template")
    ]
    assert engine.failures == {}
