"""Scenarios of plain HTTP: basics, hosts, dispatch, headers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from knative_ingress.backends import Http2Runtime, Runtime
from knative_ingress.clients import Gateway, assert_shares
from knative_ingress.cluster import NAMESPACE, Cluster, path_to, public, split

scenario = pytest.mark.scenario


@scenario("basics")
async def test_a_plain_public_kingress_answers(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("basics", Runtime())
    kingress = await cluster.ready_kingress("basics", public("basics.example.com", path_to(split(service))))
    assert kingress["status"]["publicLoadBalancer"] == {"ingress": [{"ip": "127.0.0.1"}]}
    answer = await gateway.get("basics.example.com")
    assert (answer.seen["host"], answer.seen["protocol"]) == ("basics.example.com", "HTTP/1.1")


@scenario("basics/http2")
async def test_a_backend_with_h2c_sees_http2(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("http2", Http2Runtime())
    await cluster.ready_kingress("http2", public("http2.example.com", path_to(split(service))))
    answer = await gateway.get("http2.example.com")
    assert (answer.seen["host"], answer.seen["protocol"]) == ("http2.example.com", "HTTP/2.0")


@scenario("hosts/multiple")
async def test_all_hosts_of_a_rule_answer(cluster: Cluster, gateway: Gateway) -> None:
    hosts = ["hosts.foo.com", "www.hosts.foo.com", "a-b-1.hosts.something-really-long.com", "add.your.hosts.here.net"]
    service = await cluster.service("hosts", Runtime())
    await cluster.ready_kingress("hosts", public(hosts, path_to(split(service))))
    assert [(await gateway.get(host)).seen["host"] for host in hosts] == hosts


async def runtimes(cluster: Cluster, *names: str) -> list[str]:
    return [await cluster.service(name, Runtime()) for name in names]


def marked(service: str, percent: int = 100) -> dict[str, Any]:
    """A split that tells the backend which one it is."""
    return split(service, percent, headers={"Which-Backend": service})


@scenario("dispatch/path")
async def test_each_path_reaches_its_backend(cluster: Cluster, gateway: Gateway) -> None:
    foo, bar, baz, rest = await runtimes(cluster, "path-foo", "path-bar", "path-baz", "path-rest")
    paths = [path_to(marked(s), path=p) for s, p in ((foo, "/foo"), (bar, "/bar"), (baz, "/baz"))]
    await cluster.ready_kingress("path", public("path.example.com", *paths, path_to(marked(rest))))
    wanted = {"/foo": foo, "/bar": bar, "/baz": baz, "/": rest, "/asdf": rest}
    for path, service in wanted.items():
        assert await gateway.count(1, "path.example.com", "Which-Backend", path) == {service: 1}, path


@scenario("dispatch/percentage")
async def test_ten_backends_get_their_shares(cluster: Cluster, gateway: Gateway) -> None:
    percents = (1, 2, 4, 8, 16, 32, 37, 0, 0, 0)
    names = await runtimes(cluster, *(f"percent-{number}" for number in range(10)))
    splits = [marked(name, percent) for name, percent in zip(names, percents, strict=True)]
    await cluster.ready_kingress("percent", public("percent.example.com", path_to(*splits)))
    found = await gateway.count(1000, "percent.example.com", "Which-Backend")
    assert_shares(found, dict(zip(names, percents, strict=True)), within=10)


@scenario("dispatch/path_and_percentage")
async def test_one_path_is_split_in_halves(cluster: Cluster, gateway: Gateway) -> None:
    whole, one, other = await runtimes(cluster, "halves-whole", "halves-one", "halves-other")
    halves = path_to(marked(one, 50), marked(other, 50), path="/foo")
    await cluster.ready_kingress("halves", public("halves.example.com", halves, path_to(marked(whole))))
    found = await gateway.count(1000, "halves.example.com", "Which-Backend", "/foo")
    assert_shares(found, {one: 50, other: 50}, within=15)
    assert await gateway.count(1, "halves.example.com", "Which-Backend") == {whole: 1}


@scenario("dispatch/rule")
async def test_each_rule_reaches_its_backend(cluster: Cluster, gateway: Gateway) -> None:
    foo, bar = await runtimes(cluster, "rule-foo", "rule-bar")
    rules = [public(f"{name}.example.com", path_to(marked(name))) for name in (foo, bar)]
    await cluster.ready_kingress("rule", *rules)
    for name in (foo, bar):
        assert await gateway.count(10, f"{name}.example.com", "Which-Backend") == {name: 10}


@scenario("headers/pre-split")
async def test_headers_of_a_path_replace_those_of_the_client(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("pre-split", Runtime())
    path = path_to(split(service), appendHeaders={"Foo-Bar": "baz"})
    await cluster.ready_kingress("pre-split", public("pre-split.example.com", path))
    for sent in ({}, {"Foo-Bar": "bogus"}, {"foo-bar": "bogus"}):
        answer = await gateway.get("pre-split.example.com", headers=sent)
        assert answer.seen["headers"]["foo-bar"] == "baz"


@scenario("headers/post-split")
async def test_headers_of_a_backend_tell_which_it_is(cluster: Cluster, gateway: Gateway) -> None:
    names = await runtimes(cluster, *(f"post-split-{number}" for number in range(4)))
    splits = [split(name, 25, headers={"Foo-Bar": f"value-{name}"}) for name in names]
    await cluster.ready_kingress("post-split", public("post-split.example.com", path_to(*splits)))
    seen = set()
    for _ in range(100):
        answer = await gateway.get("post-split.example.com", headers={"Foo-Bar": "bogus"})
        seen.add(answer.seen["headers"]["foo-bar"])
    assert seen == {f"value-{name}" for name in names}


@scenario("headers/probe")
async def test_a_probe_gets_the_version_of_the_kingress_back(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("probe", Runtime())
    rule = public("probe.example.com", path_to(split(service)))
    # The field order of Knative's types, written out: the version is a hash of this text.
    spec = {"rules": [rule], "httpOption": "Enabled"}
    text = json.dumps(spec, separators=(",", ":")) + NAMESPACE + "probe"
    wanted = hashlib.sha256(text.encode()).hexdigest()
    await cluster.ready_kingress("probe", rule)
    for sent, got in (("override", wanted), ("some-other-value", "some-other-value")):
        headers = {"K-Network-Probe": "probe", "K-Network-Hash": sent}
        answer = await gateway.get("probe.example.com", headers=headers)
        assert (answer.status, answer.headers.get("K-Network-Hash")) == (200, got)


@scenario("headers/tags")
async def test_a_header_selects_the_backend(cluster: Cluster, gateway: Gateway) -> None:
    tagged, plain = await runtimes(cluster, "tags-tagged", "tags-plain")
    condition = {"Knative-Serving-Tag": {"exact": "the-tag"}}
    paths = [path_to(marked(tagged), headers=condition), path_to(marked(plain))]
    await cluster.ready_kingress("tags", public("tags.example.com", *paths))
    for value, name in (("the-tag", tagged), (None, plain), ("", plain), ("not-the-tag", plain)):
        sent = {} if value is None else {"Knative-Serving-Tag": value}
        answer = await gateway.get("tags.example.com", headers=sent)
        assert answer.seen["headers"]["which-backend"] == name, value
