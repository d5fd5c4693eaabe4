"""A value of another type than its field has, in whatever object: it is told, and is never a fault."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from gateway_world import (
    EDGE,
    GATEWAY_API,
    INSIDE,
    SERVED,
    config,
    gateway,
    ingress,
    parents,
    path,
    public_rule,
    route_of,
    tls,
    verdict,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from knative_objects import controlled_by, meta

from gatepost.cli.commands import gatepost

Raw = dict[str, Any]

KINGRESS = ingress("app", public_rule("app.example.com"), tls=[tls("app.example.com", "cert", "certs")])
CERTIFICATE = {"group": "", "kind": "Secret", "name": "cert", "namespace": "certs"}
HTTPS = {
    "name": "kni-uid-shop-app",
    "hostname": "app.example.com",
    "port": 443,
    "protocol": "HTTPS",
    "tls": {"mode": "Terminate", "certificateRefs": [CERTIFICATE]},
    "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "shop"}}}},
}
GATEWAY_CLASS = {
    "apiVersion": f"{GATEWAY_API}/v1",
    "kind": "GatewayClass",
    "metadata": {"name": "traefik"},
    "spec": {"controllerName": "traefik.io/gateway-controller"},
    "status": {"supportedFeatures": [{"name": "ListenerSet"}, "HTTPRouteRequestTimeout"]},
}
LISTENER_SET = {
    "apiVersion": f"{GATEWAY_API}/v1",
    "kind": "ListenerSet",
    "metadata": meta("app-edge-public", ownerReferences=controlled_by(KINGRESS)),
    "spec": {"parentRef": {"name": "public", "namespace": "edge"}, "listeners": [HTTPS]},
    "status": {"listeners": [{"name": HTTPS["name"], "conditions": [{"type": "Programmed", "status": "True"}]}]},
}
GRANT = {
    "apiVersion": f"{GATEWAY_API}/v1beta1",
    "kind": "ReferenceGrant",
    "metadata": meta("app-cert-edge", "certs", ownerReferences=controlled_by(KINGRESS)),
    "spec": {
        "from": [{"group": GATEWAY_API, "kind": "Gateway", "namespace": "edge"}],
        "to": [{"group": "", "kind": "Secret", "name": "cert"}],
    },
}
OBJECTS = (
    config(),
    gateway("public", HTTPS),
    INSIDE,
    GATEWAY_CLASS,
    LISTENER_SET,
    GRANT,
    KINGRESS,
    route_of(KINGRESS, "app.example.com", status=parents(verdict(*SERVED))),
)
OTHER_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    ["x", "", 7, -1, 1.5, 10**30, True, None, [], {}, ["x"], [7], [{}], [[]], {"a": "b"}]
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside an object."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from places(inner, (*place, key))


PLACES = [(index, place) for index, raw in enumerate(OBJECTS) for place in places(raw)]


def with_value(raw: Raw, place: tuple[Any, ...], value: Any) -> Raw:
    changed = copy.deepcopy(raw)
    holder: Any = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return changed


def render(folder: Path, *raws: Raw) -> Result:
    manifest = folder / "input.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": raws}))
    return CliRunner().invoke(gatepost, ["render", "--controllers", "gateway", "-o", "json", str(manifest)])


@given(st.sampled_from(PLACES), OTHER_VALUES)
@settings(max_examples=150, deadline=None)
def test_a_value_of_any_type_in_any_place_is_no_fault(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[int, tuple[Any, ...]], value: Any
) -> None:
    index, inside = place
    objects = list(OBJECTS)
    objects[index] = with_value(objects[index], inside, value)
    result = render(tmp_path_factory.mktemp("input"), *objects)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code in (0, 1), result.stderr


CERTIFICATE_REFS = ("spec", "listeners", 1, "tls", "certificateRefs")


@pytest.mark.parametrize(
    ("raw", "place", "field"),
    [
        (gateway("public", HTTPS), CERTIFICATE_REFS, "spec.listeners[1].tls.certificateRefs"),
        (GRANT, ("spec", "from"), "spec.from"),
        (GATEWAY_CLASS, ("status", "supportedFeatures"), "status.supportedFeatures"),
        (KINGRESS, ("metadata", "ownerReferences"), "metadata.ownerReferences"),
        (KINGRESS, ("metadata", "uid"), "metadata.uid"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_value_of_a_wrong_type_is_told_with_its_place(
    tmp_path: Path, raw: Raw, place: tuple[Any, ...], field: str
) -> None:
    wrong = with_value(raw, place, {"some": "thing"})
    result = render(tmp_path, *EDGE[:1], wrong)
    assert (result.exit_code, field in result.stderr) == (1, True), result.stderr


def test_a_wrong_type_in_one_object_leaves_the_others_to_be_served(tmp_path: Path) -> None:
    broken = with_value(GRANT, ("spec", "to"), [7])
    other = ingress("other", public_rule("other.example.com", path("other-00001")))
    result = render(tmp_path, *EDGE, broken, other)
    names = [raw["metadata"]["name"] for raw in json.loads(result.stdout) if raw["kind"] == "HTTPRoute"]
    assert names == ["other.example.com"]


def test_without_a_wrong_value_all_of_the_objects_are_read(tmp_path: Path) -> None:
    """Else the tests above would change objects that nobody looks at."""
    result = render(tmp_path, *OBJECTS)
    assert (result.exit_code, result.stderr) == (0, "")
    (kingress,) = [raw for raw in json.loads(result.stdout) if raw["kind"] == "Ingress"]
    conditions = {one["type"]: one["status"] for one in kingress["status"]["conditions"]}
    assert conditions["NetworkConfigured"] == "True"
