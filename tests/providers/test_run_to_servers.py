"""`gatepost run` as people run it: an API server with a Route on one side, a real DNS server on the other."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from dns_servers import API_KEY, KEY_NAME, KEY_SECRET, DnsServer, needs, running

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.standalone.apiserver.server import ApiServer

pytest_plugins = ("dns_fixtures",)

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes"
NS1 = "ns1.example.com. 300 A 127.0.0.1"
TEXT = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=httproute/shop/cart"'
PARENT = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public", "namespace": "infra"}


class Cluster:
    """An API server with namespaces, a Gateway, and the Route shop/cart with one hostname."""

    def __init__(self, client: Client, kubeconfig: Path) -> None:
        self._client = client
        self.kubeconfig = kubeconfig

    async def make(self, path: str, kind: str, namespace: str, name: str, version: str, **body: Any) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        await self._client.write("POST", path, {}, {"apiVersion": version, "kind": kind, "metadata": metadata, **body})

    async def patch(self, path: str, body: dict[str, Any]) -> None:
        await self._client.write("PATCH", path, {}, body, MERGE_PATCH)

    async def accept(self) -> None:
        """What a gateway controller would say of the Route now."""
        accepted = {
            "type": "Accepted",
            "status": "True",
            "reason": "Accepted",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": 9,
        }
        parents = [{"parentRef": PARENT, "controllerName": "x.io/y", "conditions": [accepted]}]
        await self.patch(f"{ROUTES}/cart/status", {"status": {"parents": parents}})

    async def delete(self, path: str) -> None:
        await self._client.write("DELETE", path, {}, {})


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        server.write_kubeconfig(tmp_path / "kubeconfig")
        made = Cluster(client, tmp_path / "kubeconfig")
        for name in ("infra", "shop"):
            await made.make("/api/v1/namespaces", "Namespace", "", name, "v1")
        listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
        version = "gateway.networking.k8s.io/v1"
        spec = {"gatewayClassName": "x", "listeners": [listener]}
        await made.make(GATEWAYS, "Gateway", "infra", "public", version, spec=spec)
        addresses = [{"type": "IPAddress", "value": "192.0.2.1"}]
        await made.patch(f"{GATEWAYS}/public/status", {"status": {"addresses": addresses}})
        route = {"parentRefs": [PARENT], "hostnames": ["app.example.com"]}
        await made.make(ROUTES, "HTTPRoute", "shop", "cart", version, spec=route)
        await made.accept()
        yield made


def flags_for(server: DnsServer) -> tuple[str, ...]:
    if server.kind == "pdns":
        return ("--provider", "pdns", "--pdns-server", server.api_url)
    return (
        *("--provider", "rfc2136", "--rfc2136-host", "127.0.0.1", "--rfc2136-port", str(server.port)),
        *("--rfc2136-zone", "example.com", "--rfc2136-tsig-keyname", KEY_NAME),
    )


async def gatepost(cluster: Cluster, *flags: str) -> tuple[int, str]:
    """Runs once. Returns: exit code, and what it said."""
    command = ["-m", "gatepost", "run", "--kubeconfig", str(cluster.kubeconfig), "--controllers", "none", "--once"]
    secrets = {"GATEPOST_RFC2136_TSIG_SECRET": KEY_SECRET, "GATEPOST_PDNS_API_KEY": API_KEY}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        *("--source", "gateway-httproute", "--txt-owner-id", "prod", *flags),
        env={**os.environ, **secrets},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, said.decode()


@pytest.mark.parametrize("kind", ["bind", "knot", "pdns"])
async def test_the_name_of_a_route_comes_moves_and_goes(kind: str, cluster: Cluster) -> None:
    needs(kind)
    with running(kind) as server:
        flags = flags_for(server)
        assert (await gatepost(cluster, *flags))[0] == 0
        assert server.answer("app.example.com", "A") == ["192.0.2.1"]
        assert server.records() == {
            NS1,
            "app.example.com. 300 A 192.0.2.1",
            f"a-app.example.com. 300 TXT {TEXT}",
        }
        await cluster.patch(f"{ROUTES}/cart", {"spec": {"hostnames": ["shop.example.com"]}})
        await cluster.accept()
        assert (await gatepost(cluster, *flags))[0] == 0
        assert server.records() == {
            NS1,
            "shop.example.com. 300 A 192.0.2.1",
            f"a-shop.example.com. 300 TXT {TEXT}",
        }
        await cluster.delete(f"{ROUTES}/cart")
        assert (await gatepost(cluster, *flags))[0] == 0
        assert server.records() == {NS1}


async def test_a_dry_run_sends_nothing(bind: DnsServer, cluster: Cluster) -> None:
    code, said = await gatepost(cluster, *flags_for(bind), "--dry-run")
    assert code == 0
    assert "would change" in said
    assert bind.records() == {NS1}


async def test_a_wrong_secret_ends_with_one_clear_problem(bind: DnsServer, cluster: Cluster) -> None:
    code, said = await gatepost(cluster, *flags_for(bind), "--rfc2136-tsig-secret", "d3Jvbmc=")
    assert code == 3
    assert "has another secret for TSIG key gatepost (BADSIG); check --rfc2136-tsig-secret" in said
    assert KEY_SECRET not in said


async def test_settings_that_are_wrong_are_all_told(cluster: Cluster) -> None:
    code, said = await gatepost(cluster, "--provider", "rfc2136", "--rfc2136-port", "0")
    assert code == 2
    for flag in ("--rfc2136-host: none was given", "--rfc2136-zone: none was given", "--rfc2136-port: found 0"):
        assert flag in said
