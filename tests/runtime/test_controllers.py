"""The controllers on a real API server over a socket, with a small rule: a KIngress for each DomainMapping."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.objects.core import ConfigMap
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping
from gatepost.runtime.controllers import Controllers
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome
from mapping_shop import (
    EVENTS,
    FINALIZER,
    INGRESSES,
    MAPPINGS,
    RULE,
    Shop,
    controlling,
    ingress_ref,
    mapping_ref,
    shop,
    until_seen,
)
from running_controllers import running


async def test_a_wish_is_written_with_its_status_finalizer_and_event() -> None:
    async with shop() as place, controlling(place) as (loop, controllers):
        await place.map("app.example.com")
        await until_seen(loop, controllers, mapping_ref("app.example.com"))
        assert await place.service_of("app.example.com") == "cart"
        found = await place.get(f"{MAPPINGS}/app.example.com")
        assert found["status"] == {"url": "http://app.example.com"}
        assert found["metadata"]["finalizers"] == [FINALIZER]
        (event,) = (await place.get(EVENTS))["items"]
        assert (event["reason"], event["message"]) == ("Created", 'Created Ingress "app.example.com"')
        assert event["involvedObject"]["uid"] == found["metadata"]["uid"]


async def test_starting_again_writes_nothing() -> None:
    async with shop() as place:
        await place.map("app.example.com")
        async with controlling(place) as (loop, _):
            await loop.rest()
        before = await place.revision()
        async with controlling(place) as (loop, _):
            await loop.rest()
            assert loop.engine.store.get(ingress_ref("app.example.com")) is not None
        assert await place.revision() == before


async def test_a_problem_that_stands_is_one_event_however_often_gatepost_starts() -> None:
    async with shop() as place:
        await place.map("app.example.com", "nowhere")
        for _ in range(3):
            async with controlling(place) as (loop, _):
                await loop.rest()
        events = (await place.get(EVENTS))["items"]
        assert [event["message"] for event in events if event["reason"] == "Nowhere"] == ["there is no such place"]


async def test_a_changed_wish_is_applied() -> None:
    async with shop() as place, controlling(place) as (loop, controllers):
        await place.map("app.example.com")
        await until_seen(loop, controllers, mapping_ref("app.example.com"))
        await place.patch(f"{MAPPINGS}/app.example.com", {"spec": {"ref": {"name": "basket"}}})
        seen = loop.movements.count
        while await place.service_of("app.example.com") != "basket":
            seen = await loop.movements.after(seen)
        managers = (await place.get(f"{INGRESSES}/app.example.com"))["metadata"]["managedFields"]
        assert ("gatepost", "Apply") in {(entry["manager"], entry["operation"]) for entry in managers}


async def test_what_others_changed_in_our_object_is_put_right() -> None:
    async with shop() as place, controlling(place) as (loop, controllers):
        await place.map("app.example.com")
        await until_seen(loop, controllers, mapping_ref("app.example.com"))
        seen = loop.movements.count
        await place.patch(f"{INGRESSES}/app.example.com", {"spec": {"httpOption": "Redirected"}})
        await place.patch(f"{INGRESSES}/app.example.com", {"metadata": {"labels": {"stray": "yes"}}})
        while "labels" in (found := await place.get(f"{INGRESSES}/app.example.com"))["metadata"]:
            seen = await loop.movements.after(seen)
        assert "httpOption" not in found["spec"]


async def test_our_object_that_others_deleted_is_made_anew() -> None:
    async with shop() as place, controlling(place) as (loop, controllers):
        await place.map("app.example.com")
        await until_seen(loop, controllers, mapping_ref("app.example.com"))
        old = (await place.get(f"{INGRESSES}/app.example.com"))["metadata"]["uid"]
        seen = loop.movements.count
        await place.client.write("DELETE", f"{INGRESSES}/app.example.com", {}, {})
        while True:
            items = (await place.get(INGRESSES))["items"]
            if items and items[0]["metadata"]["uid"] != old:
                break
            seen = await loop.movements.after(seen)


async def test_a_mapping_goes_after_its_finalizer_and_its_ingress_with_it() -> None:
    async with shop() as place, controlling(place) as (loop, controllers):
        await place.map("app.example.com")
        await until_seen(loop, controllers, mapping_ref("app.example.com"))
        await place.client.write("DELETE", f"{MAPPINGS}/app.example.com", {}, {})
        await until_seen(loop, controllers, mapping_ref("app.example.com"), wanted=False)
        await until_seen(loop, controllers, ingress_ref("app.example.com"), wanted=False)
        assert (await place.get(MAPPINGS))["items"] == []
        assert (await place.get(INGRESSES))["items"] == []


async def test_many_mappings_come_to_rest_and_each_has_its_ingress() -> None:
    async with shop() as place:
        for number in range(60):
            await place.map(f"app-{number}.example.com", f"service-{number}")
        async with controlling(place) as (loop, _):
            await loop.rest()
            assert loop.failures == []
        found = {
            item["metadata"]["name"]: item["spec"]["rules"][0]["http"]["paths"][0]["splits"][0]["serviceName"]
            for item in (await place.get(INGRESSES))["items"]
        }
    assert found == {f"app-{number}.example.com": f"service-{number}" for number in range(60)}


async def test_an_api_server_that_goes_and_comes_back_is_followed_again(tmp_path: Path) -> None:
    async with ApiServer(data_dir=tmp_path) as server:
        port = int(server.url.rpartition(":")[2])
        async with Client(Connection(Server(server.url))) as client:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
            await client.write("POST", "/api/v1/namespaces", {}, namespace)
    client = Client(Connection(Server(f"http://127.0.0.1:{port}")))
    async with client, running(Controllers(client, [RULE], [])) as loop:
        await loop.rest()
        assert loop.failures != []  # nobody is there
        async with ApiServer(port=port, data_dir=tmp_path) as server:
            place = Shop(server, client)
            await place.map("app.example.com")
            seen = loop.movements.count
            while (await place.get(INGRESSES))["items"] == []:
                seen = await loop.movements.after(seen)
            await loop.rest()
            assert loop.failures == []
        async with ApiServer(port=port, data_dir=tmp_path) as server:  # the watches are cut and resume
            place = Shop(server, client)
            await place.map("two.example.com")
            seen = loop.movements.count
            while len((await place.get(INGRESSES))["items"]) < 2:
                seen = await loop.movements.after(seen)


async def test_config_maps_are_read_in_the_system_namespace_only() -> None:
    def noting(ref: Ref, view: View) -> Outcome:
        view.named(ConfigMap, "knative-serving", "settings")
        return Outcome.none("")

    rule: Rule[Any] = Rule("noting", noting, rank=10, over=DomainMapping)
    async with shop() as place:
        await place.map("app.example.com")
        system = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "knative-serving"}}
        await place.client.write("POST", "/api/v1/namespaces", {}, system)
        for namespace in ("shop", "knative-serving"):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": namespace}}
            await place.client.write("POST", f"/api/v1/namespaces/{namespace}/configmaps", {}, body)
        client = Client(Connection(Server(place.server.url)))
        async with client, running(Controllers(client, [rule], [])) as loop:
            await loop.rest()
            held = [ref.namespace for ref, _ in loop.engine.store.items() if ref.kind == "ConfigMap"]
    assert held == ["knative-serving"]


async def test_a_dry_run_changes_nothing_in_the_cluster() -> None:
    async with shop() as place:
        await place.map("app.example.com")
        before = await place.revision()
        async with controlling(place, dry_run=True) as (loop, controllers):
            await loop.rest()
            assert [request.ref for request in controllers.writer.withheld.values()] == [
                mapping_ref("app.example.com"),
                ingress_ref("app.example.com"),
            ]
        assert await place.revision() == before


async def test_gatepost_run_once_works_from_another_process(tmp_path: Path) -> None:
    async with shop() as place:
        place.server.write_kubeconfig(tmp_path / "config")
        command = [sys.executable, "-m", "gatepost", "run", "--once", "--kubeconfig", str(tmp_path / "config")]
        process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
        _, log = await process.communicate()
        assert process.returncode == 0, log.decode()


async def test_gatepost_run_once_ends_with_3_when_the_cluster_cannot_be_reached(tmp_path: Path) -> None:
    async with shop() as place:
        place.server.write_kubeconfig(tmp_path / "config")
    command = [sys.executable, "-m", "gatepost", "run", "--once", "--kubeconfig", str(tmp_path / "config")]
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    _, log = await process.communicate()
    assert process.returncode == 3
    assert b"gatepost run: " in log


async def test_gatepost_run_ends_cleanly_on_sigterm(tmp_path: Path) -> None:
    async with shop() as place:
        place.server.write_kubeconfig(tmp_path / "config")
        arguments = ["--kubeconfig", str(tmp_path / "config"), "--metrics-address", "0"]
        command = [sys.executable, "-m", "gatepost", "run", *arguments]
        process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert b"gatepost runs" in await process.stderr.readline()
        process.terminate()
        await process.communicate()
        assert process.returncode == 0


async def test_a_context_that_does_not_exist_is_wrong_use(tmp_path: Path) -> None:
    async with shop() as place:
        place.server.write_kubeconfig(tmp_path / "config")
    command = [sys.executable, "-m", "gatepost", "run", "--kubeconfig", str(tmp_path / "config"), "--context", "nope"]
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"--context: there is no context 'nope' (there are: gatepost)" in said
