"""The metrics: their values after things that happened, their names, and the table that documents them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.objects.serving import DomainMapping
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.server import WebhookServer
from gatepost.providers.webhook.settings import WebhookSettings
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.leadership.leading import Alone
from gatepost.runtime.listening import listening
from gatepost.runtime.metrics import metrics_of, metrics_of_webhook
from gatepost.runtime.metrics.dns import DnsCollector
from mapping_shop import RULE, Shop, shop
from publishing_cluster import Cluster, Provider, gateway, gateway_without_address, namespace, publishing, route
from running_controllers import running

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"

Samples = dict[str, float]


def samples_in(text: bytes) -> Samples:
    """Value by name and labels, in the form `name{label=value}`."""
    found: Samples = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def dns_samples(cluster: Cluster, *, is_held: bool = True) -> Samples:
    registry = CollectorRegistry(auto_describe=False)
    leadership = Alone() if is_held else SimpleNamespace(is_held=False)
    parts: Any = SimpleNamespace(publisher=cluster.publisher, loop=cluster.loop, leadership=leadership)
    registry.register(DnsCollector(parts))
    return samples_in(generate_latest(registry))


async def put_and_rest(cluster: Cluster) -> None:
    cluster.put(namespace("shop"), namespace("infra"), gateway(), route("cart", "cart.example.com"))
    cluster.complete()
    await cluster.rest()


async def test_records_are_counted_where_they_are_wanted_held_and_both() -> None:
    async with publishing() as cluster:
        await put_and_rest(cluster)
        found = dns_samples(cluster)
    assert found["external_dns_source_endpoints_total"] == 1
    assert found["external_dns_source_records{record_type=A}"] == 1
    assert found["external_dns_registry_endpoints_total"] == 1
    assert found["external_dns_registry_records{record_type=A}"] == 1
    assert found["external_dns_controller_verified_records{record_type=A}"] == 1
    assert found["gatepost_dns_changes_total{action=create,record_type=A,result=made}"] == 1
    assert found["external_dns_controller_no_op_runs_total"] == 0
    assert found["external_dns_controller_last_sync_timestamp_seconds"] > 1.7e9
    assert 0 <= found["gatepost_dns_comparison_age_seconds"] < 60


async def test_a_record_of_another_owner_is_told_with_that_owner_and_its_domain() -> None:
    provider = Provider()
    record = Endpoint("cart.example.com", "A", ("198.51.100.1",))
    text = '"heritage=external-dns,external-dns/owner=them,external-dns/resource=httproute/x/y"'
    ownership = Endpoint("a-cart.example.com", "TXT", (text,))
    await provider.apply(Changes(create=(record, ownership)))
    async with publishing(provider) as cluster:
        await put_and_rest(cluster)
        found = dns_samples(cluster)
    labels = "domain=example.com,foreign_owner=them,owner=me,record_type=A"
    assert found[f"external_dns_registry_skipped_records_owner_mismatch_per_sync{{{labels}}}"] == 1
    assert "external_dns_controller_verified_records{record_type=A}" not in found


async def test_names_in_conflict_are_counted_and_no_more_when_it_is_settled() -> None:
    async with publishing() as cluster:
        await put_and_rest(cluster)
        assert dns_samples(cluster)["gatepost_dns_names_in_conflict"] == 0
        cluster.put(gateway("192.0.2.9", name="other"), route("basket", "cart.example.com", parent_name="other"))
        await cluster.rest()
        found = dns_samples(cluster)
        assert found["gatepost_dns_names_in_conflict"] == 1
        assert found["gatepost_dns_names_with_problems{reason=DNSConflict}"] == 1
        cluster.put(route("basket", "basket.example.com", parent_name="other"))
        await cluster.rest()
        assert dns_samples(cluster)["gatepost_dns_names_in_conflict"] == 0


async def test_a_removal_on_doubt_is_held_until_the_doubt_is_cleared() -> None:
    async with publishing() as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        await cluster.rest()
        assert dns_samples(cluster)["gatepost_dns_held_changes{action=delete,cause=doubtful}"] == 1
        cluster.put(gateway())
        await cluster.rest()
        assert "gatepost_dns_held_changes{action=delete,cause=doubtful}" not in dns_samples(cluster)


async def test_a_refused_change_puts_its_name_in_quarantine() -> None:
    provider = Provider()
    provider.refused.add(EndpointKey("cart.example.com", "A", ""))
    async with publishing(provider) as cluster:
        await put_and_rest(cluster)
        found = dns_samples(cluster)
    assert found["gatepost_dns_quarantined_names"] == 1
    assert found["gatepost_dns_changes_total{action=create,record_type=A,result=refused}"] == 1


async def test_a_plan_that_removes_too_much_is_told_as_stopped() -> None:
    async with publishing(removal_free_count=0) as cluster:
        await put_and_rest(cluster)
        assert dns_samples(cluster)["gatepost_dns_plan_stopped"] == 0
        cluster.loop.intake.remove(route("cart").ref)
        await cluster.rest()
        found = dns_samples(cluster)
    assert (found["gatepost_dns_plan_stopped"], found["gatepost_dns_stopped_plans_total"]) == (1, 1)


async def test_a_provider_that_cannot_be_used_is_counted_and_named_as_what_is_missing() -> None:
    provider = Provider()
    provider.failures = ["the zone is locked"] * 2
    async with publishing(provider) as cluster:
        await put_and_rest(cluster)
        found = dns_samples(cluster)
        missing = cluster.loop.missing
    assert found["external_dns_controller_consecutive_soft_errors"] == 1
    assert found["external_dns_registry_errors_total"] == 1
    assert missing == ["the DNS provider cannot be used: the zone is locked"]


async def test_a_follower_has_no_numbers_about_dns() -> None:
    async with publishing() as cluster:
        await put_and_rest(cluster)
        assert dns_samples(cluster, is_held=False) == {}


async def test_writes_to_the_cluster_runs_of_rules_and_answers_of_the_api_are_counted() -> None:
    async with shop() as place:
        found = await samples_of_a_mapping(place)
    assert found["gatepost_leading"] == 1
    assert found["gatepost_kinds{state=known}"] == 2
    assert found["gatepost_rule_runs_total{rule=mapped}"] >= 1
    assert found["gatepost_cluster_writes_total{call=create,kind=Ingress,result=ok}"] == 1
    assert found["gatepost_cluster_writes_total{call=merge/status,kind=DomainMapping,result=ok}"] == 1
    assert (found["gatepost_objects_waiting"], found["gatepost_objects_failing"]) == (0, 0)
    posts = "host=127.0.0.1,method=POST,path=ingresses,scheme=http,status=201"
    assert found[f"external_dns_http_request_duration_seconds_count{{{posts}}}"] == 1
    statuses = "host=127.0.0.1,method=PATCH,path=domainmappings/status,scheme=http,status=200"
    assert found[f"external_dns_http_request_duration_seconds_count{{{statuses}}}"] == 1


async def samples_of_a_mapping(place: Shop) -> Samples:
    await place.map("app.example.com")
    async with Client(Connection(Server(place.server.url))) as client:
        controllers = Controllers(client, [RULE], [], written=frozenset({DomainMapping.KIND.group_kind}))
        async with running(controllers) as loop:
            await loop.rest()
            return samples_in(metrics_of(controllers)())


async def test_calls_of_the_webhook_protocol_are_counted_on_both_sides() -> None:
    server = WebhookServer(EmbeddedProvider(["example.com"]))
    async with listening(server.app(), "--listen", "127.0.0.1", 0) as port:
        client = WebhookProvider(WebhookSettings(webhook_provider_url=f"http://127.0.0.1:{port}"))
        await client.records()
        await client.records()
    assert (client.requests["records"], client.errors["records"]) == (2, 0)
    found = samples_in(metrics_of_webhook(server)())
    assert found["gatepost_webhook_answers_total{call=GET /records,status=200}"] == 2
    assert found["gatepost_webhook_answers_total{call=GET /,status=200}"] == 1


async def test_the_table_in_the_docs_names_every_metric_with_its_type_and_no_other() -> None:
    served: set[tuple[str, str]] = set()
    async with publishing() as cluster, Client(Connection(Server("http://127.0.0.1:1"))) as client:
        await put_and_rest(cluster)
        controllers = Controllers(client, [RULE], [])
        controllers.publisher = cluster.publisher
        controllers.provider = WebhookProvider(WebhookSettings())
        for metrics in (metrics_of(controllers), metrics_of_webhook(WebhookServer(Provider()))):
            served.update(declared_in(metrics))
    rows = re.findall(r"^\| `([a-z_]+)` \| (\w+) \|", DOCS.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(row for row in served if not row[0].startswith("process_"))


def declared_in(metrics: Callable[[], bytes]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = re.findall(r"^# TYPE (\w+) (\w+)$", metrics().decode(), re.MULTILINE)
    return found
