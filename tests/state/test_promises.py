"""The promises of the engine, over random objects and random edits.

Same view, same outcome; incremental equals from scratch; the order of events does not matter; what was not read reruns
nothing. (That applying and running again writes nothing is tested where there is something to apply: tests/writes.)
"""

from __future__ import annotations

from collections.abc import Hashable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gatepost.objects.core import ConfigMap
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.problems import UNREADABLE, Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("a", "b", "c", "d", "e")
COLOURS = ("red", "blue", "green", "")

# A small world with each kind of read: objects link to objects, rules read rules, buckets of objects and of values,
# absent objects, unreadable ones and the time.

BY_COLOUR = Index("objects-by-colour", ConfigMap, lambda c: [(c.data.get("colour", ""), c.metadata.name)])


def follow_link(key: Ref, view: View) -> str:
    """The colour at the end of one link; a missing object is grey, one that cannot be read has a colour of its own."""
    try:
        here = view.get(ConfigMap, key)
        linked = here.data.get("link") if here is not None else ""
        there = view.named(ConfigMap, "n", linked) if linked else here
    except UnreadableObject as error:
        return error.problem.message
    return there.data.get("colour", "") if there is not None else "grey"


FOLLOW = Rule("follow", follow_link, rank=1, over=ConfigMap)
BY_FOLLOWED = Index("values-by-colour", "follow", lambda value: [(value, 1)] if value else [])


def weigh(key: Hashable, view: View) -> tuple[Any, ...]:
    """Reads two buckets, one of them for another key, and waits for a moment that depends on what it found."""
    members = view.select(BY_FOLLOWED, key)
    greys = view.select(BY_FOLLOWED, "grey")
    named = view.select(BY_COLOUR, key)
    ripe = view.has_passed(START + timedelta(seconds=10 * len(members)))
    return (key, len(members), len(greys), named, ripe, view.unreadable_of(ConfigMap))


WEIGH = Rule("weigh", weigh, rank=2, over=BY_FOLLOWED)


def pick(key: Ref, view: View) -> Any:
    """Asks another rule for a key that depends on the object, so that runs come and go."""
    here = view.get(ConfigMap, key)
    if here is None:
        return None
    return view.value(WEIGH, view.value(FOLLOW, view_ref(here.data.get("ask") or key.name)))


def view_ref(name: str) -> Ref:
    return Ref("", "ConfigMap", "n", name)


PICK = Rule("pick", pick, rank=3, over=ConfigMap)


def new_engine(order: list[Rule[Any]] | None = None) -> Engine:
    return Engine(order or [FOLLOW, WEIGH, PICK], [BY_COLOUR, BY_FOLLOWED], START)


def wanted_values(engine: Engine) -> dict[str, dict[Hashable, Any]]:
    """The values of the keys that the objects call for (a key that is only asked for depends on who asks)."""
    return {
        "follow": {key: value for key, value in engine.values(FOLLOW) if engine.store.get(key)},  # type: ignore[arg-type]
        "pick": dict(engine.values(PICK)),
        "weigh": {value[0]: value for _, value in engine.values(WEIGH) if value[1]},
    }


objects = st.builds(
    lambda name, colour, link, ask, noise: ConfigMap(
        metadata=ObjectMeta(name=name, namespace="n", labels={"noise": noise}),
        data={"colour": colour, "link": link, "ask": ask},
    ),
    st.sampled_from(NAMES),
    st.sampled_from(COLOURS),
    st.sampled_from((*NAMES, "")),
    st.sampled_from((*NAMES, "")),
    st.sampled_from("xy"),
)


class IncrementalEqualsFromScratch(RuleBasedStateMachine):
    """After any edits, run in any portions, the values are those that a fresh engine gets from the final objects."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = new_engine()
        self.objects: dict[Ref, ConfigMap] = {}
        self.unreadable: dict[Ref, Problem] = {}
        self.clock = START

    @rule(obj=objects)
    def put(self, obj: ConfigMap) -> None:
        self.objects[obj.ref] = obj
        self.unreadable.pop(obj.ref, None)
        self.engine.put(obj)

    @rule(name=st.sampled_from(NAMES), colour=st.sampled_from(COLOURS))
    def spoil(self, name: str, colour: str) -> None:
        problem = Problem(UNREADABLE, f"no {colour}", view_ref(name))
        if problem.about not in self.objects:  # else what was known of it counts
            self.unreadable[problem.about] = problem
        self.engine.put_unreadable(problem)

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: str) -> None:
        self.objects.pop(view_ref(name), None)
        self.unreadable.pop(view_ref(name), None)
        self.engine.remove(view_ref(name))

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.clock += timedelta(seconds=seconds)
        self.engine.advance(self.clock)

    @rule()
    def run(self) -> None:
        self.engine.run_stale()

    @invariant()
    def equals_from_scratch(self) -> None:
        self.engine.run_stale()
        fresh = new_engine([PICK, WEIGH, FOLLOW])
        fresh.advance(self.clock)
        for obj in sorted(self.objects.values(), key=lambda o: o.metadata.name, reverse=True):
            fresh.put(obj)
        for problem in self.unreadable.values():
            fresh.put_unreadable(problem)
        fresh.run_stale()
        assert not self.engine.failures
        assert not self.engine.stopped
        assert wanted_values(self.engine) == wanted_values(fresh)
        assert self.engine.run_stale() == []


TestIncrementalEqualsFromScratch = IncrementalEqualsFromScratch.TestCase
TestIncrementalEqualsFromScratch.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


@given(st.lists(objects, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_events_does_not_matter(edits: list[ConfigMap], random: Any) -> None:
    final = {obj.ref: obj for obj in edits}
    one, other = new_engine(), new_engine()
    for obj in edits:
        one.put(obj)
        one.run_stale()
    shuffled = list(final.values())
    random.shuffle(shuffled)
    for obj in shuffled:
        other.put(obj)
    other.run_stale()
    assert wanted_values(one) == wanted_values(other)


@given(st.lists(objects, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_same_view_gives_the_same_outcome_and_the_same_reads(edits: list[ConfigMap]) -> None:
    engine = new_engine()
    for obj in edits:
        engine.put(obj)
    engine.run_stale()
    for key, value in engine.values(PICK):
        view = View(engine, PICK)
        assert PICK.run(key, view) == value
        assert view.reads == engine.reads_of(PICK, key)


@given(st.lists(objects, min_size=1, max_size=12), st.sampled_from(NAMES))
@settings(max_examples=60, deadline=None)
def test_a_change_that_no_run_read_reruns_nothing(edits: list[ConfigMap], name: str) -> None:
    engine = new_engine()
    for obj in edits:
        engine.put(obj)
    engine.run_stale()
    unread = Ref("", "ConfigMap", "elsewhere", name)
    read = {cell for one in engine.rules for key, _ in engine.values(one) for cell in engine.reads_of(one, key)}
    assert unread not in read
    ran: list[Any] = []
    before = {one.name: one.run for one in engine.rules}
    for one in engine.rules:
        one.run = counted(one.run, ran)
    try:
        engine.remove(unread)
        assert engine.run_stale() == []
    finally:
        for one in engine.rules:
            one.run = before[one.name]
    assert ran == []


def counted(function: Any, ran: list[Any]) -> Any:
    def run(key: Any, view: View) -> Any:
        ran.append(key)
        return function(key, view)

    return run
