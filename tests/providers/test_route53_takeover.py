"""Zones of Route 53 that external-dns made are taken over as they are; what gatepost makes there comes to rest."""

from __future__ import annotations

from typing import Any

import pytest
from publishing import _gone, owned_by
from route53_fake import FakeRoute53, plain

from gatepost.dns.endpoint import Property
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import PlannedChange
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.served import Served
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.providers.route53.provider import Route53Provider
from gatepost.providers.route53.settings import Route53Settings

ELB = "lb-1.eu-west-1.elb.amazonaws.com"
TEXT = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=httproute/shop/cart"'
PROD = owned_by("prod")


def wanted(name: str, record: Record, set_identifier: str = "") -> RecordSet:
    """What HTTPRoute shop/cart wants under a name."""
    claimant = Claimant("2026-01-01T00:00:00Z", HTTPRoute.KIND.ref("shop", "cart"))
    return RecordSet(name, set_identifier, (record,), (claimant,))


WEIGHTED = Record("A", ("192.0.2.1",), 60, (Property("aws/weight", "10"),))


async def planned(provider: Route53Provider, *record_sets: RecordSet) -> tuple[tuple[PlannedChange, ...], Inventory]:
    zones = tuple(await provider.zones())
    held = inventory(PROD, await provider.records(), zones)
    plan = Planner(PROD, _gone, provider.adjust, Served(frozenset(zones))).plan_all(held, record_sets, allow=True)
    return plan.allowed, held


def of(*record_sets: dict[str, Any]) -> tuple[FakeRoute53, Route53Provider]:
    route53 = FakeRoute53({"Z1": "example.com"})
    route53.sets["Z1"] = list(record_sets)
    return route53, Route53Provider(Route53Settings(), client=route53)


async def test_aliases_of_external_dns_are_left_as_they_are() -> None:
    target = {"HostedZoneId": "Z32O12XQLNTSW2", "DNSName": f"{ELB}.", "EvaluateTargetHealth": True}
    _, provider = of(
        *({"Name": "app.example.com.", "Type": type_, "AliasTarget": target} for type_ in ("A", "AAAA")),
        plain("a-app.example.com.", "TXT", TEXT),
        plain("aaaa-app.example.com.", "TXT", TEXT),
    )
    changes, _ = await planned(provider, wanted("app.example.com", Record("CNAME", (ELB,))))
    assert changes == ()


async def test_a_weighted_set_of_external_dns_is_left_as_it_is() -> None:
    _, provider = of(
        plain("app.example.com.", "A", "192.0.2.1", ttl=60, SetIdentifier="blue", Weight=10),
        plain("a-app.example.com.", "TXT", TEXT, SetIdentifier="blue", Weight=10),
    )
    changes, _ = await planned(provider, wanted("app.example.com", WEIGHTED, "blue"))
    assert changes == ()


@pytest.mark.parametrize(
    "record_set",
    [
        wanted("app.example.com", Record("CNAME", (ELB,))),
        wanted("app.example.com", WEIGHTED, "blue"),
        wanted("*.example.com", Record("A", ("192.0.2.1", "192.0.2.2"))),
        wanted("app.example.com", Record("A", ("gw.example.net",), 0, (Property("alias", "true"),))),
    ],
)
async def test_once_written_there_is_nothing_left_to_do(record_set: RecordSet) -> None:
    route53, provider = of()
    changes, held = await planned(provider, record_set)
    results = await provider.apply(changes_for(changes, held))
    assert {result.error for result in results} == {""}
    assert len(route53.sets["Z1"]) == 2 * len(changes)
    again, _ = await planned(provider, record_set)
    assert again == ()


async def test_a_cname_of_ours_gives_way_to_the_aliases_in_one_batch() -> None:
    route53, provider = of(
        plain("app.example.com.", "CNAME", f"{ELB}."),
        plain("cname-app.example.com.", "TXT", TEXT),
        plain("other.example.com.", "A", "192.0.2.9"),
    )
    changes, held = await planned(provider, wanted("app.example.com", Record("CNAME", (ELB,))))
    results = await provider.apply(changes_for(changes, held))
    assert {result.error for result in results} == {""}
    assert len(route53.batches) == 1
    assert sorted((record_set["Name"], record_set["Type"]) for record_set in route53.sets["Z1"]) == [
        ("a-app.example.com.", "TXT"),
        ("aaaa-app.example.com.", "TXT"),
        ("app.example.com.", "A"),
        ("app.example.com.", "AAAA"),
        ("other.example.com.", "A"),
    ]


async def test_a_new_weight_goes_to_the_record_and_its_ownership_record_in_one_batch() -> None:
    route53, provider = of(
        plain("app.example.com.", "A", "192.0.2.1", ttl=60, SetIdentifier="blue", Weight=10),
        plain("a-app.example.com.", "TXT", TEXT, SetIdentifier="blue", Weight=10),
        plain("app.example.com.", "A", "192.0.2.9", ttl=60, SetIdentifier="green", Weight=90),
    )
    heavier = Record("A", ("192.0.2.1",), 60, (Property("aws/weight", "20"),))
    changes, held = await planned(provider, wanted("app.example.com", heavier, "blue"))
    await provider.apply(changes_for(changes, held))
    assert len(route53.batches) == 1
    weights = {(s["Name"], s["SetIdentifier"]): s["Weight"] for s in route53.sets["Z1"]}
    assert weights == {
        ("app.example.com.", "blue"): 20,
        ("a-app.example.com.", "blue"): 20,
        ("app.example.com.", "green"): 90,
    }
