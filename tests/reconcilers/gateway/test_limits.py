"""A HTTPRoute that the API would refuse is never made: it is divided, or the one impossible thing is told."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_world import EDGE, ingress, path, public_rule, rendered, routes_wanted, tls, world
from hypothesis import given, settings
from hypothesis import strategies as st

from published_crds import assert_valid

Raw = dict[str, Any]

LONG = ".".join(["a" * 63, "b" * 63, "c" * 63, "example.com"])
"""A host of 203 characters."""


def wanted(kingress: Raw) -> dict[str, Raw]:
    return routes_wanted(world(*EDGE, kingress).outcome(kingress))


def refusal(kingress: Raw) -> tuple[str, str]:
    """The reason and the field of the one problem; no route is wanted."""
    outcome = world(*EDGE, kingress).outcome(kingress)
    assert routes_wanted(outcome) == {}
    (problem,) = outcome.problems
    return problem.reason, problem.field


@pytest.mark.parametrize("prefix", ["relative", "/a//b", "/a/./b", "/a/../b", "/a/..", "/a%2fb", "/a b", "/#a", "/ü"])
def test_a_path_that_a_route_cannot_say_is_told(prefix: str) -> None:
    kingress = ingress("app", public_rule("app.example.com", path("app-00001", path=prefix)))
    assert refusal(kingress) == ("NotExpressibleAsHTTPRoute", "spec.rules[0].http.paths[].path")


@pytest.mark.parametrize("prefix", ["/", "/a", "/a/", "/%41", "/a.b/~c@d"])
def test_a_path_that_a_route_can_say_is_taken(prefix: str) -> None:
    spec = wanted(ingress("app", public_rule("app.example.com", path("app-00001", path=prefix))))["app.example.com"]
    assert spec["rules"][-1]["matches"] == [{"path": {"type": "PathPrefix", "value": prefix}}]


@pytest.mark.parametrize("host", ["App.example.com", "a_b.example.com", "a.*.example.com", f"{'a.' * 126}toolong"])
def test_a_host_that_a_route_cannot_say_is_told(host: str) -> None:
    assert refusal(ingress("app", public_rule(host))) == ("NotExpressibleAsHTTPRoute", "spec.rules[0].hosts")


def test_headers_that_a_route_cannot_say_are_told() -> None:
    empty = path("app-00001", appendHeaders={"X-Empty": ""})
    assert refusal(ingress("app", public_rule("app.example.com", empty)))[1] == (
        "spec.rules[0].http.paths[].appendHeaders[X-Empty]"
    )
    odd = path("app-00001", headers={"X Odd": {"exact": "v"}})
    assert refusal(ingress("app", public_rule("app.example.com", odd)))[1] == "spec.rules[0].http.paths[].headers"


def test_a_label_that_would_be_too_long_is_cut_and_told_apart_by_a_hash() -> None:
    objects = rendered(*EDGE, ingress(LONG, public_rule(LONG)))
    (route,) = [raw for raw in objects.values() if raw["kind"] == "HTTPRoute"]
    # printf %s LONG | sha256sum | head -c 8
    assert route["metadata"]["labels"]["networking.internal.knative.dev/ingress"] == f"{'a' * 54}-64a196e3"
    assert_valid(route)


def test_routes_of_a_kingress_with_a_cut_label_are_pruned_like_others() -> None:
    before = rendered(*EDGE, ingress(LONG, public_rule("old.example.com")))
    kingress = ingress(LONG, public_rule("new.example.com"))
    outcome = world(*[raw for raw in before.values() if raw["kind"] != "Ingress"], kingress).outcome(kingress)
    assert [delete.ref.name for delete in outcome.deletes] == ["old.example.com"]


def test_names_of_divided_routes_stay_within_the_limit() -> None:
    host = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])
    assert len(host) == 253
    paths = [path(f"app-{number}", path=f"/{number}") for number in range(9)]
    first, second = wanted(ingress("app", public_rule(host, *paths)))
    assert (first, len(second), second[-3:]) == (host, 253, "-02")
    wildcard = f"*.{host[2:]}"
    (name,) = wanted(ingress("app", public_rule(wildcard)))
    assert (len(name) <= 253, name.startswith("wildcard-")) == (True, True)


PIECES = st.sampled_from(["/", "/a", "/a/b", "/a//b", "b", "/%2F", "/x y", ""])
HOSTS = st.sampled_from(["a.example.com", "*.example.com", "B.example.com", "-a.example.com", LONG, "x" * 254])
TEXTS = st.sampled_from(["", "v", "X-Header", "x y", "é", "v" * 5000])
HEADERS = st.dictionaries(TEXTS, TEXTS, max_size=18)


@st.composite
def paths(draw: st.DrawFn) -> Raw:
    more: Raw = {"path": draw(PIECES)}
    if draw(st.booleans()):
        more["appendHeaders"] = draw(HEADERS)
    if draw(st.booleans()):
        more["headers"] = {name: {"exact": value} for name, value in draw(HEADERS).items()}
    return path(draw(st.sampled_from(["app", ""])), port=draw(st.sampled_from([80, 0, 70000])), **more)


@given(st.lists(HOSTS, max_size=20, unique=True), st.lists(paths(), max_size=20), st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_for_what_is_written_is_valid(hosts: list[str], asked: list[Raw], secured: bool) -> None:
    certificates = [{**tls("x", "cert"), "hosts": hosts}] if secured else []
    rule = {"hosts": hosts, "visibility": "ExternalIP", "http": {"paths": asked}}
    for raw in rendered(*EDGE, ingress("app", rule, tls=certificates)).values():
        if raw["kind"] in ("HTTPRoute", "Gateway"):
            assert_valid(raw)
