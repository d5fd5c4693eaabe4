"""Merge patches and JSON patches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.kubernetes.merge import BadPatch, json_patched, merge_patch_between, merge_patched

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
        [{"op": "remove", "path": "/missing"}],
        [{"op": "test", "path": "/a", "value": 2}],
        [{"op": "turn", "path": "/a"}],
        [{"path": "/a"}],
        ["add"],
        [{"op": "add", "path": "a", "value": 1}],
        [{"op": "add", "path": "/a/b", "value": 1}],
    ],
)
def test_a_json_patch_that_does_not_fit_is_told(operations: Any) -> None:
    with pytest.raises(BadPatch, match="JSON patch"):
        json_patched({"a": 1}, operations)
