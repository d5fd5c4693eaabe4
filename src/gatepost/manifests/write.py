"""Writes objects as YAML that kubectl, and any YAML 1.1 or 1.2 reader, reads back unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, TextIO

from gatepost.manifests.scalars import plain_value

first_fields: Final = ("apiVersion", "kind", "metadata", "spec", "data")
last_fields: Final = ("status",)
first_of_metadata: Final = ("name", "generateName", "namespace")

# Words that some reader takes for a number, date, boolean or null although kubectl may not: YAML 1.1's sexagesimals and
# timestamps, 1.2's spellings, hexadecimal floats. Quoting one too many does no harm.
looks_typed = re.compile(
    r"[-+.]?[0-9]|[-+]?\.?(?:inf|nan)\Z|(?:y|n|yes|no|on|off|true|false|null|none|~|=|<<|\.|-|\+)?\Z", re.IGNORECASE
)


def dump_yaml(objects: Iterable[Mapping[str, Any]], out: TextIO) -> None:
    """Writes the objects as YAML documents with `---` between them; nothing for no objects."""
    for position, raw in enumerate(objects):
        if position:
            out.write("---\n")
        out.write(to_yaml(raw))


def to_yaml(obj: Any) -> str:
    """One value as a YAML document without `---`.

    Objects have their fields in the order in which people read them (apiVersion, kind, metadata, spec, ..., status),
    other mappings keep their order. No anchors; strings of several lines as block scalars.
    """
    import yaml

    text: str = yaml.dump(
        in_field_order(obj),
        Dumper=_dumper_class(),
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=2**30,
    )
    return text.removesuffix("...\n")


def in_field_order(obj: Any) -> Any:
    """An object with the fields of its top level and of its metadata in order; any other value as it is."""
    if not isinstance(obj, Mapping) or not obj.keys() & {"apiVersion", "kind"}:
        return obj
    ordered = _ordered(obj, first_fields, last_fields)
    if isinstance(ordered.get("metadata"), Mapping):
        ordered["metadata"] = _ordered(ordered["metadata"], first_of_metadata, ())
    return ordered


def _ordered(mapping: Mapping[str, Any], first: tuple[str, ...], last: tuple[str, ...]) -> dict[str, Any]:
    middle = [key for key in mapping if key not in first and key not in last]
    return {key: mapping[key] for key in (*first, *middle, *last) if key in mapping}


def needs_quotes(text: str) -> bool:
    """Whether a string would read as something else without quotes, to kubectl or to any other YAML reader."""
    return bool(looks_typed.match(text)) or plain_value(text) is not text


@cache
def _dumper_class() -> Any:
    import yaml

    base: Any = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper

    class ManifestDumper(base):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    ManifestDumper.add_representer(str, _string_node)
    ManifestDumper.add_representer(float, _float_node)
    return ManifestDumper


def _string_node(dumper: Any, text: str) -> Any:
    style = None
    if needs_quotes(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _float_node(dumper: Any, number: float) -> Any:
    if number - number != 0:
        raise ValueError(f"{number} has no form in JSON")
    return dumper.represent_scalar("tag:yaml.org,2002:float", repr(number))
