"""Ownership in DNSRecord objects of the cluster, one for each record.

Every write is bound to the object as it was just read, so one that changed hands meanwhile stays as it is.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import structs

from gatepost.cluster.calls import Calls
from gatepost.cluster.client import Client
from gatepost.cluster.decoding import ObjectDecoder, page_in
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.errors import ApiError, ClusterError
from gatepost.dns.endpoint import EndpointKey
from gatepost.dns.ownership.stored import Entry
from gatepost.kubernetes.merge import merge_patch_between
from gatepost.log_fields import fields
from gatepost.objects.dnsrecord import DNSRecord
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.times import timestamp
from gatepost.registries.contract import EntryResult, RegistryError
from gatepost.registries.record_objects import (
    ACCEPTED,
    FAILED,
    PROGRAMMED,
    Raw,
    entry_of,
    new_object,
    object_name,
    owner_in,
    spec_of,
    status_with,
)
from gatepost.writes.requests import Request, status_request

log = logging.getLogger("gatepost.dns")

_KIND = DNSRecord.KIND
_PAGE_SIZE = "500"
_AT_ONCE = 8
_TRIES = 3

_T = TypeVar("_T")
_R = TypeVar("_R")


class _Changing(Exception):
    """Somebody changes an object again and again."""


class DnsRecordStore:
    """An OwnershipStore (see contract.py) in one namespace.

    Args: now: the time, for conditions.
    """

    def __init__(self, client: Client, namespace: str, now: Callable[[], datetime]) -> None:
        self._client = client
        self._discovery = Discovery(client)
        self._calls = Calls(client, self._discovery)
        self._namespace = namespace
        self._now = now
        self._claimed: dict[EndpointKey, Raw] = {}  # as they were last seen, until it is known what became of them

    async def read(self) -> Sequence[Entry]:
        try:
            served = await self._discovery.find(_KIND.group_kind, _KIND.versions)
            if served is None:
                self._discovery.forget(_KIND.group)
                raise RegistryError(
                    "--registry: crd needs the kind DNSRecord (externaldns.k8s.io), which the cluster does not serve; "
                    "install its custom resource definition"
                )
            return await self._all(served.path(self._namespace))
        except ClusterError as error:
            raise RegistryError(f"DNSRecords in namespace {self._namespace} cannot be read: {error}") from error

    async def _all(self, path: str) -> list[Entry]:
        decoder = ObjectDecoder(_KIND.group_kind, DNSRecord)
        found: list[Entry] = []
        token = ""
        while True:
            answer = await self._client.read(path, {"limit": _PAGE_SIZE, **({"continue": token} if token else {})})
            try:
                page = page_in(answer)
            except msgspec.DecodeError as error:
                raise RegistryError(f"GET {path}: the answer is cut or no list: {error}") from error
            found += [entry for raw in page.items if (entry := _entry_in(raw, decoder)) is not None]
            token = page.metadata.continue_
            if not token:
                return found

    async def claim(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        return await self._each(entries, self._claim)

    async def release(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        return await self._each(entries, self._release)

    async def settle(self, outcomes: Mapping[EndpointKey, str]) -> None:
        """A condition that cannot be written is told in the log: the next listing finds it due."""
        told = [(self._claimed.pop(key), error) for key, error in outcomes.items() if key in self._claimed]
        await _gathered([self._tell(raw, FAILED if error else PROGRAMMED, error) for raw, error in told])

    async def _each(
        self, entries: Sequence[Entry], do: Callable[[Entry], Awaitable[EntryResult]]
    ) -> Sequence[EntryResult]:
        async def done(entry: Entry) -> EntryResult:
            try:
                return await do(entry)
            except ApiError as error:
                return EntryResult(entry, f"its DNSRecord {self._ref(entry)}: {error}")
            except _Changing:
                return EntryResult(entry, f"its DNSRecord {self._ref(entry)} is being changed by somebody else")
            except ClusterError as error:
                raise RegistryError(f"DNSRecord {self._ref(entry)}: {error}") from error

        return await _gathered([done(entry) for entry in entries])

    def _ref(self, entry: Entry) -> Ref:
        return _KIND.ref(self._namespace, entry.id or object_name(entry.key))

    async def _claim(self, entry: Entry) -> EntryResult:
        ref = self._ref(entry)
        is_thought_there = bool(entry.id)
        entry = structs.replace(entry, id=ref.name, due="")
        for _ in range(_TRIES):
            current = await self._read(ref) if is_thought_there else None
            is_thought_there = True
            try:
                if current is None:
                    await self._accept(
                        entry, await self._send(Request("create", ref, new_object(entry, ref.namespace)))
                    )
                    return EntryResult(entry, is_new=True)
                if owner_in(current) != entry.owner:
                    return EntryResult(entry, _foreign(ref, current))
                await self._update(entry, ref, current)
                return EntryResult(entry)
            except ApiError as error:
                if not error.is_conflict and not error.is_not_found:
                    raise
        raise _Changing

    async def _update(self, entry: Entry, ref: Ref, current: Raw) -> None:
        patch = merge_patch_between(current.get("spec") or {}, spec_of(entry))
        if not patch:
            self._claimed[entry.key] = current
            return
        bound = {"spec": patch, "metadata": {"resourceVersion": current["metadata"]["resourceVersion"]}}
        await self._accept(entry, await self._send(Request("merge", ref, bound)))

    async def _accept(self, entry: Entry, raw: Raw) -> None:
        self._claimed[entry.key] = await self._tell(raw, ACCEPTED, "")

    async def _release(self, entry: Entry) -> EntryResult:
        self._claimed.pop(entry.key, None)
        ref = self._ref(entry)
        current = await self._read(ref)
        if current is None:
            return EntryResult(entry)
        if owner_in(current) != entry.owner:
            return EntryResult(entry, _foreign(ref, current))
        bound = {key: current["metadata"][key] for key in ("uid", "resourceVersion")}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": bound}
        try:
            await self._calls.send(Request("delete", ref, options))
        except ApiError as error:
            if not error.is_not_found:
                raise
        return EntryResult(entry)

    async def _tell(self, raw: Raw, reason: str, message: str) -> Raw:
        """Writes the Ready condition. Returns: the object as it is then."""
        ref = _KIND.ref(self._namespace, raw["metadata"]["name"])
        try:
            for _ in range(_TRIES):
                request = status_request(ref, status_with(raw, reason, message), raw, timestamp(self._now()))
                if request is None:
                    return raw
                try:
                    return await self._send(request)
                except ApiError as error:
                    newer = await self._read(ref) if error.is_conflict else None
                    if newer is None:
                        raise
                    raw = newer
        except ClusterError as error:
            log.warning("the condition of a DNSRecord is not written", extra=fields(ref=ref, error=error))
        return raw

    async def _read(self, ref: Ref) -> Raw | None:
        answer = await self._calls.read(ref)
        return json.loads(answer) if answer is not None else None

    async def _send(self, request: Request) -> Raw:
        answer: Raw = json.loads(await self._calls.send(request))
        return answer


def _entry_in(raw: msgspec.Raw, decoder: ObjectDecoder[DNSRecord]) -> Entry | None:
    """None for one that cannot be read: its record counts as nobody's, and is left alone."""
    try:
        return entry_of(decoder.decode(raw)[1])
    except UnreadableObject as error:
        log.warning("a DNSRecord cannot be read", extra=fields(error=error))
        return None


def _foreign(ref: Ref, current: Raw) -> str:
    return f"its DNSRecord {ref} belongs to {owner_in(current) or 'nobody'}"


async def _gathered(work: Sequence[Awaitable[_R]]) -> list[_R]:
    """The results of work that is done a few at a time, in order. An error is raised once all has come to rest."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def in_turn(one: Awaitable[_R]) -> _R:
        async with room:
            return await one

    results = await asyncio.gather(*(in_turn(one) for one in work), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
