"""In which order an outcome is carried out, and what is left out after a refusal."""

from __future__ import annotations

from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, Delete, Outcome, Subject
from gatepost.writes.steps import FinalizersStep, StatusStep, first_steps, last_steps

OWN = Ref("", "ConfigMap", "shop", "own")
NEW = Ref("", "ConfigMap", "shop", "new")
OTHER = Ref("", "ConfigMap", "shop", "other")


def applied(ref: Ref) -> Apply:
    return Apply({"apiVersion": "v1", "kind": ref.kind, "metadata": {"name": ref.name, "namespace": ref.namespace}})


REPLACEMENT = applied(NEW)
OLD = Delete(OTHER, "u-1", "replaced")


def outcome() -> Outcome:
    return Outcome(
        about=Subject(OWN, "v1"), applies=[REPLACEMENT], deletes=[OLD], finalizers=("a",), status={"note": "done"}
    )


def test_finalizers_that_come_are_before_and_those_that_go_after_the_objects() -> None:
    assert first_steps(outcome()) == (FinalizersStep(OWN, ("a",), releases=False), REPLACEMENT)
    assert last_steps(outcome(), refused=()) == (
        OLD,
        FinalizersStep(OWN, ("a",), releases=True),
        StatusStep(OWN, {"note": "done"}),
    )


def test_nothing_is_deleted_released_or_called_done_after_a_refusal() -> None:
    assert last_steps(outcome(), refused=(NEW,)) == ()


def test_a_refusal_is_told_by_the_status_that_the_outcome_has_for_it() -> None:
    wish = outcome()
    wish.status_if_refused[NEW] = {"note": "refused"}
    assert last_steps(wish, refused=(OTHER, NEW)) == (StatusStep(OWN, {"note": "refused"}),)


def test_the_objects_of_one_that_is_gone_are_still_deleted() -> None:
    assert last_steps(Outcome(deletes=[OLD]), refused=()) == (OLD,)


def test_coming_finalizers_take_none_away_and_the_last_step_does() -> None:
    assert FinalizersStep(OWN, ("ours",), releases=False).after(("theirs",)) == ("theirs", "ours")
    assert FinalizersStep(OWN, ("ours",), releases=True).after(("theirs", "ours")) == ("ours",)
    assert FinalizersStep(OWN, (), releases=False).after(("ours",)) == ("ours",)


def test_finalizers_in_another_order_are_as_wanted() -> None:
    assert FinalizersStep(OWN, ("a", "b"), releases=True).after(("b", "a")) == ("b", "a")
