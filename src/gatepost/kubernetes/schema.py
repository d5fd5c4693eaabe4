"""Structural schemas: what they fill in, what they do not know, and how to walk them beside a value.

A schema is the mapping under `openAPIV3Schema` of a CRD version. Compiled once for each version, because published
ones are large (most of it descriptions).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gatepost.kubernetes.errors import Cause
from gatepost.kubernetes.metadata_schema import OBJECT_META
from gatepost.kubernetes.resources import Version
from gatepost.kubernetes.schema_words import TEXT
from gatepost.kubernetes.values import Path, Raw, copy_of, path_text

if TYPE_CHECKING:
    from gatepost.kubernetes.validation import Validator

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_METADATA_ONLY: Raw = {"type": "object", "properties": {"metadata": OBJECT_META}}
_TEXTS_FOR_READERS = ("description", "title", "example", "externalDocs")


class ObjectSchema:
    """The schema of one version of a kind, ready to use. `root` is None where everything is accepted."""

    def __init__(self, schema: Raw | None) -> None:
        self.root: Raw | None = None if schema is None else _with_object_fields(_without_texts(schema))
        self._validator: Validator | None = None

    def prune(self, raw: Raw) -> list[str]:
        """Takes the fields out of `raw` that the schema does not know; gives their paths."""
        unknown: list[str] = []
        if self.root is not None:
            _prune(raw, self.root, (), unknown)
        return unknown

    def fill_defaults(self, raw: Raw) -> None:
        """Fills in what is missing in `raw` and has a default, in nested lists and mappings too."""
        if self.root is not None:
            _fill(raw, self.root)

    def problems(self, raw: Raw) -> list[Cause]:
        """What in `raw` breaks the schema, by path; empty if nothing does. Metadata has a form in any case."""
        # Its library takes 40 ms to load, and `gatepost explain` over manifests writes nothing that is validated.
        from gatepost.kubernetes.validation import Validator, duplicate_items

        schema = self.root if self.root is not None else _METADATA_ONLY
        if self._validator is None:
            self._validator = Validator(schema)
        return [*self._validator.problems(raw), *duplicate_items(raw, schema)]


@lru_cache(maxsize=512)
def schema_of(version: Version) -> ObjectSchema:
    """The compiled schema of a version; the same version is compiled once."""
    return ObjectSchema(version.schema)


def property_schema(schema: Raw | None, key: str) -> Raw | None:
    """The schema of the value under `key` in a mapping; None if the schema does not tell."""
    if schema is None:
        return None
    found = (schema.get("properties") or {}).get(key)
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, dict) else None


def item_schema(schema: Raw | None) -> Raw | None:
    """The schema of the items of a list; None if the schema does not tell."""
    found = None if schema is None else schema.get("items")
    return found if isinstance(found, dict) else None


def is_nullable(schema: Raw) -> bool:
    return schema.get("nullable") is True


def _without_texts(schema: Any) -> Any:
    """A copy without what only readers need: it is four fifths of a published schema."""
    if not isinstance(schema, dict):
        return copy_of(schema)
    copied: Raw = {}
    for key, value in schema.items():
        if key in _TEXTS_FOR_READERS:
            continue
        if key == "properties":
            # Here the keys are names of fields, `description` and `title` among them.
            copied[key] = {name: _without_texts(inner) for name, inner in value.items()}
        elif key in ("allOf", "anyOf", "oneOf"):
            copied[key] = [_without_texts(inner) for inner in value]
        elif key in ("items", "additionalProperties", "not"):
            copied[key] = _without_texts(value)
        elif key != "x-kubernetes-validations":
            copied[key] = copy_of(value)
    return copied


def _with_object_fields(schema: Raw) -> Raw:
    """Gives the root what every object has; a CRD says no more of metadata than that it is an object."""
    properties = dict(schema.get("properties") or {})
    given = properties.get("metadata") or {}
    metadata = copy_of(OBJECT_META)
    for name, inner in (given.get("properties") or {}).items():
        metadata["properties"][name] = {**metadata["properties"].get(name, {}), **inner}
    properties["metadata"] = metadata
    properties.setdefault("apiVersion", TEXT)
    properties.setdefault("kind", TEXT)
    return _with_embedded({**schema, "properties": properties})


def _with_embedded(schema: Raw) -> Raw:
    properties = schema.get("properties")
    if properties:
        schema["properties"] = {
            name: _with_object_fields(inner) if inner.get(_EMBEDDED) else _with_embedded(inner)
            for name, inner in properties.items()
        }
    for key in ("items", "additionalProperties"):
        inner = schema.get(key)
        if isinstance(inner, dict):
            schema[key] = _with_object_fields(inner) if inner.get(_EMBEDDED) else _with_embedded(inner)
    return schema


def _prune(value: Any, schema: Raw, path: Path, unknown: list[str]) -> None:
    if isinstance(value, list):
        items = item_schema(schema)
        if items is not None:
            for index, item in enumerate(value):
                _prune(item, items, (*path, index), unknown)
        return
    if not isinstance(value, dict) or schema.get("x-kubernetes-int-or-string"):
        return
    additional = schema.get("additionalProperties")
    open_ended = schema.get(_PRESERVE) is True or additional is True
    for key in list(value):
        inner = property_schema(schema, key)
        if inner is not None:
            _prune(value[key], inner, (*path, key), unknown)
        elif not open_ended:
            unknown.append(path_text((*path, key)))
            del value[key]


def _fill(value: Any, schema: Raw) -> None:
    if isinstance(value, list):
        items = item_schema(schema)
        if items is not None:
            for item in value:
                _fill(item, items)
        return
    if not isinstance(value, dict):
        return
    for key, inner in (schema.get("properties") or {}).items():
        # A null where null is not allowed stands for "not set" if there is something to set it to.
        missing = key not in value or (value[key] is None and not is_nullable(inner))
        if missing and "default" in inner:
            value[key] = copy_of(inner["default"])
    for key, item in value.items():
        if isinstance(item, dict | list):
            inner_schema = property_schema(schema, key)
            if inner_schema is not None:
                _fill(item, inner_schema)
