"""The plan goes name by name: spellings of one name are one row, each set identifier is a row of its own."""

from __future__ import annotations

import pytest

from gatepost.dns.endpoint import Endpoint, Property
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import GONE, Standing
from gatepost.objects.gatewayapi import HTTPRoute

SETTINGS = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
CART = Claimant("2026-01-01T00:00:00Z", HTTPRoute.KIND.ref("shop", "cart"))
WEIGHT = Property("aws/weight", "10")


def text(owner: str = "me") -> tuple[str]:
    return (f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource=httproute/shop/cart"',)


def held(
    name: str, *targets: str, set_identifier: str = "", owner: str = "me", properties: tuple[Property, ...] = ()
) -> list[Endpoint]:
    """An A record as a provider lists it, with its ownership record."""
    return [
        Endpoint(name, "A", targets, 300, set_identifier, provider_specific=properties),
        Endpoint(f"a-{name}", "TXT", text(owner), 300, set_identifier, provider_specific=properties),
    ]


def wanted(name: str, *targets: str, set_identifier: str = "", properties: tuple[Property, ...] = ()) -> RecordSet:
    return RecordSet(name, set_identifier, (Record("A", targets, 0, properties),), (CART,))


def plan(there: list[Endpoint], *record_sets: RecordSet, settings: DnsSettings = SETTINGS) -> Plan:
    planner = Planner(settings, lambda resource, key: Standing(GONE, f"{resource} is gone"))
    return planner.plan_all(inventory(settings, there, ["example.com"]), record_sets)


def actions(found: Plan) -> list[tuple[str, str, str]]:
    return [(change.action, change.record.dns_name, change.record.set_identifier) for change in found.changes]


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        ("APP.Example.com", "app.example.com"),
        ("app.example.com.", "app.example.com"),
        ("bücher.example.com", "xn--bcher-kva.example.com"),
        ("XN--BCHER-KVA.example.com.", "xn--bcher-kva.example.com"),
        ("*.Example.com", "*.example.com"),
    ],
)
def test_a_name_in_another_spelling_is_the_same_name(listed: str, name: str) -> None:
    record = Endpoint(listed, "A", ("192.0.2.1",))
    label, _, rest = name.partition(".")
    ownership = Endpoint(f"a-{label.replace('*', '_wildcard')}.{rest}", "TXT", text())
    assert plan([record, ownership], wanted(name, "192.0.2.1")) == Plan()
    assert actions(plan([record, ownership], wanted(name, "192.0.2.2"))) == [("update", name, "")]


def test_each_set_identifier_is_a_row_of_its_own() -> None:
    there = held("app.example.com", "192.0.2.1", set_identifier="blue") + held(
        "app.example.com", "192.0.2.2", set_identifier="green"
    )
    assert actions(plan(there, wanted("app.example.com", "192.0.2.1", set_identifier="blue"))) == [
        ("delete", "app.example.com", "green")
    ]
    assert actions(plan(there, wanted("app.example.com", "192.0.2.9", set_identifier="green"))) == [
        ("delete", "app.example.com", "blue"),
        ("update", "app.example.com", "green"),
    ]


def test_the_set_of_another_owner_is_no_obstacle() -> None:
    there = held("app.example.com", "192.0.2.1", set_identifier="blue", owner="them")
    found = plan(there, wanted("app.example.com", "192.0.2.2", set_identifier="green"))
    assert (actions(found), found.problems) == ([("create", "app.example.com", "green")], ())


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [((), (WEIGHT,), True), ((WEIGHT,), (), True), ((WEIGHT,), (WEIGHT,), False)],
)
def test_a_property_that_comes_or_goes_is_an_update(
    before: tuple[Property, ...], after: tuple[Property, ...], differs: bool
) -> None:
    there = held("app.example.com", "192.0.2.1", properties=before)
    found = plan(there, wanted("app.example.com", "192.0.2.1", properties=after))
    assert [[cause.kind for cause in change.causes] for change in found.changes] == (
        [["properties"]] if differs else []
    )


def test_of_two_records_that_are_listed_under_one_key_the_last_counts() -> None:
    first, ownership = held("app.example.com", "192.0.2.1")
    (last, _) = held("app.example.com", "192.0.2.2")
    assert plan([first, ownership, last], wanted("app.example.com", "192.0.2.2")) == Plan()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("192.0.2.1", "192.0.2.2"), ("192.0.2.2", "192.0.2.1")),
        (("2001:db8::1",), ("2001:0DB8:0:0:0:0:0:1",)),
    ],
)
def test_targets_in_another_order_or_spelling_are_no_change(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    type_ = "AAAA" if ":" in one[0] else "A"
    ownership = Endpoint(f"{type_.lower()}-app.example.com", "TXT", text())
    record_set = RecordSet("app.example.com", "", (Record(type_, one),), (CART,))
    assert plan([Endpoint("app.example.com", type_, other), ownership], record_set) == Plan()


def test_types_that_are_not_managed_are_neither_seen_nor_in_the_way() -> None:
    texts = Endpoint("app.example.com", "TXT", ('"v=spf1 -all"',))
    mail = Endpoint("app.example.com", "MX", ("10 mx.example.net",))
    found = plan([texts, mail], wanted("app.example.com", "192.0.2.1"))
    assert (actions(found), found.problems) == ([("create", "app.example.com", "")], ())


def test_a_type_that_is_excluded_stays_as_it_is() -> None:
    settings = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", exclude_record_types=("A",))
    assert plan(held("gone.example.com", "192.0.2.1"), settings=settings) == Plan()


@pytest.mark.parametrize(
    ("policy", "actions"), [("sync", ["update"]), ("upsert-only", ["update"]), ("create-only", [])]
)
def test_an_owner_is_taken_over_only_by_a_policy_that_updates(policy: str, actions: list[str]) -> None:
    settings = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", migrate_from_txt_owner="them", policy=policy)
    there = held("app.example.com", "192.0.2.1", owner="them")
    found = plan(there, wanted("app.example.com", "192.0.2.1"), settings=settings)
    assert [change.action for change in found.changes] == actions
    assert [held.cause.kind for held in found.held] == ([] if actions else ["policy"])


def test_a_missing_ownership_record_is_created_under_every_policy() -> None:
    settings = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", policy="create-only")
    there = [Endpoint("app.example.com", "A", ("192.0.2.1",), 300), Endpoint("app.example.com", "TXT", text())]
    found = plan(there, wanted("app.example.com", "192.0.2.1"), settings=settings)
    assert [[cause.kind for cause in change.causes] for change in found.changes] == [["ownership"]]


def test_no_record_takes_the_place_of_an_ownership_record() -> None:
    settings = DnsSettings(sources=("crd",), txt_owner_id="me", managed_record_types=("A", "TXT"))
    there = held("app.example.com", "192.0.2.1")
    taking = RecordSet("a-app.example.com", "", (Record("TXT", ('"x"',)),), (CART,))
    found = plan(there, wanted("app.example.com", "192.0.2.1"), taking, settings=settings)
    assert found.changes == ()
    assert [(problem.reason, problem.about) for problem in found.problems] == [("OwnershipRecord", CART.ref)]
