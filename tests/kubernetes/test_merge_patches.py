"""Merge patches and JSON patches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.kubernetes.merge import BadPatch, UnfittingPatch, json_patched, merge_patch_between, merge_patched

# The examples of RFC 7386, appendix A: original, patch, result.
RFC_7386 = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]

scalars = st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
mappings = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@pytest.mark.parametrize(("original", "patch", "result"), RFC_7386)
def test_merge_patch_gives_what_the_rfc_says(original: Any, patch: Any, result: Any) -> None:
    assert merge_patched(original, patch) == result


@given(old=mappings, new=mappings)
def test_the_patch_between_two_objects_makes_one_into_the_other(old: Any, new: Any) -> None:
    assert merge_patched(old, merge_patch_between(old, new)) == new


@given(old=mappings)
def test_the_patch_between_equal_objects_is_empty(old: Any) -> None:
    assert merge_patch_between(old, old) == {}


def test_the_patch_between_holds_only_what_differs() -> None:
    old = {"a": {"kept": 1, "gone": 2}, "list": [1, 2], "same": "x"}
    new = {"a": {"kept": 1, "new": 3}, "list": [1], "same": "x"}
    assert merge_patch_between(old, new) == {"a": {"gone": None, "new": 3}, "list": [1]}


def test_true_and_one_are_different_values() -> None:
    assert merge_patch_between({"a": 1}, {"a": True}) == {"a": True}


def test_merge_patch_leaves_original_and_patch_alone() -> None:
    original, patch = {"a": {"b": [1]}}, {"a": {"c": [2]}}
    result = merge_patched(original, patch)
    result["a"]["b"].append(9)
    result["a"]["c"].append(9)
    assert (original, patch) == ({"a": {"b": [1]}}, {"a": {"c": [2]}})


def test_json_patch_adds_replaces_and_removes() -> None:
    operations = [
        {"op": "test", "path": "/spec/a", "value": 1},
        {"op": "replace", "path": "/spec/a", "value": 2},
        {"op": "add", "path": "/spec/list/0", "value": "first"},
        {"op": "remove", "path": "/spec/b~1c"},
    ]
    assert json_patched({"spec": {"a": 1, "list": ["x"], "b/c": 0}}, operations) == {
        "spec": {"a": 2, "list": ["first", "x"]}
    }


@pytest.mark.parametrize(
    "operations",
    [
        {"op": "add"},
        [{"op": "turn", "path": "/a"}],
        [{"path": "/a"}],
        ["add"],
        [{"op": "add", "path": "/b"}],
        [{"op": "add", "path": 5, "value": 1}],
    ],
)
def test_a_malformed_json_patch_is_told(operations: Any) -> None:
    with pytest.raises(BadPatch, match="JSON patch") as told:
        json_patched({"a": 1}, operations)
    assert not isinstance(told.value, UnfittingPatch)


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ({"op": "remove", "path": "/missing"}, r"operation 0 \(remove /missing\): there is no such place"),
        ({"op": "move", "from": "/missing", "path": "/b"}, r"operation 0 \(move /b\): there is no such place"),
        ({"op": "add", "path": "/list/9", "value": 1}, r"operation 0 \(add /list/9\): there is no such place"),
        ({"op": "add", "path": "/a/b", "value": 1}, r"operation 0 \(add /a/b\): there is no such place"),
        ({"op": "add", "path": "a", "value": 1}, r"operation 0 \(add a\): there is no such place"),
        ({"op": "test", "path": "/missing", "value": 1}, r"operation 0 \(test /missing\): the value there is not"),
    ],
)
def test_a_json_patch_that_does_not_fit_is_told(operation: Any, told: str) -> None:
    with pytest.raises(UnfittingPatch, match=told):
        json_patched({"a": "c2VjcmV0", "list": []}, [operation])


@pytest.mark.parametrize("path", ["/a", "/missing"])
def test_a_json_patch_whose_test_fails_does_not_tell_what_is_there(path: str) -> None:
    with pytest.raises(UnfittingPatch) as told:
        json_patched({"a": "c2VjcmV0"}, [{"op": "test", "path": path, "value": "guess"}])
    assert "c2VjcmV0" not in str(told.value)
