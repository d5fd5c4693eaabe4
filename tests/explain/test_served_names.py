"""Names that are served, and what the explanation says serves them."""

from __future__ import annotations

from typing import Any

import pytest
from explain_world import (
    KNATIVE,
    NAMESPACE,
    OLD,
    YOUNG,
    Raw,
    answer,
    core_service,
    domain_mapping,
    endpoint_slice,
    explained,
    gateway,
    http_route,
    kingress,
    knative_service,
    meta,
    owned_by,
    settled,
    standing_domain,
    step,
)

from gatepost.explain.hostname import explain_hostname
from gatepost.explain.values import Backend


def test_accepted_route_with_a_record_serves_its_name() -> None:
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com"))
    assert found.verdict == "served"
    assert found.reasons == ()
    assert [str(ref) for ref in found.served_by] == ["HTTPRoute shop/app"]
    assert found.summary == "by HTTPRoute shop/app on Gateway infra/public; DNS: A 192.0.2.1"


def test_weights_of_a_route_are_shown_as_percentages() -> None:
    backends = [{"name": "one", "port": 80, "weight": 3}, {"name": "two", "port": 8080, "weight": 1}]
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", backends=backends))
    assert step(found, "HTTPRoute shop/app").backends == (
        Backend(service="shop/one:80", percent=75.0),
        Backend(service="shop/two:8080", percent=25.0),
    )


@pytest.mark.parametrize(
    "broken",
    [
        {"matches": [{"path": ["/"]}]},
        {"filters": {"type": "RequestRedirect"}},
        {"filters": [{"requestRedirect": "x"}]},
        {"backendRefs": [{"name": "web", "weight": "much"}]},
    ],
    ids=str,
)
def test_rule_of_a_wrong_form_is_passed_over_and_the_others_are_explained(broken: Any) -> None:
    route = http_route("app", "app.example.com")
    route["spec"]["rules"].append(broken)
    found = explained("app.example.com", gateway(), route)
    assert step(found, "HTTPRoute shop/app").backends == (Backend(service="shop/web:80", percent=100.0),)


def test_name_is_compared_without_case_and_final_dot() -> None:
    found = explained("App.Example.COM.", gateway(), http_route("app", "app.example.com"))
    assert (found.name, found.verdict) == ("app.example.com", "served")


def test_rules_for_probes_are_no_backends() -> None:
    route = http_route("app", "app.example.com")
    probe = {"path": {"type": "PathPrefix", "value": "/"}, "headers": [{"name": "K-Network-Hash", "value": "override"}]}
    route["spec"]["rules"].insert(0, {"matches": [probe], "backendRefs": [{"name": "probed", "port": 80}]})
    found = explained("app.example.com", gateway(), route)
    assert step(found, "HTTPRoute shop/app").backends == (Backend(service="shop/web:80", percent=100.0),)


def test_redirect_of_a_route_is_told() -> None:
    route = http_route("app", "app.example.com")
    to_https = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    route["spec"]["rules"] = [{"filters": [to_https]}]
    found = explained("app.example.com", gateway(), route)
    assert step(found, "HTTPRoute shop/app").says == "redirects / to https"


def test_name_from_an_annotation_is_found() -> None:
    wanted = {"external-dns.kubernetes.io/hostname": "extra.example.com"}
    found = explained("extra.example.com", gateway(), http_route("app", "app.example.com", annotations=wanted))
    named = step(found, "HTTPRoute shop/app")
    assert (found.verdict, named.host, named.field) == ("served", "extra.example.com", "")


def test_route_on_a_listener_set_leads_to_its_gateway() -> None:
    in_set = {"group": "gateway.networking.k8s.io", "kind": "ListenerSet", "name": "more", "namespace": NAMESPACE}
    accepted = [{"type": "Accepted", "status": "True"}]
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    listener_set = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "ListenerSet",
        "metadata": {"name": "more", "namespace": NAMESPACE, "uid": "uid-more"},
        "spec": {"parentRef": {"name": "public", "namespace": "infra"}, "listeners": [listener]},
        "status": {"conditions": accepted, "listeners": [{"name": "http", "conditions": accepted}]},
    }
    status = {"parents": [{"parentRef": in_set, "conditions": accepted}]}
    route = http_route("app", "app.example.com", status=status)
    route["spec"]["parentRefs"] = [in_set]
    public = gateway()
    public["spec"]["allowedListeners"] = {"namespaces": {"from": "All"}}
    found = explained("app.example.com", public, listener_set, route, gateway_listener_sets=True)
    assert found.verdict == "served"
    (parent,) = step(found, "HTTPRoute shop/app").leads_to
    assert [str(one.about) for one in (parent, *parent.leads_to)] == ["ListenerSet shop/more", "Gateway infra/public"]


def test_wildcard_serves_names_below_it() -> None:
    found = explained("a.b.example.com", gateway(), http_route("wild", "*.example.com"))
    assert found.verdict == "served"
    assert step(found, "HTTPRoute shop/wild").host == "*.example.com"
    assert [one.name for one in found.dns] == ["*.example.com"]


def test_wildcard_serves_a_name_whose_own_route_was_refused() -> None:
    found = explained(
        "app.example.com",
        gateway(),
        http_route("wild", "*.example.com"),
        http_route("app", "app.example.com", status=answer(("Accepted", "False", "NoMatchingParent"))),
    )
    assert (found.verdict, [str(ref) for ref in found.served_by]) == ("served", ["HTTPRoute shop/wild"])
    assert [(one.name, bool(one.records)) for one in found.dns] == [("app.example.com", False), ("*.example.com", True)]


def test_wildcard_does_not_serve_the_name_it_stands_under() -> None:
    found = explained("example.com", gateway(), http_route("wild", "*.example.com"))
    assert (found.verdict, found.way) == ("not served", ())


def test_whole_way_from_domain_mapping_to_gateway_is_one_tree() -> None:
    found = explained(
        "app.example.com",
        *KNATIVE,
        core_service("web"),
        domain_mapping("app.example.com", "web", api_version="v1"),
        *standing_domain("app.example.com", ("web", 100)),
    )
    assert found.verdict == "served"
    (mapping,) = found.way
    (ingress,) = mapping.leads_to
    (route,) = ingress.leads_to
    (parent,) = route.leads_to
    assert [str(one.about) for one in (mapping, ingress, route, parent)] == [
        "DomainMapping shop/app.example.com",
        "Ingress shop/app.example.com",
        "HTTPRoute shop/app.example.com",
        "Gateway infra/public",
    ]


def test_domain_whose_route_is_gone_is_served_from_the_last_known_good_configuration() -> None:
    found = explained(
        "app.example.com",
        *KNATIVE,
        knative_service("website"),
        domain_mapping("app.example.com", "website"),
        *standing_domain("app.example.com", ("website-00001", 80), ("website-00002", 20)),
    )
    assert found.verdict == "last known good"
    assert found.is_served
    assert [(str(why.about), why.reason) for why in found.reasons if hasattr(why, "about")] == [
        ("Route shop/website", "IngressNotConfigured")
    ]
    assert step(found, "Ingress shop/app.example.com").backends == (
        Backend(service="shop/website-00001:80", percent=80.0),
        Backend(service="shop/website-00002:80", percent=20.0),
    )


def test_kingress_that_can_no_longer_be_routed_is_served_as_before() -> None:
    standing = standing_domain("app.example.com", ("web", 100), port="metrics")
    del standing[0]["metadata"]["ownerReferences"]
    found = explained("app.example.com", *KNATIVE, core_service("web"), *standing)
    assert found.verdict == "last known good"
    assert [why.reason for why in found.reasons] == ["UnknownServicePort"]


def test_mapping_that_lost_its_domain_does_not_disturb_the_one_that_has_it() -> None:
    claim = {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "ClusterDomainClaim",
        "metadata": {"name": "app.example.com", "uid": "uid-claim"},
        "spec": {"namespace": NAMESPACE},
    }
    found = explained(
        "app.example.com",
        *KNATIVE,
        claim,
        core_service("web"),
        domain_mapping("app.example.com", "web", api_version="v1"),
        domain_mapping("app.example.com", "web", api_version="v1", namespace="rival"),
        *standing_domain("app.example.com", ("web", 100)),
    )
    assert found.verdict == "served"
    rival = step(found, "DomainMapping rival/app.example.com")
    assert [problem.reason for problem in rival.problems] == ["DomainAlreadyClaimed"]


def test_oldest_of_two_claims_has_the_name_and_the_other_is_told() -> None:
    by_other = answer(("Accepted", "True", "Accepted"), parent="other")
    found = explained(
        "app.example.com",
        gateway("public"),
        gateway("other", addresses=("192.0.2.9",)),
        http_route("young", "app.example.com", creationTimestamp=YOUNG),
        http_route("old", "app.example.com", parent="other", status=by_other, creationTimestamp=OLD),
    )
    (dns,) = found.dns
    assert [(str(claim.claimant), claim.won) for claim in dns.claims] == [
        ("HTTPRoute shop/old", True),
        ("HTTPRoute shop/young", False),
    ]
    assert [(problem.reason, str(problem.about)) for problem in dns.problems] == [
        ("DNSConflict", "HTTPRoute shop/young")
    ]
    assert [record.targets for record in dns.records] == [("192.0.2.9",)]


def test_kingress_of_another_class_is_served_when_it_is_ready() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    found = explained(
        "app.example.com", kingress("app.example.com", ("web", 100), ingress_class="kourier", status=ready)
    )
    assert (found.verdict, [str(ref) for ref in found.served_by]) == ("served", ["Ingress shop/app.example.com"])


def test_kingress_of_another_class_is_not_served_until_it_is_ready() -> None:
    found = explained("app.example.com", kingress("app.example.com", ("web", 100), ingress_class="kourier"))
    assert found.verdict == "not served"


def test_records_written_by_hand_serve_a_name_that_nothing_else_mentions() -> None:
    found = explained("mail.example.com", _dns_endpoint("mail.example.com"))
    assert found.verdict == "served"
    assert found.summary == "by DNSEndpoint shop/by-hand; DNS: A 198.51.100.7"


def test_record_that_lost_its_name_to_another_does_not_serve_it() -> None:
    first, second = _dns_endpoint("mail.example.com"), _dns_endpoint("mail.example.com")
    second["metadata"] = {**second["metadata"], "name": "later", "uid": "uid-later"}
    second["spec"] = {"endpoints": [{"dnsName": "mail.example.com", "recordType": "A", "targets": ["198.51.100.8"]}]}
    found = explained("mail.example.com", first, second)
    assert [str(ref) for ref in found.served_by] == ["DNSEndpoint shop/by-hand"]


def test_records_written_by_hand_do_not_make_a_refused_route_serve() -> None:
    refused: Raw = {"parents": []}
    found = explained(
        "app.example.com",
        gateway(),
        http_route("app", "app.example.com", status=refused),
        _dns_endpoint("app.example.com"),
    )
    assert not found.is_served


@pytest.mark.parametrize("name", ["web.shop", "web.shop.svc", "web.shop.svc.cluster.local"])
def test_service_serves_under_each_of_its_cluster_names(name: str) -> None:
    found = explained(name, core_service("web", selector={"app": "web"}), endpoint_slice("web", "10.0.0.1", "10.0.0.2"))
    assert (found.verdict, found.dns) == ("served", ())
    assert step(found, "Service shop/web").says == "2 ready addresses: 10.0.0.1, 10.0.0.2"


def test_bare_name_with_a_namespace_is_a_service_of_it() -> None:
    engine = settled(core_service("web"), endpoint_slice("web", "10.0.0.1")).engine
    found = explain_hostname(engine, "web", namespace="shop")
    assert (found.name, found.verdict) == ("web.shop", "served")


def test_service_without_ready_addresses_does_not_serve() -> None:
    found = explained("web.shop", core_service("web"), endpoint_slice("web", "10.0.0.1", ready=False))
    assert (found.verdict, [why.reason for why in found.reasons]) == ("not served", ["NoReadyEndpoints"])


def test_service_of_which_no_slice_is_known_may_serve() -> None:
    assert explained("web.shop", core_service("web")).verdict == "unknown"


def _dns_endpoint(name: str) -> Raw:
    records = [{"dnsName": name, "recordType": "A", "targets": ["198.51.100.7"]}]
    return {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": "by-hand", "namespace": NAMESPACE, "uid": "uid-by-hand"},
        "spec": {"endpoints": records},
    }


def test_cluster_name_on_a_gateway_is_not_served_while_no_service_leads_there() -> None:
    name = "website.shop.svc.cluster.local"
    found = explained(name, gateway(), http_route("website", name))
    assert found.verdict == "not served"
    assert [(why.reason, str(why)) for why in found.reasons] == [
        (
            "NoSuchService",
            "Service shop/website: does not exist, so the cluster's DNS has no such name",
        )
    ]


def test_cluster_name_on_a_gateway_is_served_once_its_service_has_addresses() -> None:
    name = "website.shop.svc.cluster.local"
    service = {**core_service("website"), "metadata": _of_route("website")}
    found = explained(name, gateway(), http_route("website", name), service, endpoint_slice("website", "10.0.0.9"))
    assert (found.verdict, [str(ref) for ref in found.served_by]) == ("served", ["HTTPRoute shop/website"])


def _of_route(name: str) -> Raw:
    return meta(name, **owned_by("Route", "serving.knative.dev/v1", name, "uid-of-a-route"))
