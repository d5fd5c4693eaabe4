"""What a real API server says of an object: the schemas and the CEL rules of the published Gateway API.

The definitions are not part of this repository: they are looked for beside it, in ../shared/crds, or where
GATEPOST_CRDS says. Where they are absent, nothing is checked by `assert_valid`, and tests about them skip.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import celpy
import celpy.celtypes
import yaml
from celpy.adapter import json_to_cel

from gatepost.kubernetes.crds import resource_from_crd
from gatepost.kubernetes.schema import ObjectSchema
from gatepost.kubernetes.values import copy_of

Raw = dict[str, Any]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_FOLDER = "gateway-api-standard"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def folder() -> Path | None:
    """Where the published definitions are, None if they are not at hand."""
    named = os.environ.get("GATEPOST_CRDS")
    found = Path(named) if named else Path(__file__).parents[2] / "shared" / "crds"
    return next((place for place in (found / _FOLDER, found) if any(place.glob("*_httproutes.yaml"))), None)


WHY_ABSENT = "the published Gateway API definitions are not at hand: put them into ../shared/crds or set GATEPOST_CRDS"


def assert_valid(raw: Raw) -> None:
    """Asserts that an API server with the published definitions would take an object. Other kinds are not checked."""
    found = problems(raw)
    metadata = raw["metadata"]
    assert not found, f"{raw['kind']} {metadata.get('namespace')}/{metadata['name']}: {'; '.join(found)}"


def problems(raw: Raw) -> list[str]:
    """What is wrong with an object, in words."""
    definition = _definitions().get((raw["apiVersion"], raw["kind"]))
    if definition is None:
        return []
    filled: Raw = copy_of(raw)
    schema = _schema(raw["apiVersion"], raw["kind"])
    unknown = schema.prune(copy_of(filled))
    schema.fill_defaults(filled)
    found = [f"{path}: the schema has no such field" for path in unknown]
    found += [f"{cause.field}: {cause.message}" for cause in schema.problems(filled)]
    found += list(_bad_labels(raw))
    return found + list(_broken_rules(filled, definition, ""))


def defaulted(raw: Raw) -> Raw:
    """An object with the defaults that an API server with the published definitions writes into it."""
    filled: Raw = copy_of(raw)
    _schema(raw["apiVersion"], raw["kind"]).fill_defaults(filled)
    return filled


@cache
def _schema(api_version: str, kind: str) -> ObjectSchema:
    return ObjectSchema(_definitions()[api_version, kind])


def _bad_labels(raw: Raw) -> Iterator[str]:
    """Names and values that no schema limits, but every API server does. Source: Kubernetes, "Labels" and "Names"."""
    name = raw["metadata"]["name"]
    if len(name) > 253 or not _NAME.fullmatch(name):
        yield f"metadata.name: {name} is no name"
    for key, value in (raw["metadata"].get("labels") or {}).items():
        if len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            yield f"metadata.labels: {key} cannot be {value!r}"


@cache
def _definitions() -> dict[tuple[str, str], Raw]:
    """apiVersion and kind -> schema, of all served versions."""
    place = folder()
    if place is None:
        return {}
    found = {}
    for file in sorted(place.glob("gateway.networking.k8s.io_*.yaml")):
        crd = yaml.load(file.read_text(), Loader=_LOADER)
        resource = resource_from_crd(crd)
        for version in crd["spec"]["versions"]:
            found[f"{resource.group}/{version['name']}", resource.kind] = version["schema"]["openAPIV3Schema"]
    return found


def _broken_rules(value: Any, schema: Raw, path: str) -> Iterator[str]:
    """The CEL rules that do not hold, at a value and in whatever is inside it."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if "oldSelf" not in rule["rule"] and not _holds(rule["rule"], json.dumps(value, sort_keys=True)):
            yield f"{path or 'object'}: {rule['message']}"
    if isinstance(value, dict):
        for key, inner in value.items():
            below = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if isinstance(below, dict):
                yield from _broken_rules(inner, below, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _broken_rules(inner, schema.get("items", {}), f"{path}[{index}]")


@lru_cache(maxsize=100_000)
def _holds(rule: str, value_json: str) -> bool:
    """Takes the value as JSON: objects share most of their parts, and an evaluation takes 2 ms."""
    result = _program(rule).evaluate({"self": json_to_cel(json.loads(value_json))})
    assert isinstance(result, celpy.celtypes.BoolType), f"{rule} gives {result!r}"
    return bool(result)


@cache
def _program(rule: str) -> celpy.Runner:
    environment = celpy.Environment()
    return environment.program(environment.compile(rule), functions={"split": _split})


def _split(text: celpy.celtypes.StringType, separator: celpy.celtypes.StringType) -> celpy.celtypes.ListType:
    """Of Kubernetes' own functions the one that the definitions use."""
    return celpy.celtypes.ListType([celpy.celtypes.StringType(part) for part in text.split(separator)])
