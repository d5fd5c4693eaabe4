"""What holds for the input of every golden case of `render`, whatever its fact is."""

from __future__ import annotations

import functools
import random
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from gatepost.kubernetes.values import without_nulls
from gatepost.runtime.offline.settle import render
from gatepost.runtime.wiring import Wiring, reconcilers
from test_cases import FOLDER, ref

Raw = dict[str, Any]

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@functools.cache
def wiring_for(names: str) -> Wiring:
    return reconcilers(names.split(",")) if names else reconcilers()


def rendering_cases() -> list[Any]:
    paths = [path for path in FOLDER.rglob("*.yaml") if path.parent.name in ("knative", "gateway", "field")]
    return [
        pytest.param(case, id=f"{path.parent.name}/{path.stem}")
        for path in sorted(paths)
        for case in [yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
        if case["run"][0] == "render" and not case["expect"].get("exit")
    ]


def rendered(objects: list[Raw], run: list[str]) -> dict[Any, Raw]:
    """What is printed for these objects, by what it is called."""
    wiring = wiring_for(run[2] if "--controllers" in run else "")
    found = render(objects, wiring.rules, wiring.indexes, now=NOW)
    assert found.failures == []
    return {ref(raw): raw for raw in found.objects}


@pytest.mark.parametrize("case", rendering_cases())
def test_order_does_not_matter_and_rendering_again_changes_nothing(case: Raw) -> None:
    objects = [without_nulls(raw) for raw in case["input"]]
    once = rendered(objects, case["run"])
    shuffled = random.Random(len(objects)).sample(objects, len(objects))
    assert rendered(shuffled, case["run"]) == once
    standing = {name: raw for name, raw in once.items() if raw["kind"] != "Event"}
    again = rendered(list(standing.values()), case["run"])
    assert {name: raw for name, raw in again.items() if raw["kind"] != "Event"} == standing
