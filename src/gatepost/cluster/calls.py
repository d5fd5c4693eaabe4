"""Carries out planned requests: finds the path and version that the cluster serves, and sends them."""

from __future__ import annotations

from gatepost.cluster.client import APPLY_PATCH, MERGE_PATCH, Client
from gatepost.cluster.discovery import Discovery, ServedKind
from gatepost.cluster.errors import ApiError
from gatepost.objects.kinds import BY_GROUP_KIND
from gatepost.objects.refs import Ref
from gatepost.writes.requests import MANAGER, Request


class Calls:
    """Reads and writes single objects."""

    def __init__(self, client: Client, discovery: Discovery) -> None:
        self._client = client
        self._discovery = discovery

    async def send(self, request: Request) -> bytes:
        """Sends a writing call. Returns: the answer.

        Raises: WriteWithheld in a dry run, ApiError if the server refuses, Unreachable.
        """
        ref = request.ref
        served = await self._served(ref)
        try:
            return await self._send(request, ref, served)
        except ApiError as error:
            self._doubt(ref, error)
            raise

    async def _send(self, request: Request, ref: Ref, served: ServedKind) -> bytes:
        if request.kind == "create":
            body = {**request.body, "apiVersion": served.api_version}
            return await self._client.write("POST", served.path(ref.namespace), {"fieldManager": MANAGER}, body)
        path = served.path(ref.namespace, ref.name, request.subresource)
        if request.kind == "delete":
            return await self._client.write("DELETE", path, {}, request.body)
        if request.kind == "merge":
            return await self._client.write("PATCH", path, {"fieldManager": MANAGER}, request.body, MERGE_PATCH)
        body = {**request.body, "apiVersion": served.api_version}
        # Forced: the fields of a wish are ours by contract, whoever wrote them before.
        params = {"fieldManager": MANAGER, "force": "true"}
        return await self._client.write("PATCH", path, params, body, APPLY_PATCH)

    async def read(self, ref: Ref) -> bytes | None:
        """The object, None if there is none. Raises: ApiError, Unreachable."""
        served = await self._served(ref)
        try:
            return await self._client.read(served.path(ref.namespace, ref.name))
        except ApiError as error:
            if error.is_not_found:
                return None
            self._doubt(ref, error)
            raise

    def _doubt(self, ref: Ref, error: ApiError) -> None:
        """A path that is not served any more, in a version that went: the next call looks for one that is."""
        if error.code == 404 and not error.is_not_found:
            self._discovery.forget(ref.group)

    async def _served(self, ref: Ref) -> ServedKind:
        type_ = BY_GROUP_KIND.get(ref.group_kind)
        served = await self._discovery.find(ref.group_kind, type_.KIND.versions if type_ is not None else ())
        if served is None:
            self._discovery.forget(ref.group)
            raise ApiError(404, "NotServed", f"the cluster serves no {ref.group_kind}; install its custom resources")
        return served
