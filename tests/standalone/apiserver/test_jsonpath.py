"""Printer columns find what their JSONPath names."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.standalone.apiserver.jsonpath import InvalidJSONPath, find

GATEWAY = {
    "metadata": {"name": "web", "labels": {"serving.knative.dev/route": "cart", "app": "shop"}},
    "spec": {"hostnames": ["a.example.com", "b.example.com"]},
    "status": {
        "addresses": [{"type": "IPAddress", "value": "192.0.2.1"}, {"type": "IPAddress", "value": "192.0.2.2"}],
        "conditions": [
            {"type": "Accepted", "status": "True", "observedGeneration": 2},
            {"type": "Programmed", "status": "False", "reason": "AddressNotUsable", "observedGeneration": 3},
        ],
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["web"]),
        ("{.metadata.name}", ["web"]),
        ("$.metadata.name", ["web"]),
        ("metadata.name", ["web"]),
        (".spec.hostnames", [["a.example.com", "b.example.com"]]),
        (".spec.hostnames[0]", ["a.example.com"]),
        (".spec.hostnames[-1]", ["b.example.com"]),
        (".spec.hostnames[-1:]", ["b.example.com"]),
        (".spec.hostnames[7]", []),
        (".spec.hostnames[*]", ["a.example.com", "b.example.com"]),
        (".status.addresses[*].value", ["192.0.2.1", "192.0.2.2"]),
        ('.status.conditions[?(@.type=="Programmed")].status', ["False"]),
        (".status.conditions[?(@.type=='Programmed')].reason", ["AddressNotUsable"]),
        ('.status.conditions[?(@.type == "Ready")].status', []),
        (".status.conditions[?(@.type!='Accepted')].type", ["Programmed"]),
        (".status.conditions[?(@.observedGeneration>2)].type", ["Programmed"]),
        (".status.conditions[?(@.reason)].type", ["Programmed"]),
        (".status.conditions[?(@.observedGeneration>'x')].type", []),
        (r".metadata.labels['serving\.knative\.dev/route']", ["cart"]),
        (r".metadata.labels.serving\.knative\.dev/route", ["cart"]),
        ('.metadata.labels["app"]', ["shop"]),
        (".status.missing.field", []),
        ("..reason", ["AddressNotUsable"]),
        (".metadata.labels.*", ["cart", "shop"]),
    ],
)
def test_path_leads_to_the_values_it_names(path: str, found: list[Any]) -> None:
    assert find(path, GATEWAY) == found


@pytest.mark.parametrize("path", [".spec[", ".spec.hostnames[?(@)]", ".a[?(@.b=~'x')]", ".a[b]"])
def test_path_that_is_not_understood_is_told_with_the_path(path: str) -> None:
    with pytest.raises(InvalidJSONPath, match="is not understood from") as raised:
        find(path, GATEWAY)
    assert repr(path) in str(raised.value)
