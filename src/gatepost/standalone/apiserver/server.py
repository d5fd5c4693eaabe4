"""The server: started on a loopback address, stopped with everything it had open."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import GroupKind, Ref, ref_of
from gatepost.standalone.apiserver import kubeconfig
from gatepost.standalone.apiserver.answers import is_loopback
from gatepost.standalone.apiserver.errors import AddressNotLoopback
from gatepost.standalone.apiserver.history import WINDOW
from gatepost.standalone.apiserver.http import Site
from gatepost.standalone.apiserver.journal import open_journal
from gatepost.standalone.apiserver.pages import Pages
from gatepost.standalone.apiserver.reads import Reads
from gatepost.standalone.apiserver.seed import seed
from gatepost.standalone.apiserver.storage import Storage
from gatepost.standalone.apiserver.writes import Writes
from gatepost.standalone.errors import AddressUnusableError, PortTakenError

BOOKMARK_SECONDS = 60.0


class ApiServer:
    """A Kubernetes API in this process, for kubectl, a gateway and gatepost itself.

    Use it as an asynchronous context manager, or call `start` and `stop`.

    Args:
        host: a loopback address; there is no authentication.
        port: 0 takes a free one, see `url`.
        data_dir: where objects outlive the process; None keeps them in memory.
        crds: CustomResourceDefinitions that take the place of the compact ones (see `definitions.load_crds`).
        window: how many changes can still be watched from the past.
        bookmark_seconds: how often watchers that ask for it are told how far they are.

    Raises: AddressNotLoopback.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        data_dir: Path | str | None = None,
        crds: Iterable[Raw] = (),
        window: int = WINDOW,
        bookmark_seconds: float = BOOKMARK_SECONDS,
    ) -> None:
        if not is_loopback(host):
            raise AddressNotLoopback(host)
        # One address for "localhost": with a free port for each of two, `url` could not name both.
        self._host = "127.0.0.1" if host == "localhost" else host
        self._port = port
        self._data_dir = Path(data_dir) if data_dir is not None else None
        self._crds = tuple(crds)
        self._window = window
        self._bookmark_seconds = bookmark_seconds
        self._storage: Storage | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Returns when requests are answered and the seed objects are there.

        Raises:
            PortTakenError, AddressUnusableError: nobody can listen there.
            DataDirInUse, DataDirDamaged, DataDirUnusable: see `journal.open_journal`.
        """
        journal = open_journal(self._data_dir) if self._data_dir is not None else None
        try:
            self._storage = storage = Storage(journal, self._window)
        except BaseException:
            if journal is not None:
                await journal.close()
            raise
        try:
            seed(storage, self._crds)
            await storage.settled()
            await self._listen(storage)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends all watches, lets requests finish, and closes the data directory."""
        if self._storage is not None:
            self._storage.history.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._storage is not None:
            await self._storage.close()
            self._storage = None

    async def __aenter__(self) -> ApiServer:
        await self.start()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """Where the server listens: "http://127.0.0.1:PORT"."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def recovered(self) -> str:
        """What had to be cut off when the data directory was opened, for a person to read; "" if nothing."""
        return self._storage.recovered if self._storage is not None else ""

    def kubeconfig(self) -> dict[str, Any]:
        """A kubeconfig for this server, as a mapping."""
        return kubeconfig.kubeconfig(self.url)

    def write_kubeconfig(self, path: Path | str) -> None:
        """Writes that kubeconfig to a file.

        Raises: OSError.
        """
        kubeconfig.write_kubeconfig(self.url, Path(path))

    def find(self, ref: Ref) -> Raw | None:
        """The object itself, for a reader in this process: it must not change it. None before the start."""
        return self._storage.find(ref) if self._storage is not None else None

    def select(self, group_kind: GroupKind, namespace: str, matches: Callable[[Raw], bool]) -> list[Raw]:
        """The objects of a kind in a namespace that match, as `find` gives them."""
        return self._storage.select(group_kind, namespace, matches) if self._storage is not None else []

    async def apply(self, raw: Raw, manager: str) -> None:
        """Server-side apply from this process, taking over what other managers set. Raises: ApiError."""
        if self._storage is None:
            raise RuntimeError("the server is not started")
        await self._storage.write(lambda model: model.patch(ref_of(raw), raw, "apply", manager, force=True))

    async def _listen(self, storage: Storage) -> None:
        pages = Pages(time.monotonic)
        site = Site(storage, Reads(storage, pages, self._bookmark_seconds), Writes(storage))
        # Watches end when their client leaves: its handler is cancelled instead of waiting for the next bookmark.
        self._runner = web.AppRunner(
            site.application(), access_log=None, handler_cancellation=True, shutdown_timeout=5.0
        )
        await self._runner.setup()
        listener = web.TCPSite(self._runner, self._host, self._port)
        try:
            await listener.start()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTakenError("API server", self._host, self._port) from error
            raise AddressUnusableError("API server", self._host, self._port, error) from error
        self._port = self._runner.addresses[0][1]
