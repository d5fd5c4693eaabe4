"""Certificates of a Route: which are asked for, which are used, and what they say of the Route."""

from __future__ import annotations

import pytest
from knative_objects import (
    NETWORKING,
    Raw,
    World,
    conditions,
    controlled_by,
    event_reasons,
    meta,
    network,
    the,
    told_if_refused,
)
from route_world import LOCAL, PUBLIC, latest, pinned, route, route_world

MAIN = "route-uid-route-web"
READY = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
REDIRECTED = network(external_domain_tls="Enabled", http_protocol="Redirected")
OPEN = network(external_domain_tls="Enabled")
ROUTE = route()


def certificate(
    name: str, hosts: list[str], owner: Raw | None = ROUTE, type_: str = "external-domain", **more: Raw
) -> Raw:
    labels = {"serving.knative.dev/route": "web", "networking.knative.dev/certificate-type": type_}
    owners = controlled_by(owner) if owner is not None else []
    domain = "svc.cluster.local" if type_ == "cluster-local-domain" else "example.com"
    return {
        "apiVersion": NETWORKING,
        "kind": "Certificate",
        "metadata": meta(name, uid=f"uid-{name}", labels=more.get("labels", labels), ownerReferences=owners),
        "spec": {"dnsNames": hosts, "domain": domain, "secretName": name},
        "status": more.get("status", {}),
    }


def asked_for(world: World, seen: Raw = ROUTE) -> dict[str, list[str]]:
    """Name -> DNS names of the Certificates that are wanted."""
    found = [apply.fields for apply in world.outcome(seen).applies if apply.fields["kind"] == "Certificate"]
    return {one["metadata"]["name"]: list(one["spec"]["dnsNames"]) for one in found}


def test_every_public_host_has_a_certificate_named_by_uid_and_checksum_of_the_tag() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"), pinned("web-00001", 0, tag="v1"))
    assert asked_for(route_world(OPEN, seen), seen) == {
        MAIN: [PUBLIC],
        f"{MAIN}-42729792": ["old-web.shop.example.com"],
        f"{MAIN}-18809000": ["v1-web.shop.example.com"],
    }


def test_ready_certificate_is_served_and_turns_the_url_to_https() -> None:
    found = certificate(MAIN, [PUBLIC], status=READY)
    outcome = route_world(OPEN, ROUTE, found).outcome(ROUTE)
    entry = {"hosts": [PUBLIC], "secretName": MAIN, "secretNamespace": "shop"}
    assert the(outcome, "Ingress")["spec"]["tls"] == [entry]
    assert outcome.status["url"] == f"https://{PUBLIC}"
    assert outcome.status["address"] == {"url": "http://web.shop.svc.cluster.local"}
    assert conditions(outcome)["CertificateProvisioned"] == ("True", "")


FAILED = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "False"}]}


@pytest.mark.parametrize(
    ("settings", "status", "condition", "scheme"),
    [
        (REDIRECTED, {}, ("Unknown", "CertificateNotReady"), "https"),
        (REDIRECTED, FAILED, ("False", "CertificateProvisionFailed"), "https"),
        (OPEN, {}, ("True", "HTTPDowngrade"), "http"),
        (OPEN, FAILED, ("True", "HTTPDowngrade"), "http"),
    ],
)
def test_certificate_that_is_not_ready_holds_the_route_unless_http_is_open(
    settings: Raw, status: Raw, condition: tuple[str, str], scheme: str
) -> None:
    outcome = route_world(settings, ROUTE, certificate(MAIN, [PUBLIC], status=status)).outcome(ROUTE)
    assert conditions(outcome)["CertificateProvisioned"] == condition
    assert outcome.status["url"] == f"{scheme}://{PUBLIC}"
    assert "tls" not in the(outcome, "Ingress")["spec"]


def test_each_tag_has_the_scheme_that_its_own_certificate_allows() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    found = certificate(MAIN, [PUBLIC], seen, status=READY)
    outcome = route_world(OPEN, seen, found).outcome(seen)
    assert outcome.status["url"] == f"https://{PUBLIC}"
    assert outcome.status["traffic"][1]["url"] == "http://old-web.shop.example.com"
    # Hosts are looked at in order: "old-web" before "web", and the last one decides.
    assert conditions(outcome)["CertificateProvisioned"] == ("True", "")


def challenge(host: str, token: str) -> Raw:
    url = f"http://{host}/{token}"
    return {"url": url, "serviceName": "solver", "serviceNamespace": "shop", "servicePort": 8089}


def test_challenges_stand_in_order_before_the_paths_of_their_own_public_host_alone() -> None:
    status = {"http01Challenges": [challenge(PUBLIC, "b"), challenge("x.example.com", "c"), challenge(PUBLIC, "a")]}
    outcome = route_world(OPEN, ROUTE, certificate(MAIN, [PUBLIC], status=status)).outcome(ROUTE)
    local, public = the(outcome, "Ingress")["spec"]["rules"]
    assert [path.get("path") for path in public["http"]["paths"]] == ["/a", "/b", None]
    assert [path.get("path") for path in local["http"]["paths"]] == [None]


@pytest.mark.parametrize(("renewing", "paths"), [("True", ["/r", None]), ("False", [None])])
def test_ready_certificate_publishes_challenges_only_while_it_renews(renewing: str, paths: list[str | None]) -> None:
    status = {
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Renewing", "status": renewing}],
        "http01Challenges": [challenge(PUBLIC, "r")],
    }
    outcome = route_world(OPEN, ROUTE, certificate(MAIN, [PUBLIC], status=status)).outcome(ROUTE)
    public = the(outcome, "Ingress")["spec"]["rules"][1]
    assert [path.get("path") for path in public["http"]["paths"]] == paths


def test_certificate_that_the_server_refuses_fails_the_route() -> None:
    outcome = route_world(OPEN, ROUTE).outcome(ROUTE)
    told = told_if_refused(outcome, "Certificate")
    assert told["AllTrafficAssigned"] == ("True", "")
    assert told["CertificateProvisioned"] == told["Ready"] == ("False", "CertificateProvisionFailed")


def test_foreign_certificate_stops_before_the_ingress() -> None:
    outcome = route_world(OPEN, ROUTE, certificate(MAIN, [PUBLIC], None, status=READY)).outcome(ROUTE)
    assert [apply.fields["kind"] for apply in outcome.applies] == ["Service"]
    assert conditions(outcome)["CertificateProvisioned"] == ("False", "CertificateNotOwned")
    assert event_reasons(outcome) == ["InternalError"]


@pytest.mark.parametrize(
    ("names", "is_used"), [(["*.shop.example.com"], True), (["*.example.com"], False), (["*.api.example.com"], False)]
)
def test_wildcard_certificate_of_the_namespace_saves_issuing_one(names: list[str], is_used: bool) -> None:
    wildcard = certificate(
        "wild", names, None, labels={"networking.knative.dev/wildcardDomain": "example.com"}, status=READY
    )
    world = route_world(OPEN, ROUTE, wildcard)
    assert (asked_for(world) == {}) is is_used
    entries = the(world.outcome(ROUTE), "Ingress")["spec"].get("tls", [])
    assert entries == ([{"hosts": [PUBLIC], "secretName": "wild", "secretNamespace": "shop"}] if is_used else [])


def test_certificate_for_hosts_that_are_gone_is_deleted_if_it_is_the_routes_own() -> None:
    gone = certificate("gone", ["gone-web.shop.example.com"])
    kept = certificate("kept", ["kept-web.shop.example.com"], None)
    inside = certificate("inside", ["gone-web.shop"], type_="cluster-local-domain")
    [delete] = route_world(OPEN, ROUTE, gone, kept, inside).outcome(ROUTE).deletes
    assert delete.ref.name == "gone"
    assert delete.announce is not None
    assert delete.announce.ref.name == "gone"


@pytest.mark.parametrize(
    ("settings", "metadata"),
    [
        (network(), {}),
        (OPEN, {"annotations": {"networking.knative.dev/disableAutoTLS": "true"}}),
        (OPEN, {"labels": {"networking.knative.dev/visibility": "cluster-local"}}),
    ],
    ids=["off", "off by annotation", "no public host"],
)
def test_route_without_certificates_is_not_held_back(settings: Raw, metadata: Raw) -> None:
    seen = route(**metadata)
    world = route_world(settings, seen)
    assert asked_for(world, seen) == {}
    assert conditions(world.outcome(seen))["CertificateProvisioned"] == ("True", "TLSNotEnabled")


INSIDE = network(cluster_local_domain_tls="Enabled")


def test_names_in_the_cluster_get_one_certificate_a_target() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    assert asked_for(route_world(INSIDE, seen), seen) == {
        f"{MAIN}-local": LOCAL,
        f"{MAIN}-42729792-local": ["old-web.shop", "old-web.shop.svc", "old-web.shop.svc.cluster.local"],
    }


@pytest.mark.parametrize(
    ("status", "address", "condition"),
    [
        (READY, "https://web.shop.svc.cluster.local", ("True", "")),
        ({}, "http://web.shop.svc.cluster.local", ("Unknown", "CertificateNotReady")),
    ],
)
def test_ready_certificate_of_the_cluster_names_turns_the_address_to_https(
    status: Raw, address: str, condition: tuple[str, str]
) -> None:
    found = certificate(f"{MAIN}-local", LOCAL, type_="cluster-local-domain", status=status)
    outcome = route_world(INSIDE, ROUTE, found).outcome(ROUTE)
    assert outcome.status["address"] == {"url": address}
    assert outcome.status["url"] == f"http://{PUBLIC}"
    assert conditions(outcome)["CertificateProvisioned"] == condition
