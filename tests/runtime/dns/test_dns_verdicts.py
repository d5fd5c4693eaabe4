"""What DnsVerdicts tells of DNSEndpoints after a write, and what it forgets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import convert

from gatepost.dns.endpoint import NameKey
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.dns_verdicts import DnsVerdict, dns_verdict_ref
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.refs import Ref
from gatepost.runtime.dns.endpoint_verdicts import DnsVerdicts
from gatepost.state.engine import Engine

A, B = ("a.example.com", ""), ("b.example.com", "")


class World:
    """An engine over DNSEndpoints, and the names that DNS holds."""

    def __init__(self) -> None:
        made, indexes = rules(DnsSettings(sources=("crd",)), writes_status=True)
        self.engine = Engine(made, indexes, datetime(2026, 1, 1, tzinfo=UTC))
        self.published: set[NameKey] = set()
        self.put: list[DnsVerdict] = []
        self.dropped: list[Ref] = []
        self.verdicts = DnsVerdicts(self.engine, self.published.__contains__, self._take, self.dropped.append)

    def _take(self, verdict: DnsVerdict) -> None:
        self.put.append(verdict)
        self.engine.put(verdict)

    def write_down(self, name: str, *dns_names: str, generation: int = 1) -> Ref:
        endpoints: list[dict[str, Any]] = [
            {"dnsName": dns_name, "recordType": "A", "targets": ["192.0.2.1"]} for dns_name in dns_names
        ]
        metadata = {"name": name, "namespace": "shop", "uid": f"u-{name}", "generation": generation}
        raw = {"apiVersion": "externaldns.k8s.io/v1alpha1", "metadata": metadata, "spec": {"endpoints": endpoints}}
        written = convert(raw, DNSEndpoint)
        self.engine.put(written)
        self.engine.run_stale()
        return written.ref

    def told(self) -> list[tuple[str, int, str]]:
        found = [(verdict.metadata.name, verdict.generation, verdict.missing) for verdict in self.put]
        self.put.clear()
        return found


@pytest.fixture
def world() -> World:
    return World()


def test_all_names_of_an_object_have_to_be_there(world: World) -> None:
    world.write_down("both", A[0], B[0])
    world.published.add(A)
    world.verdicts.note_written([A])
    assert world.told() == [("both", 1, "b.example.com")]
    world.published.add(B)
    world.verdicts.note_written([B])
    assert world.told() == [("both", 1, "")]


def test_what_is_as_before_is_not_told_again_and_a_new_generation_is(world: World) -> None:
    world.write_down("one", A[0])
    world.published.add(A)
    for _ in range(2):
        world.verdicts.note_written([A, B])
    assert world.told() == [("one", 1, "")]
    world.write_down("one", A[0], generation=2)
    world.verdicts.note_written([A])
    assert world.told() == [("one", 2, "")]


def test_the_verdict_on_an_object_that_is_gone_is_forgotten(world: World) -> None:
    ref = world.write_down("one", A[0])
    world.verdicts.note_written([A])
    world.engine.remove(ref)
    world.engine.run_stale()
    for _ in range(2):
        world.verdicts.note_written([A])
    assert world.dropped == [DnsVerdict.KIND.ref("shop", "one")]


def test_who_leads_no_more_knows_of_no_verdict(world: World) -> None:
    """Another may write until this replica leads again: what it said of DNS before then would be stale."""
    ref = world.write_down("one", A[0])
    world.published.add(A)
    world.verdicts.note_written([A])
    assert world.told() == [("one", 1, "")]
    world.verdicts.forget()
    assert world.dropped == [dns_verdict_ref(ref)]
