"""Asks DNS for the names that rules need, and keeps the answers fresh: one look-up a name, whoever asks for it.

| DNS says             | the rules see                                                 | asked again          |
| ---                  | ---                                                           | ---                  |
| addresses            | these                                                         | when their TTL is up |
| no such name, nor data | the last answer; after `GONE_GRACE_SECONDS` of this, none    | often, then at 300 s |
| nothing, or an error | the last answer, however old                                  | later and later      |

Source: RFC 8767 for answering with what was known while DNS fails.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import dns.asyncresolver
import dns.exception
import dns.name
import dns.rdatatype
import dns.resolver
from msgspec import Struct

from gatepost.log_fields import fields
from gatepost.objects.lookups import NameLookup, lookup_ref
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.refs import Ref
from gatepost.reconcilers.lookups import NAME_LOOKUPS
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.wanted_tasks import WantedTasks
from gatepost.state.engine import Engine

log = logging.getLogger("gatepost.lookups")

SHORTEST_SECONDS = 5.0
LONGEST_SECONDS = 300.0
GONE_GRACE_SECONDS = 300.0
JITTER = 0.1
AT_ONCE = 16
ANSWER_SECONDS = 5.0


class Found(Struct, frozen=True):
    """What DNS has for a name: no addresses if it does not exist or has none. They hold for `ttl_seconds`."""

    addresses: tuple[str, ...]
    ttl_seconds: float = SHORTEST_SECONDS


class LookupFailed(Exception):
    """DNS gave no answer that says anything about the name."""


class Resolver(Protocol):
    async def addresses(self, name: str) -> Found:
        """All IPv4 and IPv6 addresses of a name. Raises: LookupFailed."""
        ...


class DnsResolver:
    """Asks the servers of this machine's configuration, or those given.

    Args:
        servers: addresses of DNS servers; empty for those of the system.
    """

    def __init__(self, servers: Collection[str] = (), port: int = 53) -> None:
        self._servers = list(servers)
        self._port = port
        self._resolver: dns.asyncresolver.Resolver | None = None

    async def addresses(self, name: str) -> Found:
        """See Resolver. The TTL is the shortest on the way, aliases included."""
        try:
            absolute = dns.name.from_text(name)
        except (dns.exception.DNSException, UnicodeError) as error:
            raise LookupFailed(f"{name!r} is no name that DNS could hold: {error}") from error
        both = await asyncio.gather(self._of_type(absolute, "A"), self._of_type(absolute, "AAAA"))
        addresses = tuple(sorted({address for found in both for address in found.addresses}))
        return Found(addresses, min(found.ttl_seconds for found in both if found.addresses or not addresses))

    async def _of_type(self, name: dns.name.Name, record_type: str) -> Found:
        try:
            answer = await self._configured().resolve(name, record_type, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return Found(())
        except (dns.exception.DNSException, OSError) as error:
            raise LookupFailed(f"{name}: {record_type}: {error}") from error
        ttl = answer.chaining_result.minimum_ttl
        return Found(tuple(record.address for record in answer), float(ttl))

    def _configured(self) -> dns.asyncresolver.Resolver:
        """Raises: DNSException if this machine's configuration names no server."""
        if self._resolver is None:
            self._resolver = dns.asyncresolver.Resolver(configure=not self._servers)
            if self._servers:
                self._resolver.nameservers = list(self._servers)
                self._resolver.port = self._port
            self._resolver.lifetime = ANSWER_SECONDS
        return self._resolver


class NameLookups:
    """The names that are wanted, each asked for again and again.

    Args:
        put: takes each answer that differs from the one before.
        drop: hears of each answer that nobody needs any more.
        now: seconds that only grow.
        wait: how waiting is done.
        chance: a number from 0 to 1, for jitter: names that came together are not asked together for ever.
        movements: notes each time that DNS was asked, whatever it said.
    """

    def __init__(
        self,
        resolver: Resolver,
        put: Callable[[NameLookup], None],
        drop: Callable[[Ref], None],
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        movements: Movements | None = None,
    ) -> None:
        self._resolver = resolver
        self._put = put
        self._now = now
        self._wait = wait
        self._chance = chance
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._tasks: WantedTasks[str] = WantedTasks(
            "look-up", self._keep_fresh, lambda name: drop(lookup_ref(name)), movements or Movements()
        )

    def want(self, names: Collection[str]) -> None:
        """From now on just these names are kept fresh."""
        self._tasks.want(sorted(names))

    def have_asked(self, names: Iterable[str]) -> bool:
        """Whether DNS has been asked for all these names at least once, whatever it said."""
        return self._tasks.have_asked(names)

    def following(self, names: Callable[[], Collection[str]]) -> AbstractAsyncContextManager[None]:
        """Wants what `names` says, again after each movement, until the end of the context."""
        return self._tasks.following(lambda: self.want(names()))

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _keep_fresh(self, name: str) -> None:
        history = _History()
        while True:
            seconds = await self._ask(name, history)
            self._tasks.note_asked(name)
            await self._wait(seconds * (1 + JITTER * self._chance()))

    async def _ask(self, name: str, history: _History) -> float:
        """Asks once and tells what is new. Returns: when to ask again, in seconds."""
        try:
            async with self._gate:
                found = await self._resolver.addresses(name)
        except LookupFailed as error:
            delay = history.failed()
            log.warning("a name cannot be looked up; its last answer stands", extra=fields(name=name, error=error))
            return delay
        if found.addresses:
            news: tuple[str, ...] | None = history.answered(found.addresses)
            delay = min(max(found.ttl_seconds, SHORTEST_SECONDS), LONGEST_SECONDS)
        else:
            news, delay = history.gone(self._now())
        if news is not None:
            log.info("a name leads elsewhere", extra=fields(name=name, addresses=news))
            self._put(answer_for(name, news))
        return delay


class _History:
    """What was told of one name, and for how long DNS has been saying otherwise."""

    def __init__(self) -> None:
        self._told: tuple[str, ...] | None = None
        self._gone_since: float | None = None
        self._doubtful = 0

    def answered(self, addresses: tuple[str, ...]) -> tuple[str, ...] | None:
        """Returns: the addresses if they are news."""
        self._gone_since = None
        self._doubtful = 0
        return self._tell(addresses)

    def gone(self, now: float) -> tuple[tuple[str, ...] | None, float]:
        """Returns: () if it is to be believed and news, and when to ask again."""
        if self._gone_since is None:
            self._gone_since = now
            self._doubtful = 0
        # Also after a restart: what was told before it may still be served, and one empty answer must not end that.
        is_believed = now - self._gone_since >= GONE_GRACE_SECONDS
        return (self._tell(()) if is_believed else None), self.failed()

    def failed(self) -> float:
        """Returns: when to ask again."""
        self._doubtful += 1
        return float(min(SHORTEST_SECONDS * 2.0 ** min(self._doubtful - 1, 16), LONGEST_SECONDS))

    def _tell(self, addresses: tuple[str, ...]) -> tuple[str, ...] | None:
        if addresses == self._told:
            return None
        self._told = addresses
        return addresses


def names_asked(engine: Engine) -> list[str]:
    """The names that rules need to know right now."""
    if not any(rule is NAME_LOOKUPS for rule in engine.rules):
        return []
    return [str(name) for name, _ in engine.values(NAME_LOOKUPS)]


async def look_up_once(engine: Engine, resolver: Resolver) -> dict[str, str]:
    """Puts an answer for every name that rules ask for into the engine, and runs them to rest.

    Returns: names that could not be looked up, with why.
    """
    failures: dict[str, str] = {}
    known: set[str] = set()
    while names := [name for name in names_asked(engine) if name not in known]:
        known.update(names)
        for name, found in zip(names, await asyncio.gather(*_asked(names, resolver)), strict=True):
            if isinstance(found, LookupFailed):
                failures[name] = str(found)
            else:
                engine.put(answer_for(name, found.addresses))
        engine.run_stale()
    return failures


def _asked(names: Iterable[str], resolver: Resolver) -> list[Awaitable[Found | LookupFailed]]:
    async def ask(name: str) -> Found | LookupFailed:
        try:
            return await resolver.addresses(name)
        except LookupFailed as error:
            return error

    return [ask(name) for name in names]


def answer_for(name: str, addresses: tuple[str, ...]) -> NameLookup:
    """An answer as the store holds it."""
    return NameLookup(metadata=ObjectMeta(name=name), addresses=addresses)
