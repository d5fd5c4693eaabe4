"""What the client sends and what it makes of answers."""

from __future__ import annotations

import json

import pytest
from scripted import answer, client_of, scripted_cluster, status

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.credentials import FixedCredentials, bearer
from gatepost.cluster.errors import ApiError, CredentialError, Unreachable, WriteWithheld


async def test_impersonation_goes_with_every_request() -> None:
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/version", answer({}))
        headers = (("Impersonate-User", "jane"), ("Impersonate-Group", "dev"))
        async with Client(Connection(Server(cluster.url), headers=headers)) as client:
            await client.read("/version")
        assert cluster.seen[0].headers["Impersonate-User"] == "jane"
        assert cluster.seen[0].headers["Impersonate-Group"] == "dev"


async def test_requests_go_through_the_proxy() -> None:
    async with scripted_cluster() as proxy:
        proxy.on("GET", "/version", answer({"via": "proxy"}))
        server = Server("http://cluster.invalid", proxy_url=proxy.url)
        async with Client(Connection(server)) as client:
            assert json.loads(await client.read("/version")) == {"via": "proxy"}
        assert proxy.seen[0].headers["Host"] == "cluster.invalid"


async def test_the_path_of_the_server_stands_before_every_other() -> None:
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/k8s/clusters/one/version", answer({}))
        async with Client(Connection(Server(f"{cluster.url}/k8s/clusters/one"))) as client:
            await client.read("/version")
        assert cluster.seen[0].path == "/k8s/clusters/one/version"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_in_a_dry_run_no_writing_call_leaves_the_process(method: str) -> None:
    async with scripted_cluster() as cluster, client_of(cluster, dry_run=True) as client:
        with pytest.raises(WriteWithheld, match="was not sent: this is a dry run"):
            await client.write(method, "/api/v1/namespaces", {}, {}, MERGE_PATCH)
        assert cluster.seen == []


async def test_an_error_tells_code_reason_and_message_of_the_server() -> None:
    async with scripted_cluster() as cluster, client_of(cluster) as client:
        cluster.on("GET", "/version", status(403, "Forbidden", "jane may not read this"))
        with pytest.raises(ApiError, match="403 Forbidden: jane may not read this"):
            await client.read("/version")


async def test_an_error_that_is_no_status_is_told_by_its_text() -> None:
    async with scripted_cluster() as cluster, client_of(cluster) as client:
        cluster.on("GET", "/version", answer("bad gateway", 502))
        with pytest.raises(ApiError, match=r"502: .*bad gateway"):
            await client.read("/version")


async def test_a_redirect_is_not_followed_with_our_token() -> None:
    async with scripted_cluster() as cluster, client_of(cluster) as client:
        cluster.on("GET", "/version", answer({}, 302, {"Location": f"{cluster.url}/elsewhere"}))
        with pytest.raises(ApiError):
            await client.read("/version")
        assert len(cluster.seen) == 1


async def test_a_write_that_is_sent_away_for_a_while_is_sent_again() -> None:
    async with scripted_cluster() as cluster, client_of(cluster) as client:
        busy = status(429, "TooManyRequests", headers={"Retry-After": "3"})
        cluster.on("POST", "/api/v1/namespaces", busy, answer({"made": True}, 201))
        assert json.loads(await client.write("POST", "/api/v1/namespaces", {}, {})) == {"made": True}
        assert 3.0 <= cluster.pauses[0] <= 3.3


async def test_a_server_that_never_has_time_is_given_up() -> None:
    async with scripted_cluster() as cluster, client_of(cluster) as client:
        cluster.on("GET", "/version", status(429, "TooManyRequests", headers={"Retry-After": "1"}))
        with pytest.raises(ApiError, match="429 TooManyRequests") as caught:
            await client.read("/version")
        assert caught.value.retry_after_seconds == 1.0
        assert len(cluster.seen) == 5


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with scripted_cluster() as cluster:
        url = cluster.url
    async with Client(Connection(Server(url))) as client:
        with pytest.raises(Unreachable, match=r"GET /version: "):
            await client.read("/version")


async def test_a_fixed_token_that_is_refused_is_said_to_be_refused() -> None:
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/version", status(401, "Unauthorized", "token expired"))
        async with Client(Connection(Server(cluster.url), FixedCredentials(bearer("old")))) as client:
            with pytest.raises(CredentialError, match=r"does not accept the credentials \(token expired\)"):
                await client.read("/version")
        assert len(cluster.seen) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.9:1", "https://127.0.0.9:1"])
async def test_a_server_that_is_not_there_is_told_in_words_that_are_the_same_each_time(url: str) -> None:
    async with Client(Connection(Server(url))) as client:
        with pytest.raises(Unreachable) as raised:
            await client.read("/version")
    assert str(raised.value) == "GET /version: cannot connect to 127.0.0.9:1: Connection refused"
