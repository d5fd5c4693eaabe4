"""Runs the golden cases in `tests/cases` through the command line, in this process, one test a file."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost

FOLDER = pathlib.Path(__file__).parent / "cases"
NOT_YET = frozenset((FOLDER / "not-yet.txt").read_text().split())
KEYS = {"title", "about", "origin", "run", "input", "expect"}
EXPECT_KEYS = {"exit", "endpoints", "objects", "absent", "unchanged"}
ANSWERS = (0, 1, 2)
"""Exit codes that a case can want; 1 in a case stands for both, problems of the input and wrong use. 3 is a fault."""

Raw = dict[str, Any]


def case_parameters() -> list[Any]:
    names = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.yaml"))
    unknown = NOT_YET - set(names)
    assert not unknown, f"not-yet.txt names cases that are not there: {sorted(unknown)}"
    not_yet = pytest.mark.xfail(strict=True, reason="listed in not-yet.txt")
    return [pytest.param(name, id=name, marks=[not_yet] if name in NOT_YET else []) for name in names]


@pytest.mark.parametrize("name", case_parameters())
def test_case_holds(name: str, tmp_path: pathlib.Path) -> None:
    text = (FOLDER / f"{name}.yaml").read_text()
    case = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    unknown = (case.keys() - KEYS) | (case["expect"].keys() - EXPECT_KEYS)
    assert not unknown, f"unknown keys: {sorted(unknown)}"
    manifest = tmp_path / "input.yaml"
    manifest.write_text("---\n".join(yaml.safe_dump(raw, sort_keys=False) for raw in case["input"]))
    result = CliRunner().invoke(gatepost, [*map(str, case["run"]), "-o", "json", str(manifest)])
    assert differences(case, result) == []


def differences(case: Raw, result: Result) -> list[str]:
    """Every way in which the result is not what the case expects."""
    expect = case["expect"]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in ANSWERS or "Traceback" in result.output:
        return [f"exit {result.exit_code}, a fault; output: {result.output}"]
    if (result.exit_code == 0) != (expect.get("exit", 0) == 0):
        return [f"exit {result.exit_code}, wanted {expect.get('exit', 0)}; stderr: {result.stderr}"]
    if not expect.keys() - {"exit"}:
        return []
    printed = json.loads(result.stdout)
    if "endpoints" in expect:
        return endpoint_differences(expect["endpoints"], printed)
    return object_differences(case, printed)


def object_differences(case: Raw, printed: list[Raw]) -> list[str]:
    expect, by_ref = case["expect"], {ref(raw): raw for raw in printed}
    found: list[str] = []
    for wanted in expect.get("objects", ()):
        if ref(wanted)[3]:
            here = by_ref.get(ref(wanted))
            found += missing(wanted, here, str(ref(wanted))) if here is not None else [f"{ref(wanted)}: not printed"]
        elif not any(ref(raw)[:2] == ref(wanted)[:2] and not missing(wanted, raw, "") for raw in printed):
            found.append(f"nothing printed like {wanted}")
    found += [f"{ref(one)}: printed" for one in expect.get("absent", ()) if ref(one) in by_ref]
    given = {ref(raw): raw for raw in case["input"]}
    for one in expect.get("unchanged", ()):
        here = by_ref.get(ref(one))
        if here is None or here.get("spec") != given[ref(one)].get("spec"):
            found.append(f"{ref(one)}: gone or its spec changed")
    return found


def ref(raw: Raw) -> tuple[Any, ...]:
    metadata = raw.get("metadata", raw)
    return (raw.get("apiVersion"), raw.get("kind"), metadata.get("namespace") or "", metadata.get("name"))


def missing(wanted: Any, got: Any, path: str) -> list[str]:
    """Where `got` lacks what `wanted` asks for."""
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [f"{path}: wanted a mapping, got {got!r}"]
        found = [f"{path}.{key}: missing" for key in wanted if key not in got]
        for key in wanted.keys() & got.keys():
            compare = missing_conditions if key == "conditions" and isinstance(wanted[key], list) else missing
            found += compare(wanted[key], got[key], f"{path}.{key}")
        return found
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return [f"{path}: wanted {wanted!r}, got {got!r}"]
        return [m for i, pair in enumerate(zip(wanted, got, strict=True)) for m in missing(*pair, f"{path}[{i}]")]
    return [] if wanted == got else [f"{path}: wanted {wanted!r}, got {got!r}"]


def missing_conditions(wanted: Any, got: Any, path: str) -> list[str]:
    by_type = {condition["type"]: condition for condition in got or ()}
    return [m for condition in wanted for m in missing(condition, by_type.get(condition["type"]), path)]


def endpoint_differences(wanted: list[Raw], got: list[Raw]) -> list[str]:
    want, have = {endpoint_key(e): e for e in wanted}, {endpoint_key(e): e for e in got}
    found = [f"missing: {key}" for key in want.keys() - have.keys()]
    found += [f"not wanted: {key}" for key in have.keys() - want.keys()]
    found += ["an endpoint is printed twice"] if len(have) != len(got) else []
    for key in want.keys() & have.keys():
        if properties(want[key]) != properties(have[key]):
            found.append(f"{key}: wanted properties {properties(want[key])}, got {properties(have[key])}")
        found += missing(want[key].get("labels", {}), have[key].get("labels", {}), f"{key}: labels")
    return found


def endpoint_key(endpoint: Raw) -> tuple[Any, ...]:
    """What makes two endpoints the same; a final dot of a name does not matter, nor the order of targets."""
    is_name = endpoint["recordType"] in ("CNAME", "DNAME", "NS", "PTR")
    targets = endpoint.get("targets") or []
    return (
        endpoint["dnsName"].rstrip("."),
        endpoint["recordType"],
        endpoint.get("setIdentifier") or "",
        tuple(sorted(target.rstrip(".") if is_name else target for target in targets)),
        int(endpoint.get("recordTTL") or 0),
    )


def properties(endpoint: Raw) -> set[tuple[str, str]]:
    return {(p["name"], str(p["value"])) for p in endpoint.get("providerSpecific") or ()}


@pytest.mark.parametrize(("code", "output"), [(3, ""), (1, "Traceback (most recent call last):\n")])
def test_case_that_wants_problems_does_not_hold_on_a_fault(code: int, output: str) -> None:
    result = Result(CliRunner(), b"", b"", output.encode(), None, code, None)
    (difference,) = differences({"expect": {"exit": 1}}, result)
    assert f"exit {code}, a fault" in difference
