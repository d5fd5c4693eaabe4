"""The promises of the plan, over random zones and wishes.

An applied plan closes the gap, touches no record of another owner, and planning again changes nothing.
"""

from __future__ import annotations

from dns_objects import unhurried
from hypothesis import given
from hypothesis import strategies as st

from gatepost.dns.endpoint import Changes, Endpoint, NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, Records, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import DETACHED, DOUBTFUL, GONE, Standing
from gatepost.dns.targets import reduced
from gatepost.objects.refs import Ref

NAMES = ("example.com", "a.example.com", "b.example.com", "*.example.com", "c.d.example.com")
OWNERS = ("me", "them", "")
RESOURCES = ("httproute/shop/gone", "httproute/shop/detached", "httproute/shop/doubtful", "httproute/shop/cart")
CART = Claimant("2026", Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "cart"))
TARGETS = {"A": ("192.0.2.1", "192.0.2.2"), "AAAA": ("2001:db8::1", "2001:db8::2"), "CNAME": ("x.example.net",)}

targets = st.sampled_from(sorted(TARGETS)).flatmap(
    lambda type_: st.lists(st.sampled_from(TARGETS[type_]), min_size=1, unique=True).map(
        lambda found: Record(type_, tuple(sorted(found)))
    )
)
record_lists: st.SearchStrategy[Records] = st.lists(targets, max_size=3, unique_by=lambda record: record.type).map(
    lambda records: reduced(records)
)
holdings = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(record_lists, st.sampled_from(OWNERS), st.sampled_from(RESOURCES), st.sampled_from([0, 60, 300])),
)
wishes = st.dictionaries(st.sampled_from(NAMES), st.tuples(record_lists, st.sampled_from([0, 60])))
policies = st.sampled_from(["sync", "upsert-only", "create-only"])
Held = dict[str, tuple[Records, str, str, int]]
Wishes = dict[str, tuple[Records, int]]


def standing(resource: str, key: NameKey) -> Standing:
    kind = {"gone": GONE, "detached": DETACHED}.get(resource.rpartition("/")[2], DOUBTFUL)
    return Standing(kind, f"{resource} is {kind}")


def zone_of(held: Held) -> list[Endpoint]:
    """The records as a provider lists them, with ownership records that external-dns would have written."""
    found: list[Endpoint] = []
    for name, (records, owner, resource, ttl) in held.items():
        for record in records:
            found.append(Endpoint(name, record.type, record.targets, ttl))
            if owner:
                text = f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource={resource}"'
                head, _, rest = name.partition(".")
                label = f"{record.type.lower()}-{'_apex' if name == 'example.com' else head.replace('*', '_wildcard')}"
                found.append(Endpoint(f"{label}.{'example.com' if name == 'example.com' else rest}", "TXT", (text,)))
    return found


def record_sets(wished: Wishes) -> list[RecordSet]:
    return [
        RecordSet(name, "", tuple(Record(r.type, r.targets, ttl) for r in records), (CART,))
        for name, (records, ttl) in wished.items()
        if records
    ]


def settings_for(policy: str) -> DnsSettings:
    return DnsSettings(sources=("gateway-httproute",), txt_owner_id="me", policy=policy)


def planned(held: Held, wished: Wishes, policy: str) -> tuple[Planner, Inventory, Changes]:
    there = inventory(settings_for(policy), zone_of(held), ["example.com"])
    planner = Planner(settings_for(policy), standing)
    plan = planner.plan_all(there, record_sets(wished), allow=True)
    return planner, there, changes_for(plan.allowed, there)


def contents(there: Inventory) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (holding.endpoint.dns_name, holding.endpoint.record_type): holding.endpoint.targets
        for key in there.keys()  # noqa: SIM118
        for holding in there.row(key)
    }


@unhurried
@given(holdings, wishes, policies)
def test_planning_again_after_applying_changes_nothing(held: Held, wished: Wishes, policy: str) -> None:
    planner, there, changes = planned(held, wished, policy)
    there.take(changes)
    assert planner.plan_all(there, record_sets(wished), allow=True).changes == ()


@unhurried
@given(holdings, wishes, policies)
def test_no_record_of_another_owner_or_of_nobody_is_touched(held: Held, wished: Wishes, policy: str) -> None:
    _, there, changes = planned(held, wished, policy)
    before = zone_of(held)
    there.take(changes)
    touched = {record.key for record in (*changes.update_old, *changes.delete, *changes.create)}
    for name, (records, owner, _, _) in held.items():
        if owner != "me":
            assert not {Endpoint(name, record.type).key for record in records} & touched
    foreign = {record.key for record in before if record.record_type == "TXT" and "owner=them" in record.targets[0]}
    assert not foreign & touched


@unhurried
@given(holdings, wishes)
def test_an_applied_plan_closes_the_gap_where_nothing_foreign_or_doubtful_stands_in_the_way(
    held: Held, wished: Wishes
) -> None:
    _, there, changes = planned(held, wished, "sync")
    there.take(changes)
    found = contents(there)
    for name in NAMES:
        records, owner, resource, _ = held.get(name, ((), "me", RESOURCES[0], 0))
        if (records and owner != "me") or resource.endswith("doubtful"):
            continue
        is_wanted = bool(name in wished and wished[name][0])
        if not is_wanted and resource.endswith("cart") and records:
            continue  # the object of the record still stands: a wish that got lost is no reason to delete
        expected = {record.type: record.targets for record in wished[name][0]} if is_wanted else {}
        assert {type_: found[at, type_] for at, type_ in found if at == name} == expected


@unhurried
@given(holdings, wishes, policies)
def test_no_name_ever_holds_a_cname_beside_other_records(held: Held, wished: Wishes, policy: str) -> None:
    _, there, changes = planned(held, wished, policy)
    there.take(changes)
    found = contents(there)
    for name in NAMES:
        types = {type_ for at, type_ in found if at == name}
        assert "CNAME" not in types or len(types) == 1


@unhurried
@given(holdings, wishes, policies)
def test_every_record_that_was_created_is_owned(held: Held, wished: Wishes, policy: str) -> None:
    _, there, changes = planned(held, wished, policy)
    there.take(changes)
    for created in changes.create:
        if created.record_type != "TXT":
            row = there.row((created.dns_name, ""))
            assert {h.owner for h in row if h.endpoint.record_type == created.record_type} == {"me"}


@unhurried
@given(holdings, wishes, policies)
def test_a_record_in_doubt_keeps_its_targets(held: Held, wished: Wishes, policy: str) -> None:
    _, there, changes = planned(held, wished, policy)
    there.take(changes)
    found = contents(there)
    for name, (records, owner, resource, _) in held.items():
        if owner == "me" and resource.endswith("doubtful"):
            for record in records:
                assert set(record.targets) <= set(found.get((name, record.type), ()))


@unhurried
@given(holdings, wishes, policies)
def test_planning_name_by_name_gives_what_planning_all_gives(held: Held, wished: Wishes, policy: str) -> None:
    there = inventory(settings_for(policy), zone_of(held), ["example.com"])
    planner = Planner(settings_for(policy), standing)
    sets = {record_set.key: record_set for record_set in record_sets(wished)}
    whole = planner.plan_all(there, sets.values(), allow=True)
    single = [planner.plan_names([(name, "")], there, sets.get, allow=True) for name in sorted(NAMES)]
    assert [change for plan in single for change in plan.changes] == list(whole.changes)


@unhurried
@given(holdings, wishes, policies)
def test_counting_own_records_along_gives_what_counting_anew_gives(held: Held, wished: Wishes, policy: str) -> None:
    _, there, changes = planned(held, wished, policy)
    there.own_count()
    there.take(changes)
    counted = there.own_count()
    there._own_count = None
    assert there.own_count() == counted
