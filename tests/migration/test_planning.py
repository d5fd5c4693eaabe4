"""Which steps the rules plan for a Service, and when they leave it alone."""

from __future__ import annotations

from typing import Any

import pytest
from migration_world import (
    EXTERNAL_NAME,
    GATEWAY_NAME,
    HEADLESS,
    MESH,
    MIRROR,
    Raw,
    endpoints,
    gateway,
    kingress,
    planned,
    reasons,
    route,
    service,
    slice_of,
    steps,
)

from gatepost.migration.values import FoundEndpoints, FoundSlice, Migration
from gatepost.objects.refs import ref_of

BY_NAME = {"domainInternal": GATEWAY_NAME}
BY_IP = {"ip": "10.1.1.1"}
MESH_ONLY = {"meshOnly": True}
ROUTE = route()
ALLOCATED: Raw = {**MESH, "clusterIP": "10.96.7.7"}
DOMAINS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "config-domain", "namespace": "knative-serving"},
    "data": {"example.com": ""},
}


def the(*raws: Raw, back: bool = False, **more: Any) -> Migration:
    (migration,) = planned(*raws, back=back, **more)
    return migration


def shop(spec: Raw, entry: Raw, *more: Raw, owner: Raw = ROUTE) -> tuple[Raw, ...]:
    return (owner, service(owner, spec), kingress(owner, entry), gateway(), *more)


@pytest.mark.parametrize("part", [0, 2], ids=["the Route", "the KIngress"])
def test_a_service_stays_while_what_decides_about_it_cannot_be_read(part: int) -> None:
    objects = list(shop(EXTERNAL_NAME, BY_NAME))
    objects[part] = {**objects[part], "status": "none"}
    migration = the(*objects)
    (problem,) = migration.refused
    assert (problem.reason, problem.about, problem.field) == ("UnreadableObject", ref_of(objects[part]), "status")
    assert (migration.steps, migration.found.form) == ((), "ExternalName")


def test_external_name_gets_slices_then_a_check_then_one_update() -> None:
    migration = the(*shop(EXTERNAL_NAME, BY_NAME))
    assert steps(migration) == [
        "lay slice web-ipv4 with 10.96.0.50",
        "check that web-ipv4 holds an address",
        "one update to headless",
    ]
    assert migration.is_due
    update: Any = migration.steps[2]
    assert update.spec == {
        "type": "ClusterIP",
        "clusterIP": "None",
        "externalName": None,
        "ports": [HEADLESS["ports"][0]],
    }


def test_each_family_of_the_gateway_gets_a_slice() -> None:
    both = gateway("10.96.0.50", "2001:db8::50")
    migration = the(ROUTE, service(ROUTE, EXTERNAL_NAME), kingress(ROUTE, BY_NAME), both)
    assert steps(migration)[:3] == [
        "lay slice web-ipv4 with 10.96.0.50",
        "lay slice web-ipv6 with 2001:db8::50",
        "check that web-ipv4, web-ipv6 hold an address",
    ]


def test_slices_that_lie_there_already_are_only_checked() -> None:
    laid = slice_of(service(ROUTE, EXTERNAL_NAME), "10.96.0.50", "web-ipv4")
    assert steps(the(*shop(EXTERNAL_NAME, BY_NAME, laid))) == [
        "check that web-ipv4 holds an address",
        "one update to headless",
    ]


def test_endpoints_of_knative_go_last() -> None:
    assert steps(the(*shop(HEADLESS, BY_IP, endpoints(ROUTE, "10.1.1.1")))) == [
        "lay slice web-ipv4 with 10.1.1.1",
        "check that web-ipv4 holds an address",
        "delete Endpoints web: slices have taken its place",
    ]


def test_allocated_service_stays_allocated_and_gets_slices_and_port_names() -> None:
    assert steps(the(*shop(ALLOCATED, BY_IP))) == [
        "lay slice web-ipv4 with 10.1.1.1",
        "check that web-ipv4 holds an address",
        "set the ports to http2/80",
    ]


def test_mesh_only_turns_external_name_into_an_allocated_cluster_ip() -> None:
    assert steps(the(*shop(EXTERNAL_NAME, MESH_ONLY))) == ["one update to an allocated cluster IP"]


def test_mesh_only_leads_a_headless_service_over_external_name() -> None:
    laid = slice_of(service(ROUTE, HEADLESS), "10.96.0.50", "web-ipv4")
    assert steps(the(*shop(HEADLESS, MESH_ONLY, laid, DOMAINS))) == [
        "one update to ExternalName web.shop.example.com",
        "one update to an allocated cluster IP",
        "delete EndpointSlice web-ipv4: the mesh needs none",
    ]


def test_private_headless_service_has_no_bridge_to_the_mesh() -> None:
    # Its only name is its own: as an ExternalName it would point to itself.
    migration = the(*shop(HEADLESS, MESH_ONLY))
    assert (steps(migration), reasons(migration)) == ([], ["NoBridge"])


def test_what_stands_as_wanted_has_no_steps() -> None:
    laid = slice_of(service(ROUTE, HEADLESS), "10.96.0.50", "web-ipv4")
    migration = the(*shop(HEADLESS, BY_NAME, laid))
    assert migration.is_done


def test_service_of_a_tag_is_moved_too_and_one_of_a_tag_that_is_gone_is_not() -> None:
    owner = route(tags=("old",))
    tagged, orphan = service(owner, EXTERNAL_NAME, "old-web"), service(owner, EXTERNAL_NAME, "gone-web")
    found = planned(owner, tagged, orphan, kingress(owner, BY_NAME), gateway())
    assert {one.service.name: reasons(one) for one in found} == {"old-web": [], "gone-web": ["NoTrafficTarget"]}
    assert len(found[1].steps) == 3


NAME_NOT_RESOLVED = {"domain": "gw.example.net"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"domainInternal": "nobody.gateways.svc.cluster.local"}, "GatewayAddressUnknown"),
        (NAME_NOT_RESOLVED, "GatewayAddressUnknown"),
        ({"ip": "127.0.0.1"}, "GatewayAddressUnknown"),
        ({"ip": "169.254.169.254"}, "GatewayAddressUnknown"),
        ({}, "GatewayAddressUnknown"),
    ],
)
def test_without_an_address_the_name_serves_on(entry: Raw, reason: str) -> None:
    migration = the(*shop(EXTERNAL_NAME, entry))
    assert (steps(migration), reasons(migration)) == ([], [reason])


def test_route_without_a_kingress_of_its_own_tells_no_address() -> None:
    foreign = {**kingress(ROUTE, BY_NAME)}
    foreign["metadata"] = {"name": "web", "namespace": "shop"}
    assert reasons(the(ROUTE, service(ROUTE, EXTERNAL_NAME), gateway())) == ["GatewayAddressUnknown"]
    assert reasons(the(ROUTE, service(ROUTE, EXTERNAL_NAME), foreign, gateway())) == ["GatewayAddressUnknown"]


def test_label_of_a_route_that_does_not_control_the_service_moves_nothing() -> None:
    mine = service(ROUTE, EXTERNAL_NAME)
    del mine["metadata"]["ownerReferences"]
    recreated = service({**ROUTE, "metadata": {**ROUTE["metadata"], "uid": "uid-earlier"}}, EXTERNAL_NAME)
    for left_alone in (mine, recreated):
        migration = the(ROUTE, left_alone, kingress(ROUTE, BY_NAME), gateway())
        assert (steps(migration), reasons(migration)) == ([], ["NotControlledByRoute"])
        assert not migration.found.is_controlled


def test_service_without_the_label_is_none_of_ours() -> None:
    plain = service(ROUTE, EXTERNAL_NAME)
    plain["metadata"]["labels"] = {"app": "web"}
    assert planned(ROUTE, plain, kingress(ROUTE, BY_NAME), gateway()) == []


@pytest.mark.parametrize(
    "foreign",
    [endpoints(None, "10.9.9.9"), slice_of(route("other"), "10.9.9.9", "web-ipv4")],
    ids=["Endpoints", "EndpointSlice"],
)
def test_object_of_somebody_else_under_a_wanted_name_stops_the_service(foreign: Raw) -> None:
    migration = the(*shop(EXTERNAL_NAME, BY_NAME, foreign))
    assert (steps(migration), reasons(migration)) == ([], ["NotOwned"])
    assert migration.refused[0].about == ref_of(foreign)


def test_route_that_is_not_handed_over_shows_its_steps_and_is_left_alone() -> None:
    owner = route(handed_over=False)
    migration = the(*shop(EXTERNAL_NAME, BY_NAME, owner=owner))
    assert (len(migration.steps), reasons(migration), migration.is_due) == (3, ["NotHandedOver"], False)
    assert the(*shop(EXTERNAL_NAME, BY_NAME, owner=owner), all_handed_over=True).is_due


def test_what_was_found_is_told() -> None:
    private = service(ROUTE, EXTERNAL_NAME, labels={"networking.knative.dev/visibility": "cluster-local"})
    mirrored = slice_of(endpoints(ROUTE, "10.1.1.1"), "10.1.1.1", "web-abc", MIRROR)
    found = the(ROUTE, private, kingress(ROUTE, BY_IP), endpoints(ROUTE, "10.1.1.1"), mirrored).found
    assert (found.form, found.leads_to, found.route, found.visibility) == (
        "ExternalName",
        GATEWAY_NAME,
        "web",
        "cluster-local",
    )
    assert found.endpoints == FoundEndpoints(("10.1.1.1",), is_own=True)
    assert found.slices == (FoundSlice("web-abc", ("10.1.1.1",), is_own=False),)


# The way back


UNDONE = route(handed_over=False)


def back(spec: Raw, entry: Raw, *more: Raw, owner: Raw = UNDONE) -> Migration:
    return the(*shop(spec, entry, *more, owner=owner), back=True)


OWN = slice_of(service(UNDONE, HEADLESS), "10.96.0.50", "web-ipv4")


def test_back_is_one_update_to_the_name_of_the_gateway_before_the_slices_go() -> None:
    migration = back(HEADLESS, BY_NAME, OWN)
    assert steps(migration) == [
        "one update to ExternalName gw.gateways.svc.cluster.local",
        "delete EndpointSlice web-ipv4: a CNAME answers for the name",
    ]
    update: Any = migration.steps[0]
    assert "clusterIP" not in update.spec  # the server frees it only if nobody names it


def test_back_for_an_address_waits_for_the_endpoints_of_knative() -> None:
    assert reasons(back(HEADLESS, BY_IP, OWN)) == ["EndpointsMissing"]
    mirrored = slice_of(endpoints(UNDONE, "10.1.1.1"), "10.1.1.1", "web-abc", MIRROR)
    assert steps(back(HEADLESS, BY_IP, OWN, mirrored)) == [
        "check that web-abc holds an address",
        "delete EndpointSlice web-ipv4: the Endpoints of Knative answer for the name",
    ]


def test_back_deletes_no_slice_of_somebody_else() -> None:
    foreign = slice_of(service(UNDONE, HEADLESS), "10.96.0.50", "web-other", "somebody")
    assert steps(back(EXTERNAL_NAME, BY_NAME, foreign)) == []


def test_back_leaves_a_route_that_is_still_handed_over() -> None:
    laid = slice_of(service(ROUTE, HEADLESS), "10.96.0.50", "web-ipv4")
    assert reasons(back(HEADLESS, BY_NAME, laid, owner=ROUTE)) == ["StillHandedOver"]


def test_back_keeps_the_cluster_ip_of_the_mesh() -> None:
    assert steps(back(ALLOCATED, MESH_ONLY)) == []


def test_no_plan_ever_deletes_a_service() -> None:
    forms = (EXTERNAL_NAME, HEADLESS, ALLOCATED)
    entries: tuple[Raw, ...] = (BY_NAME, BY_IP, MESH_ONLY, NAME_NOT_RESOLVED, {})
    for spec in forms:
        for entry in entries:
            for owner in (ROUTE, UNDONE):
                laid = slice_of(service(owner, spec), "10.96.0.50", "web-ipv4")
                for is_back in (False, True):
                    migration = the(*shop(spec, entry, laid, endpoints(owner, "10.1.1.1"), owner=owner), back=is_back)
                    deleted = {step.on.kind for step in migration.steps if type(step).__name__ == "DeleteObject"}
                    assert deleted <= {"Endpoints", "EndpointSlice"}
