"""What a plan changes, what it holds, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
from msgspec import structs

from gatepost.dns.domain_filter import domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, NameKey, Property
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import amends, changes_for, still_due
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import DETACHED, DOUBTFUL, GONE, Standing
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref

SETTINGS = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
CART = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "cart")
OTHER = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "other")
KEY = ("app.example.com", "")


def ownership(name: str, owner: str = "me", resource: str = "httproute/shop/cart") -> Endpoint:
    text = f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource={resource}"'
    return Endpoint(name, "TXT", (text,))


def owned(record: Endpoint, owner: str = "me", resource: str = "httproute/shop/cart") -> list[Endpoint]:
    return [record, ownership(f"{record.record_type.lower()}-{record.dns_name}", owner, resource)]


def a(target: str = "192.0.2.1", name: str = "app.example.com", **fields: int) -> Endpoint:
    return Endpoint(name, "A", (target,), fields.get("ttl", 0))


def wanted(
    *records: Record,
    by: Ref = CART,
    hold: Skipped | None = None,
    problems: tuple[Problem, ...] = (),
    name: str = KEY[0],
) -> RecordSet:
    return RecordSet(name, "", records, (Claimant("2026-01-01T00:00:00Z", by),), problems, hold)


def stands(kind: str) -> Callable[[str, NameKey], Standing]:
    return lambda resource, key: Standing(kind, f"{resource} is {kind}", CART)


def plan(
    held: Iterable[Endpoint],
    *record_sets: RecordSet,
    settings: DnsSettings = SETTINGS,
    standing: str = GONE,
    allow: bool = False,
) -> tuple[Plan, Inventory]:
    there = inventory(settings, held, ["example.com"])
    return Planner(settings, stands(standing)).plan_all(there, record_sets, allow=allow), there


def summary(found: Plan) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [
        (change.action, change.record.dns_name, change.record.record_type, tuple(cause.kind for cause in change.causes))
        for change in found.changes
    ]


def held_back(found: Plan) -> list[tuple[str, str, str]]:
    return [(held.action, held.record.record_type, held.cause.kind) for held in found.held]


# Creating


def test_a_new_name_is_created_with_its_ownership_record() -> None:
    found, there = plan([], wanted(Record("A", ("192.0.2.1",), 60)))
    assert summary(found) == [("create", KEY[0], "A", ("new",))]
    changes = changes_for(found.allowed, there)
    assert [(record.dns_name, record.record_type, record.targets) for record in changes.create] == [
        ("a-app.example.com", "TXT", ownership("").targets),
        ("app.example.com", "A", ("192.0.2.1",)),
    ]
    assert changes.create[1].labels == {"owner": "me", "resource": "httproute/shop/cart"}
    assert changes.create[1].record_ttl == 60


def test_a_name_that_another_owner_holds_is_left_alone_and_told() -> None:
    found, _ = plan(owned(a("198.51.100.7"), "them"), wanted(Record("A", ("192.0.2.1",))))
    assert found.changes == ()
    assert [(problem.reason, problem.about) for problem in found.problems] == [("ForeignRecord", CART)]
    assert "them" in found.problems[0].message


def test_it_is_told_even_where_the_record_is_as_wanted() -> None:
    found, _ = plan(owned(a(), "them"), wanted(Record("A", ("192.0.2.1",))))
    assert found.changes == ()
    assert [str(problem) for problem in found.problems] == [
        f"{CART}: app.example.com A belongs to them and is left as it is"
    ]


def test_no_type_is_put_beside_the_record_of_another_owner() -> None:
    found, _ = plan(owned(a(), "them"), wanted(Record("A", ("192.0.2.1",)), Record("AAAA", ("2001:db8::1",))))
    assert found.changes == ()
    assert [problem.reason for problem in found.problems] == ["ForeignRecord", "ForeignRecord"]
    assert "app.example.com A belongs to them" in found.problems[0].message
    assert "so no AAAA is put beside them" in found.problems[1].message


def test_a_left_over_ownership_record_of_another_owner_is_a_claim() -> None:
    found, _ = plan([ownership("a-app.example.com", "them")], wanted(Record("A", ("192.0.2.1",))))
    assert found.changes == ()
    assert [problem.reason for problem in found.problems] == ["ForeignOwnership"]


def test_an_own_left_over_ownership_record_is_used_again() -> None:
    left = ownership("a-app.example.com", "me", "httproute/shop/old")
    found, there = plan([left], wanted(Record("A", ("192.0.2.1",))))
    changes = changes_for(found.allowed, there)
    assert [record.record_type for record in changes.create] == ["A"]
    assert [record.targets for record in changes.update_old] == [left.targets]
    assert [record.targets for record in changes.update_new] == [ownership("").targets]


def test_an_ownership_record_with_two_owners_belongs_to_nobody() -> None:
    texts = (*ownership("", "me").targets, *ownership("", "them").targets)
    found, _ = plan(
        [a("198.51.100.7"), Endpoint("a-app.example.com", "TXT", texts)], wanted(Record("A", ("192.0.2.1",)))
    )
    assert found.changes == ()
    assert "me, them" in found.problems[0].message


def test_a_name_whose_ownership_cannot_be_written_is_not_created() -> None:
    name = "a" * 62 + ".example.com"
    found, _ = plan([], wanted(Record("A", ("192.0.2.1",)), name=name))
    assert found.changes == ()
    assert [problem.reason for problem in found.problems] == ["OwnershipNotWritable"]


# Updating


@pytest.mark.parametrize(
    ("record", "kinds"),
    [
        (Record("A", ("192.0.2.1",)), None),  # a TTL that nobody asks for changes nothing
        (Record("A", ("192.0.2.1",), 60), ("ttl",)),
        (Record("A", ("192.0.2.2",), 300), ("targets",)),
        (Record("A", ("192.0.2.1",), 300, (Property("aws/weight", "1"),)), ("properties",)),
        (Record("A", ("192.0.2.2",), 60), ("targets", "ttl")),
    ],
)
def test_an_update_names_what_differs(record: Record, kinds: tuple[str, ...] | None) -> None:
    found, _ = plan(owned(a(ttl=300)), wanted(record))
    assert summary(found) == ([] if kinds is None else [("update", KEY[0], "A", kinds)])


def test_the_object_that_holds_a_record_keeps_it_while_it_agrees() -> None:
    agreeing = RecordSet(*KEY, (Record("A", ("192.0.2.2",)),), (Claimant("2020", OTHER), Claimant("2026", CART)))
    found, there = plan(owned(a()), agreeing)
    assert [change.record.labels["resource"] for change in found.changes] == ["httproute/shop/cart"]
    # Its ownership record says so already and is not written again.
    assert [record.record_type for record in changes_for(found.allowed, there).update_new] == ["A"]


def test_a_record_whose_ownership_is_in_an_old_form_gets_a_new_one_and_is_not_touched() -> None:
    found, there = plan([a(), ownership("app.example.com")], wanted(Record("A", ("192.0.2.1",))))
    assert summary(found) == [("update", KEY[0], "A", ("ownership",))]
    changes = changes_for(found.allowed, there)
    assert [(record.dns_name, record.record_type) for record in changes.create] == [("a-app.example.com", "TXT")]
    assert (changes.update_new, changes.delete) == ((), ())


def test_a_new_owner_takes_over_from_the_named_former_owner_only() -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", migrate_from_txt_owner="old")
    former = ownership("a-app.example.com", "old")
    found, there = plan([a(), former], wanted(Record("A", ("192.0.2.1",))), settings=chosen)
    assert summary(found) == [("update", KEY[0], "A", ("owner",))]
    changes = changes_for(found.allowed, there)
    assert [record.targets for record in changes.update_old] == [former.targets]  # what is stored, to the letter
    assert [record.targets for record in changes.update_new] == [ownership("").targets]
    there.take(changes)
    assert Planner(chosen, stands(GONE)).plan_all(there, [wanted(Record("A", ("192.0.2.1",)))]) == Plan()
    foreign, _ = plan(owned(a(), "them"), wanted(Record("A", ("192.0.2.1",))), settings=chosen)
    assert foreign.changes == ()


def test_a_record_of_the_former_owner_that_nothing_here_asks_for_stays() -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", migrate_from_txt_owner="old")
    found, there = plan(owned(a(), "old"), settings=chosen, standing=GONE)  # another cluster of theirs may ask for it
    assert found.changes == ()
    assert held_back(found) == [("delete", "A", "doubtful")]
    assert "old" in found.held[0].cause.message
    assert there.former_count() == 1


# Deleting


@pytest.mark.parametrize("standing", [GONE, DETACHED])
def test_a_record_whose_object_is_gone_or_let_go_is_deleted_with_its_ownership_record(standing: str) -> None:
    found, there = plan(owned(a()), standing=standing)
    assert summary(found) == [("delete", KEY[0], "A", (standing,))]
    assert [record.record_type for record in changes_for(found.allowed, there).delete] == ["A", "TXT"]


def test_a_record_whose_object_is_in_doubt_is_held() -> None:
    found, _ = plan(owned(a()), standing=DOUBTFUL)
    assert found.changes == ()
    assert held_back(found) == [("delete", "A", "doubtful")]


def test_a_doubt_that_has_lasted_long_enough_is_let_go() -> None:
    there = inventory(SETTINGS, owned(a()))
    passing = Planner(SETTINGS, lambda resource, key: Standing(DOUBTFUL, "no address yet", CART, may_end=True))
    assert held_back(passing.plan_names([KEY], there, lambda key: None)) == [("delete", "A", "doubtful")]
    found = passing.plan_names([KEY], there, lambda key: None, let_go={KEY})
    assert summary(found) == [("delete", KEY[0], "A", ("doubtful",))]


def test_a_doubt_that_says_nothing_about_the_object_is_never_let_go() -> None:
    there = inventory(SETTINGS, owned(a()))
    found = Planner(SETTINGS, stands(DOUBTFUL)).plan_names([KEY], there, lambda key: None, let_go={KEY})
    assert found.changes == ()
    assert held_back(found) == [("delete", "A", "doubtful")]


def test_time_does_not_decide_a_conflict() -> None:
    refused = wanted(hold=Skipped("DNSConflict", "two objects want it", CART))
    there = inventory(SETTINGS, owned(a()))
    found = Planner(SETTINGS, stands(GONE)).plan_names([KEY], there, {KEY: refused}.get, let_go={KEY})
    assert found.changes == ()
    assert held_back(found) == [("delete", "A", "doubtful")]


def test_less_targets_of_an_object_in_doubt_are_published_once_it_is_let_go() -> None:
    hold = Skipped("NoAddress", "has no address yet", CART)
    less = wanted(Record("A", ("192.0.2.1",)), hold=hold)
    there = inventory(SETTINGS, owned(Endpoint(KEY[0], "A", ("192.0.2.1", "192.0.2.2"))))
    found = Planner(SETTINGS, stands(GONE)).plan_names([KEY], there, {KEY: less}.get, let_go={KEY})
    assert [change.record.targets for change in found.changes] == [("192.0.2.1",)]


def test_a_held_record_set_keeps_what_is_there() -> None:
    hold = Skipped("NoAddress", "has no address yet", CART)
    found, _ = plan(owned(a()), wanted(hold=hold))
    assert held_back(found) == [("delete", "A", "doubtful")]


def test_an_incomplete_wish_adds_and_takes_nothing_away() -> None:
    hold = Skipped("NoAddress", "has no address yet", CART)
    two = Endpoint(KEY[0], "A", ("192.0.2.1", "192.0.2.2"))
    less, _ = plan(owned(two), wanted(Record("A", ("192.0.2.1",)), hold=hold))
    assert (less.changes, held_back(less)) == ((), [("update", "A", "doubtful")])
    more, _ = plan(owned(a()), wanted(Record("A", ("192.0.2.1", "192.0.2.2")), hold=hold))
    assert summary(more) == [("update", KEY[0], "A", ("targets",))]


def test_a_name_is_not_taken_from_an_object_in_doubt_by_another_that_wants_it() -> None:
    found, _ = plan(owned(a()), wanted(Record("A", ("198.51.100.1",)), by=OTHER), standing=DOUBTFUL)
    assert (found.changes, held_back(found)) == ((), [("update", "A", "doubtful")])


def test_a_name_goes_to_the_winner_from_an_object_that_was_heard_and_lost() -> None:
    lost = (Problem("DNSConflict", "belongs to another", CART),)
    found, _ = plan(owned(a()), wanted(Record("A", ("198.51.100.1",)), by=OTHER, problems=lost), standing=DOUBTFUL)
    assert summary(found) == [("update", KEY[0], "A", ("targets",))]
    assert found.changes[0].record.labels["resource"] == "httproute/shop/other"


def test_records_of_others_and_of_nobody_are_never_deleted() -> None:
    found, _ = plan([*owned(a(), "them"), a(name="manual.example.com")])
    assert (found.changes, found.held) == ((), ())


# Changing the type


def test_a_change_of_type_is_a_deletion_and_a_creation() -> None:
    found, there = plan(owned(a()), wanted(Record("CNAME", ("lb.example.net",))))
    assert summary(found) == [("delete", KEY[0], "A", ("detached",)), ("create", KEY[0], "CNAME", ("type",))]
    changes = changes_for(found.allowed, there)
    assert [record.dns_name for record in changes.delete] == ["app.example.com", "a-app.example.com"]
    assert [record.dns_name for record in changes.create] == ["cname-app.example.com", "app.example.com"]


@pytest.mark.parametrize("policy", ["upsert-only", "create-only"])
@pytest.mark.parametrize("record", [Record("CNAME", ("lb.example.net",)), Record("AAAA", ("2001:db8::1",))])
def test_a_change_of_type_is_done_whole_or_not_at_all(policy: str, record: Record) -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", policy=policy)
    found, _ = plan(owned(a()), wanted(record), settings=chosen)
    assert found.changes == ()
    assert held_back(found) == [("delete", "A", "policy"), ("create", record.type, "policy")]


def test_a_change_of_type_waits_while_a_part_of_it_is_in_doubt() -> None:
    six = Endpoint(KEY[0], "AAAA", ("2001:db8::1",))
    held = [*owned(a(), resource="httproute/shop/other"), *owned(six, resource="httproute/shop/cart")]
    there = inventory(SETTINGS, held)
    planner = Planner(
        SETTINGS, lambda resource, key: Standing(DOUBTFUL if resource.endswith("other") else GONE, "so it is", OTHER)
    )
    found = planner.plan_all(there, [wanted(Record("CNAME", ("lb.example.net",)))])
    assert found.changes == ()
    assert {(held.action, held.record.record_type) for held in found.held} == {
        ("delete", "A"),
        ("delete", "AAAA"),
        ("create", "CNAME"),
    }


def test_a_record_stays_while_the_one_to_take_its_place_cannot_be_created() -> None:
    left = ownership("cname-app.example.com", "them")
    found, _ = plan([*owned(a()), left], wanted(Record("CNAME", ("lb.example.net",))))
    assert found.changes == ()
    assert [held.record.record_type for held in found.held] == ["A"]
    assert [problem.reason for problem in found.problems] == ["ForeignOwnership"]


# Policies


@pytest.mark.parametrize(
    ("policy", "actions"),
    [("sync", ["delete", "create", "update"]), ("upsert-only", ["create", "update"]), ("create-only", ["create"])],
)
def test_a_policy_leaves_out_what_it_does_not_do_and_says_so(policy: str, actions: list[str]) -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", policy=policy)
    held = [*owned(a(name="gone.example.com")), *owned(a(name="there.example.com"))]
    found, _ = plan(
        held,
        wanted(Record("A", ("192.0.2.9",)), name="there.example.com"),
        wanted(Record("A", ("192.0.2.9",)), name="new.example.com"),
        settings=chosen,
    )
    assert [change.action for change in found.changes] == actions
    assert sorted([change.action for change in found.changes] + [held.action for held in found.held]) == [
        "create",
        "delete",
        "update",
    ]


# What is in reach


def test_names_and_types_out_of_reach_are_neither_created_nor_deleted() -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, txt_owner_id="me", domain_filter=("example.org",))
    found, _ = plan(owned(a()), wanted(Record("A", ("192.0.2.9",))), settings=chosen)
    assert found == Plan()
    mail = Endpoint(KEY[0], "MX", ("10 mx.example.net",))
    assert plan(owned(mail))[0] == Plan()


def test_a_name_outside_of_the_domains_of_the_provider_is_told_and_left_alone() -> None:
    planner = Planner(SETTINGS, stands(GONE), served=Served(domains=domain_filter(("example.org",))))
    found = planner.plan_all(inventory(SETTINGS, []), [wanted(Record("A", ("192.0.2.9",)))])
    assert found.changes == ()
    assert found.held == ()
    assert [problem.reason for problem in found.problems] == ["NoZone"]


def test_without_a_registry_everything_in_reach_is_ours_and_no_ownership_is_written() -> None:
    chosen = DnsSettings(sources=SETTINGS.sources, registry="noop")
    found, there = plan([a()], settings=chosen)
    changes = changes_for(found.allowed, there)
    assert changes == Changes(delete=changes.delete)
    assert [record.record_type for record in changes.delete] == ["A"]


# The cap


def zone(count: int) -> list[Endpoint]:
    return [record for number in range(count) for record in owned(a(name=f"{number}.example.com"))]


def keep(numbers: Sequence[int]) -> list[RecordSet]:
    return [wanted(Record("A", ("192.0.2.1",)), name=f"{number}.example.com") for number in numbers]


def test_a_plan_that_removes_too_large_a_share_stops_and_says_how_to_go_on() -> None:
    found, _ = plan(zone(20), *keep(range(13)))  # 7 of 20 are more than 30 %
    assert found.stopped is not None
    assert (found.stopped.removed, found.stopped.own) == (7, 20)
    assert str(found.stopped) == (
        "this plan deletes or points elsewhere 7 of 20 own records (35%), more than 30% is not done unasked; "
        "look through it, and let it through with --allow"
    )
    assert len(found.changes) == 7
    assert found.allowed == ()


def test_a_plan_at_the_limit_goes_through() -> None:
    found, _ = plan(zone(20), *keep(range(14)))
    assert found.stopped is None
    assert len(found.allowed) == 6


def test_a_small_number_of_own_records_has_no_cap() -> None:
    found, _ = plan(zone(10))
    assert found.stopped is None
    assert len(found.allowed) == 10


def test_the_cap_can_be_lifted_for_once() -> None:
    found, _ = plan(zone(20), allow=True)
    assert len(found.allowed) == 20


def test_pointing_elsewhere_counts_and_adding_a_target_does_not() -> None:
    elsewhere = [wanted(Record("A", ("203.0.113.1",)), name=f"{number}.example.com") for number in range(20)]
    assert plan(zone(20), *elsewhere)[0].stopped is not None
    more = [wanted(Record("A", ("192.0.2.1", "203.0.113.1")), name=f"{number}.example.com") for number in range(20)]
    assert plan(zone(20), *more)[0].stopped is None


def test_records_of_others_do_not_raise_the_cap() -> None:
    others = [record for number in range(80) for record in owned(a(name=f"x{number}.example.com"), "them")]
    assert plan([*zone(20), *others], *keep(range(13)))[0].stopped is not None


def test_what_was_removed_a_short_while_ago_counts_too() -> None:
    there = inventory(SETTINGS, zone(20))
    planner = Planner(SETTINGS, stands(GONE))
    first = [(f"{number}.example.com", "") for number in range(4)]
    assert planner.plan_names(first, there, lambda key: None).stopped is None
    assert planner.plan_names(first, there, lambda key: None, removed_before=5).stopped is not None


def test_a_provider_that_spells_a_name_otherwise_gets_the_name_as_we_know_it() -> None:
    def spelled(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
        return [structs.replace(endpoint, dns_name=f"{endpoint.dns_name}.".upper()) for endpoint in endpoints]

    there = inventory(SETTINGS, [], ["example.com"])
    found = Planner(SETTINGS, stands(GONE), spelled).plan_all(there, [wanted(Record("A", ("192.0.2.1",)))])
    changes = changes_for(found.allowed, there)
    assert {record.dns_name for record in changes.create} == {"app.example.com", "a-app.example.com"}


# One name at a time


def test_planning_one_name_plans_that_name_only() -> None:
    there = inventory(SETTINGS, zone(5))
    found = Planner(SETTINGS, stands(GONE)).plan_names([("3.example.com", "")], there, lambda key: None)
    assert summary(found) == [("delete", "3.example.com", "A", ("gone",))]


def test_the_inventory_follows_changes_but_those_that_were_refused() -> None:
    found, there = plan(zone(12), *keep(range(10)), wanted(Record("A", ("192.0.2.1",)), name="new.example.com"))
    assert there.own_count() == 12
    changes = changes_for(found.allowed, there)
    refused = [a(name="11.example.com").key, ownership("a-11.example.com").key]
    there.take(changes, failed=refused)
    assert there.own_count() == 12  # one came, one of two went
    assert there.row(("10.example.com", "")) == ()
    assert [holding.owner for holding in there.row(("new.example.com", ""))] == ["me"]
    assert amends(changes, refused, there) == Changes()


def test_a_record_that_stayed_gets_its_ownership_record_back() -> None:
    found, there = plan(owned(a()))
    changes = changes_for(found.allowed, there)
    refused = [a().key]
    there.take(changes, refused)
    mended = amends(changes, refused, there)
    assert [(record.dns_name, record.targets) for record in mended.create] == [
        ("a-app.example.com", ownership("").targets)
    ]
    there.take(mended)
    assert [holding.owner for holding in there.row(KEY)] == ["me"]


def test_a_record_that_came_without_its_ownership_record_goes_again() -> None:
    found, there = plan([], wanted(Record("A", ("192.0.2.1",))))
    changes = changes_for(found.allowed, there)
    mended = amends(changes, [ownership("a-app.example.com").key], there)
    assert [record.record_type for record in mended.delete] == ["A"]
    assert mended.create == ()


def test_mending_that_has_to_wait_touches_only_what_is_still_as_it_was_left() -> None:
    found, there = plan(owned(a()))
    lost = amends(changes_for(found.allowed, there), [a().key], there)
    assert still_due(lost, inventory(SETTINGS, [a()])) == lost
    for since in ([], owned(a()), owned(a(), "them")):  # it is gone, it is mended, it has another owner
        assert still_due(lost, inventory(SETTINGS, since)) == Changes()
    found, there = plan([], wanted(Record("A", ("192.0.2.1",))))
    unowned = amends(changes_for(found.allowed, there), [ownership("a-app.example.com").key], there)
    assert still_due(unowned, inventory(SETTINGS, [a()])) == unowned
    for since in ([], [a("198.51.100.7")], owned(a())):
        assert still_due(unowned, inventory(SETTINGS, since)) == Changes()
