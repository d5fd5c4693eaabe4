"""The Lease by which replicas settle who writes: read, and written only as it was read.

Source: coordination.k8s.io/v1 Lease, as the leader election of client-go uses it.
"""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct, field

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.errors import ApiError, ClusterError, Unreachable
from gatepost.writes.requests import MANAGER


class Lease(Struct, frozen=True, kw_only=True):
    """What a Lease says.

    Attributes:
        holder: the identity of who has it, "" for nobody.
        duration_seconds: for how long others leave it alone after each change; 0 if it does not say.
        transitions: how often it went to another holder.
    """

    holder: str = ""
    duration_seconds: int = 0
    transitions: int = 0
    acquired_utc: datetime | None = None
    renewed_utc: datetime | None = None


class FoundLease(Struct, frozen=True):
    """A Lease as it was read; `revision` is its resourceVersion."""

    lease: Lease
    revision: str


class Outpaced(ClusterError):
    """Somebody else wrote the Lease since it was read."""


class _Spec(Struct, frozen=True, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None


class _Metadata(Struct, frozen=True, rename="camel"):
    resource_version: str = ""


class _Raw(Struct, frozen=True):
    metadata: _Metadata = field(default_factory=_Metadata)
    spec: _Spec = field(default_factory=_Spec)


class ClusterLease:
    """One Lease in a cluster. Other fields of it than those of `Lease` are left as they are."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._name = name
        self._namespace = namespace
        self._folder = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    def __str__(self) -> str:
        return f"Lease {self._namespace}/{self._name}"

    async def read(self) -> FoundLease | None:
        """None if there is none. Raises: ClusterError."""
        try:
            return self._found(await self._client.read(f"{self._folder}/{self._name}"))
        except ApiError as error:
            if error.is_not_found:
                return None
            raise

    async def write(self, lease: Lease, over: FoundLease | None) -> FoundLease:
        """Writes what a Lease says, in place of what was read.

        Args: over: what was read; None to make the Lease.
        Raises: Outpaced if it is not as it was read any more, else ClusterError.
        """
        try:
            answer = await (self._create(lease) if over is None else self._replace(lease, over))
        except ApiError as error:
            if error.is_conflict or error.is_not_found:
                raise Outpaced(f"{self}: {error.message}") from error
            raise
        return self._found(answer)

    async def _create(self, lease: Lease) -> bytes:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": _spec(lease),
        }
        return await self._client.write("POST", self._folder, {"fieldManager": MANAGER}, body)

    async def _replace(self, lease: Lease, over: FoundLease) -> bytes:
        # The server refuses the patch unless the Lease still has this revision: of two who take it, one fails.
        body = {"metadata": {"resourceVersion": over.revision}, "spec": _spec(lease)}
        path = f"{self._folder}/{self._name}"
        return await self._client.write("PATCH", path, {"fieldManager": MANAGER}, body, MERGE_PATCH)

    def _found(self, raw: bytes) -> FoundLease:
        try:
            found = msgspec.json.decode(raw, type=_Raw)
        except msgspec.DecodeError as error:
            raise Unreachable(f"{self}: the answer is cut or no Lease ({error})") from error
        spec = found.spec
        lease = Lease(
            holder=spec.holder_identity or "",
            duration_seconds=spec.lease_duration_seconds or 0,
            transitions=spec.lease_transitions or 0,
            acquired_utc=spec.acquire_time,
            renewed_utc=spec.renew_time,
        )
        return FoundLease(lease, found.metadata.resource_version)


def _spec(lease: Lease) -> dict[str, str | int | None]:
    return {
        "holderIdentity": lease.holder,
        "leaseDurationSeconds": lease.duration_seconds,
        "leaseTransitions": lease.transitions,
        "acquireTime": _micro_time(lease.acquired_utc),
        "renewTime": _micro_time(lease.renewed_utc),
    }


def _micro_time(moment: datetime | None) -> str | None:
    """As Kubernetes writes a MicroTime: RFC 3339, UTC, six digits."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment is not None else None
