"""Which calls a wish needs, given what is there."""

from __future__ import annotations

import re
from typing import Any

from gatepost.objects.refs import GroupKind, Ref
from gatepost.writes.outcome import Apply, Delete, Event, OwnEntries, Subject
from gatepost.writes.requests import (
    Request,
    apply_requests,
    delete_request,
    event_request,
    finalizers_request,
    repeated_event_request,
    status_request,
)

Raw = dict[str, Any]
NOW = "2026-03-01T00:00:00Z"
INGRESS = Ref("networking.internal.knative.dev", "Ingress", "shop", "app.example.com")
GATEWAY = Ref("gateway.networking.k8s.io", "Gateway", "infra", "public")


def ingress(**spec: Any) -> Raw:
    return {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "Ingress",
        "metadata": {"name": "app.example.com", "namespace": "shop"},
        "spec": spec,
    }


def stored(obj: Raw, managers: list[Raw] | None = None, **metadata: Any) -> Raw:
    """The object as a cluster has it."""
    more = {"uid": "u-1", "resourceVersion": "7", **metadata}
    if managers is not None:
        more["managedFields"] = managers
    return {**obj, "metadata": {**obj["metadata"], **more}}


def manager(name: str, operation: str, fields: Raw) -> Raw:
    return {"manager": name, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}


def test_an_object_that_does_not_exist_is_created_not_applied() -> None:
    assert apply_requests(Apply(ingress(httpOption="Enabled")), None) == (
        Request("create", INGRESS, ingress(httpOption="Enabled")),
    )


def test_an_object_that_others_make_is_not_created() -> None:
    assert apply_requests(Apply(ingress(), may_create=False), None) == ()


def test_nothing_is_sent_when_nothing_differs() -> None:
    assert apply_requests(Apply(ingress(httpOption="Enabled")), stored(ingress(httpOption="Enabled"))) == ()


def test_a_change_of_our_own_fields_is_one_apply_bound_to_the_uid() -> None:
    ours = manager("gatepost", "Apply", {"f:spec": {"f:httpOption": {}}})
    (request,) = apply_requests(Apply(ingress(httpOption="Redirected")), stored(ingress(httpOption="Enabled"), [ours]))
    expected = ingress(httpOption="Redirected")
    expected["metadata"]["uid"] = "u-1"
    assert request == Request("apply", INGRESS, expected)


def test_a_left_over_that_only_our_applies_own_needs_no_patch() -> None:
    ours = manager("gatepost", "Apply", {"f:spec": {"f:httpOption": {}, "f:old": {}}})
    current = stored(ingress(httpOption="Enabled", old=1), [ours])
    assert [r.kind for r in apply_requests(Apply(ingress(httpOption="Enabled")), current)] == ["apply"]


def test_a_left_over_of_another_manager_is_patched_away_first() -> None:
    other = manager("controller", "Update", {"f:spec": {"f:old": {}}})
    current = stored(ingress(httpOption="Enabled", old=1), [other])
    patch, apply = apply_requests(Apply(ingress(httpOption="Enabled")), current)
    assert patch == Request("merge", INGRESS, {"spec": {"old": None}, "metadata": {"resourceVersion": "7"}})
    assert apply.kind == "apply"


def test_what_goes_and_what_comes_is_one_patch() -> None:
    # A Service that loses its externalName while it still is an ExternalName would be refused.
    other = manager("controller", "Update", {"f:spec": {"f:type": {}, "f:externalName": {}}})
    current = stored(ingress(type="ExternalName", externalName="gw.example.com"), [other])
    wish = ingress(type="ClusterIP", clusterIP="None")
    patch, apply = apply_requests(Apply(wish, whole=("spec.externalName",)), current)
    assert patch.body["spec"] == {"type": "ClusterIP", "externalName": None, "clusterIP": "None"}
    assert patch.body["metadata"] == {"resourceVersion": "7"}
    assert apply.kind == "apply"


def test_what_we_created_counts_as_anothers_since_applying_does_not_remove_it() -> None:
    # A create makes us the owner by "Update", which a later apply under the same name leaves alone.
    created = manager("gatepost", "Update", {"f:spec": {"f:old": {}}})
    current = stored(ingress(httpOption="Enabled", old=1), [created])
    assert [r.kind for r in apply_requests(Apply(ingress(httpOption="Enabled")), current)] == ["merge", "apply"]


def test_a_foreign_annotation_goes_where_we_own_all_annotations() -> None:
    wish = ingress(httpOption="Enabled")
    wish["metadata"]["annotations"] = {"ours": "1"}
    has = ingress(httpOption="Enabled")
    has["metadata"]["annotations"] = {"ours": "1", "theirs": "2"}
    other = manager("kubectl", "Apply", {"f:metadata": {"f:annotations": {"f:theirs": {}}}})
    patch, _ = apply_requests(Apply(wish), stored(has, [other]))
    assert patch.body == {"metadata": {"annotations": {"theirs": None}, "resourceVersion": "7"}}


def test_a_keyed_list_with_items_of_others_is_replaced_by_patch() -> None:
    port = 'k:{"port":80,"protocol":"TCP"}'
    other = manager("kubectl", "Update", {"f:spec": {"f:ports": {port: {".": {}, "f:port": {}}}}})
    current = stored(ingress(ports=[{"port": 80}]), [other])
    patch, _ = apply_requests(Apply(ingress(ports=[{"port": 81}])), current)
    assert patch.body["spec"] == {"ports": [{"port": 81}]}


def test_a_list_owned_as_a_whole_is_replaced_by_the_apply_alone() -> None:
    other = manager("net-gateway-api", "Update", {"f:spec": {"f:rules": {}}})
    current = stored(ingress(rules=[{"a": 1}, {"b": 2}]), [other])
    assert [r.kind for r in apply_requests(Apply(ingress(rules=[{"a": 1}])), current)] == ["apply"]


def test_left_overs_are_patched_away_where_the_server_tells_no_owners() -> None:
    current = stored(ingress(httpOption="Enabled", old=1))
    assert [r.kind for r in apply_requests(Apply(ingress(httpOption="Enabled")), current)] == ["merge", "apply"]


def test_owner_references_are_sent_at_creation_only() -> None:
    wish = ingress(httpOption="Redirected")
    wish["metadata"]["ownerReferences"] = [{"uid": "owner"}]
    (create,) = apply_requests(Apply(wish), None)
    assert create.body["metadata"]["ownerReferences"] == [{"uid": "owner"}]
    requests = apply_requests(Apply(wish), stored(ingress(httpOption="Enabled")))
    assert all("ownerReferences" not in request.body["metadata"] for request in requests)


def gateway(*listeners: str) -> Raw:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "public", "namespace": "infra"},
        "spec": {"gatewayClassName": "x", "listeners": [{"name": name} for name in listeners]},
    }


def listeners_wish(*names: str) -> Apply:
    fields = gateway()
    del fields["spec"]
    own = OwnEntries("spec.listeners", "name", "kni-1", tuple({"name": name} for name in names))
    return Apply(fields, whole=(), entries=(own,), may_create=False)


def test_our_entries_in_a_shared_list_are_one_bound_patch_that_keeps_the_others() -> None:
    (request,) = apply_requests(listeners_wish("kni-1"), stored(gateway("http", "kni-2")))
    listeners = [{"name": "http"}, {"name": "kni-2"}, {"name": "kni-1"}]
    assert request == Request(
        "merge", GATEWAY, {"spec": {"listeners": listeners}, "metadata": {"resourceVersion": "7"}}
    )


def test_our_entry_that_is_no_longer_wanted_goes_whoever_put_it_there() -> None:
    (request,) = apply_requests(listeners_wish(), stored(gateway("http", "kni-1")))
    assert request.body["spec"] == {"listeners": [{"name": "http"}]}


def test_entries_that_are_there_need_no_request() -> None:
    assert apply_requests(listeners_wish("kni-1"), stored(gateway("http", "kni-1"))) == ()


def test_a_status_is_patched_with_only_what_differs() -> None:
    current = stored(ingress())
    current["status"] = {"observedGeneration": 1, "url": "http://a", "keep": True}
    request = status_request(INGRESS, {"observedGeneration": 2, "url": None}, current, NOW)
    assert request is not None
    assert request.subresource == "status"
    assert request.body == {"status": {"observedGeneration": 2, "url": None}, "metadata": {"resourceVersion": "7"}}


def test_a_changed_condition_gets_the_time_of_the_write() -> None:
    current = stored(ingress())
    current["status"] = {
        "conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    }
    request = status_request(INGRESS, {"conditions": [{"type": "Ready", "status": "True"}]}, current, NOW)
    assert request is not None
    assert request.body["status"]["conditions"] == [{"type": "Ready", "status": "True", "lastTransitionTime": NOW}]


def test_a_status_that_is_as_wished_is_not_written() -> None:
    current = stored(ingress())
    current["status"] = {
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    }
    assert status_request(INGRESS, {"conditions": [{"type": "Ready", "status": "True"}]}, current, NOW) is None


def test_finalizers_are_patched_with_the_resource_version() -> None:
    request = finalizers_request(INGRESS, ("a", "b"), stored(ingress(), finalizers=["a"]))
    assert request == Request("merge", INGRESS, {"metadata": {"finalizers": ["a", "b"], "resourceVersion": "7"}})
    assert finalizers_request(INGRESS, ("a",), stored(ingress(), finalizers=["a"])) is None
    assert finalizers_request(INGRESS, (), stored(ingress())) is None


def test_a_delete_is_bound_to_the_uid() -> None:
    request = delete_request(Delete(INGRESS, "u-1", "gone"), stored(ingress()))
    assert request is not None
    assert request.kind == "delete"
    assert request.body["preconditions"] == {"uid": "u-1"}


def test_another_object_under_the_same_name_is_not_deleted() -> None:
    assert delete_request(Delete(INGRESS, "u-0", "gone"), stored(ingress())) is None


def test_what_is_gone_or_going_is_not_deleted_again() -> None:
    assert delete_request(Delete(INGRESS, "u-1", "gone"), None) is None
    assert delete_request(Delete(INGRESS, "u-1", "gone"), stored(ingress(), deletionTimestamp=NOW)) is None


def test_an_event_names_its_object_and_has_a_name_that_follows_from_what_it_says() -> None:
    event = Event(Subject(INGRESS, "networking.internal.knative.dev/v1alpha1", "u-1"), "Normal", "Created", "made")
    request = event_request(event, NOW)
    assert request.ref.group_kind == GroupKind("", "Event")
    assert request.body["metadata"] == {"name": request.ref.name, "namespace": "shop"}
    assert re.fullmatch(r"app\.example\.com\.[0-9a-f]{16}", request.ref.name)
    assert request.body["involvedObject"] == {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "Ingress",
        "namespace": "shop",
        "name": "app.example.com",
        "uid": "u-1",
    }
    assert (request.body["type"], request.body["reason"], request.body["message"]) == ("Normal", "Created", "made")
    assert (request.body["count"], request.body["firstTimestamp"]) == (1, NOW)


def test_an_event_says_what_was_done_if_something_was() -> None:
    about = Subject(INGRESS, "v1", "u-1")
    assert event_request(Event(about, "Normal", "RecordReady", "made", "Created"), NOW).body["action"] == "Created"
    assert "action" not in event_request(Event(about, "Normal", "RecordReady", "made"), NOW).body


def test_the_message_of_an_event_has_1024_bytes_and_no_half_letters() -> None:
    about = Subject(INGRESS, "v1", "u-1")
    assert event_request(Event(about, "Warning", "Odd", "x" * 1025), NOW).body["message"] == "x" * 1024
    assert event_request(Event(about, "Warning", "Odd", "x" + "ü" * 512), NOW).body["message"] == "x" + "ü" * 511


def test_an_event_of_an_object_with_the_longest_name_has_a_name_that_a_server_takes() -> None:
    name = ".".join(["a" * 47] * 5 + ["b" * 13])  # 253 characters; a cut after 236 would leave a dot or a part of "a"
    request = event_request(Event(Subject(Ref("", "Service", "shop", name), "v1"), "Normal", "Odd", "why"), NOW)
    assert len(request.ref.name) <= 253
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", request.ref.name)


def test_events_that_say_other_things_have_other_names() -> None:
    about = Subject(INGRESS, "v1", "u-1")
    said = [
        Event(about, "Warning", "Odd", "why"),
        Event(about, "Warning", "Odd", "why not"),
        Event(about, "Warning", "Strange", "why"),
        Event(about, "Normal", "Odd", "why"),
        Event(Subject(INGRESS, "v1", "u-2"), "Warning", "Odd", "why"),
    ]
    assert len({event_request(event, NOW).ref.name for event in said}) == 5
    assert event_request(said[0], NOW).ref == event_request(said[0], "2026-03-02T00:00:00Z").ref


def test_an_event_of_a_cluster_scoped_object_stands_in_default() -> None:
    about = Subject(Ref("gateway.networking.k8s.io", "GatewayClass", "", "x"), "gateway.networking.k8s.io/v1")
    request = event_request(Event(about, "Warning", "Odd", "why"), NOW)
    assert request.ref.namespace == "default"
    assert "namespace" not in request.body["involvedObject"]


def test_an_event_that_comes_again_is_counted() -> None:
    request = repeated_event_request("shop", "app.123", 3, NOW)
    assert request.ref == Ref("", "Event", "shop", "app.123")
    assert request.body == {"count": 3, "lastTimestamp": NOW}
