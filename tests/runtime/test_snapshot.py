"""A snapshot over a real socket: what is read, what may be missing, and what ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from gatepost.cluster.connection import Connection
from gatepost.cluster.connection import Server as ApiAddress
from gatepost.cluster.errors import ClusterError
from gatepost.objects.core import ConfigMap, Service
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.refs import GroupKind
from gatepost.objects.route_rules import has_rules_kept, rules_in
from gatepost.objects.serving import DomainMapping
from gatepost.runtime.snapshot import snapshot
from gatepost.runtime.wiring import Wiring
from gatepost.state.rule import Rule
from gatepost.state.view import View

MAPPINGS = "/apis/serving.knative.dev/v1beta1/domainmappings"
SERVICES = "/api/v1/services"
ROUTES = "/apis/gateway.networking.k8s.io/v1/httproutes"
CONFIG_MAPS = "/api/v1/namespaces/knative-serving/configmaps"

DISCOVERY: Mapping[str, Any] = {
    "/apis": {
        "groups": [
            {
                "name": "serving.knative.dev",
                "versions": [{"groupVersion": "serving.knative.dev/v1beta1", "version": "v1beta1"}],
            },
            {
                "name": "gateway.networking.k8s.io",
                "versions": [{"groupVersion": "gateway.networking.k8s.io/v1", "version": "v1"}],
            },
        ]
    },
    "/apis/gateway.networking.k8s.io/v1": {
        "resources": [{"name": "httproutes", "kind": "HTTPRoute", "namespaced": True}]
    },
    "/apis/serving.knative.dev/v1beta1": {
        "resources": [{"name": "domainmappings", "kind": "DomainMapping", "namespaced": True}]
    },
    "/api/v1": {
        "resources": [
            {"name": "services", "kind": "Service", "namespaced": True},
            {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        ]
    },
}


def service_behind(ref: Any, view: View) -> str:
    mapping = view.get(DomainMapping, ref)
    assert mapping is not None
    service = view.named(Service, ref.namespace, mapping.spec.ref.name)
    view.named(ConfigMap, "knative-serving", "config-network")
    return service.metadata.name if service is not None else "none"


RULE: Rule[str] = Rule("service-behind", service_behind, rank=10, over=DomainMapping)
WIRING = Wiring((RULE,), ())
MAPPING = {
    "apiVersion": "serving.knative.dev/v1beta1",
    "kind": "DomainMapping",
    "metadata": {"name": "app.example.com", "namespace": "shop"},
    "spec": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "web"}},
}
WEB = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "ClusterIP"}}


class Server:
    """Answers lists as a test says; `seen` are the calls that came, watches included."""

    def __init__(self, lists: Mapping[str, Any]) -> None:
        self.lists = lists
        self.seen: list[tuple[str, str]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.path))
        if request.path in DISCOVERY:
            return web.json_response(DISCOVERY[request.path])
        if request.query.get("watch"):
            return web.json_response({"code": 410, "reason": "Expired", "message": "too old"}, status=410)
        found = self.lists.get(request.path, [])
        if isinstance(found, int):
            return web.json_response({"code": found, "reason": "No", "message": "says no"}, status=found)
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": found})


@asynccontextmanager
async def cluster(lists: Mapping[str, Any]) -> AsyncIterator[tuple[Server, Connection]]:
    server = Server(lists)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield server, Connection(ApiAddress(f"http://{host}:{port}"))
    finally:
        await runner.cleanup()


async def test_kinds_that_rules_ask_for_on_the_way_are_read_too() -> None:
    async with cluster({MAPPINGS: [MAPPING], SERVICES: [WEB]}) as (server, connection):
        taken = await snapshot(connection, WIRING)
    assert taken.engine.value(RULE, DomainMapping.KIND.ref("shop", "app.example.com")) == "web"
    assert {method for method, _ in server.seen} == {"GET"}


async def test_config_maps_are_read_in_the_system_namespace_alone() -> None:
    async with cluster({MAPPINGS: [MAPPING]}) as (server, connection):
        await snapshot(connection, WIRING)
    assert ("GET", CONFIG_MAPS) in server.seen
    assert ("GET", "/api/v1/configmaps") not in server.seen


async def test_kind_that_is_not_served_counts_as_empty() -> None:
    gateways = GroupKind("gateway.networking.k8s.io", "Gateway")
    async with cluster({}) as (_, connection):
        taken = await snapshot(connection, WIRING, kinds=[gateways])
    assert taken.missing == {gateways}


async def test_kind_that_may_not_be_read_is_told_and_counts_as_empty() -> None:
    async with cluster({MAPPINGS: [MAPPING], SERVICES: 403}) as (_, connection):
        taken = await snapshot(connection, WIRING)
    assert taken.withheld == {Service.KIND.group_kind: "says no"}
    assert taken.engine.value(RULE, DomainMapping.KIND.ref("shop", "app.example.com")) == "none"


async def test_server_that_fails_ends_the_snapshot() -> None:
    async with cluster({MAPPINGS: 500}) as (_, connection):
        with pytest.raises(ClusterError, match="says no"):
            await snapshot(connection, WIRING)


async def test_object_that_cannot_be_read_is_told_and_the_others_count() -> None:
    broken = {"metadata": {"name": "bad.example.com", "namespace": "shop"}, "spec": {"ref": "web"}}
    async with cluster({MAPPINGS: [broken, MAPPING], SERVICES: [WEB]}) as (_, connection):
        taken = await snapshot(connection, WIRING)
    assert [(str(problem.about), problem.field) for problem in taken.unreadable] == [
        ("DomainMapping shop/bad.example.com", "spec.ref")
    ]
    assert taken.engine.value(RULE, DomainMapping.KIND.ref("shop", "app.example.com")) == "web"


async def test_raw_form_is_kept_for_the_kinds_that_are_asked_for() -> None:
    service = Service.KIND.ref("shop", "web")
    async with cluster({MAPPINGS: [MAPPING], SERVICES: [WEB]}) as (_, connection):
        kept = await snapshot(connection, WIRING, kept_raw=[Service.KIND.group_kind])
        without = await snapshot(connection, WIRING)
    raw = kept.raw_of(service)
    assert raw is not None
    assert raw["spec"] == {"type": "ClusterIP"}
    assert without.raw_of(service) is None


@pytest.mark.parametrize("reads_whole", [(HTTPRoute,), ()])
async def test_rules_of_routes_are_kept_only_for_a_rule_that_reads_them(
    reads_whole: tuple[type[HTTPRoute], ...],
) -> None:
    backends = [{"backendRefs": [{"name": "web", "port": 80}]}]
    listed = {"metadata": {"name": "app", "namespace": "shop"}, "spec": {"rules": backends}}
    rule: Rule[str] = Rule("names", lambda ref, view: ref.name, rank=10, over=HTTPRoute, reads_whole=reads_whole)
    async with cluster({ROUTES: [listed]}) as (_, connection):
        taken = await snapshot(connection, Wiring((rule,), ()))
    route = taken.engine.store.get(HTTPRoute.KIND.ref("shop", "app"))
    assert isinstance(route, HTTPRoute)
    assert has_rules_kept(route) == bool(reads_whole)
    if reads_whole:
        assert rules_in(route) == backends
