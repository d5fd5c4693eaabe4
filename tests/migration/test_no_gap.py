"""The whole migration and its way back on an API server, while the name is asked for at every change."""

from __future__ import annotations

import pytest
from answers import watching
from migration_world import (
    EXTERNAL_NAME,
    GATEWAY_IP,
    GATEWAY_NAME,
    HEADLESS,
    MESH,
    MIRROR,
    Cluster,
    Raw,
    cluster,
    endpoints,
    kingress,
    route,
    service,
    slice_of,
    steps,
)

from gatepost.cluster.calls import Calls
from gatepost.cluster.discovery import Discovery
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.migrating import Carried, Migrator
from gatepost.runtime.wiring import reconcilers, written_kinds
from gatepost.writes.requests import Request
from running_controllers import running

NAME = "web.shop.svc.cluster.local"
BY_NAME = {"domainInternal": GATEWAY_NAME}


async def no_wait(seconds: float) -> None:
    """What is written here is seen at once."""


async def move(place: Cluster, *, back: bool = False) -> list[Carried]:
    migrator = Migrator(Calls(place.client, Discovery(place.client)), wait=no_wait)
    return await migrator.carry_out(await place.planned(back=back))


async def take_hand_over_away(place: Cluster) -> None:
    await place.patch("Route", "web", {"metadata": {"annotations": {"gatepost/hand-over": None}}})


async def put_route(place: Cluster, spec: Raw, entry: Raw, labels: Raw | None = None) -> tuple[Raw, Raw]:
    """A Route with its Service and KIngress. Returns: Route and Service."""
    owner = await place.put(route())
    await place.put(kingress(owner, entry))
    return owner, await place.put(service(owner, spec, labels=labels))


async def test_name_is_answered_all_the_way_off_external_name_and_back() -> None:
    private = {"networking.knative.dev/visibility": "cluster-local", "team": "a"}
    async with cluster() as place:
        _, before = await put_route(place, EXTERNAL_NAME, BY_NAME, labels=private)
        async with watching(place, NAME) as answers:
            (there,) = await move(place)
            assert there.stopped is None
            moved = await place.get("Service", "web")
            await take_hand_over_away(place)
            (back,) = await move(place, back=True)
            assert back.stopped is None
        after = await place.get("Service", "web")
        assert answers.changes == [
            "ADDED EndpointSlice web-ipv4",
            "MODIFIED Service web",
            "MODIFIED Service web",
            "DELETED EndpointSlice web-ipv4",
        ]
        assert answers.in_order == [(GATEWAY_IP,)] * 5
        assert set(answers.live) == {(GATEWAY_IP,)}
        assert moved is not None
        assert (moved["spec"]["type"], moved["spec"]["clusterIP"]) == ("ClusterIP", "None")
        assert "externalName" not in moved["spec"]
        assert after is not None
        assert (after["spec"]["type"], after["spec"]["externalName"]) == ("ExternalName", GATEWAY_NAME)
        assert "clusterIP" not in after["spec"]
        assert {one["metadata"]["uid"] for one in (moved, after)} == {before["metadata"]["uid"]}
        assert after["metadata"]["labels"] == {"serving.knative.dev/route": "web", **private}


async def test_old_endpoints_go_only_once_the_slices_answer_and_come_back_before_they_go() -> None:
    async with cluster() as place:
        owner, _ = await put_route(place, HEADLESS, {"ip": "10.1.1.1"})
        old = await place.put(endpoints(owner, "10.1.1.1"))
        await place.put(slice_of(old, "10.1.1.1", "web-mirrored", MIRROR))  # as the cluster's own controller does
        async with watching(place, NAME) as answers:
            (there,) = await move(place)
            assert there.stopped is None
            assert await place.all("Endpoints") == []
            await take_hand_over_away(place)
            (waiting,) = await place.planned(back=True)
            assert [problem.reason for problem in waiting.refused] == ["EndpointsMissing"]
            written = await place.put(endpoints(owner, "10.1.1.1"))
            await place.put(slice_of(written, "10.1.1.1", "web-mirrored-2", MIRROR))
            (back,) = await move(place, back=True)
            assert back.stopped is None
        assert answers.changes == [
            "ADDED EndpointSlice web-ipv4",
            "DELETED EndpointSlice web-mirrored",
            "ADDED EndpointSlice web-mirrored-2",
            "DELETED EndpointSlice web-ipv4",
        ]
        assert answers.in_order == [("10.1.1.1",)] * 5
        assert set(answers.live) == {("10.1.1.1",)}


async def test_allocated_service_keeps_its_cluster_ip_on_the_way_there_and_is_a_name_on_the_way_back() -> None:
    async with cluster() as place:
        _, before = await put_route(place, MESH, BY_NAME)
        pods = {**slice_of(await place.put(route("other")), "10.2.2.2", "gw-pods", service="gw")}
        pods["metadata"] = {**pods["metadata"], "namespace": "gateways", "ownerReferences": []}
        pods["ports"] = [{"name": "", "port": 8080, "protocol": "TCP"}]
        await place.put(pods)
        ip = before["spec"]["clusterIP"]
        async with watching(place, NAME) as answers:
            (there,) = await move(place)
            assert there.stopped is None
            kept = await place.get("Service", "web")
            await take_hand_over_away(place)
            (back,) = await move(place, back=True)
            assert back.stopped is None
        assert kept is not None
        assert kept["spec"]["clusterIP"] == ip
        assert [port["name"] for port in kept["spec"]["ports"]] == ["http2"]
        assert answers.in_order == [(ip,), (ip,), (ip,), (GATEWAY_IP,), (GATEWAY_IP,)]
        assert () not in answers.live


async def test_mesh_only_gets_a_cluster_ip_in_one_update() -> None:
    async with cluster() as place:
        await put_route(place, EXTERNAL_NAME, {"meshOnly": True})
        async with watching(place, NAME) as answers:
            (there,) = await move(place)
            assert there.stopped is None
        moved = await place.get("Service", "web")
        assert moved is not None
        assert answers.in_order == [(GATEWAY_IP,), (moved["spec"]["clusterIP"],)]
        assert () not in answers.live


async def test_running_it_again_writes_nothing() -> None:
    async with cluster() as place:
        await put_route(place, EXTERNAL_NAME, BY_NAME)
        await move(place)
        (again,) = await place.planned()
        assert (steps(again), again.refused) == ([], ())


async def test_service_that_somebody_changes_on_the_way_is_stopped_and_the_others_go_on() -> None:
    async with cluster() as place:
        owner, _ = await put_route(place, EXTERNAL_NAME, BY_NAME)
        tagged = await place.put(route("api"))
        await place.put(kingress(tagged, BY_NAME))
        await place.put(service(tagged, EXTERNAL_NAME, "api"))
        planned = await place.planned()
        await place.delete("Service", "api")
        await place.put(service(owner, EXTERNAL_NAME, "api"))
        migrator = Migrator(Calls(place.client, Discovery(place.client)), wait=no_wait)
        async with watching(place, NAME) as answers:
            api, web = await migrator.carry_out(planned)
        assert api.done == ()
        assert api.stopped is not None
        assert (api.stopped.reason, api.stopped.field) == ("ChangedMeanwhile", "metadata.uid")
        assert web.stopped is None
        assert set(answers.in_order) == {(GATEWAY_IP,)}
        left = await place.get("Service", "api")
        assert left is not None
        assert left["spec"]["type"] == "ExternalName"


async def test_service_does_not_turn_when_its_slice_vanished_before_the_turn() -> None:
    async with cluster() as place:
        await put_route(place, EXTERNAL_NAME, BY_NAME)

        async def lose_the_slice(seconds: float) -> None:
            if await place.get("EndpointSlice", "web-ipv4") is not None:
                await place.delete("EndpointSlice", "web-ipv4")

        migrator = Migrator(Calls(place.client, Discovery(place.client)), wait=lose_the_slice)
        async with watching(place, NAME) as answers:
            (web,) = await migrator.carry_out(await place.planned())
        assert web.stopped is not None
        assert "its slices lack 10.96.0.50" in str(web.stopped)
        assert answers.in_order == [(GATEWAY_IP,)] * 3  # laid, lost, and the CNAME all the while


@pytest.mark.parametrize("kind", ["Service", "EndpointSlice", "Endpoints"])
async def test_what_somebody_writes_between_the_look_and_the_write_stands(kind: str) -> None:
    """Each write is bound to what was read just before it."""
    spec, entry = (HEADLESS, {"ip": "10.1.1.1"}) if kind == "Endpoints" else (EXTERNAL_NAME, BY_NAME)

    class Raced(Calls):
        async def send(self, request: Request) -> bytes:
            if request.ref.kind == kind:
                await place.patch(kind, request.ref.name, {"metadata": {"labels": {"faster": "yes"}}})
            return await super().send(request)

    async with cluster() as place:
        owner, placed = await put_route(place, spec, entry)
        await place.put(slice_of(placed, "10.8.8.8", "web-ipv4"))  # it has to change
        if kind == "Endpoints":
            await place.put(endpoints(owner, "10.1.1.1"))
        migrator = Migrator(Raced(place.client, Discovery(place.client)), wait=no_wait)
        (web,) = await migrator.carry_out(await place.planned())
        assert web.stopped is not None
        assert web.stopped.reason == "ChangedMeanwhile"
        (left,) = [raw for raw in await place.all(kind) if raw["metadata"]["labels"].get("faster")]
        assert left.get("spec", {}).get("type", "") == ("ExternalName" if kind == "Service" else "")
        if kind == "EndpointSlice":
            assert left["endpoints"][0]["addresses"] == ["10.8.8.8"]


@pytest.mark.parametrize("entry", [BY_NAME, {"meshOnly": True}], ids=["by name", "mesh only"])
async def test_running_route_controller_leaves_no_gap_either(entry: Raw) -> None:
    async with cluster() as place:
        await put_route(place, EXTERNAL_NAME, entry)
        await place.put_revision("web-1")
        await place.patch("Route", "web", {"spec": {"traffic": [{"revisionName": "web-1", "percent": 100}]}})
        wiring = reconcilers(["route"])
        written = written_kinds(["route"])
        controllers = Controllers(place.client, wiring.rules, wiring.indexes, written=written)
        async with watching(place, NAME) as answers, running(controllers) as loop:
            await loop.rest()
            assert loop.failures == []
        moved = await place.get("Service", "web")
        assert moved is not None
        assert moved["spec"]["type"] == "ClusterIP"
        assert () not in answers.in_order
        assert () not in answers.live


@pytest.mark.parametrize("kind", ["Service", "EndpointSlice"])
async def test_watch_notices_a_gap(kind: str) -> None:
    async with cluster() as place:
        await put_route(place, EXTERNAL_NAME, BY_NAME)
        await move(place)
        async with watching(place, NAME) as answers:
            await place.delete(kind, "web" if kind == "Service" else "web-ipv4")
        assert () in answers.in_order
        assert () in answers.live
