"""Scenarios of who may see a host, of hosts that are rewritten, and of KIngresses that are not ours."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from knative_ingress.backends import HttpProxy, Runtime
from knative_ingress.clients import Gateway, assert_shares
from knative_ingress.cluster import NAMESPACE, Cluster, path_to, private, public, split

scenario = pytest.mark.scenario


def spellings(service: str) -> list[str]:
    """The three names of a Service."""
    return [f"{service}.{NAMESPACE}{suffix}" for suffix in ("", ".svc", ".svc.cluster.local")]


async def through_proxy(cluster: Cluster, name: str, target_host: str) -> str:
    """A public host whose requests come out of a Pod in the cluster, for `target_host`."""
    proxy = await cluster.service(f"{name}-proxy", HttpProxy(target_host, cluster.addresses["local"]))
    host = f"{name}-proxy.example.com"
    await cluster.ready_kingress(f"{name}-proxy", public(host, path_to(split(proxy))))
    return host


async def assert_unseen_from_outside(gateway: Gateway, hosts: list[str]) -> None:
    for host in hosts:
        assert (await gateway.get(host)).status == 404, host


def marked(service: str, percent: int = 100) -> dict[str, Any]:
    return split(service, percent, headers={"Which-Backend": service})


@scenario("visibility")
async def test_cluster_local_hosts_answer_inside_only(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("visible", Runtime())
    hosts = spellings("visible-private")
    await cluster.ready_kingress("visible", private(hosts, path_to(split(service))))
    await assert_unseen_from_outside(gateway, hosts)
    for number, host in enumerate(hosts):
        answer = await gateway.get(await through_proxy(cluster, f"visible-{number}", host))
        assert answer.seen["host"] == host


@scenario("visibility/split")
async def test_cluster_local_traffic_is_split(cluster: Cluster, gateway: Gateway) -> None:
    percents = (1, 2, 4, 8, 16, 32, 37, 0, 0, 0)
    names = [await cluster.service(f"inside-{number}", Runtime()) for number in range(10)]
    splits = [marked(name, percent) for name, percent in zip(names, percents, strict=True)]
    hosts = spellings("inside-private")
    await cluster.ready_kingress("inside", private(hosts, path_to(*splits)))
    await assert_unseen_from_outside(gateway, hosts)
    found = await gateway.count(1000, await through_proxy(cluster, "inside", hosts[-1]), "Which-Backend")
    assert_shares(found, dict(zip(names, percents, strict=True)), within=10)


@scenario("visibility/path")
async def test_cluster_local_paths_reach_their_backends(cluster: Cluster, gateway: Gateway) -> None:
    names = {path: await cluster.service(f"inner-{path[1:] or 'rest'}", Runtime()) for path in PATHS}
    paths = [path_to(marked(name), **({"path": path} if path != "/" else {})) for path, name in names.items()]
    hosts = spellings("inner-private")
    await cluster.ready_kingress("inner", private(hosts, *paths))
    await assert_unseen_from_outside(gateway, hosts)
    host = await through_proxy(cluster, "inner", hosts[-1])
    for path, name in (*names.items(), ("/asdf", names["/"])):
        assert await gateway.count(1, host, "Which-Backend", path) == {name: 1}, path


PATHS = ("/foo", "/bar", "/baz", "/")


@scenario("host-rewrite")
async def test_a_rewritten_host_is_served_by_what_is_behind_it(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("rewrite", Runtime())
    inner = f"rewrite-private.{NAMESPACE}.svc.cluster.local"
    await cluster.ready_kingress("rewrite-private", private(inner, path_to(split(service))))
    spec = {"type": "ExternalName", "externalName": "local.gatepost-system.svc.cluster.local", "ports": [{"port": 80}]}
    await cluster.create("Service", "rewrite-private", spec=spec)
    hosts = ["rewrite.vanity.ismy.name", "rewrite.vanity.isalsomy.number"]
    outer = public(hosts, path_to(split("rewrite-private"), rewriteHost=inner))
    await cluster.ready_kingress("rewrite", outer)
    for host in hosts:
        assert (await gateway.get(host)).seen["method"] == "GET"
    (route,) = [r for r in await cluster.list("HTTPRoute") if set(r["spec"]["hostnames"]) == set(hosts)]
    backends = {backend["name"] for rule in route["spec"]["rules"] for backend in rule["backendRefs"]}
    assert backends == {service}


@scenario("ingressclass")
@pytest.mark.parametrize("ingress_class", [None, "", "incorrect"], ids=["none", "empty", "wrong"])
async def test_a_kingress_of_no_class_of_ours_stays_as_it_is(cluster: Cluster, ingress_class: str | None) -> None:
    name = f"class-{ingress_class or ingress_class is None}".lower()
    service = await cluster.service(name, Runtime())
    rule = public(f"{name}.example.com", path_to(split(service)))
    created = await cluster.kingress(name, rule, ingress_class=ingress_class)
    async with aclosing(cluster.watch("Ingress", name, seconds=2)) as versions:
        seen = [version async for version in versions]
    assert [version["metadata"]["resourceVersion"] for version in seen] == [created["metadata"]["resourceVersion"]]
