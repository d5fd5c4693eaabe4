"""Whether replicas share a Lease, which one, and how long things take: flags as Kubernetes' own controllers have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

RETRY_JITTER = 1.2
"""A follower waits for up to this many retry periods. Source: client-go, leaderelection.JitterFactor."""


class LeaseTimes(Struct, frozen=True, kw_only=True):
    """How long things take. Source of the defaults: Kubernetes' component-base, LeaderElectionConfiguration.

    Attributes:
        duration_seconds: how long a Lease that is not renewed keeps others away.
        renew_deadline_seconds: how long a leader that cannot renew still leads.
        retry_period_seconds: how long it is between two tries.
    """

    duration_seconds: float = 15.0
    renew_deadline_seconds: float = 10.0
    retry_period_seconds: float = 2.0


class Election(Struct, frozen=True, kw_only=True):
    """The flags, described as the fields of `DnsSettings` are. Times are in seconds.

    Source: the flags of Kubernetes' component-base, LeaderElectionConfiguration, with its defaults but for the names.
    """

    leader_elect: Annotated[
        bool,
        Meta(
            description="Write only while holding a Lease, so that several replicas can run; the others follow. "
            "A dry run holds none."
        ),
    ] = False
    leader_elect_lease_duration: Annotated[
        float, Meta(description="How long the others leave a Lease alone that is not renewed.")
    ] = 15.0
    leader_elect_renew_deadline: Annotated[
        float, Meta(description="How long a leader that cannot renew the Lease still writes.")
    ] = 10.0
    leader_elect_retry_period: Annotated[
        float, Meta(description="How long to wait between two tries to take or renew the Lease.")
    ] = 2.0
    leader_elect_resource_name: Annotated[str, Meta(description="Name of the Lease.")] = "gatepost"
    leader_elect_resource_namespace: Annotated[
        str, Meta(description="Namespace of the Lease.  [default: that of the Pod, or of the kubeconfig's context]")
    ] = ""

    @property
    def times(self) -> LeaseTimes:
        return LeaseTimes(
            duration_seconds=self.leader_elect_lease_duration,
            renew_deadline_seconds=self.leader_elect_renew_deadline,
            retry_period_seconds=self.leader_elect_retry_period,
        )

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, a line for each."""
        return tuple(self._wrong()) if self.leader_elect else ()

    def _wrong(self) -> Iterator[str]:
        duration, deadline = self.leader_elect_lease_duration, self.leader_elect_renew_deadline
        period = self.leader_elect_retry_period
        if duration < 1:  # the Lease has whole seconds
            yield f"--leader-elect-lease-duration: found {duration:g}s, wanted at least 1s"
        if not deadline < duration:  # or a leader would still write while the next one does
            wanted = f"wanted less than the lease duration, {duration:g}s"
            yield f"--leader-elect-renew-deadline: found {deadline:g}s, {wanted}"
        if period <= 0:
            yield f"--leader-elect-retry-period: found {period:g}s, wanted more than 0"
        if not period * RETRY_JITTER < deadline:  # or a leader could not even try again in time
            found = f"found {period:g}s, {RETRY_JITTER:g} times of which must be less than the renew deadline"
            yield f"--leader-elect-retry-period: {found}, {deadline:g}s"
        if not self.leader_elect_resource_name:
            yield "--leader-elect-resource-name: found nothing, wanted the name of a Lease"
