"""From a wish and what is there to what should be there."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Apply, OwnEntries

NOW, BEFORE = "2026-05-05T00:00:00Z", "2026-01-01T00:00:00Z"


def thing(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "n", **fields.pop("metadata", {})}
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata, **fields}


def test_an_absent_object_is_made_from_the_wish_alone() -> None:
    wish = thing(metadata={"ownerReferences": [{"uid": "1"}]}, spec={"a": 1})
    assert wanted_object(Apply(wish), None) == wish


def test_an_absent_object_that_others_make_is_not_made() -> None:
    assert wanted_object(Apply(thing(spec={"a": 1}), may_create=False), None) is None


def test_what_is_ours_is_replaced_whole_and_the_rest_survives() -> None:
    current = thing(
        metadata={"uid": "7", "labels": {"old": "1"}, "ownerReferences": [{"uid": "9"}], "finalizers": ["f"]},
        spec={"a": 1, "gone": True},
        status={"s": 1},
    )
    wish = thing(metadata={"labels": {"new": "1"}, "ownerReferences": [{"uid": "1"}]}, spec={"a": 2})
    assert wanted_object(Apply(wish), current) == thing(
        metadata={"uid": "7", "labels": {"new": "1"}, "ownerReferences": [{"uid": "9"}], "finalizers": ["f"]},
        spec={"a": 2},
        status={"s": 1},
    )


def test_a_whole_path_that_the_wish_leaves_out_is_removed() -> None:
    current = thing(metadata={"labels": {"old": "1"}}, spec={"a": 1})
    assert wanted_object(Apply(thing(spec={"a": 1})), current) == thing(spec={"a": 1})


def test_outside_the_whole_paths_mappings_are_merged() -> None:
    current = thing(metadata={"labels": {"theirs": "1"}}, spec={"theirs": {"b": 1}})
    wish = thing(metadata={"labels": {"ours": "1"}}, spec={"theirs": {"c": 2}})
    assert wanted_object(Apply(wish, whole=()), current) == thing(
        metadata={"labels": {"theirs": "1", "ours": "1"}}, spec={"theirs": {"b": 1, "c": 2}}
    )


def test_an_object_in_another_version_stays_in_it() -> None:
    current = {**thing(spec={}), "apiVersion": "example.com/v1beta1"}
    assert wanted_object(Apply(thing(spec={})), current) == current


def listeners(*names: str) -> dict[str, Any]:
    return thing(spec={"listeners": [{"name": name, "port": 1} for name in names]})


def with_listeners(*names: str) -> Apply:
    entries = OwnEntries("spec.listeners", "name", "kni-", tuple({"name": name, "port": 2} for name in names))
    return Apply(thing(), whole=(), entries=(entries,), may_create=False)


def test_our_entries_of_a_shared_list_are_added_replaced_and_removed_where_they_stand() -> None:
    result = wanted_object(with_listeners("kni-2", "kni-3"), listeners("http", "kni-1", "kni-2", "tls"))
    assert result is not None
    assert [(entry["name"], entry["port"]) for entry in result["spec"]["listeners"]] == [
        ("http", 1),
        ("kni-2", 2),
        ("tls", 1),
        ("kni-3", 2),
    ]


def test_no_entries_of_ours_leave_a_list_that_is_not_there_alone() -> None:
    assert wanted_object(with_listeners(), thing(spec={})) == thing(spec={})


json = st.recursive(
    st.integers(0, 3) | st.sampled_from(("a", "b")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
wholes = st.sets(st.sampled_from(("spec", "metadata.labels", "spec.a"))).map(tuple)


@given(st.dictionaries(st.sampled_from("abc"), json), st.dictionaries(st.sampled_from("abc"), json), wholes)
def test_applying_and_running_again_writes_nothing(
    wish: dict[str, Any], present: dict[str, Any], whole: tuple[str, ...]
) -> None:
    apply = Apply(thing(spec=wish), whole=whole)
    current = thing(spec=present, metadata={"labels": {"l": "1"}})
    before = copy.deepcopy((apply.fields, current))
    once = wanted_object(apply, current)
    assert once is not None
    assert wanted_object(apply, once) == once
    assert (apply.fields, current) == before, "what was given must not be changed"


def condition(status: str, time: str | None = None, **more: str) -> dict[str, Any]:
    return {"type": "Ready", "status": status, **more, **({"lastTransitionTime": time} if time else {})}


def test_a_condition_that_changed_gets_the_time_of_the_write() -> None:
    status = wanted_status({"conditions": [condition("True")]}, {"conditions": [condition("False", BEFORE)]}, NOW)
    assert status == {"conditions": [condition("True", NOW)]}


def test_a_condition_that_did_not_change_keeps_its_time() -> None:
    present = {"conditions": [condition("True", BEFORE, reason="", message="")]}
    assert wanted_status({"conditions": [condition("True")]}, present, NOW) == {
        "conditions": [condition("True", BEFORE)]
    }


def test_none_removes_a_key_of_the_status_and_other_keys_stay() -> None:
    assert wanted_status({"url": None, "n": 1}, {"url": "u", "theirs": 2}, NOW) == {"theirs": 2, "n": 1}
