"""Who leads: decided by what was seen of the Lease, on clocks that differ."""

from __future__ import annotations

from election_world import EPOCH, Replica, Server
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatepost.cluster.lease import FoundLease, Lease
from gatepost.runtime.leadership.candidate import Candidate
from gatepost.runtime.leadership.election import LeaseTimes

TIMES = LeaseTimes(duration_seconds=15, renew_deadline_seconds=10, retry_period_seconds=2)
OFFSETS = (0.0, 100_000.0, -7.5)


def found(holder: str, revision: str = "1", *, duration: int = 15, transitions: int = 0) -> FoundLease:
    return FoundLease(Lease(holder=holder, duration_seconds=duration, transitions=transitions), revision)


REPLICAS = st.sampled_from([0, 0, 1, 1, 2])
MOVES = st.one_of(
    st.tuples(st.just("step"), REPLICAS, st.sampled_from([1, 2, 3, 4, 5, 5, 5])),  # five make a whole try
    st.tuples(st.just("pass"), st.just(0), st.sampled_from([1, 3, 8, 9, 15])),
    st.tuples(st.sampled_from(["give_up", "restart"]), REPLICAS, st.just(1)),
)


@given(st.lists(MOVES, min_size=5, max_size=25))
@example([("step", 0, 5), ("step", 1, 2), ("pass", 0, 15), ("pass", 0, 1), ("step", 1, 3)])  # the leader is away
@example(
    [("step", 0, 5), ("step", 1, 2), ("pass", 0, 9), ("step", 0, 5), ("step", 1, 5), ("pass", 0, 8), ("step", 1, 3)]
)
@example(
    [("step", 0, 4), ("step", 1, 2), ("pass", 0, 8), ("step", 0, 1), ("pass", 0, 8), ("step", 1, 3)]
)  # it hears late
@example([("step", 0, 5), ("restart", 0, 1), ("step", 1, 5)])  # it stops
@settings(max_examples=300, deadline=None)
def test_two_replicas_never_lead_at_once(moves: list[tuple[str, int, int]]) -> None:
    server, true_seconds = Server(), 0.0
    replicas = [Replica(f"r{number}", offset, server, TIMES) for number, offset in enumerate(OFFSETS)]
    for move, number, times in moves:
        if move == "pass":
            true_seconds += times
        else:
            for _ in range(times):
                getattr(replicas[number], move)(true_seconds)
        leading = [replica.candidate.identity for replica in replicas if replica.is_leading(true_seconds)]
        assert len(leading) <= 1, leading


def test_a_lease_that_is_not_there_or_that_nobody_holds_is_taken_at_once() -> None:
    for seen in (None, found("")):
        candidate = Candidate("me", TIMES)
        candidate.see(seen, 0.0)
        assert candidate.may_take(0.0)


def test_the_lease_of_another_is_left_alone_until_it_has_not_changed_for_as_long_as_it_lasts() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(found("other", duration=30), 100.0)
    candidate.see(found("other", duration=30), 129.0)
    assert not candidate.may_take(129.9)
    assert candidate.may_take(130.0)


def test_a_renewal_by_another_starts_the_wait_anew() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(found("other"), 0.0)
    renewed = Lease(holder="other", duration_seconds=15, renewed_utc=EPOCH)
    candidate.see(FoundLease(renewed, "2"), 14.0)
    assert not candidate.may_take(28.9)
    assert candidate.may_take(29.0)


def test_the_times_in_the_lease_do_not_count() -> None:
    candidate = Candidate("me", TIMES)
    years_ago = Lease(holder="other", duration_seconds=15, renewed_utc=EPOCH.replace(year=1999))
    candidate.see(FoundLease(years_ago, "1"), 0.0)
    assert not candidate.may_take(14.9)


def test_a_leader_stops_after_the_renew_deadline_counted_from_before_its_write_was_sent() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(None, 0.0)
    candidate.bid(EPOCH)
    candidate.won(found("me"), 0.0)
    assert candidate.is_leading(9.9)
    assert not candidate.is_leading(10.0)


def test_a_leader_that_finds_another_in_the_lease_stops_at_once() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(None, 0.0)
    candidate.won(found("me"), 0.0)
    candidate.see(found("other", "2"), 1.0)
    assert not candidate.is_leading(1.0)
    assert candidate.leader == "other"


def test_a_lease_that_was_deleted_while_another_held_it_is_not_taken_before_its_time() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(found("other"), 0.0)
    candidate.see(None, 10.0)
    assert not candidate.may_take(14.9)
    assert candidate.may_take(15.0)


def test_a_change_of_hands_is_counted_and_a_renewal_is_not() -> None:
    candidate = Candidate("me", TIMES)
    assert candidate.bid(EPOCH)[0].transitions == 0  # a new Lease
    candidate.see(found("", transitions=4), 0.0)  # as one that resigned leaves it
    assert candidate.bid(EPOCH)[0].transitions == 5
    candidate.see(found("other", transitions=4), 0.0)
    assert candidate.bid(EPOCH)[0].transitions == 5
    candidate.see(found("me", transitions=5), 0.0)
    assert candidate.bid(EPOCH)[0].transitions == 5


def test_only_a_lease_of_ones_own_is_given_back() -> None:
    candidate = Candidate("me", TIMES)
    candidate.see(found("other"), 0.0)
    assert candidate.resignation(EPOCH) is None
    candidate.won(found("me", "7"), 0.0)
    left = candidate.resignation(EPOCH)
    assert left is not None
    assert (left[0].holder, left[1].revision) == ("", "7")
    assert not candidate.is_leading(0.0)
