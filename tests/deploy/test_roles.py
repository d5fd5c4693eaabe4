"""The roles in `deploy/` grant what gatepost needs, and nothing else."""

from __future__ import annotations

import pytest
from needed_rights import rights_of_controller, rights_of_sources

from deploy_manifests import granted, object_of, objects
from gatepost.dns.rules import KNATIVE, ROUTE_SOURCES
from gatepost.runtime.leadership.election import Election
from gatepost.runtime.wiring import CONTROLLERS

CONFIG = "gatepost-knative-config"


@pytest.mark.parametrize("name", CONTROLLERS)
def test_the_role_of_a_controller_is_what_its_rules_read_and_write(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert granted(f"gatepost-{name}", CONFIG) == rights_of_controller(name, monkeypatch)


def test_the_role_of_the_dns_part_is_what_its_sources_read_and_the_status_of_dns_endpoints() -> None:
    assert granted("gatepost-dns") == rights_of_sources(*ROUTE_SOURCES, "gateway-listener", "crd")


def test_the_role_of_the_source_knative_is_what_it_reads() -> None:
    assert granted("gatepost-dns-knative", CONFIG) == rights_of_sources(KNATIVE)


def test_the_lease_of_the_default_name_can_be_made_read_and_written() -> None:
    rules = object_of("Role", "gatepost-leases")["rules"]
    assert granted("gatepost-leases") == {("coordination.k8s.io", "leases", v) for v in ("create", "get", "patch")}
    assert [rule.get("resourceNames") for rule in rules] == [None, [Election().leader_elect_resource_name]]


def test_events_can_be_made_and_counted_up() -> None:
    assert granted("gatepost-events") == {("", "events", verb) for verb in ("create", "get", "patch")}


def test_settings_of_others_are_read_in_the_namespace_of_knative_alone() -> None:
    assert object_of("Role", CONFIG)["metadata"]["namespace"] == "knative-serving"
    assert not any(
        "configmaps" in rule["resources"] for raw in objects() if raw["kind"] == "ClusterRole" for rule in raw["rules"]
    )


def test_no_role_reads_secrets_or_grants_everything() -> None:
    names = [raw["metadata"]["name"] for raw in objects() if raw["kind"] in ("Role", "ClusterRole")]
    for group, resource, verb in granted(*names):
        assert "*" not in (group, resource, verb)
        assert resource != "secrets"


def test_every_role_is_bound_to_the_service_account_and_to_nobody_else() -> None:
    account = {"kind": "ServiceAccount", "name": "gatepost", "namespace": "gatepost"}
    bound = set()
    for raw in objects():
        if raw["kind"].endswith("RoleBinding"):
            assert raw["subjects"] == [account]
            bound.add((raw["roleRef"]["kind"], raw["roleRef"]["name"]))
    made = {(raw["kind"], raw["metadata"]["name"]) for raw in objects() if raw["kind"] in ("Role", "ClusterRole")}
    assert bound - made == {("ClusterRole", "knative-serving-aggregated-addressable-resolver")}  # Knative's
    assert made <= bound
