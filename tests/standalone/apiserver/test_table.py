"""Tables as kubectl prints them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gatepost.kubernetes.resources import PrinterColumn
from gatepost.objects.refs import GroupKind
from gatepost.standalone.apiserver.columns import columns_of
from gatepost.standalone.apiserver.table import age, human_duration, printer_columns, table

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def cells(raw: dict[str, Any], *columns: PrinterColumn) -> list[Any]:
    made: list[Any] = table([raw], printer_columns(columns), NOW)["rows"][0]["cells"]
    return made


def route(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "web", "namespace": "shop", "creationTimestamp": "2026-03-01T11:58:00Z"},
        **fields,
    }


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (599, "9m59s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (180 * 60, "3h"),
        (3 * 3600 + 5 * 60, "3h5m"),
        (8 * 3600, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (53 * 3600, "2d5h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (731 * 86400, "2y1d"),
        (3000 * 86400, "8y"),
        (-1, "0s"),
        (-5, "<invalid>"),
    ],
)
def test_duration_is_shown_with_the_units_that_matter(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown


def test_age_counts_from_the_timestamp() -> None:
    assert age("2026-03-01T11:56:40Z", NOW) == "3m20s"


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", 5])
def test_age_of_no_timestamp_is_unknown(timestamp: Any) -> None:
    assert age(timestamp, NOW) == "<unknown>"


def test_kind_without_printer_columns_shows_name_and_age() -> None:
    made = table([route()], printer_columns(()), NOW)
    assert [column["name"] for column in made["columnDefinitions"]] == ["Name", "Age"]
    assert made["rows"][0]["cells"] == ["web", "2m"]


def test_list_is_shown_as_json_in_a_string_column() -> None:
    hostnames = PrinterColumn("Hostnames", "string", ".spec.hostnames")
    raw = route(spec={"hostnames": ["a.example.com", "b.example.com"]})
    assert cells(raw, hostnames) == ["web", '["a.example.com","b.example.com"]']


def test_only_the_first_of_several_values_is_shown() -> None:
    address = PrinterColumn("Address", "string", ".status.addresses[*].value")
    raw = route(status={"addresses": [{"value": "192.0.2.1"}, {"value": "192.0.2.2"}]})
    assert cells(raw, address) == ["web", "192.0.2.1"]


def test_absent_value_and_value_of_another_type_leave_the_cell_empty() -> None:
    absent = PrinterColumn("URL", "string", ".status.url")
    wrong = PrinterColumn("Replicas", "integer", ".spec.replicas")
    assert cells(route(spec={"replicas": "three"}), absent, wrong) == ["web", None, None]


def test_broken_path_leaves_the_cell_empty() -> None:
    assert cells(route(), PrinterColumn("Odd", "string", ".spec[")) == ["web", None]


def test_priority_and_type_of_a_column_reach_the_client() -> None:
    made = table([], printer_columns([PrinterColumn("Count", "integer", ".spec.n", "how many", 1)]), NOW)
    assert made["columnDefinitions"][1] == {
        "name": "Count",
        "type": "integer",
        "format": "",
        "description": "how many",
        "priority": 1,
    }


@pytest.mark.parametrize(
    ("include", "row_object"),
    [
        ("None", None),
        (
            "Metadata",
            {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": {
                    "name": "web",
                    "namespace": "shop",
                    "creationTimestamp": "2026-03-01T11:58:00Z",
                },
            },
        ),
        ("Object", route(spec={})),
    ],
)
def test_rows_carry_what_was_asked_for(include: str, row_object: Any) -> None:
    made = table([route(spec={})], printer_columns(()), NOW, include=include)
    assert made["rows"][0].get("object") == row_object


@pytest.mark.parametrize(
    ("kind", "raw", "shown"),
    [
        (
            "Service",
            {
                "metadata": {"name": "cart", "creationTimestamp": "2026-03-01T11:59:50Z"},
                "spec": {
                    "type": "ClusterIP",
                    "clusterIP": "10.96.0.7",
                    "ports": [{"port": 80}, {"port": 53, "protocol": "UDP", "nodePort": 30053}],
                    "selector": {"tier": "web", "app": "cart"},
                },
            },
            ["cart", "ClusterIP", "10.96.0.7", "<none>", "80/TCP,53:30053/UDP", "10s", "app=cart,tier=web"],
        ),
        (
            "Service",
            {"metadata": {"name": "ext"}, "spec": {"type": "ExternalName", "externalName": "example.org"}},
            ["ext", "ExternalName", "<none>", "example.org", "<none>", "<unknown>", "<none>"],
        ),
        (
            "Service",
            {"metadata": {"name": "edge"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 443}]}},
            ["edge", "LoadBalancer", "<none>", "<pending>", "443/TCP", "<unknown>", "<none>"],
        ),
        ("Namespace", {"metadata": {"name": "shop"}, "status": {"phase": "Active"}}, ["shop", "Active", "<unknown>"]),
        (
            "Secret",
            {"metadata": {"name": "tls"}, "type": "kubernetes.io/tls", "data": {"a": "", "b": ""}},
            ["tls", "kubernetes.io/tls", 2, "<unknown>"],
        ),
        ("ConfigMap", {"metadata": {"name": "c"}}, ["c", 0, "<unknown>"]),
    ],
)
def test_core_kinds_have_the_columns_people_know(kind: str, raw: dict[str, Any], shown: list[Any]) -> None:
    assert table([raw], columns_of(GroupKind("", kind)), NOW)["rows"][0]["cells"] == shown


def test_endpoint_slice_shows_three_addresses_and_counts_the_rest() -> None:
    raw = {
        "metadata": {"name": "cart-1"},
        "addressType": "IPv4",
        "ports": [{"port": 8080}],
        "endpoints": [{"addresses": [f"127.0.1.{number}"]} for number in range(1, 6)],
    }
    columns = columns_of(GroupKind("discovery.k8s.io", "EndpointSlice"))
    assert table([raw], columns, NOW)["rows"][0]["cells"] == [
        "cart-1",
        "IPv4",
        "8080",
        "127.0.1.1,127.0.1.2,127.0.1.3 + 2 more...",
        "<unknown>",
    ]
