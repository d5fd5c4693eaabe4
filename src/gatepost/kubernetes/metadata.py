"""What names, labels, annotations, finalizers and owner references must look like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gatepost.kubernetes.errors import Cause
from gatepost.kubernetes.values import Path, Raw, list_at, mapping_at, path_text

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(_LABEL)
_DNS_LABEL_1035 = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_QUALIFIED_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")

_ANNOTATIONS_MAX_BYTES = 256 * 1024


def subdomain_problem(name: Any) -> str:
    """Why this is no DNS subdomain name (RFC 1123), or ""."""
    if not isinstance(name, str) or not _DNS_SUBDOMAIN.fullmatch(name):
        return (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return "must be no more than 253 characters" if len(name) > 253 else ""


def dns_label_problem(name: Any) -> str:
    """Why this is no DNS label (RFC 1123), or ""."""
    if not isinstance(name, str) or not _DNS_LABEL.fullmatch(name):
        return (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
    return "must be no more than 63 characters" if len(name) > 63 else ""


def dns_1035_label_problem(name: Any) -> str:
    """Why this is no DNS label in the older sense (RFC 1035: the first character is a letter), or ""."""
    if not isinstance(name, str) or not _DNS_LABEL_1035.fullmatch(name):
        return (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
            "alphabetic character, and end with an alphanumeric character"
        )
    return "must be no more than 63 characters" if len(name) > 63 else ""


def label_key_problem(key: Any) -> str:
    """Why this is no qualified name (`name` or `prefix/name`), or ""."""
    if not isinstance(key, str):
        return "must be a text"
    prefix, slash, name = key.rpartition("/")
    if slash and (subdomain_problem(prefix) or "/" in prefix):
        return f"prefix part {prefix!r} must be a DNS subdomain"
    if not _QUALIFIED_NAME.fullmatch(name):
        return (
            "name part must consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return "name part must be no more than 63 characters" if len(name) > 63 else ""


def label_value_problem(value: Any) -> str:
    """Why this is no label value, or ""; the empty text is one."""
    if not isinstance(value, str):
        return "must be a text"
    if value and not _QUALIFIED_NAME.fullmatch(value):
        return (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return "must be no more than 63 characters" if len(value) > 63 else ""


def metadata_problems(raw: Raw) -> Iterator[Cause]:
    """Every field of metadata that a server would refuse."""
    metadata = mapping_at(raw, "metadata")
    yield from _name_problems(raw, metadata)
    yield from _label_problems(metadata)
    yield from _annotation_problems(metadata)
    for index, finalizer in enumerate(list_at(metadata, "finalizers")):
        why = label_key_problem(finalizer)
        if why:
            yield invalid_value(("metadata", "finalizers", index), finalizer, why)
    yield from _owner_problems(metadata)


def invalid_value(path: Path, found: Any, why: str) -> Cause:
    """The cause for a value that is there but wrong."""
    shown = f'"{found}"' if isinstance(found, str) else str(found).lower() if isinstance(found, bool) else f"{found}"
    return Cause(path_text(path), "FieldValueInvalid", f"Invalid value: {shown}: {why}")


def required_value(path: Path, why: str = "") -> Cause:
    """The cause for a value that is missing."""
    return Cause(path_text(path), "FieldValueRequired", f"Required value: {why}" if why else "Required value")


def _name_problems(raw: Raw, metadata: Raw) -> Iterator[Cause]:
    name = metadata.get("name")
    if not name:
        yield required_value(("metadata", "name"), "name or generateName is required")
        return
    kind = raw.get("kind") if raw.get("apiVersion") == "v1" else None
    if kind == "Service":
        why = dns_1035_label_problem(name)
    elif kind == "Namespace":
        why = dns_label_problem(name)
    else:
        why = subdomain_problem(name)
    if why:
        yield invalid_value(("metadata", "name"), name, why)


def _label_problems(metadata: Raw) -> Iterator[Cause]:
    for key, value in mapping_at(metadata, "labels").items():
        for found, why in ((key, label_key_problem(key)), (value, label_value_problem(value))):
            if why:
                yield invalid_value(("metadata", "labels"), found, why)


def _annotation_problems(metadata: Raw) -> Iterator[Cause]:
    total = 0
    for key, value in mapping_at(metadata, "annotations").items():
        why = label_key_problem(key.lower())
        if why:
            yield invalid_value(("metadata", "annotations"), key, why)
        total += len(key.encode()) + len(str(value).encode())
    if total > _ANNOTATIONS_MAX_BYTES:
        why = f"must have at most {_ANNOTATIONS_MAX_BYTES} bytes"
        yield Cause("metadata.annotations", "FieldValueTooLong", f"Too long: {why}")


def _owner_problems(metadata: Raw) -> Iterator[Cause]:
    controllers: list[str] = []
    for index, owner in enumerate(list_at(metadata, "ownerReferences")):
        if not isinstance(owner, dict):
            continue  # the schema tells it
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield invalid_value(("metadata", "ownerReferences", index, field), "", "must not be empty")
        if owner.get("controller") is True:
            controllers.append(str(owner.get("name")))
    if len(controllers) > 1:
        found = ", ".join(controllers)
        why = f"only one reference can have controller set to true, found {found}"
        yield Cause("metadata.ownerReferences", "FieldValueInvalid", f"Invalid value: {why}")
