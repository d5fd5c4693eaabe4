"""HTTPRoutes of a KIngress: what the golden cases leave open. Limits, names, backends, features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gateway_world import (
    EDGE,
    PUBLIC,
    config,
    ingress,
    parents,
    path,
    public_rule,
    rendered,
    route_of,
    routes_wanted,
    seen,
    tls,
    verdict,
    world,
)
from knative_objects import (
    GATEWAY_CLASS,
    conditions,
    controlled_by,
    core_service,
    event_reasons,
    local_hosts,
    route,
    rule,
    the,
)

from gatepost.writes.outcome import Outcome

Raw = dict[str, Any]


def backends(spec: Raw) -> list[tuple[str, int]]:
    """Service and port of the backends of all rules that are not for probes."""
    plain = [rule for rule in spec["rules"] if not rule["matches"][0].get("headers")]
    return [(ref["name"], ref["port"]) for rule in plain for ref in rule["backendRefs"]]


def test_nine_paths_become_two_routes_of_at_most_sixteen_rules() -> None:
    paths = [path(f"app-{number}", path=f"/{number}") for number in range(9)]
    kingress = ingress("app", public_rule("app.example.com", *paths))
    wanted = routes_wanted(world(*EDGE, kingress).outcome(kingress))
    assert {name: len(spec["rules"]) for name, spec in wanted.items()} == {
        "app.example.com": 16,
        "app.example.com-02": 2,
    }
    assert [name for spec in wanted.values() for name, _ in backends(spec)] == [f"app-{n}" for n in range(9)]
    assert all(spec["hostnames"] == ["app.example.com"] for spec in wanted.values())


def test_eight_paths_fit_one_route() -> None:
    paths = [path(f"app-{number}", path=f"/{number}") for number in range(8)]
    kingress = ingress("app", public_rule("app.example.com", *paths))
    assert list(routes_wanted(world(*EDGE, kingress).outcome(kingress))) == ["app.example.com"]


def test_seventeen_hosts_become_two_routes() -> None:
    hosts = [f"host-{number:02}.example.com" for number in range(17)]
    kingress = ingress("app", {**public_rule("any.example.com"), "hosts": hosts})
    wanted = routes_wanted(world(*EDGE, kingress).outcome(kingress))
    assert {name: len(spec["hostnames"]) for name, spec in wanted.items()} == {
        "host-16.example.com": 16,
        "host-16.example.com-02": 1,
    }


PROBED = "an HTTPRoute takes 16, the header of probes among them."
WHOLE = "which is what an HTTPRoute takes."


def entries(count: int) -> dict[str, str]:
    return {f"X-{number}": "v" for number in range(count)}


def split(number: int, **fields: Any) -> Raw:
    return {"serviceName": f"app-{number}", "serviceNamespace": "shop", "servicePort": 80, **fields}


@pytest.mark.parametrize(
    ("field", "most", "size", "why"),
    [
        ("headers", 15, lambda count: {"headers": {name: {"exact": "v"} for name in entries(count)}}, PROBED),
        ("appendHeaders", 15, lambda count: {"appendHeaders": entries(count)}, PROBED),
        ("splits", 16, lambda count: {"splits": [split(number) for number in range(count)]}, WHOLE),
        ("splits[].appendHeaders", 16, lambda count: {"splits": [split(1, appendHeaders=entries(count))]}, WHOLE),
    ],
)
def test_path_that_no_route_can_hold_fails_the_kingress_and_names_field_and_limit(
    field: str, most: int, size: Callable[[int], Raw], why: str
) -> None:
    fits = ingress("app", public_rule("app.example.com", {**path("app-1", path="/cart"), **size(most)}))
    assert list(routes_wanted(world(*EDGE, fits).outcome(fits))) == ["app.example.com"]
    kingress = ingress("app", public_rule("app.example.com", {**path("app-1", path="/cart"), **size(most + 1)}))
    outcome = world(*EDGE, kingress).outcome(kingress)
    assert routes_wanted(outcome) == {}
    assert conditions(outcome)["Ready"] == ("Unknown", "ReconcileIngressFailed")
    assert [(problem.reason, str(problem.about), problem.field, problem.message) for problem in outcome.problems] == [
        (
            "TooLargeForHTTPRoute",
            "Ingress shop/app",
            f"spec.rules[0].http.paths[].{field}",
            f'found {most + 1} entries at path "/cart"; wanted at most {most}: {why}',
        )
    ]


def test_wildcard_host_gets_a_name_that_is_one() -> None:
    kingress = ingress("app", public_rule("*.example.com"))
    wanted = routes_wanted(world(*EDGE, kingress).outcome(kingress))
    # The digits begin what `printf '*.example.com' | sha256sum` prints.
    assert list(wanted) == ["wildcard-47287a8f.example.com"]
    assert wanted["wildcard-47287a8f.example.com"]["hostnames"] == ["*.example.com"]


def test_two_rules_of_one_host_get_a_route_each() -> None:
    kingress = ingress(
        "app",
        public_rule("app.example.com", path("first", path="/a")),
        public_rule("app.example.com", path("second", path="/b")),
    )
    wanted = routes_wanted(world(*EDGE, kingress).outcome(kingress))
    assert {name: backends(spec) for name, spec in wanted.items()} == {
        "app.example.com": [("first", 80)],
        "app.example.com-02": [("second", 80)],
    }


def test_port_name_that_the_service_lacks_fails_the_kingress_and_keeps_its_routes() -> None:
    kingress = ingress("app", public_rule("app.example.com", path("app-00001", port="web")))
    found = world(*EDGE, kingress, route_of(kingress, "old.example.com"))
    for service in ((), (core_service("app-00001", ports=[{"name": "http", "port": 80}]),)):
        found.put(*service)
        outcome = found.outcome(kingress)
        assert [problem.reason for problem in outcome.problems] == ["UnknownServicePort"]
        assert (outcome.applies, outcome.deletes) == ([], [])
    found.put(core_service("app-00001", ports=[{"name": "http", "port": 80}, {"name": "web", "port": 8081}]))
    assert backends(routes_wanted(found.outcome(kingress))["app.example.com"]) == [("app-00001", 8081)]


def test_port_number_in_text_is_a_number() -> None:
    kingress = ingress("app", public_rule("app.example.com", path("app-00001", port="8012")))
    assert backends(routes_wanted(world(*EDGE, kingress).outcome(kingress))["app.example.com"]) == [("app-00001", 8012)]


def test_headers_are_matched_in_descending_and_set_in_ascending_order_of_their_names() -> None:
    headers = {name: {"exact": "v"} for name in ("B", "Z", "A")}
    one = path("app-00001", headers=headers, appendHeaders={"Z": "1", "B": "2"})
    kingress = ingress("app", public_rule("app.example.com", one))
    probe, plain = routes_wanted(world(*EDGE, kingress).outcome(kingress))["app.example.com"]["rules"]
    assert [header["name"] for header in probe["matches"][0]["headers"]] == ["Z", "K-Network-Hash", "B", "A"]
    assert [header["name"] for header in plain["matches"][0]["headers"]] == ["Z", "B", "A"]
    assert [h["name"] for h in plain["filters"][0]["requestHeaderModifier"]["set"]] == ["B", "Z"]


def test_rule_without_hosts_or_backends_fails_the_kingress() -> None:
    for broken in (
        {**public_rule("a.example.com"), "hosts": []},
        {**public_rule("a.example.com"), "http": {"paths": []}},
        public_rule("a.example.com", {"splits": []}),
    ):
        kingress = ingress("app", public_rule("whole.example.com"), broken)
        outcome = world(*EDGE, kingress).outcome(kingress)
        assert outcome.applies == []
        assert conditions(outcome)["Ready"] == ("Unknown", "ReconcileIngressFailed")
        assert [problem.reason for problem in outcome.problems] == ["IncompleteRule"]


def tag_label(annotation: str) -> str | None:
    annotations = {
        "networking.knative.dev/ingress.class": GATEWAY_CLASS,
        "networking.internal.knative.dev/tag-to-host": annotation,
    }
    kingress = ingress("app", public_rule("v1-app.example.com"), metadata={"annotations": annotations})
    labels: dict[str, str] = the(world(*EDGE, kingress).outcome(kingress), "HTTPRoute")["metadata"]["labels"]
    return labels.get("networking.knative.dev/tag")


@pytest.mark.parametrize(
    ("annotation", "tag"),
    [
        ('{"v2": ["v2-app.example.com"], "v1": ["v1-app.example.com"]}', "v1"),
        ('{"v2": ["v2-app.example.com"]}', None),
        ('{"v1": "v1-app.example.com"}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_tag_of_a_host_becomes_a_label_and_what_cannot_be_read_none(annotation: str, tag: str | None) -> None:
    assert tag_label(annotation) == tag


# The placeholder Service of a Route

SERVED = rule(
    local_hosts("player"),
    {
        "path": "/",
        "headers": {"Knative-Serving-Tag": {"exact": "v2"}},
        "splits": [
            {
                "serviceNamespace": "shop",
                "serviceName": "player-00002",
                "servicePort": 443,
                "percent": 100,
                "appendHeaders": {"Knative-Serving-Revision": "player-00002", "K-Original-Host": "wrong"},
            }
        ],
    },
    {"rewriteHost": "elsewhere.example.com", **path("player-00001", "player-00002")},
)


def mapped(**more: Any) -> Raw:
    """A KIngress as Knative's own DomainMapping controller makes it."""
    backend = {"serviceNamespace": "shop", "serviceName": "player", "servicePort": 80, "percent": 100}
    backend["appendHeaders"] = {"K-Original-Host": "mapped.example.org"}
    only = {"rewriteHost": "player.shop.svc.cluster.local", "splits": [backend], **more}
    return ingress("mapped.example.org", public_rule("mapped.example.org", only))


def placeholder(**more: Any) -> Raw:
    service = core_service("player", type="ExternalName", externalName="inside-lb.edge.svc.cluster.local")
    service["metadata"]["ownerReferences"] = controlled_by(route("player"))
    return {**service, **more}


def test_paths_of_the_route_stand_in_for_its_placeholder() -> None:
    kingress = mapped()
    source = ingress("player", SERVED)
    found = world(*EDGE, kingress, source, placeholder())
    wanted = routes_wanted(found.outcome(kingress))["mapped.example.org"]
    plain = wanted["rules"][2:]
    assert [rule["matches"][0].get("headers") for rule in plain] == [
        [{"type": "Exact", "name": "Knative-Serving-Tag", "value": "v2"}],
        None,
    ]
    assert [[(ref["name"], ref["port"], ref["weight"]) for ref in rule["backendRefs"]] for rule in plain] == [
        [("player-00002", 443, 100)],
        [("player-00001", 80, 50), ("player-00002", 80, 50)],
    ]
    assert plain[0]["backendRefs"][0]["filters"][0]["requestHeaderModifier"]["set"] == [
        {"name": "K-Original-Host", "value": "mapped.example.org"},
        {"name": "Knative-Serving-Revision", "value": "player-00002"},
    ]
    assert not any(f["type"] == "URLRewrite" for rule in wanted["rules"] for f in rule.get("filters", []))
    assert wanted["parentRefs"][0]["name"] == "public"
    assert "ExternalNameBackend" not in event_reasons(found.outcome(kingress))


def test_ordinary_service_of_that_name_is_not_replaced() -> None:
    kingress = mapped()
    own = core_service("player", ports=[{"port": 80}])
    wanted = routes_wanted(world(*EDGE, kingress, ingress("player", SERVED), own).outcome(kingress))
    assert backends(wanted["mapped.example.org"]) == [("player", 80)]


def test_route_of_another_namespace_is_not_put_in_place() -> None:
    kingress = mapped()
    elsewhere = ingress("player", SERVED, namespace="media")
    found = world(*EDGE, kingress, elsewhere, placeholder())
    assert backends(routes_wanted(found.outcome(kingress))["mapped.example.org"]) == [("player", 80)]
    assert "ExternalNameBackend" in event_reasons(found.outcome(kingress))


def test_path_with_a_prefix_or_headers_of_its_own_keeps_them_in_front_of_each_path_behind_it() -> None:
    kingress = mapped(path="/part", headers={"X-Only": {"exact": "yes"}})
    found = world(*EDGE, kingress, ingress("player", SERVED), placeholder())
    plain = routes_wanted(found.outcome(kingress))["mapped.example.org"]["rules"][2:]
    assert [rule["matches"][0]["path"]["value"] for rule in plain] == ["/part", "/part"]
    assert [[header["name"] for header in rule["matches"][0]["headers"]] for rule in plain] == [
        ["X-Only", "Knative-Serving-Tag"],
        ["X-Only"],
    ]


def test_path_behind_a_placeholder_that_no_request_can_reach_is_left_out() -> None:
    served = rule(local_hosts("player"), path("player-00001"), path("player-00002", path="/other"))
    kingress = mapped(path="/part")
    found = world(*EDGE, kingress, ingress("player", served), placeholder())
    plain = routes_wanted(found.outcome(kingress))["mapped.example.org"]["rules"][1:]
    assert [rule["backendRefs"][0]["name"] for rule in plain] == ["player-00001"]


def test_other_external_name_is_passed_on_kept_from_ready_and_told() -> None:
    kingress = seen(ingress("app", public_rule("app.example.com", path("outside"))))
    there = route_of(
        kingress, "app.example.com", status=parents(verdict(("Accepted", "True"), ("ResolvedRefs", "True")))
    )
    ordinary = core_service("outside", ports=[{"port": 80}])
    found = world(*EDGE, kingress, there, ordinary)
    assert conditions(found.outcome(kingress))["Ready"] == ("True", "")
    found.put(core_service("outside", type="ExternalName", externalName="www.example.net"))
    assert backends(routes_wanted(found.outcome(kingress))["app.example.com"]) == [("outside", 80)]
    assert conditions(found.outcome(kingress))["Ready"] == ("False", "ExternalNameBackend")
    assert "ExternalNameBackend" in event_reasons(found.outcome(kingress))


def test_domain_follows_its_route_to_the_next_revision_and_to_nothing_else() -> None:
    kingress, source = mapped(), ingress("player", SERVED)
    found = world(*EDGE, kingress, source, placeholder())
    found.take_ran()
    next_rule = rule(local_hosts("player"), path("player-00003"))
    found.put(ingress("player", next_rule))
    assert [ref.name for ref in found.take_ran()] == ["mapped.example.org", "player"]
    assert backends(routes_wanted(found.outcome(kingress))["mapped.example.org"]) == [("player-00003", 80)]
    found.put(ingress("player", next_rule, rule(["player.example.com"], path("player-00009"), visibility="ExternalIP")))
    assert [ref.name for ref in found.take_ran()] == ["player"]


# Features


def gateway_class(*features: Any) -> Raw:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": "traefik"},
        "spec": {"controllerName": "example.com/controller"},
        "status": {"supportedFeatures": list(features)},
    }


def has_timeouts(*raws: Raw) -> bool:
    kingress = ingress("app", public_rule("app.example.com"))
    wanted = routes_wanted(world(*raws, kingress).outcome(kingress))["app.example.com"]
    return all(rule.get("timeouts") == {"request": "0s"} for rule in wanted["rules"])


def test_gateway_class_says_what_config_gateway_leaves_open() -> None:
    assert not has_timeouts(*EDGE)
    assert not has_timeouts(*EDGE, gateway_class("HTTPRouteBackendTimeout"))
    assert has_timeouts(*EDGE, gateway_class("HTTPRouteRequestTimeout"))
    assert has_timeouts(*EDGE, gateway_class({"name": "HTTPRouteRequestTimeout"}))


def test_config_gateway_overrules_the_gateway_class() -> None:
    none = config(supported_features="[]")
    asked = config(supported_features="[HTTPRouteRequestTimeout]")
    assert not has_timeouts(none, PUBLIC, gateway_class("HTTPRouteRequestTimeout"))
    assert has_timeouts(asked, PUBLIC, gateway_class())


# Whose a route is


def test_oldest_of_two_kingresses_gets_the_host_in_whatever_order_they_come() -> None:
    old = ingress("z-old", public_rule("app.example.com"), metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    new = ingress("a-new", public_rule("app.example.com"), metadata={"creationTimestamp": "2026-02-01T00:00:00Z"})
    for pair in ((old, new), (new, old)):
        objects = rendered(*EDGE, *pair)
        (made,) = [raw for ref, raw in objects.items() if ref.kind == "HTTPRoute"]
        assert made["metadata"]["ownerReferences"][0]["name"] == "z-old"
        ready = {ref.name: raw["status"]["conditions"] for ref, raw in objects.items() if ref.kind == "Ingress"}
        assert [c["reason"] for c in ready["a-new"] if c["type"] == "Ready"] == ["NotOwned"]
        assert [c.get("reason") for c in ready["z-old"] if c["type"] == "Ready"] == ["Uninitialized"]


def test_kingress_of_another_class_claims_nothing() -> None:
    annotations = {"networking.knative.dev/ingress.class": "istio.ingress.networking.knative.dev"}
    foreign = ingress("a-foreign", public_rule("app.example.com"), metadata={"annotations": annotations})
    kingress = ingress("app", public_rule("app.example.com"))
    found = world(*EDGE, foreign, kingress)
    assert list(routes_wanted(found.outcome(kingress))) == ["app.example.com"]
    assert GATEWAY_CLASS in found.outcome(foreign).note
    assert found.outcome(foreign).status == {}


def test_refused_route_is_taken_up_once_its_holder_is_gone() -> None:
    kingress = ingress("app", public_rule("app.example.com"))
    holder = ingress("holder", public_rule("app.example.com"))
    taken = route_of(holder, "app.example.com")
    found = world(*EDGE, kingress, taken)
    assert conditions(found.outcome(kingress))["NetworkConfigured"] == ("False", "NotOwned")
    assert found.outcome(kingress).applies == []
    found.carry_out(kingress)
    found.remove(taken)
    assert list(routes_wanted(found.outcome(kingress))) == ["app.example.com"]
    assert conditions(found.outcome(kingress))["NetworkConfigured"] == ("Unknown", "")
    assert conditions(found.outcome(kingress))["Ready"] == ("Unknown", "Uninitialized")


def test_only_labelled_routes_that_the_kingress_controls_are_pruned() -> None:
    kingress = ingress("app", public_rule("app.example.com"))
    other = ingress("other", public_rule("other.example.com"))
    former, foreign = route_of(kingress, "former.example.com"), route_of(other, "foreign.example.com")
    foreign["metadata"]["labels"] = former["metadata"]["labels"]
    unlabelled = route_of(kingress, "unlabelled.example.com")
    unlabelled["metadata"]["labels"] = {}
    outcome = world(*EDGE, kingress, former, foreign, unlabelled).outcome(kingress)
    assert [(delete.ref.name, delete.uid) for delete in outcome.deletes] == [
        ("former.example.com", "uid-shop-former.example.com")
    ]


def test_nothing_is_pruned_while_a_wanted_route_is_someone_elses() -> None:
    kingress = ingress("app", public_rule("app.example.com"))
    taken = route_of(ingress("other"), "app.example.com")
    outcome = world(*EDGE, kingress, taken, route_of(kingress, "former.example.com")).outcome(kingress)
    assert outcome.deletes == []


# The listener that config-gateway names


def test_section_name_confines_routes_to_that_listener_and_to_their_own_for_tls() -> None:
    named = config(section_name="http")
    plain = ingress("app", public_rule("app.example.com"))
    assert section_names(world(named, *EDGE[1:], plain).outcome(plain)) == ["http"]
    secured = ingress("app", public_rule("app.example.com"), tls=[tls("app.example.com", "cert")])
    assert section_names(world(named, *EDGE[1:], secured).outcome(secured)) == ["http", "kni-uid-shop-app"]
    assert section_names(world(*EDGE, secured).outcome(secured)) == [None]


def section_names(outcome: Outcome) -> list[str | None]:
    return [parent.get("sectionName") for parent in routes_wanted(outcome)["app.example.com"]["parentRefs"]]
