"""What hurts users of Knative's Route and DomainMapping controllers, and must not happen here, by whole renderings.

Held in other places, by a test of that name:

| hurt                                                   | test                                                              |
| ---                                                    | ---                                                               |
| a share that shrinks during a rollout crashes          | test_rollout_that_a_smaller_share_ends_keeps_no_step_params, and below |
| a private name turns public                            | test_label_that_makes_the_service_private_survives_every_change, and below |
| a gap in DNS while a Service changes its form          | tests/migration/test_no_gap.py                                    |
| claims are not watched                                 | test_a_claim_that_is_delegated_or_lost_wakes_its_mapping          |
| what is not owned is deleted                           | test_labelled_service_that_the_route_does_not_control_is_kept, test_certificate_for_hosts_that_are_gone_is_deleted_if_it_is_the_routes_own |
| what is not owned is overwritten                       | test_ingress_of_somebody_else_is_refused, of both kinds           |
| HTTP-01 renewal of a DomainMapping is not served       | test_ready_certificate_publishes_challenges_only_while_it_renews  |
| a long domain can have no certificate                  | test_domain_too_long_for_a_label_is_labelled_by_uid               |
| a Route cannot opt out of a rollout                    | test_annotation_decides_on_the_duration_before_the_config         |
| the dashed certificate-class is ignored                | test_either_spelling_of_the_certificate_class_is_obeyed           |
| "already claimed" is told where nobody claimed         | test_missing_claim_without_autocreation_says_how_to_get_one       |
| conditions after an early stop are stale               | test_new_generation_takes_ready_back_even_where_the_pass_stops_early |
"""  # noqa: E501 - names of tests

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from knative_objects import GATEWAY_CLASS, MAPPINGS, NETWORKING, SERVING, START, Raw, config_map, controlled_by, meta

from gatepost.objects.refs import ref_of
from gatepost.runtime.offline.settle import render
from gatepost.runtime.wiring import reconcilers

WIRING = reconcilers(["domainmapping", "route"])
READY = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
NETWORK = config_map("config-network", ingress_class=GATEWAY_CLASS, autocreate_cluster_domain_claims="true")
DOMAINS = config_map("config-domain", **{"example.com": ""})
REVISIONS = tuple(f"web-0000{number}" for number in range(1, 5))


def rendered(raws: Sequence[Raw], now: datetime = START) -> list[Raw]:
    """The objects at rest, without events."""
    result = render(raws, WIRING.rules, WIRING.indexes, now=now)
    assert result.failures == []
    assert result.unreadable == []
    return [raw for raw in result.objects if raw["kind"] != "Event"]


def of_kind(raws: Sequence[Raw], kind: str) -> list[Raw]:
    return [raw for raw in raws if raw["kind"] == kind]


def the(raws: Sequence[Raw], kind: str, name: str) -> Raw:
    (found,) = [raw for raw in of_kind(raws, kind) if raw["metadata"]["name"] == name]
    return found


def route(traffic: Sequence[Raw], name: str = "web", **metadata: Any) -> Raw:
    return {
        "apiVersion": SERVING,
        "kind": "Route",
        "metadata": meta(name, **{"uid": f"uid-route-{name}", **metadata}),
        "spec": {"traffic": list(traffic)},
    }


def revision(name: str) -> Raw:
    labels = {"serving.knative.dev/configuration": "web"}
    metadata = meta(name, labels=labels)
    return {
        "apiVersion": SERVING,
        "kind": "Revision",
        "metadata": metadata,
        "spec": {"containers": [{}]},
        "status": READY,
    }


def configuration(latest: str) -> Raw:
    status = {"latestReadyRevisionName": latest}
    return {"apiVersion": SERVING, "kind": "Configuration", "metadata": meta("web"), "status": status}


def surroundings(latest: str = "web-00002", **network: str) -> list[Raw]:
    data = {**NETWORK["data"], **{key.replace("_", "-"): value for key, value in network.items()}}
    return [{**NETWORK, "data": data}, DOMAINS, configuration(latest), *map(revision, REVISIONS)]


def placeholder(owner: Raw, name: str, spec: Raw, **labels: str) -> Raw:
    labelled = {"serving.knative.dev/route": owner["metadata"]["name"], **labels}
    metadata = meta(name, uid=f"uid-service-{name}", labels=labelled, ownerReferences=controlled_by(owner))
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": copy.deepcopy(spec)}


def ingress(owner: Raw, *, annotations: Raw | None = None, **status: Any) -> Raw:
    metadata = meta("web", uid="uid-ingress", annotations=annotations or {}, ownerReferences=controlled_by(owner))
    return {"apiVersion": NETWORKING, "kind": "Ingress", "metadata": metadata, "spec": {}, "status": status}


def led_to(entry: Raw) -> Raw:
    return {"privateLoadBalancer": {"ingress": [entry]}}


LATEST = [{"configurationName": "web", "latestRevision": True, "percent": 100}]
EXTERNAL_NAME = {
    "type": "ExternalName",
    "externalName": "web.shop.example.com",
    "ports": [{"name": "http2", "port": 80}],
}


def test_private_tag_stays_private_while_its_service_changes_form() -> None:
    owner = route([*LATEST, {"revisionName": "web-00001", "latestRevision": False, "percent": 0, "tag": "old"}])
    private = placeholder(owner, "old-web", EXTERNAL_NAME, **{"networking.knative.dev/visibility": "cluster-local"})
    result = rendered([*surroundings(), owner, private, ingress(owner, **led_to({"ip": "192.0.2.10"}))])
    service = the(result, "Service", "old-web")
    assert (service["spec"]["type"], service["spec"]["clusterIP"]) == ("ClusterIP", "None")
    assert service["metadata"]["labels"]["networking.knative.dev/visibility"] == "cluster-local"
    rules = the(result, "Ingress", "web")["spec"]["rules"]
    public = [host for rule in rules if rule["visibility"] == "ExternalIP" for host in rule["hosts"]]
    assert public == ["web.shop.example.com"]


def test_domain_goes_straight_to_the_revisions_and_not_through_the_cluster_name() -> None:
    service = {
        "apiVersion": SERVING,
        "kind": "Service",
        "metadata": meta("web", uid="uid-ksvc"),
        "status": {"address": {"url": "http://web.shop.svc.cluster.local"}},
    }
    owner = route(LATEST, ownerReferences=controlled_by(service))
    mapping = {
        "apiVersion": MAPPINGS,
        "kind": "DomainMapping",
        "metadata": meta("app.example.com"),
        "spec": {"ref": {"apiVersion": SERVING, "kind": "Service", "name": "web"}},
    }
    result = rendered([*surroundings(), service, owner, mapping])
    (rule,) = the(result, "Ingress", "app.example.com")["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert [split["serviceName"] for split in path["splits"]] == ["web-00002"]
    assert "rewriteHost" not in path


def test_new_name_in_the_cluster_points_nowhere_rather_than_outside() -> None:
    result = rendered([*surroundings(), route(LATEST)])
    service = the(result, "Service", "web")
    assert (service["spec"]["type"], service["spec"]["clusterIP"]) == ("ClusterIP", "None")
    assert of_kind(result, "EndpointSlice") == []


# Promises over random traffic


@st.composite
def traffics(draw: st.DrawFn) -> list[Raw]:
    """Traffic that admission lets through: it sums to 100, tags are unique."""
    count = draw(st.integers(1, 4))
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=count - 1, max_size=count - 1)))
    percents = [end - start for start, end in zip([0, *cuts], [*cuts, 100], strict=True)]
    tags = draw(st.lists(st.sampled_from(["", "a", "b", "c", "d"]), min_size=count, max_size=count))
    taken: set[str] = set()
    entries = []
    for percent, tag in zip(percents, tags, strict=True):
        name = draw(st.sampled_from(["", *REVISIONS]))
        entry: Raw = {"percent": percent, "latestRevision": not name}
        entry |= {"revisionName": name} if name else {"configurationName": "web"}
        if tag and tag not in taken:
            taken.add(tag)
            entry["tag"] = tag
        entries.append(entry)
    return entries


ENTRIES = st.sampled_from(
    [
        {"ip": "192.0.2.10"},
        {"ip": "2001:db8::10"},
        {"meshOnly": True},
        {"domainInternal": "gw.gateways.svc.cluster.local"},
        {"domainInternal": "nobody.gateways.svc.cluster.local"},
        {"domain": "gw.example.net"},
        {},
    ]
)
GATEWAY = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": meta("gw", "gateways"),
    "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.50", "clusterIPs": ["10.96.0.50"], "ports": [{"port": 80}]},
}
ROLLOUTS = st.sampled_from(["", "0", "10s", "60s"])


class Edit:
    """What somebody changes between two renderings, and how much time goes by. None and "" leave things as they are."""

    def __init__(self, traffic: list[Raw] | None, latest: str, entry: Raw, is_ready: bool, seconds: int) -> None:
        self.traffic = traffic
        self.latest = latest
        self.entry = entry
        self.is_ready = is_ready
        self.seconds = seconds

    def __repr__(self) -> str:
        return f"Edit({self.traffic}, {self.latest!r}, {self.entry}, {self.is_ready}, {self.seconds})"

    def made_on(self, raws: Sequence[Raw]) -> list[Raw]:
        return [self._edited(copy.deepcopy(raw)) for raw in raws]

    def _edited(self, raw: Raw) -> Raw:
        metadata = raw["metadata"]
        if raw["kind"] == "Route" and self.traffic not in (None, raw["spec"]["traffic"]):
            raw["spec"]["traffic"] = self.traffic
            metadata["generation"] = metadata.get("generation", 0) + 1
        elif raw["kind"] == "Configuration" and self.latest:
            raw["status"]["latestReadyRevisionName"] = self.latest
        elif raw["kind"] == "Ingress":
            conditions = [{"type": "Ready", "status": "True" if self.is_ready else "Unknown"}]
            raw["status"] = {
                "observedGeneration": metadata.get("generation", 1),
                "conditions": conditions,
                **led_to(self.entry),
            }
        return raw


EDITS = st.lists(
    st.builds(
        Edit,
        st.one_of(st.none(), traffics()),
        st.sampled_from(["", *REVISIONS]),
        ENTRIES,
        st.booleans(),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=6,
)


def life(rollout: str, traffic: list[Raw], edits: Sequence[Edit]) -> list[list[Raw]]:
    """The renderings of a Route through a series of edits, each on what the one before left."""
    network = {"rollout_duration": rollout.rstrip("s")} if rollout else {}
    now = START
    states = [rendered([*surroundings("web-00001", **network), GATEWAY, route(traffic)], now)]
    for edit in edits:
        now += timedelta(seconds=edit.seconds)
        states.append(rendered(edit.made_on(states[-1]), now))
    return states


@settings(max_examples=100, deadline=None)
@given(ROLLOUTS, traffics(), EDITS)
def test_percents_of_every_path_sum_to_100_after_any_edit_of_traffic(
    rollout: str, traffic: list[Raw], edits: list[Edit]
) -> None:
    for state in life(rollout, traffic, edits):
        paths = [
            path
            for made in of_kind(state, "Ingress")
            for rule in made["spec"]["rules"]
            for path in rule["http"]["paths"]
        ]
        assert paths
        for path in paths:
            assert sum(split["percent"] for split in path["splits"]) == 100, path


@settings(max_examples=40, deadline=None)
@given(ROLLOUTS, traffics(), EDITS)
def test_no_series_of_edits_yields_a_service_of_type_external_name(
    rollout: str, traffic: list[Raw], edits: list[Edit]
) -> None:
    for state in life(rollout, traffic, edits):
        services = [raw for raw in of_kind(state, "Service") if raw["metadata"]["namespace"] == "shop"]
        assert services
        assert "ExternalName" not in {service["spec"]["type"] for service in services}


@settings(max_examples=40, deadline=None)
@given(ROLLOUTS, traffics(), EDITS)
def test_rendering_twice_changes_nothing(rollout: str, traffic: list[Raw], edits: list[Edit]) -> None:
    mapping = {
        "apiVersion": MAPPINGS,
        "kind": "DomainMapping",
        "metadata": meta("app.example.com"),
        "spec": {"ref": {"apiVersion": SERVING, "kind": "Route", "name": "web"}},
    }
    state = life(rollout, traffic, edits)[-1]
    now = START + timedelta(seconds=sum(edit.seconds for edit in edits))
    once = rendered([*state, mapping], now)
    assert {ref_of(raw): raw for raw in rendered(once, now)} == {ref_of(raw): raw for raw in once}


ROLLOUT_KEYS = (
    *("configurations", "configurationName", "percent", "revisions", "revisionName", "stepParams", "tag"),
    *("starttime", "nextStepTime", "stepDuration", "stepSize"),
)
ROLLOUT_STATES = st.one_of(
    st.text(max_size=20),
    st.recursive(
        st.one_of(st.integers(-5, 200), st.none(), st.sampled_from(["web", "web-00001", ""])),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(ROLLOUT_KEYS),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=12,
    ).map(json.dumps),
    st.builds(
        lambda shares, size, percent: json.dumps(
            {
                "configurations": [
                    {
                        "configurationName": "web",
                        "percent": percent,
                        "revisions": [
                            {"revisionName": name, "percent": share}
                            for name, share in zip(REVISIONS, shares, strict=False)
                        ],
                        "stepParams": {"starttime": 1, "nextStepTime": 1, "stepDuration": 1, "stepSize": size},
                    }
                ]
            }
        ),
        st.lists(st.integers(0, 60), min_size=1, max_size=4),
        st.integers(0, 100),
        st.integers(0, 100),
    ),
)


@settings(max_examples=80, deadline=None)
@given(ROLLOUT_STATES, traffics(), st.booleans())
def test_no_state_of_a_rollout_stops_the_controller(state: str, traffic: list[Raw], is_ready: bool) -> None:
    owner = route(traffic)
    kept = {"networking.internal.knative.dev/rollout": state}
    status = READY if is_ready else {}
    raws = [*surroundings(rollout_duration="60"), owner, ingress(owner, annotations=kept, **status)]
    result = rendered(raws)  # fails if a rule raised
    for rule in the(result, "Ingress", "web")["spec"]["rules"]:
        for path in rule["http"]["paths"]:
            assert sum(split["percent"] for split in path["splits"]) == 100


@pytest.mark.parametrize("percent", [0, 1, 50, 99])
def test_share_that_shrinks_during_a_rollout_leaves_the_others_served(percent: int) -> None:
    shares = [{"revisionName": "web-00001", "percent": 30}, {"revisionName": "web-00002", "percent": 60}]
    step = {"starttime": 1, "nextStepTime": 2, "stepDuration": 1, "stepSize": 25}
    state = {
        "configurations": [{"configurationName": "web", "percent": 90, "revisions": shares, "stepParams": step}],
    }
    traffic = [
        {"configurationName": "web", "latestRevision": True, "percent": percent},
        {"revisionName": "web-00003", "latestRevision": False, "percent": 100 - percent},
    ]
    owner = route(traffic)
    kept = {"networking.internal.knative.dev/rollout": json.dumps(state)}
    neighbour = route([{"revisionName": "web-00004", "latestRevision": False, "percent": 100}], "api")
    raws = [*surroundings(rollout_duration="60"), owner, ingress(owner, annotations=kept, **READY), neighbour]
    result = rendered(raws)
    for name, last in (("web", "web-00003"), ("api", "web-00004")):
        splits = the(result, "Ingress", name)["spec"]["rules"][0]["http"]["paths"][0]["splits"]
        assert sum(split["percent"] for split in splits) == 100
        assert splits[-1]["serviceName"] == last
