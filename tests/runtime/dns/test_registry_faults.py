"""Ownership in a store beside the zone, and everything that can go wrong between the two: nothing of another owner is

touched, no living record is left without owner, and once the faults are over every living claim has its record.
"""

from __future__ import annotations

import pytest
from booked_zone import Book, BookedZone
from faulty_dns import ADDRESSES, FaultyDns, instances, run
from faulty_zone import (
    ANSWER_IS_LOST,
    FAULTS,
    HALF_IS_MADE,
    LISTING_FAILS,
    NOTHING_IS_SENT,
    SOME_ARE_REFUSED,
    Cluster,
    Fault,
    Instance,
)
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.plan import CREATE, PlannedChange
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.registries.contract import RegistryError
from gatepost.runtime.dns.claiming import ClaimingSender
from gatepost.runtime.dns.left_overs import LeftOver

store_faults = st.builds(Fault, st.sampled_from(FAULTS), st.integers(0, 4))


def book_of(instance: Instance) -> Book:
    assert isinstance(instance.store, Book)
    return instance.store


class FaultyRegistry(FaultyDns):
    """The same clusters, instances and faults as with ownership in the zone, and faults of the store besides."""

    make_zone = BookedZone

    @rule(name=instances, fault=store_faults)
    def call_of_the_store_goes_wrong(self, name: str, fault: Fault) -> None:
        book_of(self.instances[name]).fault = fault
        self.let_work(name)

    @invariant()
    def no_record_of_ours_is_without_owner(self) -> None:
        for name, targets in run(self.zone.addresses()).items():
            if targets != ("203.0.113.1",):  # by hand
                assert run(self.zone.owner_of(name)) in ADDRESSES

    async def heal(self) -> None:
        for instance in self.instances.values():
            book_of(instance).fault = None
        await super().heal()
        assert isinstance(self.zone, BookedZone)
        if self.instances:
            assert set(self.zone.owners()) == set(await self.zone.addresses()) - {"hand.example.com"}


FaultyRegistry.TestCase.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)


TestFaultyRegistry = FaultyRegistry.TestCase


# The same, one fault at a time

NAMES = ("a.example.com", "b.example.com")
OURS = {"a.example.com": ("192.0.2.1",), "b.example.com": ("192.0.2.1",)}
OWNED = {"a.example.com": "east", "b.example.com": "east"}


def wanting(*names: str, owner: str = "east", zone: BookedZone | None = None) -> tuple[BookedZone, Cluster, Instance]:
    """One cluster with one Route that asks for these names, and an instance that has done nothing yet."""
    zone = zone or BookedZone()
    cluster = Cluster(ADDRESSES[owner])
    ask(zone, cluster, owner, *names)
    return zone, cluster, Instance(owner, cluster, zone)


def ask(zone: BookedZone, cluster: Cluster, owner: str, *names: str) -> None:
    cluster.routes.clear()
    if names:
        cluster.routes["app"] = names
    zone.asked[owner] = cluster.names


async def test_records_are_claimed_and_released_with_them() -> None:
    zone, cluster, instance = wanting(*NAMES)
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (OURS, OWNED)
    assert book_of(instance).settled == {EndpointKey(name, "A"): "" for name in NAMES}
    ask(zone, cluster, "east")
    await instance.round()
    assert (await zone.contents(), zone.owners()) == ({}, {})


async def test_no_ownership_record_is_written_beside_a_store() -> None:
    zone, _, instance = wanting(*NAMES)
    await instance.round()
    assert {key.record_type for key in await zone.contents()} == {"A"}


async def test_a_second_round_writes_nothing() -> None:
    _, _, instance = wanting(*NAMES)
    await instance.round()
    calls = (instance.access.calls, book_of(instance).calls)
    await instance.round()
    assert (instance.access.calls, book_of(instance).calls) == calls


async def test_a_change_by_hand_is_repaired() -> None:
    zone, _, instance = wanting("a.example.com")
    await instance.round()
    (there,) = await zone.inner.records()
    drifted = Endpoint("a.example.com", "A", ("203.0.113.9",), 60)
    await zone.inner.apply(Changes(update_old=(there,), update_new=(drifted,)))
    await instance.round()
    assert await zone.addresses() == {"a.example.com": ("192.0.2.1",)}


async def test_while_the_store_cannot_be_read_nothing_is_written() -> None:
    zone, _, instance = wanting(*NAMES)
    book_of(instance).fault = Fault(LISTING_FAILS)
    await instance.round()
    assert (await zone.contents(), instance.access.calls) == ({}, 0)
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (OURS, OWNED)


async def test_without_a_claim_nothing_is_created() -> None:
    zone, _, instance = wanting(*NAMES)
    book_of(instance).fault = Fault(NOTHING_IS_SENT)
    await instance.round()
    assert (await zone.contents(), instance.access.calls) == ({}, 0)


async def test_claims_whose_answer_was_lost_are_used() -> None:
    zone, _, instance = wanting(*NAMES)
    book_of(instance).fault = Fault(ANSWER_IS_LOST)
    await instance.round()
    assert (await zone.contents(), zone.owners()) == ({}, OWNED)
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (OURS, OWNED)


async def test_half_a_batch_of_claims_is_completed() -> None:
    zone, _, instance = wanting(*NAMES)
    book_of(instance).fault = Fault(HALF_IS_MADE, 1)
    await instance.round()
    assert (await zone.contents(), zone.owners()) == ({}, {"a.example.com": "east"})
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (OURS, OWNED)


async def test_an_entry_is_swept_also_where_a_record_by_hand_has_the_name() -> None:
    zone, cluster, instance = wanting("a.example.com")
    await zone.inner.apply(Changes(create=(Endpoint("a.example.com", "TXT", ('"by hand"',), 60),)))
    await instance.round()
    ask(zone, cluster, "east")
    instance.access.fault = Fault(ANSWER_IS_LOST)  # the record goes, and the entry is not released
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == ({}, {"a.example.com": "east"})
    await instance.round()
    assert zone.owners() == {}


async def test_an_entry_without_record_stays_while_its_name_is_asked_for() -> None:
    zone, cluster, instance = wanting("a.example.com")
    await zone.inner.apply(Changes(create=(Endpoint("a.example.com", "TXT", ('"by hand"',), 60),)))
    await instance.round()
    cluster.has_address = False
    await zone.inner.apply(Changes(delete=tuple(r for r in await zone.inner.records() if r.record_type == "A")))
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == ({}, {"a.example.com": "east"})


async def test_a_claim_that_was_throttled_holds_up_no_other_and_is_tried_again() -> None:
    zone, _, instance = wanting(*NAMES)
    book_of(instance).fault = Fault(SOME_ARE_REFUSED)
    await instance.round()
    assert await zone.addresses() == {"b.example.com": ("192.0.2.1",)}
    assert instance.zones.is_failing
    instance.pass_time(10)
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (OURS, OWNED)
    assert not instance.zones.is_failing


async def test_of_two_owners_who_claim_at_once_the_second_creates_nothing_and_is_told() -> None:
    zone, _, east = wanting("app.example.com")
    _, _, west = wanting("app.example.com", "b.example.com", owner="west", zone=zone)
    west.poll()
    await west.list_zone()  # when nobody has the name yet
    await east.round()
    written = await west.zones.write(None)
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",), "b.example.com": ("198.51.100.2",)}
    assert zone.owners() == {"app.example.com": "east", "b.example.com": "west"}
    (problem,) = [problem for problem in written.problems if "app.example.com" in problem.message]
    assert (problem.about.kind, problem.about.name) == ("HTTPRoute", "app")
    assert "it belongs to east" in problem.message
    await west.round()
    assert zone.owners()["app.example.com"] == "east"


async def test_a_claim_whose_creation_was_refused_is_used_when_it_is_tried_again() -> None:
    zone, _, instance = wanting("a.example.com")
    instance.access.fault = Fault(SOME_ARE_REFUSED)
    await instance.round()
    assert (await zone.contents(), zone.owners()) == ({}, {"a.example.com": "east"})
    assert list(book_of(instance).settled.values()) == ["quota exceeded"]
    instance.pass_time(10)
    await instance.round()
    assert await zone.addresses() == {"a.example.com": ("192.0.2.1",)}
    assert not instance.zones.is_failing


async def test_a_claim_whose_creation_was_refused_is_released_once_nobody_asks_for_it() -> None:
    zone, cluster, instance = wanting("a.example.com")
    instance.access.fault = Fault(SOME_ARE_REFUSED)
    await instance.round()
    ask(zone, cluster, "east")
    await instance.round()
    assert zone.owners() == {}


async def test_a_record_that_somebody_made_before_us_stays_theirs_although_we_had_claimed_its_name() -> None:
    zone, cluster, instance = wanting("a.example.com")
    instance.poll()
    await instance.list_zone()  # when there was no such record yet
    by_hand = Endpoint("a.example.com", "A", ("203.0.113.1",), 60)
    await zone.inner.apply(Changes(create=(by_hand,)))
    await instance.write()  # the provider refuses it: there is one already
    for _ in range(2):
        instance.pass_time(10)
        await instance.round()
    assert (await zone.addresses(), zone.owners()) == ({"a.example.com": ("203.0.113.1",)}, {})
    ask(zone, cluster, "east")
    await instance.round()
    assert await zone.addresses() == {"a.example.com": ("203.0.113.1",)}


async def test_their_record_stays_theirs_while_our_claim_on_it_cannot_be_released() -> None:
    zone, _, instance = wanting("a.example.com")
    instance.poll()
    await instance.list_zone()
    await zone.inner.apply(Changes(create=(Endpoint("a.example.com", "A", ("203.0.113.1",), 60),)))
    await instance.write()
    for owners in ({"a.example.com": "east"}, {}):
        book_of(instance).fault = Fault(SOME_ARE_REFUSED) if owners else None
        instance.pass_time(10)
        await instance.round()
        assert (await zone.addresses(), zone.owners()) == ({"a.example.com": ("203.0.113.1",)}, owners)


async def test_a_record_of_which_it_is_not_known_who_made_it_is_ours_if_it_is_what_we_sent() -> None:
    zone, _, instance = wanting("a.example.com")
    instance.access.fault = Fault(ANSWER_IS_LOST)
    await instance.round()
    await instance.round()
    assert zone.owners() == {"a.example.com": "east"}
    assert not instance.zones.is_failing


async def test_a_refused_deletion_keeps_its_owner() -> None:
    zone, cluster, instance = wanting("a.example.com")
    await instance.round()
    ask(zone, cluster, "east")
    instance.access.fault = Fault(SOME_ARE_REFUSED)
    await instance.round()
    assert (await zone.addresses(), zone.owners()) == (
        {"a.example.com": ("192.0.2.1",)},
        {"a.example.com": "east"},
    )


async def test_what_another_owner_took_over_meanwhile_is_not_deleted() -> None:
    zone, cluster, instance = wanting("a.example.com")
    await instance.round()
    ask(zone, cluster, "east")
    instance.poll()
    await instance.list_zone()
    theirs = zone.book[EndpointKey("a.example.com", "A")]
    theirs.record.labels["owner"] = "west"
    await instance.write()
    assert (await zone.addresses(), zone.owners()) == (
        {"a.example.com": ("192.0.2.1",)},
        {"a.example.com": "west"},
    )


async def test_a_left_over_claim_keeps_others_out_only_as_long_as_its_owner_asks_for_the_name() -> None:
    zone, cluster, east = wanting("app.example.com")
    east.access.fault = Fault(NOTHING_IS_SENT)
    await east.round()
    _, _, west = wanting("app.example.com", owner="west", zone=zone)
    await west.round()
    assert await zone.addresses() == {}
    cluster.has_address = False  # in doubt: it still keeps the name
    await east.round()
    assert zone.owners() == {"app.example.com": "east"}
    ask(zone, cluster, "east")
    await east.round()
    await west.round()
    assert (await zone.addresses(), zone.owners()) == (
        {"app.example.com": ("198.51.100.2",)},
        {"app.example.com": "west"},
    )


def two_records() -> tuple[list[Endpoint], Inventory]:
    """An A and an AAAA record of one name of ours, and an inventory without either."""
    labels = {"owner": "east", "resource": "httproute/shop/app"}
    records = [
        Endpoint("app.example.com", "A", ("192.0.2.1",), 60, "", labels),
        Endpoint("app.example.com", "AAAA", ("2001:db8::1",), 60, "", labels),
    ]
    stored = DnsSettings(sources=("gateway-httproute",), registry="dynamodb", txt_owner_id="east")
    return records, inventory(stored, (), ["example.com"], entries=())


async def test_a_claim_that_is_of_no_use_without_another_of_its_name_is_given_back() -> None:
    zone = BookedZone()
    sender = ClaimingSender(zone.inner, zone.store_for("east"))
    records, holdings = two_records()
    theirs = Entry(Endpoint("app.example.com", "AAAA", labels={"owner": "west"}), "theirs")
    zone.book[theirs.key] = theirs  # since the book was read
    refused = await sender.send([PlannedChange(CREATE, None, one, ()) for one in records], holdings, Served())
    assert refused == {record.key: "it belongs to west" for record in records}
    assert (list(zone.book.values()), await zone.contents()) == ([theirs], {})
    assert holdings.own_entry(records[0].key) is None


async def test_who_does_not_lead_claims_nothing_and_releases_nothing() -> None:
    zone = BookedZone()
    store = zone.store_for("east")
    sender = ClaimingSender(zone.inner, store, lambda: False)
    records, holdings = two_records()
    with pytest.raises(RegistryError, match="this replica does not lead"):
        await sender.send([PlannedChange(CREATE, None, one, ()) for one in records], holdings, Served())
    with pytest.raises(RegistryError, match="this replica does not lead"):
        await sender.sweep(LeftOver(entries=(Entry(records[0], "left over"),)), holdings, Served())
    assert store.calls == 0
