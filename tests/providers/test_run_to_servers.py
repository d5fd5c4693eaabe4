"""`gatepost run` as people run it: an API server with a Route on one side, a real DNS server on the other."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from api_cluster import Cluster, cluster_at
from dns_servers import API_KEY, KEY_NAME, KEY_SECRET, DnsServer, needs, running

pytest_plugins = ("dns_fixtures",)

NS1 = "ns1.example.com. 300 A 127.0.0.1"
TEXT = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=httproute/shop/cart"'


class Shop:
    """A cluster with the Route shop/cart, and the kubeconfig that leads to it."""

    def __init__(self, cluster: Cluster, kubeconfig: Path) -> None:
        self.cluster = cluster
        self.kubeconfig = kubeconfig


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with cluster_at("192.0.2.1") as cluster:
        cluster.server.write_kubeconfig(tmp_path / "kubeconfig")
        await cluster.make_route("cart", "app.example.com")
        yield Shop(cluster, tmp_path / "kubeconfig")


def flags_for(server: DnsServer) -> tuple[str, ...]:
    if server.kind == "pdns":
        return ("--provider", "pdns", "--pdns-server", server.api_url)
    return (
        *("--provider", "rfc2136", "--rfc2136-host", "127.0.0.1", "--rfc2136-port", str(server.port)),
        *("--rfc2136-zone", "example.com", "--rfc2136-tsig-keyname", KEY_NAME),
    )


RUN_ONCE = ("run", "--controllers", "none", "--once")


async def gatepost(shop: Shop, *flags: str, command: tuple[str, ...] = RUN_ONCE) -> tuple[int, str]:
    """Runs once, or another command. Returns: exit code, and what it said."""
    secrets = {"GATEPOST_RFC2136_TSIG_SECRET": KEY_SECRET, "GATEPOST_PDNS_API_KEY": API_KEY}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "gatepost", *command, "--kubeconfig", str(shop.kubeconfig)),
        *("--source", "gateway-httproute", "--txt-owner-id", "prod", *flags),
        env={**os.environ, **secrets},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, said.decode()


@pytest.mark.parametrize("kind", ["bind", "knot", "pdns"])
async def test_the_name_of_a_route_comes_moves_and_goes(kind: str, shop: Shop) -> None:
    needs(kind)
    with running(kind) as server:
        flags = flags_for(server)
        assert (await gatepost(shop, *flags))[0] == 0
        assert server.answer("app.example.com", "A") == ["192.0.2.1"]
        assert server.records() == {
            NS1,
            "app.example.com. 300 A 192.0.2.1",
            f"a-app.example.com. 300 TXT {TEXT}",
        }
        await shop.cluster.move_route("cart", "shop.example.com")
        assert (await gatepost(shop, *flags))[0] == 0
        assert server.records() == {
            NS1,
            "shop.example.com. 300 A 192.0.2.1",
            f"a-shop.example.com. 300 TXT {TEXT}",
        }
        await shop.cluster.delete_route("cart")
        assert (await gatepost(shop, *flags))[0] == 0
        assert server.records() == {NS1}


async def test_a_dry_run_sends_nothing(bind: DnsServer, shop: Shop) -> None:
    code, said = await gatepost(shop, *flags_for(bind), "--dry-run")
    assert code == 0
    assert "would change" in said
    assert bind.records() == {NS1}


async def test_a_wrong_secret_ends_with_one_clear_problem(bind: DnsServer, shop: Shop) -> None:
    code, said = await gatepost(shop, *flags_for(bind), "--rfc2136-tsig-secret", "d3Jvbmc=")
    assert code == 3
    assert "has another secret for TSIG key gatepost (BADSIG); check --rfc2136-tsig-secret" in said
    assert KEY_SECRET not in said


async def test_settings_that_are_wrong_are_all_told(shop: Shop) -> None:
    code, said = await gatepost(shop, "--provider", "rfc2136", "--rfc2136-port", "0")
    assert code == 2
    for flag in ("--rfc2136-host: none was given", "--rfc2136-zone: none was given", "--rfc2136-port: found 0"):
        assert flag in said


async def test_a_zone_that_is_not_handed_out_is_told_on_the_route_and_ends_run_and_plan_with_3(shop: Shop) -> None:
    needs("bind")
    await shop.cluster.make_route("inner", "inner.sub.example.com")
    with running("bind", {"example.com": (), "sub.example.com": ()}, closed=["sub.example.com"]) as server:
        flags = (*flags_for(server), "--rfc2136-zone", "sub.example.com")
        code, said = await gatepost(shop, *flags, command=("plan",))
        assert code == 3, said
        assert f"gatepost plan: zone sub.example.com cannot be read: server 127.0.0.1:{server.port} refuses" in said
        assert "HTTPRoute shop/inner: zone sub.example.com cannot be read" in said
        assert "1 to create" in said
        _, said = await gatepost(shop, *flags, "-o", "markdown", command=("plan",))
        assert f"zone sub.example.com: server 127.0.0.1:{server.port} refuses" in said
        _, said = await gatepost(shop, *flags, "-o", "json", command=("plan",))
        [unread] = json.loads(said[said.index("{\n") : said.rindex("}") + 1])["unread"]
        assert unread["zone"] == "sub.example.com"
        code, said = await gatepost(shop, *flags)
        assert code == 3
        assert f"gatepost run: zone sub.example.com cannot be read: server 127.0.0.1:{server.port} refuses" in said
        assert server.answer("app.example.com", "A") == ["192.0.2.1"]
        assert server.answer("inner.sub.example.com", "A") == []
    events = [(e["involvedObject"]["name"], e["type"], e["reason"]) for e in await shop.cluster.events("shop")]
    assert events == [("inner", "Warning", "ZoneUnreadable")]
