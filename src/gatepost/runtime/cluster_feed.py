"""Watches kinds of a cluster, more of them whenever a rule asks for one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from gatepost.cluster.client import Client
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.errors import ClusterError
from gatepost.cluster.mirror import Mirror
from gatepost.cluster.reflector import Reflector, WatchedKind
from gatepost.log_fields import fields
from gatepost.objects.core import ConfigMap
from gatepost.objects.kinds import type_for
from gatepost.objects.meta import KubernetesObject, controller_of
from gatepost.objects.refs import GroupKind, group_of
from gatepost.objects.serving import Addressable
from gatepost.objects.settings import Settings

log = logging.getLogger("gatepost.feed")


class ClusterFeed:
    """Runs one reflector for each kind, all into one mirror.

    Args:
        settings: where Knative's ConfigMaps lie. Others are not watched: configuration of other programs is none of our
            business, and there may be a lot of it.
        written: kinds that gatepost writes to; their objects, and those that one of them controls, are kept raw.
        whole: the kinds of Routes that keep their rules.
    """

    def __init__(
        self,
        client: Client,
        discovery: Discovery,
        mirror: Mirror,
        settings: Settings,
        *,
        written: frozenset[GroupKind] = frozenset(),
        whole: frozenset[GroupKind] = frozenset(),
    ) -> None:
        self._client = client
        self._discovery = discovery
        self._mirror = mirror
        self._namespaces = {ConfigMap.KIND.group_kind: settings.system_namespace}
        self._written = written
        self._whole = whole
        self._tasks: dict[GroupKind, asyncio.Task[None]] = {}

    def watch(self, group_kind: GroupKind) -> None:
        """Begins to feed a kind; nothing happens if it is fed already."""
        if group_kind in self._tasks:
            return
        type_ = type_for(group_kind)
        watched = WatchedKind(
            group_kind,
            type_,
            () if type_ is Addressable else type_.KIND.versions,
            self._namespaces.get(group_kind, ""),
            self._keeps_raw(group_kind),
            group_kind in self._whole,
        )
        self._mirror.watch(watched)
        reflector = Reflector(self._client, self._discovery, watched, self._mirror)
        task = asyncio.create_task(reflector.run(), name=f"reflector of {group_kind}")
        task.add_done_callback(lambda ended: self._note_end(group_kind, ended))
        self._tasks[group_kind] = task

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        for task in self._tasks.values():
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        self._tasks.clear()

    def _note_end(self, group_kind: GroupKind, ended: asyncio.Task[None]) -> None:
        """A reflector that ends has a fault of ours: its kind stands still from now on, the others go on."""
        error = None if ended.cancelled() else ended.exception()
        if error is not None:
            log.error("a reflector stopped; this is a fault of gatepost", exc_info=error, extra=fields(kind=group_kind))
            self._mirror.failing(group_kind, ClusterError(f"its reflector stopped: {error!r}"))

    def _keeps_raw(self, group_kind: GroupKind) -> Callable[[KubernetesObject], bool]:
        if group_kind in self._written:
            return lambda _: True
        owners = {(written.group, written.kind) for written in self._written}

        def is_controlled_by_what_we_write(obj: KubernetesObject) -> bool:
            controller = controller_of(obj)
            return controller is not None and (group_of(controller.api_version), controller.kind) in owners

        return is_controlled_by_what_we_write
