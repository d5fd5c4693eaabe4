"""Whatever this controller writes, an API server with the published definitions takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from gateway_world import rendered

import published_crds
from gatepost.objects.refs import ref_of

Raw = dict[str, Any]

CASES = sorted((Path(__file__).parents[2] / "cases" / "gateway").glob("*.yaml"))


@pytest.mark.skipif(published_crds.folder() is None, reason=published_crds.WHY_ABSENT)
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_objects_of_a_case_are_valid(file: Path) -> None:
    given: list[Raw] = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)["input"]
    before = {ref_of(raw): raw.get("spec") for raw in given}
    for ref, raw in rendered(*given).items():
        if raw.get("spec") != before.get(ref):
            published_crds.assert_valid(raw)
