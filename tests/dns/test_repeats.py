"""Updates that a provider takes and does not keep."""

from __future__ import annotations

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.plan import Cause, PlannedChange
from gatepost.dns.repeats import Repeats
from gatepost.objects.refs import Ref

CART = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "cart")


def update(ttl: int) -> PlannedChange:
    old, new = (Endpoint("app.example.com", "A", ("192.0.2.1",), seconds) for seconds in (300, ttl))
    return PlannedChange("update", old, new, (Cause("ttl", f"300 -> {ttl}", CART),))


def test_an_update_that_never_takes_is_told_after_three_rounds_and_not_sent_again() -> None:
    repeats = Repeats()
    for _ in range(3):
        assert repeats.sift([update(60)]) == ((update(60),), ())
    for _ in range(2):
        worth, problems = repeats.sift([update(60)])
        assert worth == ()
        assert [(problem.reason, problem.about) for problem in problems] == [("UpdateDoesNotTake", CART)]


def test_another_update_of_the_record_is_sent() -> None:
    repeats = Repeats()
    for _ in range(4):
        repeats.sift([update(60)])
    assert repeats.sift([update(90)]) == ((update(90),), ())


def test_creations_and_deletions_always_go() -> None:
    repeats = Repeats()
    gone = PlannedChange("delete", Endpoint("app.example.com", "A"), None, (Cause("gone", "is gone"),))
    for _ in range(5):
        assert repeats.sift([gone]) == ((gone,), ())


def test_only_rounds_in_a_row_count() -> None:
    repeats = Repeats()
    for _ in range(3):
        repeats.sift([update(60)])
    repeats.keep_only([])  # a round in which it was not planned: it took, and what comes now was done by others
    assert repeats.sift([update(60)]) == ((update(60),), ())


def test_an_update_that_was_refused_was_not_made() -> None:
    repeats = Repeats()
    for _ in range(5):
        assert repeats.sift([update(60)]) == ((update(60),), ())
        repeats.forget([update(60).record.key])
