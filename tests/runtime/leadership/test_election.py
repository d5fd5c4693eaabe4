"""The flags of leader election: which would let terms overlap, or end at once."""

from __future__ import annotations

from typing import Any

import pytest

from gatepost.runtime.leadership.election import Election


def test_the_defaults_are_those_of_other_controllers() -> None:
    times = Election(leader_elect=True).times
    assert (times.duration_seconds, times.renew_deadline_seconds, times.retry_period_seconds) == (15, 10, 2)
    assert Election(leader_elect=True).check() == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"lease_duration": 10.0},
            "--leader-elect-renew-deadline: found 10s, wanted less than the lease duration, 10s",
        ),
        (
            {"retry_period": 9.0},
            "--leader-elect-retry-period: found 9s, 1.2 times of which must be less than the renew deadline, 10s",
        ),
        ({"retry_period": 0.0}, "--leader-elect-retry-period: found 0s, wanted more than 0"),
        (
            {"lease_duration": 0.5, "renew_deadline": 0.2, "retry_period": 0.1},
            "--leader-elect-lease-duration: found 0.5s, wanted at least 1s",
        ),
        ({"resource_name": ""}, "--leader-elect-resource-name: found nothing, wanted the name of a Lease"),
    ],
)
def test_each_flag_that_cannot_work_is_named_with_what_was_found(given: dict[str, Any], told: str) -> None:
    flags = {f"leader_elect_{name}": value for name, value in given.items()}
    assert Election(leader_elect=True, **flags).check() == (told,)
    assert Election(leader_elect=False, **flags).check() == ()
