"""Which DomainMappings a change wakes, and which it does not."""

from __future__ import annotations

from domain_world import CORE_SERVICE, claim, domain_world, knative_ref, mapping
from knative_objects import core_service, kingress, knative_service, local_hosts, network, route, rule, split

from gatepost.objects.refs import ref_of

SERVICE = knative_service("cart")
ROUTE = route("cart", SERVICE)
SOURCE = kingress("cart", ROUTE, rule(local_hosts("cart"), {"splits": [split("cart-00001")]}))
CART = mapping(knative_ref("cart"), "cart.example.com")
WEB = mapping(CORE_SERVICE, "web.example.com")
ALL = (
    network(),
    claim("cart.example.com"),
    claim("web.example.com"),
    SERVICE,
    ROUTE,
    SOURCE,
    core_service("web"),
    CART,
    WEB,
)


def test_changing_an_unrelated_route_reruns_nothing() -> None:
    world = domain_world(*ALL, route("orders"))
    world.take_ran()
    world.put(route("orders", SERVICE))
    assert world.take_ran() == []


def test_changing_the_ingress_of_the_route_reruns_just_its_mapping() -> None:
    world = domain_world(*ALL)
    world.take_ran()
    world.put(kingress("cart", ROUTE, rule(local_hosts("cart"), {"splits": [split("cart-00002")]})))
    assert world.take_ran() == [ref_of(CART)]


def test_an_address_that_appears_wakes_the_mapping_that_missed_it() -> None:
    world = domain_world(*ALL, knative_service("cart", ""))
    world.take_ran()
    world.put(SERVICE)
    assert world.take_ran() == [ref_of(CART)]


def test_a_claim_that_is_delegated_or_lost_wakes_its_mapping() -> None:
    world = domain_world(*ALL)
    world.take_ran()
    world.remove(claim("web.example.com"))
    assert world.take_ran() == [ref_of(WEB)]
    world.put(claim("web.example.com"))
    assert world.take_ran() == [ref_of(WEB)]


def test_config_network_wakes_all_only_when_what_it_says_changes() -> None:
    world = domain_world(*ALL)
    world.take_ran()
    world.put(network(_example="other words"))
    assert world.take_ran() == []
    world.put(network(http_protocol="Redirected"))
    assert world.take_ran() == [ref_of(CART), ref_of(WEB)]
