"""The algebra of conditions: which mark gives the top condition its status and reason."""

from __future__ import annotations

from gatepost.objects.conditions import ConditionSet
from gatepost.objects.meta import Condition, condition_of

OLD, OLDER = "2026-02-02T00:00:00Z", "2026-01-01T00:00:00Z"


def new_set(*current: Condition) -> ConditionSet:
    return ConditionSet("Ready", ("A", "B"), current)


def top(conditions: ConditionSet) -> tuple[str, str]:
    ready = condition_of(conditions.result(), "Ready")
    assert ready is not None
    return ready.status, ready.reason


def test_missing_conditions_start_unknown() -> None:
    conditions = new_set()
    conditions.initialize()
    assert [(c.type, c.status) for c in conditions.result()] == [
        ("A", "Unknown"),
        ("B", "Unknown"),
        ("Ready", "Unknown"),
    ]


def test_a_missing_dependent_of_a_ready_object_starts_true() -> None:
    conditions = new_set(Condition("Ready", "True"))
    conditions.initialize()
    assert [(c.type, c.status) for c in conditions.result()] == [("A", "True"), ("B", "True"), ("Ready", "True")]


def test_all_dependents_true_make_the_top_true() -> None:
    conditions = new_set()
    conditions.mark_true("A")
    assert top(conditions) == ("Unknown", "")
    conditions.mark_true("B")
    assert top(conditions) == ("True", "")


def test_the_last_failure_marked_gives_the_reason() -> None:
    conditions = new_set()
    conditions.mark_false("A", "FirstFailure", "")
    conditions.mark_false("B", "SecondFailure", "")
    assert top(conditions) == ("False", "SecondFailure")


def test_an_unknown_never_hides_a_false() -> None:
    conditions = new_set()
    conditions.mark_false("A", "Broken", "")
    conditions.mark_unknown("B", "Waiting", "")
    assert top(conditions) == ("False", "Broken")


def test_an_unknown_makes_the_top_false_when_another_dependent_is_false_and_the_top_was_not() -> None:
    conditions = new_set(Condition("A", "False", "Broken"), Condition("Ready", "Unknown", "Reset"))
    conditions.mark_unknown("B", "Waiting", "")
    assert top(conditions) == ("False", "Waiting")


def test_an_unknown_without_a_false_makes_the_top_unknown() -> None:
    conditions = new_set(Condition("A", "True"), Condition("B", "True"), Condition("Ready", "True"))
    conditions.mark_unknown("B", "Waiting", "")
    assert top(conditions) == ("Unknown", "Waiting")


def test_a_condition_outside_the_set_does_not_touch_the_top_and_is_only_informative() -> None:
    conditions = new_set(Condition("A", "True"), Condition("B", "True"), Condition("Ready", "True"))
    conditions.mark_false("Extra", "Whatever", "")
    assert top(conditions) == ("True", "")
    assert [c.severity for c in conditions.result()] == ["", "", "Info", ""]


def test_after_a_true_the_reason_is_that_of_the_newest_false_among_the_rest() -> None:
    conditions = ConditionSet(
        "Ready",
        ("A", "B", "C"),
        [
            Condition("A", "False", "Newer", last_transition_time=OLD),
            Condition("B", "False", "Older", last_transition_time=OLDER),
            Condition("C", "False", "Now", last_transition_time=OLD),
            Condition("Ready", "False", "Now"),
        ],
    )
    conditions.mark_true("C")
    assert top(conditions) == ("False", "Newer")


def test_of_several_that_changed_at_the_same_time_the_first_by_type_gives_the_reason() -> None:
    conditions = ConditionSet(
        "Ready",
        ("C", "B", "A"),
        [
            Condition("A", "False", "First", last_transition_time=OLD),
            Condition("B", "False", "Second", last_transition_time=OLD),
            Condition("C", "True", last_transition_time=OLD),
            Condition("Ready", "False", "Second", last_transition_time=OLD),
        ],
    )
    conditions.mark_true("C")
    assert top(conditions) == ("False", "First")


def test_the_top_marked_unknown_is_false_while_a_dependent_is() -> None:
    conditions = new_set(Condition("A", "False", "Broken"), Condition("B", "True"), Condition("Ready", "True"))
    conditions.mark_unknown("Ready", "Reset", "")
    assert top(conditions) == ("False", "Reset")


def test_a_false_before_an_unknown_even_if_the_unknown_is_newer() -> None:
    conditions = ConditionSet(
        "Ready",
        ("A", "B", "C"),
        [
            Condition("A", "Unknown", "NewerUnknown", last_transition_time=OLD),
            Condition("B", "False", "OlderFalse", last_transition_time=OLDER),
        ],
    )
    conditions.mark_true("C")
    assert top(conditions) == ("False", "OlderFalse")


def test_a_condition_that_comes_out_equal_keeps_its_time() -> None:
    before = Condition("A", "True", last_transition_time=OLDER)
    conditions = new_set(before)
    conditions.mark_unknown("A", "Looking", "")
    conditions.mark_true("A")
    assert condition_of(conditions.result(), "A") == before


def test_a_condition_that_changed_has_no_time_until_it_is_written() -> None:
    conditions = new_set(Condition("A", "True", last_transition_time=OLDER))
    conditions.mark_false("A", "Broken", "")
    changed = condition_of(conditions.result(), "A")
    assert changed is not None
    assert changed.last_transition_time is None
