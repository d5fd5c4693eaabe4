"""What the engine reruns, and what it leaves alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gatepost.objects.core import ConfigMap, Namespace
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine
from gatepost.state.failure import DependencyFailed
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

START = datetime(2026, 1, 1, tzinfo=UTC)


def config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="n"), data=data)


def ref(name: str) -> Ref:
    return Ref("", "ConfigMap", "n", name)


class Recorder:
    """Wraps the function of a rule and notes for which keys it ran."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.ran: list[Any] = []

    def __call__(self, key: Any, view: View) -> Any:
        self.ran.append(key)
        return self.function(key, view)

    def take(self) -> list[Any]:
        ran, self.ran = self.ran, []
        return ran


def test_a_change_reruns_just_the_runs_that_read_it() -> None:
    function = Recorder(lambda key, view: view.get(ConfigMap, key))
    engine = Engine([Rule("copy", function, rank=1, over=ConfigMap)], [], START)
    for name in ("a", "b", "c"):
        engine.put(config(name))
    engine.run_stale()
    assert sorted(function.take()) == [ref("a"), ref("b"), ref("c")]
    engine.put(config("b", x="1"))
    changes = engine.run_stale()
    assert function.take() == [ref("b")]
    assert [(change.key, change.new) for change in changes] == [(ref("b"), config("b", x="1"))]


def test_an_object_that_came_out_equal_wakes_nobody() -> None:
    function = Recorder(lambda key, view: view.get(ConfigMap, key))
    engine = Engine([Rule("copy", function, rank=1, over=ConfigMap)], [], START)
    engine.put(config("a", x="1"))
    engine.run_stale()
    function.take()
    assert engine.put(config("a", x="1")) is False
    assert engine.run_stale() == []
    assert function.take() == []


def test_looking_for_an_absent_object_is_recorded() -> None:
    function = Recorder(lambda key, view: view.get(ConfigMap, ref("other")) is not None)
    engine = Engine([Rule("sees-other", function, rank=1, over=Namespace)], [], START)
    engine.put(Namespace(metadata=ObjectMeta(name="n")))
    engine.run_stale()
    rule = engine.rule("sees-other")
    key = Namespace.KIND.ref("", "n")
    assert engine.value(rule, key) is False
    function.take()
    engine.put(config("other"))
    engine.run_stale()
    assert function.take() == [key]
    assert engine.value(rule, key) is True


def test_a_value_that_stays_equal_cuts_the_way_off() -> None:
    colour = Rule("colour", lambda key, view: config_data(view, key, "colour"), rank=1, over=ConfigMap)
    painter = Recorder(lambda key, view: f"paint it {view.value(colour, key)}")
    engine = Engine([colour, Rule("paint", painter, rank=2, over=ConfigMap)], [], START)
    engine.put(config("a", colour="red", size="1"))
    engine.run_stale()
    painter.take()
    engine.put(config("a", colour="red", size="2"))
    assert engine.run_stale() == []
    assert painter.take() == []
    engine.put(config("a", colour="blue", size="2"))
    engine.run_stale()
    assert painter.take() == [ref("a")]


def config_data(view: View, key: Ref, field: str) -> str:
    found = view.get(ConfigMap, key)
    return found.data.get(field, "") if found is not None else ""


def by_colour() -> Index:
    return Index("by-colour", ConfigMap, lambda c: [(c.data["colour"], c.metadata.name)] if "colour" in c.data else [])


def test_a_rule_over_an_index_runs_for_each_bucket_that_is_not_empty() -> None:
    index = by_colour()
    function = Recorder(lambda key, view: view.select(index, key))
    rule = Rule("team", function, rank=1, over=index)
    engine = Engine([rule], [index], START)
    engine.put(config("b", colour="red"))
    engine.put(config("a", colour="red"))
    engine.put(config("c", colour="blue"))
    engine.run_stale()
    assert dict(engine.values(rule)) == {"red": ("a", "b"), "blue": ("c",)}
    function.take()
    engine.put(config("c", colour="red"))
    changes = engine.run_stale()
    assert dict(engine.values(rule)) == {"red": ("a", "b", "c")}
    assert {change.key: change.new for change in changes} == {"red": ("a", "b", "c"), "blue": None}
    assert function.take() == ["red"]


def test_a_change_outside_the_member_leaves_the_readers_of_the_bucket_alone() -> None:
    index = by_colour()
    function = Recorder(lambda key, view: view.select(index, key))
    engine = Engine([Rule("team", function, rank=1, over=index)], [index], START)
    engine.put(config("a", colour="red", size="1"))
    engine.run_stale()
    function.take()
    engine.put(config("a", colour="red", size="2"))
    engine.run_stale()
    assert function.take() == []


def test_an_index_over_values_joins_what_rules_made() -> None:
    length = Rule("length", lambda key, view: len(config_data(view, key, "text")), rank=1, over=ConfigMap)
    index = Index("by-length", "length", lambda value: [(value, value)] if value else [])
    count = Rule("count", lambda key, view: len(view.select(index, key)), rank=2, over=index)
    engine = Engine([length, count], [index], START)
    engine.put(config("a", text="xx"))
    engine.put(config("b", text="yy"))
    engine.put(config("c", text=""))
    engine.run_stale()
    assert dict(engine.values(count)) == {2: 2}
    engine.remove(ref("a"))
    engine.run_stale()
    assert dict(engine.values(count)) == {2: 1}


def test_a_removed_object_takes_its_run_along() -> None:
    rule = Rule("copy", lambda key, view: view.get(ConfigMap, key), rank=1, over=ConfigMap)
    engine = Engine([rule], [], START)
    engine.put(config("a", x="1"))
    engine.run_stale()
    engine.remove(ref("a"))
    (change,) = engine.run_stale()
    assert (change.old, change.new) == (config("a", x="1"), None)
    assert list(engine.values(rule)) == []
    assert engine.reads_of(rule, ref("a")) == ()


def test_a_value_that_nobody_asks_for_any_more_is_dropped() -> None:
    asked = Rule("asked", lambda key, view: config_data(view, key, "x"), rank=1)
    asks = Rule("asks", lambda key, view: view.value(asked, ref("b")) if config_data(view, key, "ask") else "", rank=2)
    asks.over = ConfigMap
    engine = Engine([asked, asks], [], START)
    engine.put(config("a", ask="yes"))
    engine.run_stale()
    assert [key for key, _ in engine.values(asked)] == [ref("b")]
    engine.put(config("a", ask=""))
    engine.run_stale()
    assert list(engine.values(asked)) == []


def test_a_run_reruns_when_the_moment_that_it_waits_for_has_come() -> None:
    later = START + timedelta(minutes=5)
    function = Recorder(lambda key, view: view.has_passed(later))
    rule = Rule("late", function, rank=1, over=ConfigMap)
    engine = Engine([rule], [], START)
    engine.put(config("a"))
    engine.run_stale()
    assert engine.next_moment() == later
    engine.advance(later - timedelta(seconds=1))
    engine.run_stale()
    assert function.take() == [ref("a")]
    engine.advance(later)
    engine.run_stale()
    assert function.take() == [ref("a")]
    assert engine.value(rule, ref("a")) is True
    assert engine.next_moment() is None


def test_a_rule_that_raises_keeps_its_last_value_and_stops_only_itself() -> None:
    def run(key: Ref, view: View) -> int:
        return int(config_data(view, key, "n"))

    rule = Rule("number", run, rank=1, over=ConfigMap)
    engine = Engine([rule], [], START)
    engine.put(config("a", n="1"))
    engine.put(config("b", n="2"))
    engine.run_stale()
    engine.put(config("a", n="one"))
    engine.put(config("b", n="3"))
    engine.run_stale()
    assert dict(engine.values(rule)) == {ref("a"): 1, ref("b"): 3}
    assert [failure.key for failure in engine.failures.values()] == [ref("a")]
    engine.put(config("a", n="4"))
    engine.run_stale()
    assert engine.value(rule, ref("a")) == 4
    assert engine.failures == {}


def whole_number(key: Ref, view: View) -> int | None:
    """The number in a ConfigMap; fails for what is no number, None without any."""
    text = config_data(view, key, "n")
    return int(text) if text else None


def test_who_asks_a_rule_that_never_had_a_value_fails_with_it_and_the_fault_is_told_once() -> None:
    number = Rule("number", whole_number, rank=1)
    double = Rule("double", lambda key, view: 2 * (view.value(number, ref("a")) or 0), rank=2)
    text = Rule("text", lambda key, view: str(view.value(double, key)), rank=3, over=ConfigMap)
    engine = Engine([number, double, text], [], START)
    engine.put(config("a", n="one"))
    engine.run_stale()
    assert engine.value(text, ref("a")) is None
    assert {name for name, _ in engine.failures} == {"number", "double", "text"}
    assert [(fault.by, fault.key) for fault in engine.faults] == [(number, ref("a"))]
    assert isinstance(engine.failures["text", ref("a")].error, DependencyFailed)
    engine.put(config("a", n="4"))
    engine.run_stale()
    assert engine.value(text, ref("a")) == "8"
    assert engine.failures == {}


def test_an_answer_of_none_after_a_failure_is_heard_of() -> None:
    number = Rule("number", whole_number, rank=1)
    text = Rule("text", lambda key, view: str(view.value(number, key)), rank=2, over=ConfigMap)
    engine = Engine([number, text], [], START)
    engine.put(config("a", n="one"))
    engine.run_stale()
    assert engine.value(text, ref("a")) is None
    engine.put(config("a"))
    engine.run_stale()
    assert engine.value(text, ref("a")) == "None"
    assert engine.failures == {}


def test_who_asks_a_rule_that_fails_later_goes_on_with_its_last_value() -> None:
    number = Rule("number", whole_number, rank=1)
    other = config("other", x="1")
    text = Rule(
        "text",
        lambda key, view: (view.value(number, ref("a")), config_data(view, other.ref, "x")),
        rank=2,
        over=Namespace,
    )
    engine = Engine([number, text], [], START)
    for obj in (config("a", n="4"), other, Namespace(metadata=ObjectMeta(name="n"))):
        engine.put(obj)
    engine.run_stale()
    engine.put(config("a", n="four"))
    engine.put(config("other", x="2"))
    engine.run_stale()
    assert engine.value(text, Namespace.KIND.ref("", "n")) == (4, "2")
    assert list(engine.failures) == [("number", ref("a"))]


def by_number() -> Index:
    """Fails for a ConfigMap whose `n` is no number."""
    return Index("by-number", ConfigMap, lambda c: [(int(c.data["n"]), c.metadata.name)] if "n" in c.data else [])


def test_an_object_that_an_index_fails_for_stops_no_other_and_keeps_its_entries() -> None:
    index = by_number()
    names = Rule("names", lambda key, view: view.select(index, key), rank=1, over=index)
    engine = Engine([names], [index], START)
    engine.put(config("new", n="one"))
    engine.put(config("a", n="1"))
    engine.put(config("b", n="1"))
    engine.run_stale()
    assert dict(engine.values(names)) == {1: ("a", "b")}
    engine.put(config("a", n="two"))
    engine.put(config("a", n="three"))
    engine.put(config("b", n="2"))
    engine.run_stale()
    assert dict(engine.values(names)) == {1: ("a",), 2: ("b",)}
    assert [(fault.by, fault.key) for fault in engine.faults] == [(index, ref("new")), (index, ref("a"))]
    engine.put(config("a", n="3"))
    engine.remove(ref("new"))
    engine.run_stale()
    assert dict(engine.values(names)) == {2: ("b",), 3: ("a",)}
    assert engine.failures == {}


def test_an_index_over_values_that_fails_for_one_stops_no_other() -> None:
    data = Rule("data", lambda key, view: config_data(view, key, "n"), rank=1, over=ConfigMap)
    index = Index("values-by-number", "data", lambda text: [(int(text), text)])
    texts = Rule("texts", lambda key, view: view.select(index, key), rank=2, over=index)
    engine = Engine([data, texts], [index], START)
    engine.put(config("a", n="one"))
    engine.put(config("b", n="02"))
    engine.run_stale()
    assert dict(engine.values(texts)) == {2: ("02",)}
    assert [(fault.by, fault.key) for fault in engine.faults] == [(index, ref("a"))]
    engine.put(config("a", n="2"))
    engine.run_stale()
    assert dict(engine.values(texts)) == {2: ("2", "02")}
    assert engine.failures == {}


def test_a_rule_cannot_ask_a_rule_of_its_own_rank() -> None:
    one = Rule("one", lambda key, view: 1, rank=1)
    other = Rule("other", lambda key, view: view.value(one, key), rank=1, over=ConfigMap)
    engine = Engine([one, other], [], START)
    engine.put(config("a"))
    engine.run_stale()
    (failure,) = engine.failures.values()
    assert "only lower ranks can be asked" in str(failure.error)


def test_an_index_with_the_name_of_a_rule_is_refused() -> None:
    rule = Rule("by-colour", lambda key, view: 1, rank=1)
    with pytest.raises(ValueError, match="has the name of a rule"):
        Engine([rule], [by_colour()], START)


def test_a_run_that_asks_first_for_a_value_runs_once() -> None:
    prepared = Rule("prepared", Recorder(lambda key, view: view.get(Namespace, key)), rank=1)
    function = Recorder(lambda key, view: view.value(prepared, Namespace.KIND.ref("", "n")))
    engine = Engine([prepared, Rule("asks", function, rank=2, over=ConfigMap)], [], START)
    engine.put(Namespace(metadata=ObjectMeta(name="n")))
    engine.put(config("a"))
    engine.put(config("b"))
    engine.run_stale()
    assert sorted(function.take()) == [ref("a"), ref("b")]
