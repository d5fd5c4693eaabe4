"""From raw objects to typed ones."""

from __future__ import annotations

import pytest

from gatepost.objects.core import Service
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.kinds import TYPES, typed
from gatepost.objects.meta import ObjectMeta, OwnerReference, is_controlled_by
from gatepost.objects.networking import KIngress
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import Ref, ref_of
from gatepost.objects.serving import Addressable, KnativeService


def raw(api_version: str, kind: str, **body: object) -> dict[str, object]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "n"}, **body}


@pytest.mark.parametrize(
    ("api_version", "kind", "type_"),
    [
        ("v1", "Service", Service),
        ("serving.knative.dev/v1", "Service", KnativeService),
        ("networking.internal.knative.dev/v1alpha1", "Ingress", KIngress),
        ("gateway.networking.k8s.io/v1beta1", "HTTPRoute", HTTPRoute),
        ("messaging.example.com/v1", "Broker", Addressable),
    ],
)
def test_the_group_decides_the_type_whatever_the_version(api_version: str, kind: str, type_: type) -> None:
    assert type(typed(raw(api_version, kind))) is type_


def test_a_field_of_another_type_is_named_with_its_path() -> None:
    with pytest.raises(UnreadableObject) as caught:
        typed(raw("gateway.networking.k8s.io/v1", "HTTPRoute", spec={"hostnames": ["a.example.com", 3]}))
    problem = caught.value.problem
    assert problem.about == Ref("gateway.networking.k8s.io", "HTTPRoute", "n", "x")
    assert problem.field == "spec.hostnames[1]"
    assert problem.message == "cannot be read: Expected `str`, got `int`"
    assert problem.hint == "Write it in quotes."


def test_a_key_of_another_type_is_named() -> None:
    with pytest.raises(UnreadableObject) as caught:
        typed({**raw("v1", "ConfigMap"), "data": {"ingress-class": "any", "rollout-duration": 10}})
    assert caught.value.problem.field == 'data["rollout-duration"]'
    path = {"splits": [{"serviceName": "web"}, {"appendHeaders": {"Weight": "1", "Retries": True}}]}
    spec = {"rules": [{"http": {"paths": [path]}}]}
    with pytest.raises(UnreadableObject) as caught:
        typed(raw("networking.internal.knative.dev/v1alpha1", "Ingress", spec=spec))
    assert caught.value.problem.field == 'spec.rules[0].http.paths[0].splits[1].appendHeaders["Retries"]'


def test_a_key_above_the_field_of_another_type_is_left_open() -> None:
    spec = {"rules": [{"http": {"paths": [{"headers": {"Tag": {"exact": 3}}}]}}]}
    with pytest.raises(UnreadableObject) as caught:
        typed(raw("networking.internal.knative.dev/v1alpha1", "Ingress", spec=spec))
    assert caught.value.problem.field == "spec.rules[0].http.paths[0].headers[...].exact"


def test_fields_that_no_rule_reads_are_no_fault() -> None:
    route = typed(raw("gateway.networking.k8s.io/v1", "HTTPRoute", spec={"useDefaultGateways": 7}, unknown=1))
    assert isinstance(route, HTTPRoute)


def test_a_status_of_an_unknown_kind_may_hold_anything() -> None:
    status = {"address": "192.0.2.7", "addresses": ["192.0.2.7"], "observedGeneration": "2", "conditions": ["Ready"]}
    assert isinstance(typed(raw("machines.example.com/v1", "Machine", status=status)), Addressable)


def test_a_ref_is_the_same_from_raw_and_typed_objects() -> None:
    for type_ in TYPES:
        fields = raw(type_.KIND.api_version, type_.KIND.kind)
        if not type_.KIND.namespaced:
            fields["metadata"] = {"name": "x"}
        assert typed(fields).ref == ref_of(fields)


def owned(uid: str, *, controller: bool = True, kind: str = "Service", name: str = "owner") -> KIngress:
    reference = OwnerReference("serving.knative.dev/v1", kind, name, uid, controller=controller)
    return KIngress(metadata=ObjectMeta(name="child", owner_references=(reference,)))


OWNER = KnativeService(metadata=ObjectMeta(name="owner", uid="1"))


def test_the_uid_of_the_controller_decides_ownership() -> None:
    assert is_controlled_by(owned("1"), OWNER)
    assert not is_controlled_by(owned("2"), OWNER), "an older object of the same name"
    assert not is_controlled_by(owned("1", controller=False), OWNER)
    assert not is_controlled_by(KIngress(metadata=ObjectMeta(name="child")), OWNER)


def test_without_uids_kind_and_name_decide() -> None:
    fresh = KnativeService(metadata=ObjectMeta(name="owner"))
    assert is_controlled_by(owned(""), fresh)
    assert not is_controlled_by(owned("", name="other"), fresh)
    assert not is_controlled_by(owned("", kind="Route"), fresh)
