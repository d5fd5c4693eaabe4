"""Structural schemas: defaults, unknown fields, validation in the words of the API."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gatepost.kubernetes.schema import ObjectSchema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "enum": ["Fast", "Slow"], "default": "Fast"},
                "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 100},
                "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                "port": {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                },
                "since": {"type": "string", "format": "date-time"},
                "note": {"type": "string", "nullable": True, "maxLength": 5},
                "strict": {"type": "string", "default": "yes"},
                "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "half": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}},
                },
                "template": {"type": "object", "x-kubernetes-embedded-resource": True},
                "rules": {
                    "type": "array",
                    "maxItems": 2,
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "pattern": "^[a-z]+$"},
                            "weight": {"type": "integer", "default": 1},
                            "matches": {
                                "type": "array",
                                "default": [{"path": "/"}],
                                "items": {"type": "object", "properties": {"path": {"type": "string"}}},
                            },
                        },
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
                "byName": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"on": {"type": "boolean", "default": True}},
                    },
                },
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "x-kubernetes-list-type": "set",
                },
            },
        }
    },
}


def gadget(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "g", "labels": {"a": "b"}},
        "spec": spec,
    }


def defaulted(raw: dict[str, Any]) -> Any:
    filled = copy.deepcopy(raw)
    ObjectSchema(SCHEMA).fill_defaults(filled)
    return filled["spec"]


def problems(raw: dict[str, Any]) -> dict[str, str]:
    return {cause.field: cause.message for cause in ObjectSchema(SCHEMA).problems(raw)}


def test_defaults_reach_into_lists_and_maps() -> None:
    assert defaulted(gadget(rules=[{"name": "a"}], byName={"x": {}})) == {
        "mode": "Fast",
        "strict": "yes",
        "rules": [{"name": "a", "weight": 1, "matches": [{"path": "/"}]}],
        "byName": {"x": {"on": True}},
    }


def test_a_value_that_is_there_is_not_defaulted() -> None:
    spec = defaulted(gadget(mode="Slow", rules=[{"name": "a", "weight": 0, "matches": []}]))
    assert (spec["mode"], spec["rules"]) == ("Slow", [{"name": "a", "weight": 0, "matches": []}])


def test_null_counts_as_missing_only_where_null_is_not_allowed() -> None:
    spec = defaulted(gadget(strict=None, note=None))
    assert (spec["strict"], spec["note"]) == ("yes", None)


def test_a_default_is_a_copy_each_time() -> None:
    schema = ObjectSchema(SCHEMA)
    first, second = gadget(rules=[{"name": "a"}]), gadget(rules=[{"name": "b"}])
    schema.fill_defaults(first)
    first["spec"]["rules"][0]["matches"].append("changed")
    schema.fill_defaults(second)
    assert second["spec"]["rules"][0]["matches"] == [{"path": "/"}]


def test_unknown_fields_are_taken_out_and_told() -> None:
    raw = gadget(mode="Fast", colour="red", rules=[{"name": "a", "extra": 1}], anything={"x": {"y": 1}})
    raw["metadata"]["foo"] = "bar"
    raw["extra"] = {}
    unknown = ObjectSchema(SCHEMA).prune(raw)
    assert sorted(unknown) == ["extra", "metadata.foo", "spec.colour", "spec.rules[0].extra"]
    assert raw == gadget(mode="Fast", rules=[{"name": "a"}], anything={"x": {"y": 1}})


def test_where_unknown_fields_are_kept_known_ones_are_still_looked_into() -> None:
    raw = gadget(half={"other": {"z": 1}, "known": {"a": "1", "b": 2}})
    assert ObjectSchema(SCHEMA).prune(raw) == ["spec.half.known.b"]
    assert raw["spec"]["half"] == {"other": {"z": 1}, "known": {"a": "1"}}


def test_an_embedded_object_keeps_what_every_object_has() -> None:
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "odd": 1}, "spec": {}}
    raw = gadget(template=inner)
    assert sorted(ObjectSchema(SCHEMA).prune(raw)) == ["spec.template.metadata.odd", "spec.template.spec"]
    assert raw["spec"]["template"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}


def test_without_a_schema_everything_is_accepted() -> None:
    raw = gadget(what={"ever": [1]})
    schema = ObjectSchema(None)
    assert schema.prune(raw) == []
    schema.fill_defaults(raw)
    assert raw == gadget(what={"ever": [1]})
    assert schema.problems(raw) == []


def test_a_right_object_has_no_problems() -> None:
    assert (
        problems(
            gadget(
                mode="Slow",
                size=100,
                ratio=0.5,
                port="http",
                since="2026-01-02T03:04:05.678Z",
                note=None,
                rules=[{"name": "a", "weight": 0}, {"name": "b"}],
                tags=["x", "y"],
            )
        )
        == {}
    )


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"size": 101},
            "spec.size",
            "Invalid value: 101: spec.size in body should be less than or equal to 100",
        ),
        (
            {"size": "3"},
            "spec.size",
            'Invalid value: "string": spec.size in body must be of type integer: "string"',
        ),
        (
            {"size": True},
            "spec.size",
            'Invalid value: "boolean": spec.size in body must be of type integer: "boolean"',
        ),
        ({"ratio": 0}, "spec.ratio", "Invalid value: 0: spec.ratio in body should be greater than 0"),
        (
            {"port": [80]},
            "spec.port",
            'Invalid value: "array": spec.port in body must be of type integer or string: "array"',
        ),
        ({"mode": "Idle"}, "spec.mode", 'Unsupported value: "Idle": supported values: "Fast", "Slow"'),
        (
            {"since": "yesterday"},
            "spec.since",
            'Invalid value: "yesterday": spec.since in body must be of type date-time',
        ),
        ({"note": "too long"}, "spec.note", "Too long: may not be more than 5 bytes"),
        ({"rules": [{"weight": 2}]}, "spec.rules[0].name", "Required value"),
        (
            {"rules": [{"name": "A"}]},
            "spec.rules[0].name",
            "Invalid value: \"A\": spec.rules[0].name in body should match '^[a-z]+$'",
        ),
        (
            {"rules": [{"name": "a\n"}]},
            "spec.rules[0].name",
            "Invalid value: \"a\n\": spec.rules[0].name in body should match '^[a-z]+$'",
        ),
        (
            {"rules": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
            "spec.rules",
            "Too many: 3: must have at most 2 items",
        ),
        ({"rules": [{"name": "a"}, {"name": "a"}]}, "spec.rules[1]", 'Duplicate value: {"name":"a"}'),
        ({"tags": ["x", "y", "x"]}, "spec.tags[2]", 'Duplicate value: "x"'),
        (
            {"mode": None},
            "spec.mode",
            'Invalid value: "null": spec.mode in body must be of type string: "null"',
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_path(spec: dict[str, Any], field: str, message: str) -> None:
    assert problems(gadget(**spec))[field] == message


def test_an_integer_beyond_its_format_is_told() -> None:
    schema = ObjectSchema(
        {"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}}},
    )
    assert [cause.field for cause in schema.problems({"n": 2**31})] == ["n"]
    assert schema.problems({"n": 2**31 - 1}) == []


def test_all_problems_are_told_at_once() -> None:
    raw = gadget(size=0, mode="Idle", rules=[{}])
    assert sorted(problems(raw)) == ["spec.mode", "spec.rules[0].name", "spec.size"]


def test_a_missing_spec_is_told() -> None:
    raw = gadget()
    del raw["spec"]
    assert problems(raw) == {"spec": "Required value"}


def test_one_of_several_forms_is_wanted() -> None:
    schema = ObjectSchema(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        }
    )
    assert schema.problems({"a": "x"}) == []
    assert [cause.message for cause in schema.problems({"a": "x", "b": "y"})] == [
        'Invalid value: {"a":"x","b":"y"}: the object in body must validate one and only one schema (oneOf)'
    ]
    assert len(schema.problems({})) == 1
