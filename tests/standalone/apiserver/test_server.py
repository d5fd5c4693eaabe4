"""Starting and stopping, and what is there from the start."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from apiserver.api_client import Client
from gatepost.standalone.apiserver.definitions import compact_crds, load_crds
from gatepost.standalone.apiserver.errors import AddressNotLoopback
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.standalone.errors import PortTakenError

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def fetched(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.json()


async def test_namespaces_and_the_service_of_the_api_are_there(client: Client) -> None:
    namespaces = (await client("GET", "/api/v1/namespaces")).body["items"]
    assert [raw["metadata"]["name"] for raw in namespaces] == ["default", "kube-system"]
    assert {raw["status"]["phase"] for raw in namespaces} == {"Active"}
    service = (await client("GET", "/api/v1/namespaces/default/services/kubernetes")).body
    assert service["spec"]["ports"][0]["port"] == 443


async def test_taken_port_is_told_with_the_address() -> None:
    async with ApiServer() as first:
        port = int(first.url.rpartition(":")[2])
        with pytest.raises(PortTakenError, match=f"API server: TCP port {port} on 127.0.0.1 is already taken"):
            await ApiServer(port=port).start()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_address_that_others_reach_is_refused(host: str) -> None:
    with pytest.raises(AddressNotLoopback, match="is not a loopback address"):
        ApiServer(host=host)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example.com"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {"Host": "[::1"},
    ],
)
async def test_request_that_a_web_page_may_send_is_refused(server: ApiServer, headers: dict[str, str]) -> None:
    async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{server.url}/api/v1/secrets") as answer:
        assert answer.status == 403


@pytest.mark.parametrize("headers", [{"Host": "localhost:1"}, {"Host": "[::1]:80"}, {"Origin": "http://127.0.0.1:9"}])
async def test_request_of_this_machine_is_answered(server: ApiServer, headers: dict[str, str]) -> None:
    async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{server.url}/api/v1/secrets") as answer:
        assert answer.status == 200


async def test_two_servers_know_nothing_of_each_other() -> None:
    async with ApiServer() as one, ApiServer(host="127.0.0.2") as other:
        assert one.url != other.url
        assert other.url.startswith("http://127.0.0.2:")
        async with aiohttp.ClientSession() as session:
            body = {"metadata": {"name": "only-here"}}
            async with session.post(f"{one.url}/api/v1/namespaces", json=body) as response:
                assert response.status == 201
        assert len((await fetched(f"{one.url}/api/v1/namespaces"))["items"]) == 3
        assert len((await fetched(f"{other.url}/api/v1/namespaces"))["items"]) == 2


async def test_server_can_be_stopped_twice_and_started_again() -> None:
    server = ApiServer()
    await server.start()
    await server.stop()
    await server.stop()
    await server.start()
    assert (await fetched(f"{server.url}/version"))["major"] == "1"
    await server.stop()


async def test_kubeconfig_is_for_the_owner_only_and_names_the_server(server: ApiServer, tmp_path: Path) -> None:
    path = tmp_path / "new" / "kubeconfig"
    server.write_kubeconfig(path)
    written = yaml.safe_load(path.read_text())
    assert written == server.kubeconfig()
    assert written["clusters"] == [{"name": "gatepost", "cluster": {"server": server.url}}]
    assert written["current-context"] == "gatepost"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_given_definition_takes_the_place_of_the_compact_one() -> None:
    (compact,) = [crd for crd in compact_crds() if crd["spec"]["names"]["kind"] == "DNSEndpoint"]
    version = {**compact["spec"]["versions"][0], "additionalPrinterColumns": []}
    version["schema"] = {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"note": {"type": "string", "default": "mine"}}}},
        }
    }
    given = {**compact, "spec": {**compact["spec"], "versions": [version]}}
    async with ApiServer(crds=[given]) as server, aiohttp.ClientSession(server.url) as session:
        path = "/apis/externaldns.k8s.io/v1alpha1/namespaces/default/dnsendpoints"
        async with session.post(path, json={"metadata": {"name": "a"}, "spec": {}}) as response:
            assert (await response.json())["spec"] == {"note": "mine"}
        crd = await fetched(f"{server.url}{CRDS}/dnsendpoints.externaldns.k8s.io")
    assert [found["name"] for found in crd["spec"]["versions"]] == ["v1alpha1"]


@pytest.mark.parametrize("folder", ["gateway-api-standard", "gateway-api-experimental", "knative", "external-dns"])
async def test_published_definitions_can_all_be_given(published_crds: Path, folder: str) -> None:
    given = load_crds(published_crds / folder)
    async with ApiServer(crds=given) as server:
        stored = {crd["metadata"]["name"]: crd for crd in (await fetched(f"{server.url}{CRDS}"))["items"]}
    for crd in given:
        live = stored[crd["metadata"]["name"]]
        assert live["spec"]["versions"] == crd["spec"]["versions"], "nothing of a definition is lost or made up"
        conditions = {condition["type"]: condition["status"] for condition in live["status"]["conditions"]}
        assert conditions == {"NamesAccepted": "True", "Established": "True"}


async def test_compact_definitions_are_not_written_again_at_the_next_start(tmp_path: Path) -> None:
    versions = []
    for _ in range(2):
        async with ApiServer(data_dir=tmp_path) as server:
            versions.append((await fetched(f"{server.url}{CRDS}"))["metadata"]["resourceVersion"])
    assert versions[0] == versions[1]


def test_gatepost_is_imported_without_the_server() -> None:
    program = "import gatepost, sys; print('aiohttp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
