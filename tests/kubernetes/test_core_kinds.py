"""What a server fills in and refuses for the built-in kinds."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from kubernetes_model import GADGET_CRD, core, core_ref, new_model

from gatepost.kubernetes.api import ApiError, ApiModel, Written
from gatepost.objects.refs import Ref, ref_of

PORTS = [{"port": 80}]


@pytest.fixture
def model() -> ApiModel:
    return new_model()


def service(name: str = "web", /, **spec: Any) -> dict[str, Any]:
    return core("Service", name, spec=spec)


def causes(call: Any) -> list[tuple[str, str]]:
    with pytest.raises(ApiError) as told:
        call()
    assert told.value.code == 422
    return [(cause.field, cause.reason) for cause in told.value.causes]


def test_a_service_gets_type_protocol_target_port_and_an_address(model: ApiModel) -> None:
    created = model.create(service(ports=PORTS), "me").object
    spec = created["spec"]
    ip = spec.pop("clusterIP")
    assert ipaddress.ip_address(ip) in ipaddress.ip_network("10.96.0.0/12")
    assert spec == {
        "type": "ClusterIP",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "sessionAffinity": "None",
        "clusterIPs": [ip],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    assert created["status"] == {"loadBalancer": {}}


def test_a_target_port_that_is_given_stays(model: ApiModel) -> None:
    ports = model.create(service(ports=[{"port": 80, "targetPort": "http"}]), "me").object["spec"]["ports"]
    assert ports == [{"port": 80, "protocol": "TCP", "targetPort": "http"}]


def test_services_get_addresses_of_their_own_the_same_in_any_order() -> None:
    names = [f"s{number}" for number in range(200)]

    def addresses(order: list[str]) -> dict[str, str]:
        model = new_model()
        return {name: model.create(service(name, ports=PORTS), "me").object["spec"]["clusterIP"] for name in order}

    forward = addresses(names)
    assert len(set(forward.values())) == 200
    assert addresses(names[::-1]) == forward


def test_an_address_stays_over_updates_and_cannot_be_changed(model: ApiModel) -> None:
    ip = model.create(service(ports=PORTS), "me").object["spec"]["clusterIP"]
    assert model.replace(service(ports=[{"port": 81}]), "me").object["spec"]["clusterIP"] == ip
    moved = service(ports=PORTS, clusterIP="10.96.9.9")
    assert causes(lambda: model.replace(moved, "me")) == [("spec.clusterIPs[0]", "FieldValueInvalid")]
    headless = {"spec": {"clusterIP": "None"}}
    assert causes(lambda: model.patch(core_ref("Service", "web"), headless, "merge", "me")) == [
        ("spec.clusterIPs[0]", "FieldValueInvalid")
    ]


def test_an_address_that_is_asked_for_is_given_once(model: ApiModel) -> None:
    asked = {"ports": PORTS, "clusterIP": "10.96.9.9"}
    assert model.create(service("one", **asked), "me").object["spec"]["clusterIPs"] == ["10.96.9.9"]
    assert causes(lambda: model.create(service("two", **asked), "me")) == [("spec.clusterIPs", "FieldValueInvalid")]
    foreign = service("three", ports=PORTS, clusterIP="192.0.2.1")
    assert causes(lambda: model.create(foreign, "me")) == [("spec.clusterIPs", "FieldValueInvalid")]


def test_a_deleted_service_frees_its_address(model: ApiModel) -> None:
    model.create(service("one", ports=PORTS, clusterIP="10.96.9.9"), "me")
    model.delete(core_ref("Service", "one"))
    assert model.create(service("two", ports=PORTS, clusterIP="10.96.9.9"), "me").created


def test_a_headless_service_needs_no_ports_and_takes_no_address(model: ApiModel) -> None:
    spec = model.create(service(clusterIP="None"), "me").object["spec"]
    assert (spec["clusterIP"], spec["clusterIPs"]) == ("None", ["None"])
    assert model.create(service("other", clusterIP="None"), "me").created


def test_an_external_name_gives_its_address_back_and_gets_one_again(model: ApiModel) -> None:
    model.create(service(ports=PORTS), "me")
    patch = {"spec": {"type": "ExternalName", "externalName": "a.example.com"}}
    external = model.patch(core_ref("Service", "web"), patch, "merge", "me").object["spec"]
    assert "clusterIP" not in external
    assert "clusterIPs" not in external
    back = {"spec": {"type": "ClusterIP", "externalName": None}}
    assert "clusterIP" in model.patch(core_ref("Service", "web"), back, "merge", "me").object["spec"]


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({}, "spec.ports", "FieldValueRequired"),
        ({"type": "ExternalName"}, "spec.externalName", "FieldValueRequired"),
        ({"ports": [{"port": 0}]}, "spec.ports[0].port", "FieldValueInvalid"),
        ({"ports": [{"name": "a"}]}, "spec.ports[0].port", "FieldValueRequired"),
        ({"ports": [{"port": 1}, {"port": 2}]}, "spec.ports[0].name", "FieldValueRequired"),
        (
            {"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]},
            "spec.ports[1].name",
            "FieldValueDuplicate",
        ),
        (
            {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]},
            "spec.ports[1]",
            "FieldValueDuplicate",
        ),
        ({"ports": PORTS, "type": "Odd"}, "spec.type", "FieldValueNotSupported"),
    ],
)
def test_a_wrong_service_is_told_with_its_field(model: ApiModel, spec: Any, field: str, reason: str) -> None:
    assert (field, reason) in causes(lambda: model.create(service(**spec), "me"))


def test_the_name_of_a_service_begins_with_a_letter(model: ApiModel) -> None:
    assert causes(lambda: model.create(service("1web", ports=PORTS), "me")) == [("metadata.name", "FieldValueInvalid")]


def test_nobody_owns_what_the_server_handed_out(model: ApiModel) -> None:
    model.create(service(ports=PORTS), "me")
    stated = service(ports=[{"port": 80, "name": "http"}])
    applied = model.patch(core_ref("Service", "web"), stated, "apply", "other").object
    owned = [entry["fieldsV1"].get("f:spec", {}) for entry in applied["metadata"]["managedFields"]]
    assert not any("f:clusterIP" in fields for fields in owned)


def test_string_data_becomes_data(model: ApiModel) -> None:
    raw = core("Secret", "s", stringData={"user": "admin", "both": "new"}, data={"both": "b2xk", "kept": "eA=="})
    created = model.create(raw, "me").object
    assert created["data"] == {"user": "YWRtaW4=", "both": "bmV3", "kept": "eA=="}
    assert (created["type"], "stringData" in created) == ("Opaque", False)


def test_data_of_a_secret_is_base64(model: ApiModel) -> None:
    assert causes(lambda: model.create(core("Secret", "s", data={"a": "not base64!"}), "me")) == [
        ("data.a", "FieldValueInvalid")
    ]


def test_the_type_of_a_secret_stays(model: ApiModel) -> None:
    model.create(core("Secret", "s"), "me")
    changed = core("Secret", "s", type="kubernetes.io/tls")
    assert causes(lambda: model.replace(changed, "me")) == [("type", "FieldValueInvalid")]


def test_an_immutable_config_map_keeps_its_data(model: ApiModel) -> None:
    model.create(core("ConfigMap", "c", data={"a": "1"}, immutable=True), "me")
    changed = core("ConfigMap", "c", data={"a": "2"}, immutable=True)
    assert causes(lambda: model.replace(changed, "me")) == [("data", "FieldValueForbidden")]
    labelled = model.patch(core_ref("ConfigMap", "c"), {"metadata": {"labels": {"a": "b"}}}, "merge", "me")
    assert labelled.changed


def test_a_namespace_is_active_and_carries_its_name_as_label(model: ApiModel) -> None:
    created = model.create(core("Namespace", "shop", ""), "me").object
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}
    assert created["status"] == {"phase": "Active"}


def test_ports_of_an_endpoint_slice_get_name_and_protocol(model: ApiModel) -> None:
    raw = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "x"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"]}],
        "ports": [{"port": 8080}],
    }
    created = model.create(raw, "me").object
    assert created["ports"] == [{"port": 8080, "name": "", "protocol": "TCP"}]
    assert created["metadata"]["generation"] == 1
    ref = Ref("discovery.k8s.io", "EndpointSlice", "x", "web-1")
    moved = model.patch(ref, {"endpoints": [{"addresses": ["192.0.2.2"]}]}, "merge", "me").object
    assert moved["metadata"]["generation"] == 2


def test_an_event_lives_in_the_namespace_of_its_object(model: ApiModel) -> None:
    involved = {"kind": "Gadget", "name": "g", "namespace": "x"}
    assert model.create(core("Event", "e", involvedObject=involved, reason="Odd"), "me").created
    elsewhere = core("Event", "f", "y", involvedObject=involved)
    assert causes(lambda: model.create(elsewhere, "me")) == [("involvedObject.namespace", "FieldValueInvalid")]


def test_null_is_the_same_as_not_set_in_built_in_kinds(model: ApiModel) -> None:
    raw = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "x", "creationTimestamp": None, "labels": None},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"], "hostname": None}],
        "ports": None,
    }
    created = model.create(raw, "me").object
    assert "ports" not in created
    assert "labels" not in created["metadata"]
    assert created["endpoints"] == [{"addresses": ["192.0.2.1"]}]


@pytest.mark.parametrize(
    "raw",
    [
        service(ports=PORTS),
        service(type="ExternalName", externalName="a.example.com"),
        service(clusterIP="None"),
        core("Secret", "s", stringData={"a": "b"}),
        core("Namespace", "n", ""),
        core("ConfigMap", "c", data={"a": "b"}),
        GADGET_CRD,
    ],
    ids=lambda raw: f"{raw['kind']} {raw['metadata']['name']}",
)
@pytest.mark.parametrize("how", ["replace", "apply"])
def test_the_same_sent_again_changes_nothing(model: ApiModel, raw: dict[str, Any], how: str) -> None:
    def send() -> Written:
        if how == "apply":
            return model.patch(ref_of(raw), raw, "apply", "me")
        return model.replace(raw, "me") if model.find(ref_of(raw)) else model.create(raw, "me")

    first = send()
    again = send()
    assert (first.created, again.changed) == (True, False)
    assert again.object == first.object


def test_two_managers_own_the_ports_that_each_applies(model: ApiModel) -> None:
    one = service(ports=[{"port": 80, "name": "http"}])
    two = service(ports=[{"port": 443, "name": "https"}])
    model.patch(core_ref("Service", "web"), one, "apply", "one")
    model.patch(core_ref("Service", "web"), two, "apply", "two")
    left = model.patch(core_ref("Service", "web"), service(type="ClusterIP"), "apply", "one").object
    assert [port["port"] for port in left["spec"]["ports"]] == [443]
