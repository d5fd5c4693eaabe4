"""Rendering: what is written when the model of the API server refuses a part of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gatepost.objects.core import ConfigMap
from gatepost.objects.refs import Ref
from gatepost.runtime.offline.settle import render
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome, object_fields

Raw = dict[str, Any]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def config_map(name: str, **metadata: Any) -> Raw:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop", **metadata}}


def replacing(new_name: str) -> Rule[Outcome]:
    """A rule that replaces ConfigMap "old" by another, as the one ConfigMap "owner" wants."""

    def run(key: Ref, view: View) -> Outcome:
        owner = view.get(ConfigMap, key)
        if owner is None or owner.metadata.name != "owner":
            return Outcome.none("not an owner")
        outcome = Outcome.of(owner)
        outcome.finalizers = ()
        outcome.want(Apply(object_fields(ConfigMap, "shop", new_name), announce=outcome.about))
        old = view.named(ConfigMap, "shop", "old")
        if old is not None:
            outcome.remove(old, "replaced")
        return outcome

    return Rule("replacing", run, rank=10, over=ConfigMap)


def rendered(new_name: str) -> dict[str, Raw]:
    objects = [config_map("owner", finalizers=["example.com/guard"]), config_map("old")]
    found = render(objects, [replacing(new_name)], [], now=NOW)
    assert found.failures == []
    return {raw["metadata"]["name"] if raw["kind"] != "Event" else raw["reason"]: raw for raw in found.objects}


def test_what_is_replaced_goes_when_its_replacement_is_there() -> None:
    found = rendered("new")
    assert found.keys() == {"owner", "new", "Created", "Deleted"}
    assert "finalizers" not in found["owner"]["metadata"]


def test_what_is_replaced_stays_while_its_replacement_is_refused() -> None:
    found = rendered("No_Name")
    assert found.keys() == {"owner", "old", "CreationFailed"}
    assert found["owner"]["metadata"]["finalizers"] == ["example.com/guard"]


def test_a_fault_in_an_index_is_reported_with_its_object_and_the_others_are_rendered() -> None:
    index = Index("first-letters", ConfigMap, lambda found: [(found.data["letter"], found.metadata.name)])
    objects = [config_map("owner", finalizers=["example.com/guard"]), config_map("old")]
    objects[0]["data"] = {"letter": "o"}
    found = render(objects, [replacing("new")], [index], now=NOW)
    names = [raw["metadata"]["name"] for raw in found.objects if raw["kind"] == "ConfigMap"]
    assert names == ["owner", "new"]
    assert [str(failure) for failure in found.failures] == [
        "fault in first-letters for ConfigMap shop/new: KeyError('letter')"
    ]
