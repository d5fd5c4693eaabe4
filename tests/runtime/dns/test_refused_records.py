"""Records that a provider refuses: ownership that stays right, a back-off of their own, and who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.providers.contract import ProviderError, RecordResult
from publishing_cluster import HandClock, Provider, gateway, namespace, publishing, route

RECORD, OWNERSHIP = EndpointKey("a.example.com", "A"), EndpointKey("a-a.example.com", "TXT")
TEXT = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/a"'


async def test_a_record_that_may_not_be_deleted_keeps_its_owner() -> None:
    provider, clock = Provider(), HandClock()
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        provider.refused = {RECORD}
        cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", "a"))
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
        assert await provider.texts() == {"a-a.example.com": TEXT}
        assert cluster.loop.failures == ["DNS could not be written"]
        provider.refused = set()
        await clock.advance(10)
        assert await provider.records() == []


async def test_a_record_whose_owner_cannot_be_written_down_does_not_stay() -> None:
    provider, clock = Provider(), HandClock()
    provider.refused = {OWNERSHIP}
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {}
        (told,) = cluster.told
        assert (told.reason, told.about) == ("RecordError", HTTPRoute.KIND.ref("shop", "a"))
        assert "a-a.example.com: quota exceeded" in told.message
        provider.refused = set()
        await clock.advance(10)
        assert await provider.addresses() == {"a.example.com": ("192.0.2.1",)}
        assert await provider.texts() == {"a-a.example.com": TEXT}


class LosesAnswers(Provider):
    """Cannot be reached for a number of batches, from the `first` on."""

    first, number = 0, 0

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        if self.first <= len(self.batches) < self.first + self.number:
            self.batches.append(changes)
            raise ProviderError("connection reset")
        return await super().apply(changes)


async def test_ownership_that_could_not_be_mended_at_once_is_mended_later() -> None:
    provider, clock = LosesAnswers(), HandClock()
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        provider.refused = {RECORD}
        provider.first, provider.number = 2, 1  # the second batch takes out the ownership record alone
        cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", "a"))

        async def is_mended() -> bool:
            return len(provider.batches) > 3 and await provider.texts() == {"a-a.example.com": TEXT}

        await cluster.until(is_mended)
        assert await provider.addresses() == {"a.example.com": ("192.0.2.1",)}


async def test_a_refused_record_waits_longer_each_time_and_holds_up_no_other() -> None:
    provider, clock = Provider(), HandClock()
    provider.refused = {RECORD, OWNERSHIP}
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
        assert len(provider.batches) == 1
        await clock.advance(4.9)
        assert len(provider.batches) == 1
        await clock.advance(2.7)  # 5 seconds, and up to half of that by chance
        assert len(provider.batches) == 2
        await clock.advance(9.9)
        assert len(provider.batches) == 2
        cluster.put(route("c", "c.example.com"))
        assert set(await cluster.rest()) == {"b.example.com", "c.example.com"}
        assert {record.dns_name for record in provider.batches[2].create} == {"c.example.com", "a-c.example.com"}
        await clock.advance(5.2)  # 10 seconds, and up to half of that by chance
        assert len(provider.batches) == 4
        assert [(problem.reason, problem.about.name) for problem in cluster.told] == [("RecordError", "a")]


async def test_a_new_wish_for_a_refused_name_is_tried_at_once() -> None:
    provider, clock = Provider(), HandClock()
    provider.refused = {EndpointKey("a.example.com", "CNAME"), EndpointKey("cname-a.example.com", "TXT")}
    target = {"external-dns.kubernetes.io/target": "edge.example.net"}
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", annotations=target))
        cluster.complete()
        assert await cluster.rest() == {}
        cluster.put(route("a", "a.example.com"))
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
        assert cluster.loop.failures == []


async def test_a_refused_name_that_nothing_wants_any_more_is_forgotten() -> None:
    provider, clock = Provider(), HandClock()
    provider.refused = {RECORD, OWNERSHIP}
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", "a"))
        assert await cluster.rest() == {}
        assert cluster.loop.failures == []
        await clock.advance(100)
        assert len(provider.batches) == 1


class Forgetful(Provider):
    """Takes properties, and lists none."""

    async def records(self) -> Sequence[Endpoint]:
        found = await super().records()
        return [Endpoint(r.dns_name, r.record_type, r.targets, r.record_ttl, r.set_identifier) for r in found]


WEIGHTED = {"external-dns.kubernetes.io/aws-weight": "5"}


async def test_a_property_that_a_provider_does_not_keep_is_sent_three_times_and_told() -> None:
    provider, clock = Forgetful(), HandClock()
    async with publishing(provider, clock=clock, interval_seconds=300) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", annotations=WEIGHTED))
        cluster.complete()
        await cluster.rest()
        for _ in range(3):
            assert cluster.told == []
            await clock.advance(300)
        assert len(provider.batches) == 4  # one creation, three updates
        for _ in range(3):
            await clock.advance(300)
        assert len(provider.batches) == 4
        (told,) = cluster.told
        assert (told.reason, told.about) == ("UpdateDoesNotTake", HTTPRoute.KIND.ref("shop", "a"))
        assert "aws/weight unset -> 5" in told.message
        cluster.put(route("a", "a.example.com"))  # the setting is taken away: no difference is left
        await cluster.rest()
        await clock.advance(300)
        assert len(provider.batches) == 4


async def test_drift_that_comes_again_and_again_is_repaired_each_time() -> None:
    provider, clock = Provider(), HandClock()
    async with publishing(provider, clock=clock, interval_seconds=300) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        (right,) = [record for record in await provider.records() if record.record_type == "A"]
        wrong = Endpoint("a.example.com", "A", ("203.0.113.9",))
        for _ in range(5):
            await provider.apply(Changes(update_old=(right,), update_new=(wrong,)))
            await clock.advance(300)
            assert await provider.addresses() == {"a.example.com": ("192.0.2.1",)}
            await clock.advance(300)
        assert cluster.told == []


class Slow(Provider):
    """Answers to a batch when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = asyncio.Event(), asyncio.Event()

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.asked.set()
        await self.answers.wait()
        return await super().apply(changes)


async def test_a_provider_that_takes_its_time_holds_up_nothing_but_itself() -> None:
    provider = Slow()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await provider.asked.wait()
        cluster.put(route("b", "b.example.com"))
        key = ("b.example.com", "")

        async def is_worked_out() -> bool:
            engine = cluster.loop.engine
            return engine.value(engine.rule("dns record sets"), key) is not None

        await cluster.until(is_worked_out)
        assert provider.batches == []
        provider.answers.set()
        assert set(await cluster.rest()) == {"a.example.com", "b.example.com"}


async def test_a_large_batch_in_memory_lets_others_have_their_turn() -> None:
    provider = Provider()
    batch = Changes(create=tuple(Endpoint(f"n{number}.example.com", "A", ("192.0.2.1",)) for number in range(2000)))
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    others = asyncio.create_task(take_turns())
    await provider.apply(batch)
    others.cancel()
    assert len(await provider.records()) == 2000
    assert turns >= 5
