"""Names that nothing serves: the first reason names the object and the field."""

from __future__ import annotations

import pytest
from explain_world import (
    KNATIVE,
    Raw,
    answer,
    config_map,
    core_service,
    domain_mapping,
    explained,
    gateway,
    http_route,
    kingress,
    knative_service,
    meta,
    settled,
    step,
)

from gatepost.explain.hostname import NotAHostname, explain_hostname
from gatepost.explain.values import Explanation
from gatepost.objects.problems import Problem


def first(explanation: Explanation) -> tuple[str, str, str]:
    """Reason, object and field of the first reason."""
    why = explanation.reasons[0]
    about = why.about if isinstance(why, Problem) else why.at
    return why.reason, str(about), why.field


def test_mapping_to_a_missing_service_names_the_field_that_names_it() -> None:
    found = explained("shop.example.com", *KNATIVE, domain_mapping("shop.example.com", "cart"))
    assert found.verdict == "not served"
    assert first(found) == ("ResolveFailed", "DomainMapping shop/shop.example.com", "spec.ref.name")
    assert '"cart"' in found.reasons[0].message


def test_mapping_whose_route_never_was_is_not_served() -> None:
    found = explained(
        "app.example.com", *KNATIVE, knative_service("website"), domain_mapping("app.example.com", "website")
    )
    assert (found.verdict, first(found)) == ("not served", ("IngressNotConfigured", "Route shop/website", ""))


def test_setting_that_does_not_parse_is_the_reason_for_every_domain() -> None:
    broken = config_map("config-network", ingress_class="x", autocreate_cluster_domain_claims="perhaps")
    found = explained("app.example.com", broken, domain_mapping("app.example.com", "web", api_version="v1"))
    assert first(found)[1] == "ConfigMap knative-serving/config-network"


def test_route_on_a_gateway_that_does_not_exist() -> None:
    found = explained("app.example.com", http_route("app", "app.example.com"))
    assert found.verdict == "not served"
    assert first(found) == ("NoSuchParent", "Gateway infra/public", "")


def test_route_that_its_gateway_refuses() -> None:
    refused = answer(("Accepted", "False", "NotAllowedByListeners"))
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", status=refused))
    assert (found.verdict, first(found)[:2]) == ("not served", ("NotAccepted", "HTTPRoute shop/app"))
    assert "NotAllowedByListeners" in found.reasons[0].message


def test_route_that_no_gateway_has_answered_may_be_served_soon() -> None:
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", status=None))
    assert (found.verdict, found.is_served) == ("unknown", False)
    assert found.summary == "nothing stands against it, but nothing has answered for HTTPRoute shop/app yet"


def test_route_whose_backend_is_missing_is_not_served_though_its_record_stands() -> None:
    status = answer(("Accepted", "True", "Accepted"), ("ResolvedRefs", "False", "BackendNotFound"))
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", status=status))
    assert found.verdict == "not served"
    field = "status.parents[].conditions[ResolvedRefs]"
    assert first(found) == ("BackendNotFound", "HTTPRoute shop/app", field)
    assert [record.targets for record in found.dns[0].records] == [("192.0.2.1",)]


def test_host_that_no_listener_takes_is_told_with_the_listener() -> None:
    found = explained(
        "app.example.com", gateway(hostname="*.example.org"), http_route("app", "app.example.com", "app.example.org")
    )
    assert found.verdict == "not served"
    assert first(found) == ("NoMatchingListener", "HTTPRoute shop/app", "spec.hostnames")
    assert step(found, "Gateway infra/public").says == "no listener takes the name; address 192.0.2.1"


@pytest.mark.parametrize(
    ("listener", "reason", "field"),
    [
        ({"protocol": "TLS"}, "ProtocolMismatch", "protocol"),
        ({"allowedRoutes": {"kinds": [{"kind": "GRPCRoute"}]}}, "KindNotAllowed", "allowedRoutes.kinds"),
        ({"allowedRoutes": {}}, "NotAllowedByListeners", "allowedRoutes.namespaces.from"),
    ],
)
def test_listener_for_the_name_that_is_closed_to_the_route_is_the_first_reason(
    listener: Raw, reason: str, field: str
) -> None:
    closed = gateway(hostname="*.example.com")
    for_others = {"name": "other", "port": 81, "protocol": "UDP", "hostname": "app.example.org"}
    closed["spec"]["listeners"] = [for_others, {**closed["spec"]["listeners"][0], **listener}]
    found = explained("app.example.com", closed, http_route("app", "app.example.com"))
    assert found.verdict == "not served"
    assert first(found) == (reason, "Gateway infra/public", f"spec.listeners[1].{field}")


def test_route_whose_source_is_not_read_is_told_so() -> None:
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com"), sources=("crd",))
    assert (found.verdict, first(found)[:2]) == ("not served", ("SourceNotRead", "HTTPRoute shop/app"))
    assert [why.reason for why in found.reasons] == ["SourceNotRead"]
    assert "gateway-httproute" in found.reasons[0].message


def test_reasons_of_other_hosts_of_a_route_are_left_out() -> None:
    found = explained(
        "app.example.org", gateway(hostname="*.example.org"), http_route("app", "app.example.com", "app.example.org")
    )
    assert (found.verdict, step(found, "HTTPRoute shop/app").skipped) == ("served", ())


def test_gateway_without_address_keeps_a_name_out_of_dns() -> None:
    found = explained("app.example.com", gateway(addresses=()), http_route("app", "app.example.com"))
    assert (found.verdict, first(found)) == ("not served", ("NoAddress", "Gateway infra/public", "status.addresses"))


def test_gateway_that_is_not_programmed_serves_nothing() -> None:
    conditions = [{"type": "Programmed", "status": "False", "reason": "Invalid", "message": "port 80 is taken"}]
    found = explained("app.example.com", gateway(conditions=conditions), http_route("app", "app.example.com"))
    assert found.verdict == "not served"
    assert first(found) == ("Invalid", "Gateway infra/public", "status.conditions[Programmed]")


def test_gateway_that_config_gateway_names_and_nobody_made() -> None:
    settings = [raw for raw in KNATIVE if raw["kind"] == "ConfigMap"]
    mapping = domain_mapping("app.example.com", "web", api_version="v1")
    found = explained("app.example.com", *settings, core_service("web"), mapping)
    assert (found.verdict, first(found)[:2]) == ("not served", ("GatewayDoesNotExist", "Gateway infra/public"))


def _of_two_hosts(*, parents: tuple[Raw, ...]) -> list[Raw]:
    """A KIngress with a public and a cluster-local host, on Gateways that have Services in front."""
    both = kingress("website.example.com", ("web", 100))
    rule = both["spec"]["rules"][0]
    inside = {**rule, "hosts": ["website.shop.svc.cluster.local"], "visibility": "ClusterLocal"}
    both["spec"]["rules"] = [inside, rule]
    fronts = config_map(
        "config-gateway",
        external_gateways="- {class: any, gateway: infra/public, service: infra/public}",
        local_gateways="- {class: any, gateway: infra/local, service: infra/local}",
    )
    return [fronts, both, *parents]


def test_missing_gateway_is_the_first_reason_though_services_stand_in_front_of_it() -> None:
    found = explained("website.example.com", *_of_two_hosts(parents=()))
    assert (found.verdict, first(found)) == ("not served", ("NoSuchParent", "Gateway infra/public", ""))


def test_route_of_another_host_of_the_kingress_is_no_reason() -> None:
    found = explained("website.example.com", *_of_two_hosts(parents=(gateway("public"), gateway("local"))))
    assert found.reasons
    assert not [why for why in found.reasons if "cluster.local" in str(why)]


def test_address_that_only_the_cluster_asks_for_keeps_no_public_name_from_being_served() -> None:
    raws = (*KNATIVE[:1], *_knative_route("website"), gateway("public"))
    inside = explained("website.shop.svc.cluster.local", *raws)
    assert first(inside) == ("GatewayAddressUnknown", "Ingress shop/website", "status")
    public = explained("website.shop.example.com", *raws)
    assert first(public) == ("NotAccepted", "HTTPRoute shop/website.shop.example.com", "status.parents")


def _knative_route(name: str) -> list[Raw]:
    """A Route whose KIngress names a Service of a gateway that does not exist."""
    route = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Route",
        "metadata": meta(name),
        "spec": {"traffic": [{"revisionName": f"{name}-00001", "percent": 100}]},
    }
    revision = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Revision",
        "metadata": meta(f"{name}-00001"),
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    fronts = config_map(
        "config-gateway",
        external_gateways="- {class: any, gateway: infra/public, service: infra/gone}",
        local_gateways="- {class: any, gateway: infra/public, service: infra/gone}",
    )
    return [config_map("config-domain", **{"example.com": ""}), fronts, route, revision]


def test_remark_without_effect_is_never_the_first_reason() -> None:
    misplaced = {"external-dns.kubernetes.io/hostname": "x.example.com"}
    public = gateway(addresses=())
    public["metadata"]["annotations"] = misplaced
    route = http_route("app", "app.example.com", annotations={"external-dns.kubernetes.io/ttl": "soon"})
    found = explained("app.example.com", public, route)
    assert first(found)[0] == "NoAddress"
    assert found.reasons[-1].reason == "InvalidAnnotation"


def test_filter_that_leaves_a_route_out_of_dns_is_the_reason() -> None:
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com"), label_filter="public=yes")
    assert (found.verdict, first(found)) == ("not served", ("FilteredOut", "HTTPRoute shop/app", "metadata.labels"))


def test_name_that_nothing_mentions_gives_near_ones() -> None:
    found = explained("ap.example.com", gateway(), http_route("app", "app.example.com", "www.example.org"))
    assert (found.verdict, found.near) == ("not served", ("app.example.com",))
    assert found.summary.endswith("mentions ap.example.com")


def test_namespace_limits_where_a_name_is_looked_for() -> None:
    engine = settled(gateway(), http_route("app", "app.example.com")).engine
    found = explain_hostname(engine, "app.example.com", namespace="elsewhere")
    assert found.way == ()
    assert found.summary.endswith("of namespace elsewhere mentions app.example.com")


@pytest.mark.parametrize("text", ["", "not a name", "a_b.example.com", "192.0.2.1"])
def test_text_that_is_no_hostname_is_refused(text: str) -> None:
    with pytest.raises(NotAHostname, match="wanted a hostname like"):
        explain_hostname(settled().engine, text)


def test_name_that_a_route_serves_and_does_not_ask_dns_for() -> None:
    only_annotated = {
        "external-dns.kubernetes.io/gateway-hostname-source": "annotation-only",
        "external-dns.kubernetes.io/hostname": "public.example.com",
    }
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", annotations=only_annotated))
    assert (found.verdict, first(found)[:2]) == ("not served", ("NotClaimedInDNS", "HTTPRoute shop/app"))


def test_name_whose_records_are_all_filtered_out() -> None:
    found = explained(
        "app.example.com", gateway(), http_route("app", "app.example.com"), domain_filter=("example.org",)
    )
    assert (found.verdict, first(found)[:2]) == ("not served", ("OutOfReach", "HTTPRoute shop/app"))
    assert "app.example.com is not in example.org" in found.reasons[0].message


def test_wildcard_route_on_an_exact_listener_does_not_serve_other_names() -> None:
    found = explained("b.example.com", gateway(hostname="a.example.com"), http_route("wild", "*.example.com"))
    assert (found.verdict, first(found)) == (
        "not served",
        ("NoMatchingListener", "Gateway infra/public", "spec.listeners"),
    )


def test_kingress_without_class_tells_the_annotation_that_it_lacks() -> None:
    found = explained("app.example.com", *KNATIVE, kingress("app.example.com", ("web", 100), ingress_class=""))
    assert (found.verdict, first(found)[:2]) == ("not served", ("NothingWanted", "Ingress shop/app.example.com"))
    assert "networking.knative.dev/ingress.class" in found.reasons[0].message


def test_name_that_dns_cannot_hold_is_explained_where_an_object_mentions_it() -> None:
    found = explained("192.0.2.77", gateway(), http_route("app", "192.0.2.77"))
    assert (found.verdict, first(found)) == ("not served", ("InvalidHostname", "HTTPRoute shop/app", "spec.hostnames"))


@pytest.mark.parametrize(
    ("annotations", "reason"),
    [
        ({"hostname": "app.example.com"}, "NoMatchingListener"),
        ({"hostname": "app.example.com", "gateway-hostname-source": "defined-hosts-only"}, "IgnoredHostname"),
        ({"hostname": "app.example.com", "gateway-hostname-source": "annotation-only"}, "NoMatchingListener"),
    ],
)
def test_name_in_an_annotation_that_comes_to_nothing_is_explained(annotations: dict[str, str], reason: str) -> None:
    written = {f"external-dns.kubernetes.io/{name}": text for name, text in annotations.items()}
    route = http_route("app", "app.example.org", annotations=written)
    found = explained("app.example.com", gateway(hostname="*.example.org"), route)
    assert found.verdict == "not served"
    assert first(found) == (reason, "HTTPRoute shop/app", "metadata.annotations[hostname]")
    assert "'app.example.com'" in found.reasons[0].message


def test_hostname_that_is_none_is_no_reason_for_another_of_the_route() -> None:
    closed = gateway()
    closed["spec"]["listeners"][0]["protocol"] = "TLS"
    found = explained("app.example.com", closed, http_route("app", "bad_name.example.com", "app.example.com"))
    assert first(found)[0] == "ProtocolMismatch"
    assert "InvalidHostname" not in [why.reason for why in found.reasons]


def test_name_that_only_a_listener_has_in_dns_is_not_served() -> None:
    found = explained("app.example.com", gateway(hostname="app.example.com"), sources=("gateway-listener",))
    assert (found.verdict, found.way) == ("not served", ())
    assert found.summary == "DNS has the name, but no route here takes its requests"


def test_name_that_a_failing_template_may_give_names_the_route() -> None:
    failing = "{{ index .Spec.Hostnames 7 }}.example.com"
    found = explained("app.example.com", gateway(), http_route("app", "app.example.org"), fqdn_template=(failing,))
    assert "fails on" not in found.summary  # the Route has hostnames, so its template is not asked
    found = explained("app.example.com", gateway(), http_route("app"), fqdn_template=(failing,))
    assert found.summary.endswith("; --fqdn-template fails on HTTPRoute shop/app, which may be meant to have it")


def test_target_that_is_none_is_told_once() -> None:
    target = {"external-dns.kubernetes.io/target": "no target!"}
    found = explained("app.example.com", gateway(), http_route("app", "app.example.com", annotations=target))
    assert [why.reason for why in found.reasons] == ["InvalidRecord"]
