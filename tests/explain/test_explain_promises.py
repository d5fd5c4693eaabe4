"""What holds for every explanation: a reason for each "no", a server for each "yes", whatever order objects have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from explain_world import (
    KNATIVE,
    Raw,
    core_service,
    domain_mapping,
    explained,
    http_route,
    settled,
    standing_domain,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepost.explain.hostname import explain_hostname
from gatepost.explain.names import all_names
from gatepost.explain.text import hostname_lines, plain
from gatepost.objects.refs import ref_of

CASES = sorted((Path(__file__).parent.parent / "cases" / "field").glob("*.yaml"))

WORLD: list[Raw] = [
    *KNATIVE,
    core_service("web"),
    domain_mapping("app.example.com", "web", api_version="v1"),
    domain_mapping("app.example.com", "web", api_version="v1", namespace="rival"),
    *standing_domain("app.example.com", ("web", 100)),
    http_route("other", "app.example.com", "*.example.com"),
]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_name_of_a_reported_input_has_a_reason_or_a_server(path: Path) -> None:
    raws = [_without_nulls(raw) for raw in yaml.safe_load(path.read_text())["input"]]
    result = settled(*raws)
    by_ref = {ref_of(raw): raw for raw in result.rendered.objects}
    for name in sorted(all_names(result.engine)):
        found = explain_hostname(result.engine, name, raw_of=by_ref.get, refusals=result.refusals)
        assert found.way, f"{name} is mentioned, and no way is shown"
        assert found.served_by if found.is_served else found.reasons, found
        assert plain(hostname_lines(found)).startswith(f"{name}: ")


@settings(max_examples=25, deadline=None)
@given(st.permutations(WORLD))
def test_order_of_objects_does_not_change_an_explanation(raws: list[Raw]) -> None:
    in_order = plain(hostname_lines(explained("app.example.com", *WORLD)))
    assert plain(hostname_lines(explained("app.example.com", *raws))) == in_order


def _without_nulls(value: Any) -> Any:
    """As the reader of manifests gives it."""
    if isinstance(value, dict):
        return {key: _without_nulls(entry) for key, entry in value.items() if entry is not None}
    return [_without_nulls(entry) for entry in value] if isinstance(value, list) else value
