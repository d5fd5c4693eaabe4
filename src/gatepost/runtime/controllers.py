"""Puts the loop together for a cluster: client, feed, writer and rules, each knowing only its neighbour."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from gatepost.cluster.calls import Calls
from gatepost.cluster.client import Client
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.mirror import Mirror
from gatepost.cluster.recorder import EventRecorder
from gatepost.cluster.writer import Writer
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind
from gatepost.objects.settings import settings_among
from gatepost.runtime.asked_kinds import NotingEngine, kinds_read_whole
from gatepost.runtime.clock import LoopClock
from gatepost.runtime.cluster_feed import ClusterFeed
from gatepost.runtime.dns.endpoint_verdicts import DnsVerdicts
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.publisher import ZonePublisher
from gatepost.runtime.dns.telling import News
from gatepost.runtime.dns.zones import Zones
from gatepost.runtime.leadership.leading import Alone, Leadership
from gatepost.runtime.lookups import DnsResolver, NameLookups, Resolver, names_asked
from gatepost.runtime.loop.loop import Loop
from gatepost.runtime.probing import HttpAsker, Prober, probes_wanted
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.writes.outcome import Event, subject


class Controllers:
    """A loop over one cluster, with its feed and its writer."""

    def __init__(
        self,
        client: Client,
        rules: Iterable[Rule[Any]],
        indexes: Iterable[Index],
        *,
        settings: Sequence[KubernetesObject] = (),
        written: frozenset[GroupKind] = frozenset(),
        dns: DnsPart | None = None,
        resolver: Resolver | None = None,
        trust_silent_backends: bool = False,
        leadership: Leadership | None = None,
    ) -> None:
        """
        Args:
            leadership: see `loop.Loop`; `client` asks it as well.
            resolver: asks DNS for names that rules need; by default the servers of this machine.
            settings: objects for the store alone, a `Settings` among them or its defaults count.
            trust_silent_backends: see `probing.Prober`.
            written: the kinds that reconcilers write to (see `wiring.written_kinds`).
        """
        discovery = Discovery(client)
        calls = Calls(client, discovery)
        rules = tuple(rules)
        engine = NotingEngine(rules, indexes, _now())
        self.client = client
        self.mirror = Mirror()
        self.recorder = EventRecorder(calls, _now)
        self.writer = Writer(calls, self.mirror, self.recorder, _now)
        self.leadership = leadership or Alone()
        self.loop = Loop(engine, self.writer, _now, self.leadership)
        self.provider = dns.provider if dns is not None else None
        self.publisher: ZonePublisher | None = None
        if dns is not None:
            self.publisher = self._publisher(dns, dry_run=client.dry_run)
            self.loop.publish_with(self.publisher)
        self.lookups = NameLookups(
            resolver or DnsResolver(),
            self.loop.intake.put_own,
            self.loop.intake.remove,
            movements=self.loop.movements,
        )
        self.prober = Prober(
            HttpAsker(),
            self.loop.intake.put_own,
            self.loop.intake.remove,
            trust_silent_backends=trust_silent_backends,
            movements=self.loop.movements,
        )
        self.loop.others_at_rest = self._others_are_at_rest
        self.mirror.hand_on_to(self.loop.intake)
        for setting in settings:
            engine.put(setting)
        self.feed = ClusterFeed(
            client, discovery, self.mirror, settings_among(settings), written=written, whole=kinds_read_whole(rules)
        )

    def _publisher(self, dns: DnsPart, *, dry_run: bool) -> ZonePublisher:
        loop = self.loop
        clock = LoopClock()
        zones = Zones(
            loop.engine,
            loop.kinds,
            dns,
            clock.now,
            dry_run=dry_run,
            may_write=lambda: self.leadership.is_held,
        )
        verdicts = DnsVerdicts(
            loop.engine,
            zones.is_published,
            loop.intake.put_own,
            loop.intake.remove,
        )
        return ZonePublisher(
            zones,
            interval_seconds=dns.pace.comparison_seconds,
            batch_seconds=dns.pace.min_event_sync_interval,
            tell=self._tell_news,
            moved=loop.movements.note,
            clock=clock,
            note_written=verdicts.note_written,
            forget_written=verdicts.forget,
        )

    async def _tell_news(self, news: News) -> None:
        """Tells events of records, and problems of names as Warning events on the objects that they are about."""
        events = (self._event_of(item) if isinstance(item, Problem) else item for item in news)
        await self.writer.tell([event for event in events if event is not None])

    def _event_of(self, problem: Problem) -> Event | None:
        """None if the object does not exist any more."""
        obj = self.loop.engine.store.get(problem.about)
        return Event(subject(obj), "Warning", problem.reason, _text(problem)) if obj is not None else None

    def _others_are_at_rest(self) -> bool:
        engine = self.loop.engine
        return self.lookups.have_asked(names_asked(engine)) and self.prober.have_asked(probes_wanted(engine))

    async def work(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set. Raises: a fault of the loop itself."""
        engine = self.loop.engine
        async with (
            self.lookups.following(lambda: names_asked(engine)),
            self.prober.following(lambda: probes_wanted(engine)),
            self.leadership.campaigning(self.loop.warmed_up),
        ):
            await self.loop.run(self.feed, stop)


def _text(problem: Problem) -> str:
    """A problem in an event on the object that it is about, which need not be named again."""
    return str(problem).removeprefix(f"{problem.about}: ")


def _now() -> datetime:
    return datetime.now(UTC)
