"""Two clusters, three instances, one zone, and everything that can go wrong, in any order: a state machine.

Nothing of another owner is touched, nothing is deleted on doubt, nothing is written by who does not lead, and once the
faults are over every living claim has its record.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, Generic, TypeVar, cast

from faulty_zone import (
    FAULTS,
    GATEWAYS,
    ROUTES,
    ZONE,
    Cluster,
    Fault,
    Instance,
    Zone,
)
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import Struct

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.objects.refs import GroupKind
from gatepost.runtime.dns.slices import SLICE_SECONDS

OWNERS = ("east", "west")
REPLICAS = {"east": ("east", "east again"), "west": ("west",)}
INSTANCES = tuple(name for names in REPLICAS.values() for name in names)
ADDRESSES = {"east": "192.0.2.1", "west": "198.51.100.2"}
FEW, MANY = 2, 12  # Routes that are never deleted; many are enough that the cap on removals counts
CONTESTED = tuple(f"shared{number}.{ZONE}" for number in range(3))
BY_HAND = (
    Endpoint(f"hand.{ZONE}", "A", ("203.0.113.1",), 60),
    Endpoint(f"shared0.{ZONE}", "TXT", ('"not an ownership record"',), 60),
    Endpoint(f"a-hand.{ZONE}", "TXT", ('"v=spf1 -all"',), 60),
)
BUDGET_SECONDS = 700.0  # after this, removals that were made no longer count towards the cap
ROUNDS_TO_HEAL = 4

Result = TypeVar("Result")

instances = st.sampled_from(INSTANCES)
owners = st.sampled_from(OWNERS)
kinds = st.sampled_from([ROUTES, GATEWAYS])
workers = st.lists(st.tuples(instances, st.booleans()), max_size=2)  # who works next, and whether by comparing
asked_at_first = st.fixed_dictionaries(
    {f"other{number}": st.frozensets(st.sampled_from(CONTESTED), min_size=1) for number in range(2)}
)
faults = st.builds(Fault, st.sampled_from(FAULTS), st.integers(0, 4))


puts = st.dictionaries(
    st.sampled_from([f"other{number}" for number in range(3)]), st.frozensets(st.sampled_from(CONTESTED)), max_size=2
)  # what people ask for just before an instance goes to work


class Change(Struct, frozen=True):
    """What comes in as an instance at work gives back for the `at`th time; its rules see it at the next."""

    at: int
    kind: str
    number: int = 0
    names: frozenset[str] = frozenset()


ROUTE_COMES, ROUTE_GOES, ROUTE_IS_SPOILED = "a Route comes", "a Route goes", "a Route cannot be read any more"
GATEWAY_FLAPS, ROUTES_FAIL, ROUTES_VANISH, ALL_IS_BACK = (
    "the Gateway flaps",
    "Routes cannot be read",
    "Routes are not served",
    "all can be read again",
)
LEAD_IS_LOST, WORK_IS_CANCELLED = "another leads", "another leads, and what goes on is ended"
CHANGES = (
    ROUTE_COMES,
    ROUTE_GOES,
    ROUTE_IS_SPOILED,
    GATEWAY_FLAPS,
    ROUTES_FAIL,
    ROUTES_VANISH,
    ALL_IS_BACK,
    LEAD_IS_LOST,
    WORK_IS_CANCELLED,
)
incoming = st.builds(
    Change,
    st.integers(0, 12) | st.integers(0, 40),
    st.sampled_from(CHANGES),
    st.integers(0, 2),
    st.frozensets(st.sampled_from(CONTESTED)),
)


def run(work: Coroutine[Any, Any, Result], between: Callable[[], None] = lambda: None) -> Result:
    """The result of work that waits for nothing outside of this process; `between` is called whenever it gives back."""

    async def interleaved() -> Result:
        return await _Interleaved(work, between)

    return asyncio.run(interleaved())


class _Interleaved(Generic[Result]):
    """Work that is looked into whenever it gives back; a CancelledError of `between` is raised in it."""

    def __init__(self, work: Coroutine[Any, Any, Result], between: Callable[[], None]) -> None:
        self._work = work
        self._between = between

    def __await__(self) -> Generator[None, None, Result]:
        error: BaseException | None = None
        while True:
            try:
                waits = self._work.throw(error) if error is not None else self._work.send(None)
            except StopIteration as ended:
                return cast("Result", ended.value)
            assert waits is None, f"{waits} is waited for"
            error = None
            try:
                self._between()
            except asyncio.CancelledError as cancelled:
                error = cancelled
            yield


class FaultyDns(RuleBasedStateMachine):
    """Steps are what happens to clusters, instances and calls; the invariants hold after each of them."""

    make_zone: Callable[[], Zone] = Zone

    def __init__(self) -> None:
        super().__init__()
        self.zone = type(self).make_zone()
        self.clusters = {owner: Cluster(ADDRESSES[owner]) for owner in OWNERS}
        self.instances: dict[str, Instance] = {}
        self.wrote_last: dict[str, str] = {}
        self.is_capped = False

    def teardown(self) -> None:
        run(self.heal())

    @initialize(lasting=st.sampled_from([FEW, MANY]), others=asked_at_first)
    def begin(self, lasting: int, others: dict[str, frozenset[str]]) -> None:
        self.is_capped = lasting == MANY
        run(self.zone.inner.apply(Changes(create=BY_HAND)))
        for owner, cluster in self.clusters.items():
            cluster.routes = {f"lasting{n}": (f"{owner}{n}.{ZONE}",) for n in range(lasting)}
            cluster.routes |= {name: tuple(sorted(names)) for name, names in others.items()}
            self.note_what_is_asked(owner)
        for name in INSTANCES:
            self.start(name)
            self.let_work(name)

    def start(self, name: str) -> None:
        """Starts an instance in the place of the one of that name.

        One that dies between a record and its refused ownership record leaves a record that nothing tells from one
        made by hand. So it does not die then.
        """
        owner = name.split(" ")[0]
        if not run(self.zone.is_any_unowned(owner)):
            self.instances[name] = Instance(owner, self.clusters[owner], self.zone)

    def work(self, workers: Sequence[tuple[str, bool]]) -> None:
        for name, compares in workers:
            self.let_work(name, compares)

    def let_work(self, name: str, compares: bool = True, between: Callable[[], None] = lambda: None) -> None:
        """Has an instance compare all, or write what changed; it leads anew for that if another wrote last."""
        owner, instance = name.split(" ")[0], self.instances[name]
        if not compares and self.wrote_last.get(owner) != name:
            instance.lead(True)
        self.wrote_last[owner] = name
        run(instance.round() if compares else instance.follow(), between)

    def note_what_is_asked(self, owner: str) -> None:
        self.zone.asked[owner] = self.clusters[owner].names

    # What people do

    @rule(
        owner=owners,
        number=st.integers(0, 2),
        names=st.sets(st.sampled_from(CONTESTED)),
        is_hand=st.booleans(),
        then=workers,
    )
    def route_is_put(
        self, owner: str, number: int, names: set[str], is_hand: bool, then: Sequence[tuple[str, bool]]
    ) -> None:
        wanted = {*names, f"hand.{ZONE}"} if is_hand else names
        self.clusters[owner].routes[f"other{number}"] = tuple(sorted(wanted))
        self.note_what_is_asked(owner)
        self.work(then)

    @rule(owner=owners, number=st.integers(0, 2), then=workers)
    def route_is_deleted(self, owner: str, number: int, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].routes.pop(f"other{number}", None)
        self.note_what_is_asked(owner)
        self.work(then)

    # What goes on

    @rule(name=instances)
    def instance_makes_a_round(self, name: str) -> None:
        self.let_work(name)

    @rule(name=instances, other=instances)
    def instance_writes_on_what_it_read_before_another_wrote(self, name: str, other: str) -> None:
        late = self.instances[name]
        late.poll()
        if run(late.list_zone()):
            self.let_work(other)
            run(late.write())
            self.wrote_last.clear()

    @rule(name=instances, seconds=st.sampled_from([1.0, 30.0, BUDGET_SECONDS]))
    def time_passes(self, name: str, seconds: float) -> None:
        self.instances[name].pass_time(seconds)
        self.let_work(name, compares=False)

    @rule(name=instances)
    def instance_follows_what_changed(self, name: str) -> None:
        self.let_work(name, compares=False)

    @rule(name=instances, put=puts, change=incoming, compares=st.booleans(), fault=st.none() | faults)
    def something_changes_while_an_instance_is_at_work(
        self, name: str, put: dict[str, frozenset[str]], change: Change, compares: bool, fault: Fault | None
    ) -> None:
        instance = self.instances[name]
        instance.access.fault = fault
        owner = name.split(" ")[0]
        self.clusters[owner].routes |= {route: tuple(sorted(names)) for route, names in put.items()}
        self.note_what_is_asked(owner)
        given_back = 0

        def between() -> None:
            nonlocal given_back
            given_back += 1
            if given_back == change.at:
                self.come(instance, owner, change)
            elif given_back == change.at + 1:
                instance.run_rules()
                self.note_what_is_asked(owner)

        instance.slice_seconds = SLICE_SECONDS / 4
        with contextlib.suppress(asyncio.CancelledError):
            self.let_work(name, compares, between)
        instance.slice_seconds = 0.0
        instance.run_rules()
        self.note_what_is_asked(owner)
        if not instance.leads:
            for other in REPLICAS[owner]:
                if other != name:
                    self.let_work(other)
            instance.lead(True)

    def come(self, instance: Instance, owner: str, change: Change) -> None:
        cluster, route = self.clusters[owner], f"other{change.number}"
        if change.kind == ROUTE_COMES:
            cluster.routes[route] = tuple(sorted(change.names))
        elif change.kind == ROUTE_GOES:
            cluster.routes.pop(route, None)
        elif change.kind == ROUTE_IS_SPOILED:
            cluster.unreadable.add(route)
        elif change.kind == GATEWAY_FLAPS:
            cluster.has_address = not cluster.has_address
        elif change.kind == ROUTES_FAIL:
            cluster.failing.add(ROUTES)
        elif change.kind == ROUTES_VANISH:
            cluster.missing.add(ROUTES)
        elif change.kind == ALL_IS_BACK:
            cluster.be_well()
        else:
            instance.lead(False)
        self.zone.asked[owner] &= cluster.names
        instance.take_in()
        if change.kind == WORK_IS_CANCELLED:
            raise asyncio.CancelledError

    # What goes wrong

    @rule(name=instances, fault=faults)
    def call_goes_wrong(self, name: str, fault: Fault) -> None:
        self.instances[name].access.fault = fault
        self.let_work(name)

    @rule(name=instances, days=st.integers(-400, 400))
    def clock_jumps(self, name: str, days: int) -> None:
        self.instances[name].jump(days)

    @rule(owner=owners, has_address=st.booleans(), then=workers)
    def gateway_flaps(self, owner: str, has_address: bool, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].has_address = has_address
        self.work(then)

    @precondition(lambda self: self.is_capped)  # nothing but the cap knows that such a list is wrong
    @rule(name=instances)
    def routes_are_listed_empty_for_one_poll(self, name: str) -> None:
        cluster = self.clusters[name.split(" ")[0]]
        cluster.hidden.add(ROUTES)
        self.let_work(name)
        cluster.hidden.discard(ROUTES)

    @rule(owner=owners, kind=kinds, then=workers)
    def kind_is_not_served_any_more(self, owner: str, kind: GroupKind, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].missing.add(kind)
        self.work(then)

    @rule(owner=owners, kind=kinds, then=workers)
    def kind_cannot_be_read(self, owner: str, kind: GroupKind, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].failing.add(kind)
        self.work(then)

    @rule(owner=owners, then=workers)
    def all_can_be_read_again(self, owner: str, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].be_well()
        self.work(then)

    @rule(owner=owners, number=st.integers(0, 2), then=workers)
    def route_cannot_be_read(self, owner: str, number: int, then: Sequence[tuple[str, bool]]) -> None:
        self.clusters[owner].unreadable.add(f"other{number}")
        self.work(then)

    @precondition(lambda self: self.is_capped)
    @rule(name=instances)
    def instance_starts_anew_and_routes_are_listed_empty(self, name: str) -> None:
        self.start(name)
        self.routes_are_listed_empty_for_one_poll(name)

    @rule(name=instances)
    def instance_starts_anew(self, name: str) -> None:
        self.start(name)
        self.let_work(name)

    # What must hold

    @invariant()
    def nothing_was_done_that_must_not_be_done(self) -> None:
        assert self.zone.offences == [], self.zone.offences

    @invariant()
    def what_was_made_by_hand_is_as_it_was(self) -> None:
        there = {record.key: record for record in run(self.zone.inner.records())}
        if there:
            assert [there.get(record.key) for record in BY_HAND] == list(BY_HAND)

    async def heal(self) -> None:
        """All faults end; after a few rounds the zone holds every living claim, and nothing else of ours."""
        for cluster in self.clusters.values():
            cluster.has_address = True
            cluster.be_well()
        for _ in range(ROUNDS_TO_HEAL):
            for instance in self.instances.values():
                instance.access.fault = None
                instance.pass_time(BUDGET_SECONDS * 10)
                await instance.round()
        assert self.zone.offences == [], self.zone.offences
        addresses = await self.zone.addresses()
        if self.instances:
            self.check_addresses(addresses, {name: await self.zone.owner_of(name) for name in addresses})

    def check_addresses(self, addresses: dict[str, tuple[str, ...]], owner_of: dict[str, str]) -> None:
        asked = {name for cluster in self.clusters.values() for name in cluster.names}
        assert set(addresses) == asked | {f"hand.{ZONE}"}
        for name in asked - {f"hand.{ZONE}"}:
            owner = owner_of[name]
            assert name in self.clusters[owner].names
            assert addresses[name] == (ADDRESSES[owner],)
