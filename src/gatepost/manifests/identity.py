"""What makes a raw value an object of the Kubernetes API: its apiVersion, kind, name and namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from gatepost.manifests.metadata import metadata_misses
from gatepost.manifests.problems import Miss, Path, described, shortened
from gatepost.objects.refs import GroupKind, api_version_of, group_of, version_of


class Kinds(Struct, frozen=True):
    """What is known about kinds: served versions, and which kinds have no namespace. Other kinds pass as they are."""

    versions: Mapping[GroupKind, Collection[str]]
    cluster_scoped: Collection[GroupKind]
    default_namespace: str = "default"


def items_of(raw: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The objects in a document with their paths: the items of a List (HTTPRouteList, ...), else the document itself.

    Items of a typed list may leave out apiVersion and kind, as answers of the API server do.
    """
    if not _is_list(raw):
        yield path, raw
        return
    for position, item in enumerate(raw.get("items", ())):
        if isinstance(item, dict) and raw["kind"] != "List" and not item.keys() & {"apiVersion", "kind"}:
            item = {"apiVersion": raw.get("apiVersion"), "kind": raw["kind"].removesuffix("List"), **item}
        yield from items_of(item, (*path, "items", position))


def _is_list(raw: Any) -> bool:
    if not isinstance(raw, dict) or not isinstance(raw.get("kind"), str):
        return False
    return isinstance(raw.get("items"), list) or (raw["kind"] == "List" and "items" not in raw)


def _should_be_list(raw: dict[str, Any]) -> bool:
    """Whether only its items keep it from being a list. A kind of its own may end with List too; no list has a name."""
    metadata = raw.get("metadata")
    has_name = isinstance(metadata, dict) and "name" in metadata
    kind = str(raw.get("kind"))
    return "items" in raw and (kind == "List" or (kind.endswith("List") and not has_name))


def misses_of(raw: Any, kinds: Kinds) -> list[Miss]:
    """All that keeps a value from being an object; empty for a sound one."""
    if not isinstance(raw, dict):
        return [Miss((), described(raw), "an object: a mapping with apiVersion, kind and metadata")]
    if _should_be_list(raw):
        return [Miss(("items",), described(raw["items"]), "a list of objects")]
    misses = [*_type_misses(raw), *metadata_misses(raw.get("metadata"))]
    return misses or _version_misses(raw, kinds)


def _type_misses(raw: dict[str, Any]) -> Iterator[Miss]:
    for field, example in (("apiVersion", "gateway.networking.k8s.io/v1"), ("kind", "HTTPRoute")):
        value = raw.get(field)
        if not isinstance(value, str) or not value:
            yield Miss((field,), described(value), f"a string such as {example}")
        elif field == "apiVersion" and (value.count("/") > 1 or not all(value.split("/"))):
            yield Miss((field,), described(value), f"GROUP/VERSION such as {example}, or v1")


def _version_misses(raw: dict[str, Any], kinds: Kinds) -> list[Miss]:
    group, version = group_of(raw["apiVersion"]), version_of(raw["apiVersion"])
    versions = kinds.versions.get(GroupKind(group, raw["kind"]))
    if versions is None:
        for known in kinds.versions:
            if known.group == group and known.kind.lower() == raw["kind"].lower():
                return [Miss(("kind",), described(raw["kind"]), f"{known.kind}, in this spelling")]
        return []
    if version in versions:
        return []
    wanted = " or ".join(api_version_of(group, served) for served in sorted(versions))
    return [Miss(("apiVersion",), f"the unknown version {raw['apiVersion']}", wanted)]


def title_of(raw: Any) -> str:
    """A value as far as it says which object it is, for messages: `HTTPRoute shop/web`, `HTTPRoute`, or ""."""
    if not isinstance(raw, dict) or not isinstance(raw.get("kind"), str):
        return ""
    metadata = raw["metadata"] if isinstance(raw.get("metadata"), dict) else {}
    names = [metadata.get("namespace"), metadata.get("name")]
    return shortened(
        f"{raw['kind']} {'/'.join(name for name in names if name and isinstance(name, str))}".rstrip(), 400
    )


def in_namespace(raw: dict[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The object with the namespace that the API server would store it in, where its kind is known.

    kubectl fills in the default namespace; the API server drops the namespace of a cluster-scoped kind.
    """
    group_kind = GroupKind(group_of(raw["apiVersion"]), raw["kind"])
    if group_kind not in kinds.versions and group_kind not in kinds.cluster_scoped:
        return raw
    metadata = raw["metadata"]
    namespace = metadata.get("namespace", "")
    if group_kind in kinds.cluster_scoped:
        kept = {key: value for key, value in metadata.items() if key != "namespace"}
        return raw if "namespace" not in metadata else {**raw, "metadata": kept}
    return raw if namespace else {**raw, "metadata": {**metadata, "namespace": kinds.default_namespace}}
