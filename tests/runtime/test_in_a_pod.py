"""gatepost as a Pod runs it: service account, no more rights than `deploy/` grants, probes and metrics over HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml
from guarded_api import GuardedApi, guarded
from test_reconcilers_on_a_server import ROUTES, Cluster, cluster_with_a_mapping

from gatepost.cluster.client import MERGE_PATCH
from gatepost.cluster.locate import find_connection
from gatepost.dns.settings import DnsSettings
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.leadership.election import Election
from gatepost.runtime.process import RunSettings, controllers_on, run_on
from running_controllers import running

CRD_VERSION = "externaldns.k8s.io/v1alpha1"
ENDPOINTS = f"/apis/{CRD_VERSION}/namespaces/shop/dnsendpoints"
RECORDS = f"/apis/{CRD_VERSION}/namespaces/gatepost/dnsrecords"
DEFINITION = Path(__file__).parents[1] / "registries" / "dnsrecords.yaml"
COMMON = ("gatepost-leases", "gatepost-events")
ALL = (*COMMON, "gatepost-knative-config", "gatepost-gateway", "gatepost-domainmapping", "gatepost-dns")
SETTINGS = RunSettings(
    controllers=("domainmapping", "gateway"),
    dns=DnsSettings(sources=("gateway-httproute", "crd"), txt_owner_id="me", events_emit=("RecordReady",)),
    election=Election(leader_elect=True),
    status_address=("127.0.0.1", 0),
)


@asynccontextmanager
async def pod(roles: tuple[str, ...], folder: Path) -> AsyncIterator[tuple[Cluster, GuardedApi]]:
    async with cluster_with_a_mapping() as cluster:
        for name in ("gatepost", "gateway-system"):
            await cluster.make("/api/v1/namespaces", "Namespace", "v1", "", name)
        async with guarded(cluster.connection.server.url, roles, folder) as api:
            yield cluster, api


async def test_the_roles_are_enough_to_make_routes_and_records_and_to_lead(tmp_path: Path) -> None:
    async with pod(ALL, tmp_path) as (cluster, api):
        connection = find_connection(environment=api.environment, service_account=tmp_path)
        provider = EmbeddedProvider(["example.com"])
        async with controllers_on(connection, SETTINGS, provider) as made, running(made) as loop:
            await loop.rest()
            assert (loop.failures, api.refused) == ([], [])
            route = await cluster.one(ROUTES)
            assert route["spec"]["hostnames"] == ["app.example.com"]
            (lease,) = await cluster.items("/apis/coordination.k8s.io/v1/namespaces/gatepost/leases")
            assert lease["spec"]["holderIdentity"] != ""


async def test_the_role_of_the_registry_crd_is_enough_to_claim_records_and_to_release_them(tmp_path: Path) -> None:
    entry = {"dnsName": "mail.example.com", "recordType": "A", "targets": ["192.0.2.25"]}
    dns = DnsSettings(sources=("crd",), registry="crd", txt_owner_id="me", removal_free_count=5)
    async with pod((*COMMON, "gatepost-knative-config", "gatepost-dns", "gatepost-dns-records"), tmp_path) as found:
        cluster, api = found
        definition = yaml.safe_load(DEFINITION.read_text())
        await cluster.client.write("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {}, definition)
        await cluster.make(ENDPOINTS, "DNSEndpoint", CRD_VERSION, "shop", "mail", spec={"endpoints": [entry]})
        connection = find_connection(environment=api.environment, service_account=tmp_path)
        provider = EmbeddedProvider(["example.com"])
        async with controllers_on(connection, RunSettings(dns=dns), provider) as made, running(made) as loop:
            await loop.rest()
            assert [record.dns_name for record in await provider.records()] == ["mail.example.com"]
            assert len(await cluster.items(RECORDS)) == 1
            await cluster.client.write("DELETE", f"{ENDPOINTS}/mail", {}, {})
            seen = loop.movements.count
            while await cluster.items(RECORDS):
                seen = await loop.movements.after(seen)
            assert (await provider.records(), loop.failures, api.refused) == ([], [], [])


async def test_a_token_that_was_rotated_is_read_again(tmp_path: Path) -> None:
    async with pod(ALL, tmp_path) as (cluster, api):
        connection = find_connection(environment=api.environment, service_account=tmp_path)
        async with (
            controllers_on(connection, SETTINGS, EmbeddedProvider(["example.com"])) as made,
            running(made) as loop,
        ):
            await loop.rest()
            right = (await cluster.one(ROUTES))["spec"]
            api.rotate("second")
            bent = {"spec": {"hostnames": ["evil.example.com"]}}
            await cluster.client.write("PATCH", f"{ROUTES}/app.example.com", {}, bent, MERGE_PATCH)
            seen = loop.movements.count
            while (await cluster.one(ROUTES))["spec"] != right:
                seen = await loop.movements.after(seen)
            assert loop.failures == []


async def test_a_right_that_is_missing_is_named_by_readiness_and_stops_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gatepost")
    async with pod(tuple(role for role in ALL if role != "gatepost-dns"), tmp_path) as (cluster, api):
        connection = find_connection(environment=api.environment, service_account=tmp_path)
        stop = asyncio.Event()
        provider = EmbeddedProvider(["example.com"])
        work = asyncio.create_task(run_on(connection, SETTINGS, stop, provider))
        url = f"http://{await address_in(caplog)}"
        async with aiohttp.ClientSession() as session:
            refused = "DNSEndpoint.externaldns.k8s.io: cannot be read: 403 Forbidden"
            assert await status_once_told(session, f"{url}/readyz", refused) == 503
            assert (await get(session, f"{url}/healthz")) == (200, "ok\n")
            assert 'gatepost_kinds{state="failing"}' in (await get(session, f"{url}/metrics"))[1]
            assert (await get(session, f"{url}/records"))[0] == 404
            while not await cluster.items(ROUTES):  # each look is a call over a socket, so others get their turn
                continue
        stop.set()
        await work


async def address_in(caplog: pytest.LogCaptureFixture) -> str:
    """Where probes are served, from the log: the port is chosen by the system."""
    while True:
        for record in caplog.records:
            if record.message == "probes and metrics are served":
                return str(record.fields["address"])  # type: ignore[attr-defined]
        await asyncio.sleep(0)


async def status_once_told(session: aiohttp.ClientSession, url: str, line: str) -> int:
    """The status of the first answer that holds this; the timeout of the test ends a vain wait."""
    while True:
        status, told = await get(session, url)
        if line in told:
            return status


async def get(session: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    async with session.get(url) as answer:
        return answer.status, await answer.text()
