"""httpOption Redirected: only when https answers, and never for the challenge of a certificate."""

from __future__ import annotations

from typing import Any

from gateway_world import (
    EDGE,
    INSIDE,
    PUBLIC,
    SERVED,
    config,
    gateway,
    ingress,
    parents,
    path,
    public_rule,
    route_of,
    routes_wanted,
    seen,
    tls,
    verdict,
    world,
)
from knative_objects import conditions

Raw = dict[str, Any]

HOST = "app.example.com"
CHALLENGE = path("solver", port=8089, path="/.well-known/acme-challenge/token")


def secured(*paths: Raw, option: str = "Redirected") -> Raw:
    return ingress("app", public_rule(HOST, *paths), tls=[tls(HOST, "cert")], httpOption=option)


def with_listener(*more: Raw, programmed: str = "True") -> Raw:
    own = {"name": "kni-uid-shop-app", "hostname": HOST, "port": 443, "protocol": "HTTPS"}
    public = gateway("public", own, *more)
    told = {"name": "kni-uid-shop-app", "conditions": [{"type": "Programmed", "status": programmed}]}
    return {**public, "status": {**public["status"], "listeners": [told]}}


def wanted(kingress: Raw, public: Raw = PUBLIC) -> dict[str, Raw]:
    return routes_wanted(world(config(), public, INSIDE, kingress).outcome(kingress))


def sections(spec: Raw) -> list[str | None]:
    return [parent.get("sectionName") for parent in spec["parentRefs"]]


def test_plain_requests_are_sent_to_https_once_the_listener_answers() -> None:
    found = wanted(secured(), with_listener())
    assert {name: sections(spec) for name, spec in found.items()} == {
        HOST: ["kni-uid-shop-app"],
        f"{HOST}-redirect": ["http"],
    }
    assert found[f"{HOST}-redirect"]["rules"] == [
        {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "filters": [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}],
        }
    ]
    assert found[HOST]["rules"][-1]["backendRefs"][0]["name"] == "app-00001"


def test_until_then_plain_requests_are_served() -> None:
    kingress = secured()
    found = world(*EDGE, kingress)
    assert {name: sections(spec) for name, spec in routes_wanted(found.outcome(kingress)).items()} == {HOST: [None]}
    assert "TLSNotReadyToRedirectTo" in [skipped.reason for skipped in found.outcome(kingress).skipped]
    found.put(with_listener(programmed="False"))
    assert list(routes_wanted(found.outcome(kingress))) == [HOST]
    found.put(with_listener())
    assert list(routes_wanted(found.outcome(kingress))) == [HOST, f"{HOST}-redirect"]


def test_redirect_that_is_there_stays_while_the_listener_is_in_trouble_and_goes_with_it() -> None:
    kingress = secured()
    there = route_of(kingress, f"{HOST}-redirect", hosts=[HOST])
    found = world(config(), with_listener(programmed="False"), INSIDE, kingress, there)
    assert list(routes_wanted(found.outcome(kingress))) == [HOST, f"{HOST}-redirect"]
    found.put(PUBLIC)
    assert list(routes_wanted(found.outcome(kingress))) == [HOST]
    assert [delete.ref.name for delete in found.outcome(kingress).deletes] == [f"{HOST}-redirect"]


def test_redirect_route_of_someone_else_tells_nothing() -> None:
    kingress = secured()
    foreign = route_of(ingress("other"), f"{HOST}-redirect", hosts=[HOST])
    found = world(config(), with_listener(programmed="False"), INSIDE, kingress, foreign)
    assert list(routes_wanted(found.outcome(kingress))) == [HOST]


def test_enabled_serves_both() -> None:
    assert {name: sections(spec) for name, spec in wanted(secured(option="Enabled"), with_listener()).items()} == {
        HOST: [None]
    }


def test_challenge_is_served_on_plain_and_on_https() -> None:
    found = wanted(secured(CHALLENGE, path("app-00001")), with_listener())
    redirect = found[f"{HOST}-redirect"]["rules"]
    assert [rule["matches"][0]["path"]["value"] for rule in redirect] == [CHALLENGE["path"], CHALLENGE["path"], "/"]
    assert redirect[1]["backendRefs"][0]["port"] == 8089
    assert "backendRefs" not in redirect[2]
    assert len(found[HOST]["rules"]) == 4


def test_redirect_with_eight_challenges_stays_within_sixteen_rules_a_route() -> None:
    challenges = [path("solver", path=f"/.well-known/acme-challenge/{number}") for number in range(8)]
    found = wanted(secured(*challenges, path("app-00001")), with_listener())
    assert {name: len(spec["rules"]) for name, spec in found.items()} == {
        HOST: 16,
        f"{HOST}-02": 2,
        f"{HOST}-redirect": 15,
        f"{HOST}-redirect-02": 3,
    }


def test_redirect_stands_on_the_plain_listeners_that_take_the_host() -> None:
    def plain(name: str, hostname: str) -> Raw:
        return {"name": name, "port": 80, "protocol": "HTTP", "hostname": hostname}

    public = with_listener(plain("wild", "*.example.com"), plain("exact", HOST), plain("other", "*.example.org"))
    assert sections(wanted(secured(), public)[f"{HOST}-redirect"]) == ["http", "wild", "exact"]


def test_cluster_local_rule_is_never_redirected() -> None:
    local = {**public_rule("app.shop.svc.cluster.local"), "visibility": "ClusterLocal"}
    kingress = ingress("app", local, public_rule(HOST), tls=[tls(HOST, "cert")], httpOption="Redirected")
    found = wanted(kingress, with_listener())
    assert sections(found["app.shop.svc.cluster.local"]) == [None]
    assert list(found) == ["app.shop.svc.cluster.local", HOST, f"{HOST}-redirect"]


def test_redirect_names_the_port_that_config_gateway_says_clients_use() -> None:
    found = routes_wanted(world(config(redirect_port=8443), with_listener(), INSIDE, secured()).outcome(secured()))
    to_https = found[f"{HOST}-redirect"]["rules"][0]["filters"][0]["requestRedirect"]
    assert to_https == {"scheme": "https", "statusCode": 301, "port": 8443}


def served(kingress: Raw) -> tuple[Raw, Raw]:
    """The KIngress after its first pass, and its route as a Gateway accepts it."""
    return seen(kingress), route_of(kingress, HOST, status=parents(verdict(*SERVED)))


def test_redirect_that_waits_for_its_listener_keeps_the_kingress_from_being_ready() -> None:
    kingress, route = served(secured())
    found = world(config(), with_listener(programmed="False"), INSIDE, kingress, route)
    assert conditions(found.outcome(kingress))["LoadBalancerReady"][0] == "Unknown"
    kingress, route = served(secured(option="Enabled"))
    found = world(config(), with_listener(), INSIDE, kingress, route)
    assert conditions(found.outcome(kingress))["Ready"] == ("True", "")


def test_redirect_without_a_certificate_is_told_in_a_condition_and_serves() -> None:
    kingress, route = served(ingress("app", public_rule(HOST), httpOption="Redirected"))
    found = world(*EDGE, kingress, route)
    assert conditions(found.outcome(kingress)) == {
        "Ready": ("True", ""),
        "NetworkConfigured": ("True", "NoTLSToRedirectTo"),
        "LoadBalancerReady": ("True", ""),
    }
