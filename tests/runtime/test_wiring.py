"""Which rules run together."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.objects.core import ConfigMap, Service
from gatepost.objects.refs import GroupKind
from gatepost.runtime import wiring
from gatepost.runtime.asked_kinds import kinds_over
from gatepost.state.rule import Rule
from gatepost.state.store import Index


def rule(name: str) -> Rule[Any]:
    return Rule(name, lambda key, view: None, rank=10, over=ConfigMap)


def index(name: str) -> Index:
    return Index(name, Service, lambda obj: ())


def test_a_rule_that_two_parts_share_is_there_once() -> None:
    shared = rule("shared")
    joined = wiring.together(wiring.Wiring((shared, rule("a")), ()), wiring.Wiring((shared, rule("b")), (index("i"),)))
    assert [r.name for r in joined.rules] == ["shared", "a", "b"]
    assert [i.name for i in joined.indexes] == ["i"]


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (wiring.Wiring((rule("a"),), ()), wiring.Wiring((rule("a"),), ()), "two rules are called 'a'"),
        (wiring.Wiring((), (index("a"),)), wiring.Wiring((), (index("a"),)), "two indexes are called 'a'"),
        (wiring.Wiring((rule("a"),), ()), wiring.Wiring((), (index("a"),)), "a rule and an index are both called 'a'"),
    ],
)
def test_names_that_clash_are_refused(one: wiring.Wiring, other: wiring.Wiring, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        wiring.together(one, other)


def test_the_kinds_to_watch_follow_from_rules_and_indexes() -> None:
    assert kinds_over([rule("a")], [index("i")]) == [GroupKind("", "Service"), GroupKind("", "ConfigMap")]


def test_all_controllers_together_have_no_two_things_of_one_name() -> None:
    parts = [wiring.reconcilers([name]) for name in wiring.CONTROLLERS]
    assert wiring.together(*parts).rules


def test_controllers_write_to_what_they_reconcile() -> None:
    assert wiring.written_kinds(["gateway"]) == {
        GroupKind("networking.internal.knative.dev", "Ingress"),
        GroupKind("gateway.networking.k8s.io", "Gateway"),
    }
