"""The KIngress of a Route: its rules and headers, its metadata, and what its status says."""

from __future__ import annotations

from typing import Any

import pytest
from knative_objects import Raw, applied, conditions, config_map, event_reasons, network, the
from route_world import (
    PUBLIC,
    backend,
    configuration,
    hosts_of,
    latest,
    own_ingress,
    pinned,
    placeholder,
    ready_before,
    route,
    route_world,
)

TAG_HEADERS = config_map("config-features", tag_header_based_routing="Enabled")


def paths_of(ingress: Raw) -> list[Any]:
    return [rule["http"]["paths"] for rule in ingress["spec"]["rules"]]


def test_ingress_has_class_rollout_state_labels_and_owner() -> None:
    seen = route(
        labels={"team": "a", "serving.knative.dev/route": "x"},
        annotations={"note": "n", "networking.knative.dev/ingress-class": "other"},
    )
    metadata = the(route_world(seen).outcome(seen), "Ingress")["metadata"]
    assert metadata["labels"] == {
        "team": "a",
        "serving.knative.dev/route": "web",
        "serving.knative.dev/routeNamespace": "shop",
    }
    assert metadata["annotations"] == {
        "note": "n",
        "networking.knative.dev/ingress.class": "other",
        "networking.internal.knative.dev/rollout": (
            '{"configurations":[{"configurationName":"web","percent":100,'
            '"revisions":[{"revisionName":"web-00002","percent":100}],"stepParams":{}}]}'
        ),
    }
    assert [owner["uid"] for owner in metadata["ownerReferences"]] == ["uid-route-web"]


def test_splits_keep_the_order_of_the_spec_and_leave_out_those_without_traffic() -> None:
    seen = route(pinned("web-00002", 60), pinned("web-00001", 40))
    [local, public] = paths_of(the(route_world(seen).outcome(seen), "Ingress"))
    assert local == public == [{"splits": [backend("web-00002", 60), backend("web-00001", 40)]}]
    seen = route(pinned("web-00002", 0), pinned("web-00001", 100))
    [local, _] = paths_of(the(route_world(seen).outcome(seen), "Ingress"))
    assert local == [{"splits": [backend("web-00001", 100)]}]


def test_with_internal_tls_every_backend_is_on_port_443() -> None:
    seen = route()
    [local, _] = paths_of(the(route_world(network(system_internal_tls="Enabled"), seen).outcome(seen), "Ingress"))
    assert local == [{"splits": [backend("web-00002", 100, port=443)]}]


def test_tag_header_leads_from_the_main_hosts_to_every_tag() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"), latest(percent=0, tag="next"))
    main_local, main_public, next_local, _, old_local, _ = paths_of(
        the(route_world(TAG_HEADERS, seen).outcome(seen), "Ingress")
    )
    assert main_local == main_public
    assert main_local == [
        {"headers": {"Knative-Serving-Tag": {"exact": "next"}}, "splits": [backend("web-00002", 100)]},
        {"headers": {"Knative-Serving-Tag": {"exact": "old"}}, "splits": [backend("web-00001", 100)]},
        {"appendHeaders": {"Knative-Serving-Default-Route": "true"}, "splits": [backend("web-00002", 100)]},
    ]
    assert next_local == [{"appendHeaders": {"Knative-Serving-Tag": "next"}, "splits": [backend("web-00002", 100)]}]
    assert old_local == [{"appendHeaders": {"Knative-Serving-Tag": "old"}, "splits": [backend("web-00001", 100)]}]


@pytest.mark.parametrize("value", ["Allowed", "Disabled", "true"])
def test_tag_header_is_off_unless_it_is_enabled(value: str) -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    features = config_map("config-features", tag_header_based_routing=value)
    [main, *_] = paths_of(the(route_world(features, seen).outcome(seen), "Ingress"))
    assert main == [{"splits": [backend("web-00002", 100)]}]


def test_http_option_that_is_neither_of_the_two_stops_before_the_ingress() -> None:
    seen = route(annotations={"networking.knative.dev/httpOption": "disabled"})
    outcome = route_world(seen).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert the(outcome, "Service")["metadata"]["name"] == "web"
    assert event_reasons(outcome) == ["InternalError"]
    assert conditions(outcome)["AllTrafficAssigned"] == ("True", "")


def settled(seen: Raw, *more: Raw, **status: Any) -> Raw:
    """The KIngress as the Route wants it, with this status."""
    wanted = the(route_world(seen, *more).outcome(seen), "Ingress")
    found = own_ingress(seen, **status)
    return {**found, "spec": wanted["spec"]}


def test_ready_ingress_makes_the_route_ready() -> None:
    seen = route()
    found = settled(seen, observedGeneration=1, conditions=[{"type": "Ready", "status": "True"}])
    outcome = route_world(seen, found).outcome(seen)
    assert conditions(outcome) == {
        "AllTrafficAssigned": ("True", ""),
        "CertificateProvisioned": ("True", "TLSNotEnabled"),
        "IngressReady": ("True", ""),
        "Ready": ("True", ""),
    }


def test_status_of_an_ingress_whose_rules_change_now_does_not_count() -> None:
    seen = route(status=ready_before())
    found = own_ingress(seen, observedGeneration=1, conditions=[{"type": "Ready", "status": "True"}])
    assert conditions(route_world(seen, found).outcome(seen))["IngressReady"] == ("Unknown", "IngressNotConfigured")


def test_failure_of_the_ingress_is_passed_on() -> None:
    seen = route()
    ready = {"type": "Ready", "status": "False", "reason": "NoGateway", "message": "there is none"}
    outcome = route_world(seen, settled(seen, observedGeneration=1, conditions=[ready])).outcome(seen)
    assert conditions(outcome)["Ready"] == ("False", "NoGateway")


def test_ingress_of_somebody_else_is_refused() -> None:
    seen = route()
    foreign = own_ingress(route(name="api"), conditions=[])
    foreign["metadata"]["name"] = "web"
    outcome = route_world(seen, foreign).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["IngressReady"] == ("False", "NotOwned")
    assert event_reasons(outcome) == ["InternalError"]


def test_new_generation_takes_ready_back_even_where_the_pass_stops_early() -> None:
    seen = route(latest("gone"), status=ready_before(), generation=2)
    outcome = route_world(seen).outcome(seen)
    assert conditions(outcome)["IngressReady"] == ("Unknown", "IngressNotConfigured")
    assert outcome.status["observedGeneration"] == 2


def test_new_generation_is_the_reason_while_a_failure_of_the_older_one_stands() -> None:
    """A pass that stops early may not call the certificate's failure gone, nor pass it off as the newest news."""
    failed = {"type": "CertificateProvisioned", "status": "False", "reason": "CertificateNotOwned"}
    before = [{"type": type_, "status": "True"} for type_ in ("AllTrafficAssigned", "IngressReady")]
    top = {"type": "Ready", "status": "False", "reason": "CertificateNotOwned"}
    status = {"observedGeneration": 1, "conditions": [*before, failed, top]}
    seen = route(latest("api"), status=status, generation=2)
    outcome = route_world(seen, configuration("api")).outcome(seen)
    assert conditions(outcome) == {
        "AllTrafficAssigned": ("Unknown", "RevisionMissing"),
        "CertificateProvisioned": ("False", "CertificateNotOwned"),
        "IngressReady": ("Unknown", "IngressNotConfigured"),
        "Ready": ("False", "NewObservedGenFailure"),
    }


def test_route_that_is_being_deleted_is_left_alone() -> None:
    seen = route(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["routes.serving.knative.dev"])
    outcome = route_world(seen).outcome(seen)
    assert outcome.applies == []
    assert outcome.status == {}
    assert outcome.finalizers is None


def test_carrying_out_the_wish_and_looking_again_wants_nothing_more() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    world = route_world(network(external_domain_tls="Enabled", cluster_local_domain_tls="Enabled"), seen)
    world.carry_out(seen)
    world.carry_out(seen)
    written = dict(world.raws)
    world.carry_out(seen)
    assert world.raws == written
    assert hosts_of(next(raw for ref, raw in written.items() if ref.kind == "Ingress"))[1] == ("ExternalIP", [PUBLIC])


def test_what_was_not_read_wakes_no_route() -> None:
    seen = route()
    world = route_world(seen)
    world.take_ran()
    world.put(route(pinned("web-00001"), name="api"))
    ran = [str(ref) for ref in world.take_ran()]
    assert ran == ["Route shop/api"]
    world.put(placeholder(route(name="blog"), "blog"))
    assert world.take_ran() == []


def test_features_wake_all_routes_at_once() -> None:
    seen = route()
    world = route_world(seen)
    world.take_ran()
    world.put(TAG_HEADERS)
    assert [str(ref) for ref in world.take_ran()] == ["Route shop/web"]
