"""Whatever is sent, the answer is an object or an ApiError, and what is stored stays whole."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes_model import GADGET_CRD, core, gadget, new_model

from gatepost.kubernetes.api import ApiError, ApiModel
from gatepost.objects.refs import ref_of

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**6)
    | st.floats(-2, 2)
    | st.sampled_from(["", "a", "a/b/c", "$patch"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "port", "$patch", "a", "uid", "spec"]), inner, max_size=3)
    ),
    max_leaves=5,
)

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u"}


def full(raw: dict[str, Any]) -> dict[str, Any]:
    metadata = {"labels": {"a": "b"}, "annotations": {"a": "b"}, "finalizers": ["a.test/b"], "ownerReferences": [OWNER]}
    return {**raw, "metadata": {**raw["metadata"], **metadata}}


OBJECTS = [
    full(gadget("g", "x", size=1, names=["a"])),
    full(
        core("Service", "s", spec={"type": "ClusterIP", "clusterIP": "10.96.9.9", "ports": [{"port": 80, "name": "a"}]})
    ),
    full(core("Secret", "s", stringData={"a": "b"}, data={"c": "eA=="}, type="Opaque")),
    full(core("Namespace", "n", "", status={"phase": "Active"})),
    full(core("Pod", "p", spec={"containers": [{"name": "a", "env": [{"name": "A"}]}], "volumes": [{"name": "v"}]})),
    full(core("Event", "e", involvedObject={"kind": "Gadget", "name": "g", "namespace": "x"})),
    full(GADGET_CRD),
    {"apiVersion": "odd.test/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "x"}, "spec": {"a": [1]}},
]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in it."""
    found = [at] if at else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*at, index))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """An object and the same with something odd somewhere in it."""
    raw = draw(st.sampled_from(OBJECTS))
    broken = copy.deepcopy(raw)
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(places(broken)))
        node: Any = broken
        for step in way:
            node = node[step]
        node[last] = draw(ODD)
    return raw, broken


def answered(call: Any) -> None:
    """Calls, and takes an ApiError for an answer; it must be one that can be told."""
    refused: ApiError | None = None
    try:
        call()
    except ApiError as error:
        refused = error
    if refused is not None:
        assert 400 <= refused.code < 500
        assert refused.status()["message"] == refused.message != ""


def is_whole(model: ApiModel) -> None:
    """Versions rise with the changes, and each change leads from the state that the last one left."""
    states: dict[Any, Any] = {}
    last = 0
    for change in model.take_changes():
        assert change.resource_version == last + 1
        last = change.resource_version
        ref = ref_of(change.new or change.old)
        assert states.get(ref) == change.old
        states[ref] = change.new
    assert model.resource_version == last


@settings(max_examples=150, deadline=None)
@given(objects=damaged())
def test_a_damaged_object_is_stored_or_refused(objects: tuple[dict[str, Any], dict[str, Any]]) -> None:
    raw, broken = objects
    model = new_model()
    answered(lambda: model.create(broken, "me"))
    answered(lambda: model.create(raw, "me"))
    answered(lambda: model.replace(broken, "me"))
    answered(lambda: model.replace(broken, "me", subresource="status"))
    for patch_type in ("apply", "merge", "strategic"):
        answered(lambda kind=patch_type: model.patch(ref_of(raw), broken, kind, "me", force=True))
    answered(lambda: model.delete(ref_of(raw)))
    model.collect_garbage(unknown_owners_are_gone=True)
    is_whole(model)


operations = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "odd"]),
            "path": st.sampled_from(
                ["/spec", "/spec/ports/0", "/metadata", "/metadata/name", "", "x", "/spec/ports/-"]
            ),
        },
        optional={"value": ODD, "from": st.sampled_from(["/spec", "/metadata/labels", "y"])},
    )
    | ODD,
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(raw=st.sampled_from(OBJECTS), body=operations | ODD, patch=ODD)
def test_an_odd_patch_is_carried_out_or_refused(raw: dict[str, Any], body: Any, patch: Any) -> None:
    model = new_model()
    answered(lambda: model.create(raw, "me"))
    answered(lambda: model.patch(ref_of(raw), body, "json", "me"))
    for patch_type in ("apply", "merge", "strategic"):
        for part in (patch, {"spec": patch}, {"metadata": patch}):
            answered(lambda kind=patch_type, sent=part: model.patch(ref_of(raw), sent, kind, "me", force=True))
    is_whole(model)
