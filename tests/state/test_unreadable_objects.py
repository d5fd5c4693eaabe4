"""An object that is there and cannot be read is neither known nor absent, and a rule cannot mistake it for either."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gatepost.objects.core import ConfigMap, Namespace
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.problems import UNREADABLE, Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule
from gatepost.state.view import View

A = Ref("", "ConfigMap", "n", "a")
KEY = Namespace.KIND.ref("", "n")
PROBLEM = Problem(UNREADABLE, "cannot be read: Expected `object`, got `int`", A, "data")
OTHER_PROBLEM = Problem(UNREADABLE, "cannot be read: Expected `object`, got `str`", A, "metadata")


def text_of_a(key: Ref, view: View) -> str:
    found = view.get(ConfigMap, A)
    return "absent" if found is None else found.data["text"]


def said_of_a(key: Ref, view: View) -> str:
    """As `text_of_a`, for a rule that has something to say of an object that cannot be read."""
    try:
        return text_of_a(key, view)
    except UnreadableObject as error:
        return f"{error.problem.field} {error.problem.reason}"


TEXT = Rule("text", text_of_a, rank=1, over=Namespace)
SAID = Rule("said", said_of_a, rank=1, over=Namespace)
READER = Rule("reader", lambda key, view: f"reads {view.value(TEXT, key)}", rank=2, over=Namespace)


def config(text: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="a", namespace="n"), data={"text": text})


def engine_with(*rules: Rule[Any]) -> Engine:
    engine = Engine(rules, [], datetime(2026, 1, 1, tzinfo=UTC))
    engine.put(Namespace(metadata=ObjectMeta(name="n")))
    engine.run_stale()
    return engine


def test_a_rule_hears_that_an_object_is_there_and_cannot_be_read() -> None:
    engine = engine_with(SAID)
    assert engine.value(SAID, KEY) == "absent"
    assert engine.put_unreadable(PROBLEM)
    engine.run_stale()
    assert engine.value(SAID, KEY) == "data UnreadableObject"
    assert engine.reads_of(SAID, KEY) == (A,)
    engine.put(config("hello"))
    engine.run_stale()
    assert engine.value(SAID, KEY) == "hello"
    assert engine.store.unreadables == []


def test_the_same_problem_again_is_no_news_and_another_one_is() -> None:
    engine = engine_with(SAID)
    engine.put_unreadable(PROBLEM)
    assert not engine.put_unreadable(PROBLEM)
    assert engine.put_unreadable(OTHER_PROBLEM)
    engine.run_stale()
    assert engine.value(SAID, KEY) == "metadata UnreadableObject"


def test_what_was_known_of_an_object_counts_when_it_turns_unreadable() -> None:
    engine = engine_with(SAID)
    engine.put(config("hello"))
    engine.run_stale()
    assert not engine.put_unreadable(PROBLEM)
    assert engine.run_stale() == []
    assert engine.value(SAID, KEY) == "hello"


def test_an_unreadable_object_that_goes_is_absent() -> None:
    engine = engine_with(SAID)
    engine.put_unreadable(PROBLEM)
    engine.run_stale()
    assert engine.remove(A)
    engine.run_stale()
    assert engine.value(SAID, KEY) == "absent"
    assert not engine.remove(A)


def test_a_rule_that_says_nothing_of_it_stops_with_its_last_value_and_no_fault() -> None:
    engine = engine_with(TEXT)
    engine.put_unreadable(PROBLEM)
    assert engine.run_stale() == []
    assert engine.value(TEXT, KEY) == "absent"
    assert engine.stopped == {("text", KEY): PROBLEM}
    assert (engine.failures, engine.faults) == ({}, [])
    engine.remove(A)
    engine.run_stale()
    assert engine.stopped == {}


@pytest.mark.parametrize("asked_before", [True, False], ids=["had a value", "never had one"])
def test_who_asks_a_rule_that_stopped_stops_with_it_and_goes_on_with_it(asked_before: bool) -> None:
    engine = Engine([TEXT, READER], [], datetime(2026, 1, 1, tzinfo=UTC))
    engine.put(Namespace(metadata=ObjectMeta(name="n")))
    if asked_before:
        engine.run_stale()
    engine.put_unreadable(PROBLEM)
    engine.run_stale()
    assert engine.stopped == {("text", KEY): PROBLEM, ("reader", KEY): PROBLEM}
    assert engine.value(READER, KEY) == ("reads absent" if asked_before else None)
    engine.put_unreadable(OTHER_PROBLEM)
    engine.run_stale()
    assert engine.stopped[READER.name, KEY] == OTHER_PROBLEM
    engine.remove(A)  # the value of `text` is what it was before, and yet its reader has to run
    engine.run_stale()
    assert engine.value(READER, KEY) == "reads absent"
    assert engine.stopped == {}


def test_who_asks_whether_all_of_a_kind_can_be_read_hears_when_that_changes() -> None:
    rule = Rule("all read", lambda key, view: view.unreadable_of(ConfigMap), rank=1, over=Namespace)
    engine = engine_with(rule)
    assert engine.value(rule, KEY) is None
    engine.put_unreadable(PROBLEM)
    engine.run_stale()
    assert engine.value(rule, KEY) == PROBLEM
    engine.put(config("hello"))
    engine.run_stale()
    assert engine.value(rule, KEY) is None
    engine.remove(A)
    engine.put_unreadable(PROBLEM)
    engine.remove(A)
    engine.run_stale()
    assert engine.value(rule, KEY) is None


def test_a_run_that_nobody_needs_any_more_is_forgotten_with_what_stopped_it() -> None:
    engine = engine_with(TEXT)
    engine.put_unreadable(PROBLEM)
    engine.run_stale()
    engine.remove(KEY)
    engine.run_stale()
    assert engine.stopped == {}
