"""Ownership beside DNS: whose a record is, what is taken over from TXT records, and what is left over."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, NameKey, Property
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import amends, changes_for
from gatepost.dns.ownership.entries import claims_for, releases_for, without
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import GONE, Standing
from gatepost.objects.refs import Ref

SETTINGS = DnsSettings(sources=("gateway-httproute",), registry="dynamodb", txt_owner_id="me")
WITH_TXT = DnsSettings(
    sources=("gateway-httproute",),
    registry="dynamodb",
    txt_owner_id="me",
    managed_record_types=("A", "AAAA", "CNAME", "TXT"),
)
CART = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "cart")
APP: NameKey = ("app.example.com", "")
TYPES = ("A", "AAAA", "CNAME")


def a(name: str = "app", target: str = "192.0.2.1") -> Endpoint:
    return Endpoint(f"{name}.example.com", "A", (target,), 60)


def entry(name: str = "app", owner: str = "me", type_: str = "A", id_: str = "", due: str = "") -> Entry:
    labels = {"owner": owner, "resource": "httproute/shop/cart"}
    full = f"{name}.example.com"
    return Entry(Endpoint(full, type_, labels=labels), id_ or f"{full}#{type_}#", due)


def txt(name: str = "a-app", owner: str = "me") -> Endpoint:
    text = f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource=httproute/shop/cart"'
    return Endpoint(f"{name}.example.com", "TXT", (text,))


def wanted(*records: Record, name: str = "app.example.com") -> RecordSet:
    return RecordSet(name, "", records, (Claimant("2026-01-01T00:00:00Z", CART),))


def held(records: Iterable[Endpoint], *entries: Entry, settings: DnsSettings = SETTINGS) -> Inventory:
    return inventory(settings, records, ["example.com"], entries=entries)


def plan(there: Inventory, *record_sets: RecordSet, settings: DnsSettings = SETTINGS) -> Plan:
    return Planner(settings, lambda resource, key: Standing(GONE, "it is gone", CART)).plan_all(there, record_sets)


def causes(found: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(change.action, change.record.dns_name, tuple(c.kind for c in change.causes)) for change in found.changes]


# Whose a record is


def owner_of(there: Inventory) -> tuple[str, tuple[str, ...]]:
    (holding,) = there.row(APP)
    return (holding.owner, holding.contested)


@pytest.mark.parametrize(
    ("entries", "records", "whose"),
    [
        ([], [], ("", ())),
        ([entry()], [], ("me", ())),
        ([entry(owner="them")], [], ("them", ())),
        ([], [txt()], ("me", ())),
        ([], [txt(owner="them")], ("them", ())),
        ([entry()], [txt()], ("me", ())),
        ([entry()], [txt(owner="them")], ("", ("me", "them"))),
        ([entry(owner="them")], [txt()], ("them", ())),
        ([entry(type_="AAAA")], [], ("", ())),
        ([entry(name="other")], [], ("", ())),
        ([entry(), entry(owner="them", id_="App.example.com#A#")], [], ("", ("me", "them"))),
    ],
)
def test_whose_a_record_is(entries: list[Entry], records: list[Endpoint], whose: tuple[str, tuple[str, ...]]) -> None:
    assert owner_of(held([a(), *records], *entries)) == whose


def test_an_entry_in_another_spelling_speaks_of_the_same_record() -> None:
    other = Entry(Endpoint("App.Example.com.", "A", labels={"owner": "me"}), "App.Example.com.#A#")
    assert owner_of(held([a()], other)) == ("me", ())


def test_an_entry_speaks_of_one_set_identifier_alone() -> None:
    blue = Endpoint("app.example.com", "A", ("192.0.2.2",), 60, "blue")
    there = held([a(), blue], entry())
    assert [holding.owner for holding in (*there.row(APP), *there.row(("app.example.com", "blue")))] == ["me", ""]


def test_a_claim_of_another_owner_keeps_a_record_from_being_created() -> None:
    found = plan(held([], entry(owner="them")), wanted(Record("A", ("192.0.2.1",))))
    assert found.changes == ()
    assert [(problem.reason, problem.about) for problem in found.problems] == [("ForeignOwnership", CART)]


def test_a_record_without_entry_is_nobody_s_and_stays_as_it_is() -> None:
    found = plan(held([a(target="203.0.113.1")]), wanted(Record("A", ("192.0.2.1",))))
    assert found.changes == ()
    assert [problem.reason for problem in found.problems] == ["ForeignRecord"]


def test_a_name_too_long_for_an_ownership_record_is_created_all_the_same() -> None:
    name = f"{'a' * 63}.example.com"
    assert causes(plan(held([]), wanted(Record("A", ("192.0.2.1",)), name=name))) == [("create", name, ("new",))]


# What is written


def test_a_record_is_claimed_with_its_owner_and_object() -> None:
    there = held([])
    found = plan(there, wanted(Record("A", ("192.0.2.1",), 60, (Property("aws/weight", "1"),))))
    (claim,) = claims_for(found.allowed, there)
    labels = {"owner": "me", "resource": "httproute/shop/cart"}
    weight = (Property("aws/weight", "1"),)
    assert claim == Entry(Endpoint("app.example.com", "A", ("192.0.2.1",), 60, "", labels, weight))
    assert changes_for(found.allowed, there) == Changes(create=(claim.record,))


def test_an_own_left_over_entry_is_used_again() -> None:
    there = held([], entry(id_="App.example.com#A#"))
    (claim,) = claims_for(plan(there, wanted(Record("A", ("192.0.2.1",)))).allowed, there)
    assert claim.id == "App.example.com#A#"


def test_a_deletion_confirms_its_entry_first_and_releases_it_after() -> None:
    there = held([a()], entry())
    found = plan(there)
    assert causes(found) == [("delete", "app.example.com", ("gone",))]
    assert claims_for(found.allowed, there) == (entry(),)
    assert releases_for(found.allowed, lambda key: True, there) == (entry(),)
    assert releases_for(found.allowed, lambda key: False, there) == ()


def test_the_changes_of_a_name_with_a_refused_claim_go_together() -> None:
    there = held([])
    both = wanted(Record("A", ("192.0.2.1",)), Record("AAAA", ("2001:db8::1",)))
    other = wanted(Record("A", ("192.0.2.1",)), name="b.example.com")
    due = without(plan(there, both, other).allowed, [EndpointKey("app.example.com", "AAAA")])
    assert [change.record.dns_name for change in due] == ["b.example.com"]


def test_nothing_is_to_be_amended_in_the_zone() -> None:
    there = held([])
    changes = changes_for(plan(there, wanted(Record("A", ("192.0.2.1",)))).allowed, there)
    assert amends(changes, [changes.create[0].key], there) == Changes()


# Taking over


def test_a_record_owned_in_a_txt_record_gets_its_entry_and_nothing_else() -> None:
    there = held([a(), txt()])
    found = plan(there, wanted(Record("A", ("192.0.2.1",), 60)))
    assert causes(found) == [("update", "app.example.com", ("ownership",))]
    assert "TXT record" in found.changes[0].causes[0].message
    assert [(claim.key, claim.owner, claim.id) for claim in claims_for(found.allowed, there)] == [
        (EndpointKey("app.example.com", "A"), "me", "")
    ]
    assert changes_for(found.allowed, there) == Changes()


def test_a_record_with_its_entry_is_taken_over_with_no_change() -> None:
    there = held([a()], entry())
    assert plan(there, wanted(Record("A", ("192.0.2.1",), 60))).changes == ()


def test_an_entry_that_its_store_wants_anew_is_written_without_touching_the_record() -> None:
    there = held([a()], entry(due="it says nothing of its state"))
    found = plan(there, wanted(Record("A", ("192.0.2.1",), 60)))
    assert causes(found) == [("update", "app.example.com", ("ownership",))]
    assert changes_for(found.allowed, there) == Changes()


def test_txt_records_of_ownership_stay_unless_they_are_ours_to_write() -> None:
    there = held([a(), txt()], entry())
    assert there.left_over([APP], TYPES) == ()
    assert there.left_over([APP], (*TYPES, "TXT")) == (txt(),)


@pytest.mark.parametrize(
    ("records", "entries", "claimed"),
    [
        ([a(), txt()], [], [APP]),  # the entry is still to be made
        ([txt()], [], [APP]),  # kept for the name that is asked for
        ([a(), txt(owner="them")], [entry()], [APP]),
        ([Endpoint("app.example.com", "TXT", ('"v=spf1 -all"',))], [], []),
    ],
    ids=["not taken over", "asked for", "of another owner", "no ownership"],
)
def test_a_txt_record_that_ownership_rests_on_stays(
    records: list[Endpoint], entries: list[Entry], claimed: list[NameKey]
) -> None:
    assert held(records, *entries).left_over(claimed, (*TYPES, "TXT")) == ()


def test_a_left_over_txt_record_of_ours_goes() -> None:
    assert held([txt()]).left_over([], (*TYPES, "TXT")) == (txt(),)


def test_ownership_records_are_no_ordinary_txt_records() -> None:
    there = held([a(), txt(), Endpoint("spf.example.com", "TXT", ('"v=spf1 -all"',))], entry(), settings=WITH_TXT)
    assert sorted(there.keys()) == [APP, ("spf.example.com", "")]


# What is left over


def left_over(there: Inventory, *claimed: NameKey) -> list[str]:
    return [found.id for found in there.left_over_entries(claimed, TYPES)]


def test_an_entry_without_record_that_nobody_asks_for_is_left_over() -> None:
    there = held([a("b")], entry(), entry("b"), entry("c", owner="them"))
    assert left_over(there) == ["app.example.com#A#"]


def test_an_entry_stays_while_its_name_is_asked_for() -> None:
    assert left_over(held([], entry()), APP) == []


def test_an_entry_below_a_delegation_stays() -> None:
    delegation = Endpoint("dev.example.com", "NS", ("ns.example.net",))
    apex = Endpoint("example.com", "NS", ("ns.example.net",))
    there = held([delegation, apex], entry("app.dev"), entry("dev"), entry())
    assert left_over(there) == ["app.example.com#A#"]


def test_entries_follow_what_is_made_and_released() -> None:
    there = held([], entry())
    there.note_entries(made=[entry("b")], gone=[entry()])
    assert left_over(there) == ["b.example.com#A#"]


def test_the_count_of_our_records_follows() -> None:
    there = held([a(), a("b"), txt("a-b")], entry())
    assert there.own_count() == 2
    there.note_entries(gone=[entry()])
    assert there.own_count() == 1
    there.note_entries(made=[entry()])
    there.take(Changes(delete=(a(),)))
    assert there.own_count() == 1


def test_no_txt_record_is_put_where_one_says_whose_a_record_is() -> None:
    there = held([a(), txt()], entry(), settings=WITH_TXT)
    asked = wanted(Record("TXT", ('"v=spf1 -all"',)), name="a-app.example.com")
    found = plan(there, wanted(Record("A", ("192.0.2.1",), 60)), asked, settings=WITH_TXT)
    assert found.changes == ()
    assert [problem.reason for problem in found.problems] == ["OwnershipRecord"]
