"""Moments that people write in many forms compare as moments."""

from __future__ import annotations

import pytest

from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.kinds import typed
from gatepost.objects.times import whole_seconds_utc


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00+02:00", "2025-12-31T22:00:00Z"),
        ("2025-12-31T20:30:00.25-03:30", "2026-01-01T00:00:00Z"),
        ("0900-01-01T00:00:00+00:00", "0900-01-01T00:00:00Z"),
    ],
)
def test_a_moment_has_one_form(written: str, moment: str) -> None:
    assert whole_seconds_utc(written) == moment


@pytest.mark.parametrize(
    "written",
    [
        "yesterday",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "20260101T000000Z",
        "2026-02-30T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "2026-01-01T00:00:00Z\n",
        "",
    ],
)
def test_what_is_no_moment_has_none(written: str) -> None:
    assert whole_seconds_utc(written) is None


@pytest.mark.parametrize("field", ["creationTimestamp", "deletionTimestamp"])
def test_an_object_keeps_its_times_in_the_form_that_compares(field: str) -> None:
    route = typed(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": "app", "namespace": "shop", field: "2026-01-01T01:00:00.75+02:00"},
        }
    )
    assert isinstance(route, HTTPRoute)
    kept = route.metadata.creation_timestamp if field == "creationTimestamp" else route.metadata.deletion_timestamp
    assert kept == "2025-12-31T23:00:00Z"


def test_a_text_that_is_no_moment_stays_as_it_is() -> None:
    route = typed(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": "app", "namespace": "shop", "creationTimestamp": "soon"},
        }
    )
    assert route.metadata.creation_timestamp == "soon"
