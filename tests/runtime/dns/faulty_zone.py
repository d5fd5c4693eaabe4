"""One zone that several instances of gatepost write, through answers that get lost, with a referee that sees it all.

The referee holds what must never happen, whoever writes and whatever fails: a change of a record of another owner, and
a deletion of a record that an object of its cluster still asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct, convert

from gatepost.dns.desired import changed_names
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, NameKey
from gatepost.dns.rules import rules
from gatepost.dns.served import UnreadZone
from gatepost.dns.settings import DnsSettings
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import UNREADABLE, Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.providers.contract import Provider, ProviderError, RecordResult, ZonesUnknown
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.registries.contract import OwnershipStore
from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.zones import Zones
from gatepost.runtime.loop.kinds import KnownKinds

ZONE = "example.com"
START = datetime(2026, 1, 1, tzinfo=UTC)
ROUTES, GATEWAYS, NAMESPACES = (type_.KIND.group_kind for type_ in (HTTPRoute, Gateway, Namespace))

NOTHING_IS_SENT = "nothing is sent"
ANSWER_IS_LOST = "the answer is lost"
HALF_IS_MADE = "half is made, and the answer is lost"
SOME_ARE_REFUSED = "some are refused"
LISTING_FAILS = "the listing fails"
ZONE_IS_LOST = "half is made, and it is told which zone is not known any more"
ZONE_IS_UNREAD = "the zone alone cannot be read"
FAULTS = (
    NOTHING_IS_SENT,
    ANSWER_IS_LOST,
    HALF_IS_MADE,
    SOME_ARE_REFUSED,
    LISTING_FAILS,
    ZONE_IS_LOST,
    ZONE_IS_UNREAD,
)


class Fault(Struct, frozen=True):
    """What goes wrong with the next call; `at` says how far it gets."""

    kind: str
    at: int = 0


class Zone:
    """The zone, what is asked of it in each cluster, and what was done that must not be done."""

    def __init__(self) -> None:
        self.inner = EmbeddedProvider([ZONE])
        self.asked: dict[str, set[str]] = {}
        self.offences: list[str] = []
        self._made: dict[str, dict[EndpointKey, tuple[str, ...]]] = {}
        self._asked_when_sent: dict[str, set[str]] = {}

    def store_for(self, actor: str) -> OwnershipStore | None:
        """The store of the registry as one instance reaches it; None where ownership is in the zone."""
        return None

    async def contents(self) -> dict[EndpointKey, tuple[str, ...]]:
        return {record.key: record.targets for record in await self.inner.records()}

    async def addresses(self) -> dict[str, tuple[str, ...]]:
        return {key.dns_name: targets for key, targets in (await self.contents()).items() if key.record_type == "A"}

    async def owner_of(self, name: str) -> str:
        """Who has written down that an A record is theirs, "" for nobody. Read by hand, not by gatepost's registry."""
        for target in (await self.contents()).get(EndpointKey(f"a-{name}", "TXT"), ()):
            for part in target.strip('"').split(","):
                if part.startswith("external-dns/owner="):
                    return part.removeprefix("external-dns/owner=")
        return ""

    def note_sending(self, actor: str) -> None:
        """Takes note that all is planned: what is asked for from here on comes too late for what is on its way."""
        self._asked_when_sent[actor] = set(self.asked.get(actor, ()))

    def note_writing(self, actor: str, is_led: bool) -> None:
        if not is_led:
            self.offences.append(f"{actor} writes though another leads")

    async def judge(self, actor: str, changes: Changes) -> None:
        """Notes what must not be done in these changes; they are judged by what the zone holds before them."""
        there = await self.contents()
        asked = self.asked[actor] & self._asked_when_sent.pop(actor, self.asked[actor])
        for record in (*changes.delete, *changes.update_old):
            owner = await self._owner_behind(record)
            if record.key not in there or self._is_made_by(actor, record.key, there[record.key]):
                continue
            if owner != actor:
                self.offences.append(f"{actor} changes {record.record_type} {record.dns_name} of {owner or 'nobody'}")
        for record in changes.delete:
            is_made = self._is_made_by(actor, record.key, there.get(record.key))
            is_taken_back = is_made and await self._owner_behind(record) != actor
            if record.record_type == "A" and record.dns_name in asked and not is_taken_back:
                self.offences.append(f"{actor} deletes {record.dns_name}, which is still asked for")
        self._made.setdefault(actor, {}).update((record.key, record.targets) for record in changes.create)

    async def is_any_unowned(self, actor: str) -> bool:
        """Whether a record that an actor has made is still without owner."""
        made = {key for key in self._made.get(actor, ()) if key.record_type == "A"} & (await self.contents()).keys()
        return any([not await self.owner_of(key.dns_name) for key in made])

    async def of_others(self, actor: str) -> dict[EndpointKey, tuple[str, ...]]:
        """The records that another owner than this one has, with what says that they are theirs."""
        there = await self.contents()
        found: dict[EndpointKey, tuple[str, ...]] = {}
        for key, targets in there.items():
            if key.record_type != "A" or self._is_made_by(actor, key, targets):
                continue
            if await self.owner_of(key.dns_name) not in ("", actor):
                found[key] = targets
                ownership = EndpointKey(f"a-{key.dns_name}", "TXT")
                found[ownership] = there.get(ownership, ())
        return found

    def _is_made_by(self, actor: str, key: EndpointKey, targets: tuple[str, ...] | None) -> bool:
        """Whether a record is as an actor has made it, who may take it back where it is not written down as theirs."""
        return targets is not None and self._made.get(actor, {}).get(key) == targets

    async def _owner_behind(self, record: Endpoint) -> str:
        name = record.dns_name.removeprefix("a-") if record.record_type == "TXT" else record.dns_name
        return await self.owner_of(name)


class Faulty:
    """Something whose next call may go wrong.

    Attributes: is_led: whether who calls it leads; a writing call without that is an offence.
    """

    fault: Fault | None = None
    is_led = True

    def _fault(self, kind: str) -> Fault | None:
        """The fault that is due, if it is of this kind; it happens once."""
        fault = self.fault
        if fault is None or fault.kind != kind:
            return None
        self.fault = None
        return fault


class Access(Faulty):
    """The zone as one instance reaches it: a provider whose next call may go wrong. Each call waits once."""

    def __init__(self, zone: Zone, actor: str) -> None:
        self.calls = 0
        self._zone = zone
        self._actor = actor

    async def zones(self) -> Sequence[str]:
        await asyncio.sleep(0)
        if self._fault(ZONE_IS_UNREAD):
            raise ZonesUnknown([UnreadZone(ZONE, "the transfer is refused")])
        return [ZONE]

    async def records(self) -> Sequence[Endpoint]:
        if self._fault(LISTING_FAILS):
            raise ProviderError("the transfer breaks off")
        return await self._zone.inner.records()

    def unread(self) -> Sequence[UnreadZone]:
        return ()

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        await asyncio.sleep(0)
        if self._fault(ZONE_IS_UNREAD) or self._fault(LISTING_FAILS):
            raise ZonesUnknown([UnreadZone(zone, "the transfer is refused again")])
        return await self._zone.inner.records()

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return self._zone.inner.adjust(endpoints)

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.calls += 1
        self._zone.note_writing(self._actor, self.is_led)
        await self._zone.judge(self._actor, changes)
        await asyncio.sleep(0)
        theirs = await self._zone.of_others(self._actor)
        try:
            return await self._apply(changes)
        finally:
            if theirs.items() - (await self._zone.of_others(self._actor)).items():
                self._zone.offences.append(f"{self._actor} writes over what another owns")

    async def _apply(self, changes: Changes) -> Sequence[RecordResult]:
        if self._fault(NOTHING_IS_SENT):
            raise ProviderError("no route to host")
        if fault := self._fault(HALF_IS_MADE):
            for single in [*_singles(changes)][: fault.at]:
                await self._zone.inner.apply(single)
            raise ProviderError("connection reset")
        if fault := self._fault(ZONE_IS_LOST):
            for single in [*_singles(changes)][: fault.at]:
                await self._zone.inner.apply(single)
            raise ZonesUnknown([UnreadZone(ZONE, "connection reset")])
        if fault := self._fault(SOME_ARE_REFUSED):
            return [
                result
                for number, single in enumerate(_singles(changes))
                for result in await self._apply_unless(single, (number + fault.at) % 3 == 0)
            ]
        results = await self._zone.inner.apply(changes)
        if self._fault(ANSWER_IS_LOST):
            raise ProviderError("no answer in time")
        return results

    async def _apply_unless(self, single: Changes, is_refused: bool) -> Sequence[RecordResult]:
        if is_refused:
            (record,) = (*single.create, *single.update_new, *single.delete)
            return [RecordResult(record.key, "quota exceeded")]
        return await self._zone.inner.apply(single)


def _singles(changes: Changes) -> Iterator[Changes]:
    """One change each; deletions first, as in a provider that has to make room."""
    for record in changes.delete:
        yield Changes(delete=(record,))
    for old, new in zip(changes.update_old, changes.update_new, strict=True):
        yield Changes(update_old=(old,), update_new=(new,))
    for record in changes.create:
        yield Changes(create=(record,))


class Cluster:
    """The objects of one cluster as they really are, and what an instance is shown of them.

    Kinds that are `hidden` are listed empty, those that are `missing` are not served, those that are `failing` cannot
    be read. Routes that are `unreadable` have a form that cannot be read.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.has_address = True
        self.hidden: set[GroupKind] = set()
        self.missing: set[GroupKind] = set()
        self.failing: set[GroupKind] = set()
        self.unreadable: set[str] = set()
        self.routes: dict[str, tuple[str, ...]] = {}

    @property
    def names(self) -> set[str]:
        """All names that a Route asks for, whatever an instance is shown."""
        return {name for names in self.routes.values() for name in names}

    def be_well(self) -> None:
        """Everything can be read again."""
        self.missing.clear()
        self.failing.clear()
        self.unreadable.clear()

    def shown(self) -> dict[Ref, KubernetesObject]:
        objects: list[KubernetesObject] = [_namespace(), _gateway(self.address if self.has_address else "")]
        objects += [_route(name, names) for name, names in self.routes.items()]
        hidden = self.hidden | self.missing | self.failing
        return {obj.ref: obj for obj in objects if obj.ref.group_kind not in hidden}

    def is_readable(self, ref: Ref) -> bool:
        return ref.group_kind != ROUTES or ref.name not in self.unreadable


class Instance:
    """One gatepost: it polls its cluster, plans, and writes. A new one knows nothing but what it is shown.

    Args: provider: where it writes in place of the zone.
    """

    def __init__(self, owner: str, cluster: Cluster, zone: Zone, provider: Provider | None = None) -> None:
        settings = DnsSettings(sources=("gateway-httproute",), txt_owner_id=owner)
        self.access = Access(zone, owner)
        self.store = zone.store_for(owner)
        self.engine = NotingEngine(*rules(settings), START)
        self.kinds = KnownKinds(self.engine)
        self.seconds = 0.0
        self.slice_seconds = 0.0
        part = DnsPart(settings, provider or self.access, store=self.store)
        self.zones = Zones(self.engine, self.kinds, part, self._now, may_write=lambda: self.leads)
        self._cluster = cluster
        self._held: dict[Ref, KubernetesObject] = {}
        self._spoiled: set[Ref] = set()
        self._due: set[NameKey] = set()
        self._kept_back: frozenset[NameKey] = frozenset()
        self._is_everything_due = True
        for kind in (ROUTES, GATEWAYS, NAMESPACES):
            self.kinds.start(kind)

    def _now(self) -> float:
        self.seconds += self.slice_seconds
        return self.seconds

    def poll(self) -> None:
        """Takes over what the cluster shows, and has the rules see it."""
        self.take_in()
        self.run_rules()

    def take_in(self) -> None:
        """Takes over what the cluster shows."""
        cluster, shown = self._cluster, self._cluster.shown()
        kept = cluster.missing | cluster.failing  # what was known of these still counts
        known = self._held.keys() | self._spoiled
        for ref in [ref for ref in known if ref not in shown and ref.group_kind not in kept]:
            self._is_everything_due |= ref in self._spoiled
            self.engine.remove(ref)
            self._held.pop(ref, None)
            self._spoiled.discard(ref)
        for ref, obj in shown.items():
            self._take_in_one(ref, obj)
        for kind in (ROUTES, GATEWAYS, NAMESPACES):
            self._hear_of(kind)

    def _take_in_one(self, ref: Ref, obj: KubernetesObject) -> None:
        if not self._cluster.is_readable(ref):
            self.engine.put_unreadable(Problem(UNREADABLE, "spec is a number", ref))
            self._spoiled.add(ref)
        elif ref in self._spoiled or self._held.get(ref) != obj:
            self._is_everything_due |= ref in self._spoiled
            self._spoiled.discard(ref)
            self.engine.put(obj, ref)
            self._held[ref] = obj

    def run_rules(self) -> None:
        """Has the rules see what was taken in."""
        changes = self.engine.run_stale()
        self._due.update(changed_names(changes))
        if changes:
            self._due |= self._kept_back
            self._kept_back = frozenset()
        self._is_everything_due |= self.kinds.count_what_came_in()

    def _hear_of(self, kind: GroupKind) -> None:
        if kind in self._cluster.missing:
            self.kinds.miss(kind)
        elif kind in self._cluster.failing:
            self.kinds.fail(kind, "no route to host")
        else:
            self.kinds.complete(kind)

    async def list_zone(self) -> bool:
        """Returns: whether the zone could be read."""
        try:
            await self.zones.list_anew()
        except ProviderError:
            return False
        self._is_everything_due = True
        return True

    async def write(self, names: frozenset[NameKey] | None = None) -> None:
        """Makes the plan come true, as far as it goes."""
        if not self.zones.is_listed:
            return
        try:
            written = await self.zones.write(names)
        except ProviderError:
            self._is_everything_due = True
        else:
            self._kept_back = written.held if names is None else self._kept_back | written.held

    async def round(self) -> None:
        self.poll()
        if await self.list_zone():
            await self.write_due()

    async def follow(self) -> None:
        """Writes what changed since the last write, without a new listing, as is done between two comparisons."""
        self.poll()
        if not self.zones.is_listed:
            await self.round()
            return
        self._due |= self.zones.take_due()
        for _ in range(4):  # a zone is read in the background
            await asyncio.sleep(0)
        self._due |= await self.zones.take_reread()
        await self.write_due()

    async def write_due(self) -> None:
        names = None if self._is_everything_due else frozenset(self._due)
        self._due.clear()
        self._is_everything_due = False
        await self.write(names)

    @property
    def leads(self) -> bool:
        return self.access.is_led

    def lead(self, is_led: bool) -> None:
        """Gains or loses the leadership; who gains it begins anew with what the zone holds then."""
        self.access.is_led = is_led
        if isinstance(self.store, Faulty):
            self.store.is_led = is_led
        if is_led:
            self.zones.stop()
            self.zones.forget()

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds

    def jump(self, days: int) -> None:
        """The clock of the machine is set, forth or back."""
        self.engine.advance(START + timedelta(days=days))
        self.engine.run_stale()


def _gateway(address: str) -> Gateway:
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    return convert(
        {
            "metadata": {"name": "public", "namespace": "infra", "generation": 1},
            "spec": {"gatewayClassName": "x", "listeners": [listener]},
            "status": {"addresses": [{"type": "IPAddress", "value": address}] if address else []},
        },
        Gateway,
    )


def _route(name: str, hostnames: tuple[str, ...]) -> HTTPRoute:
    parent = {"name": "public", "namespace": "infra"}
    accepted = {"type": "Accepted", "status": "True", "observedGeneration": 1}
    return convert(
        {
            "metadata": {"name": name, "namespace": "shop", "generation": 1},
            "spec": {"parentRefs": [parent], "hostnames": list(hostnames)},
            "status": {"parents": [{"parentRef": parent, "controllerName": "x/y", "conditions": [accepted]}]},
        },
        HTTPRoute,
    )


def _namespace() -> Namespace:
    return convert({"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}, Namespace)
