"""Objects kept on disk: an append-only log, rewritten when most of it is history.

A line per change, each with a checksum. A write counts as kept once its line is synced; lines that arrive while a
sync runs share the next one. A kill in the middle of a line leaves a torn last line, which is cut off when the
directory is opened again: nobody was told that this write had succeeded.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import msgspec

from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver.errors import DataDirDamaged, DataDirInUse, DataDirUnusable

_FORMAT = "gatepost objects 1"
_FILE = "objects.log"
_COMPACT_FROM_BYTES = 16 * 1024 * 1024

_encode = msgspec.json.Encoder().encode
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the slower one


class Entry(msgspec.Struct, omit_defaults=True):
    """One line of the log: an object as it is from this resourceVersion on, or the one that is gone.

    The first line of a file has `format` instead: it carries on the resourceVersion counter, and says how many objects
    of that time follow. After them each line has the next version. A log that is rewritten while changes come in has
    some of these changes once more, as lines of versions that the first line has counted already.
    """

    rv: int
    put: Raw | None = None
    delete: tuple[str, str, str, str] | None = None
    """group, kind, namespace, name"""
    format: str = ""
    objects: int | None = None
    """None in logs of versions that did not count them."""


class Loaded(msgspec.Struct):
    """What a data directory held when it was opened."""

    objects: list[Raw]
    resource_version: int
    torn: str = ""
    """What was cut off at the end of the log, told for a person; "" if it was whole."""


class Journal:
    """The log of one data directory. Make one with `open_journal`."""

    def __init__(self, directory: Path, lock: IO[str], log: IO[bytes], loaded: Loaded) -> None:
        self.failure: OSError | None = None
        self.torn = loaded.torn
        self.snapshot: Callable[[], tuple[int, list[Raw]]] | None = None
        """Gives the latest resourceVersion and all objects at that moment; without it the log only grows."""
        self._loaded: Loaded | None = loaded
        self._directory = directory
        self._lock = lock
        self._log = log
        self._size_bytes = log.seek(0, os.SEEK_END)
        self._compact_at_bytes = max(_COMPACT_FROM_BYTES, self._size_bytes * 2)
        self._pending = _Batch()
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    def take_loaded(self) -> Loaded:
        """What the directory held, once: the journal does not keep it in memory."""
        loaded, self._loaded = self._loaded, None
        return loaded or Loaded([], 0)

    def append(self, entries: Iterable[Entry], when_kept: Callable[[], None]) -> None:
        """Takes changes in the order they happened.

        Args:
            when_kept: called when they are on disk, in the order of the calls; never if they cannot be written.
        """
        self._pending.lines.extend(_line(_encode(entry)) for entry in entries)
        self._pending.when_kept.append(when_kept)
        if self._flusher is None:
            self._flusher = asyncio.get_running_loop().create_task(self._flush())

    async def settled(self) -> None:
        """Returns when all that was appended before the call is on disk.

        Raises: DataDirUnusable if writing failed; from then on every call raises it.
        """
        if self._flusher is not None and self.failure is None:
            waiting = asyncio.get_running_loop().create_future()
            self._pending.waiting.append(waiting)
            await waiting
        self.raise_if_failed()

    def raise_if_failed(self) -> None:
        """Raises: DataDirUnusable if a write failed before."""
        if self.failure is not None:
            raise DataDirUnusable(self._directory, self.failure)

    async def close(self) -> None:
        """Writes what is left, and lets go of the directory."""
        try:
            await self.settled()
        except DataDirUnusable:
            pass  # those who waited for the write have been told
        finally:
            self._thread.shutdown()
            self._log.close()
            self._lock.close()

    async def _flush(self) -> None:
        while self._pending.lines and self.failure is None:
            batch, self._pending = self._pending, _Batch()
            await self._keep(batch)
        # Whoever began to wait after the last batch was taken waits for nothing more; after a failure, for ever.
        self._flusher = None
        left, self._pending = self._pending, _Batch()
        left.release()

    async def _keep(self, batch: _Batch) -> None:
        loop = asyncio.get_running_loop()
        try:
            if self._size_bytes > self._compact_at_bytes and self.snapshot is not None:
                # The objects are ahead of the log: they hold what is in the batch.
                resource_version, objects = self.snapshot()
                await loop.run_in_executor(self._thread, self._rewrite, resource_version, objects)
            else:
                await loop.run_in_executor(self._thread, self._write, b"".join(batch.lines))
        except OSError as error:
            self.failure = error
        else:
            for kept in batch.when_kept:
                kept()
        batch.release()

    def _write(self, content: bytes) -> None:
        self._log.write(content)
        self._log.flush()
        _sync(self._log.fileno())
        self._size_bytes += len(content)

    def _rewrite(self, resource_version: int, objects: list[Raw]) -> None:
        log, size = _write_log(self._directory, resource_version, objects)
        self._log.close()
        self._log, self._size_bytes = log, size
        self._compact_at_bytes = max(_COMPACT_FROM_BYTES, size * 2)


class _Batch:
    """Lines that are written together, and who is told of it."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.when_kept: list[Callable[[], None]] = []
        self.waiting: list[asyncio.Future[None]] = []

    def release(self) -> None:
        for future in self.waiting:
            if not future.done():
                future.set_result(None)


def open_journal(directory: Path) -> Journal:
    """Opens a data directory, and makes it if it is not there.

    Raises:
        DataDirInUse: another process has it open.
        DataDirDamaged: a line other than the last cannot be read.
        DataDirUnusable: it cannot be made, read or written.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _locked(directory)
    except OSError as error:
        raise DataDirUnusable(directory, error) from error
    try:
        loaded = _load(directory / _FILE)
        # A start with a clean file also drops the history that nobody can ask for any more.
        log, _ = _write_log(directory, loaded.resource_version, loaded.objects)
    except OSError as error:
        lock.close()
        raise DataDirUnusable(directory, error) from error
    except DataDirDamaged:
        lock.close()
        raise
    return Journal(directory, lock, log, loaded)


def _locked(directory: Path) -> IO[str]:
    lock = open(directory / "lock", "a+", encoding="utf-8")  # noqa: SIM115 - it is held while the journal is open
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip()
        lock.close()
        raise DataDirInUse(directory, holder) from error
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _load(path: Path) -> Loaded:
    """What the log holds; nothing if there is none. Raises: DataDirDamaged"""
    *lines, rest = (path.read_bytes() if path.exists() else b"").split(b"\n")
    torn = rest
    replay = _Replay(path)
    for number, line in enumerate(lines, 1):
        try:
            entry = _entry_in(line, is_first=number == 1)
        except (ValueError, msgspec.DecodeError) as error:
            if 1 < number == len(lines) and not rest:
                torn = line
                break
            raise DataDirDamaged(path, number, str(error)) from error
        replay.take(entry, number)
    replay.end(len(lines))
    told = f"{path}: the last line ({len(torn)} bytes) was not written to its end, and is left out" if torn else ""
    return Loaded(list(replay.objects.values()), replay.resource_version, told)


_decode = msgspec.json.Decoder(Entry).decode


def _entry_in(line: bytes, *, is_first: bool) -> Entry:
    """Raises: ValueError or msgspec.DecodeError if the line is damaged."""
    entry = _decode(_checked(line))
    if is_first and entry.format != _FORMAT:
        raise ValueError(f"it is not of format {_FORMAT!r}")
    return entry


class _Replay:
    """The objects of a log, built up line by line."""

    def __init__(self, path: Path) -> None:
        self.objects: dict[tuple[str, str, str, str], Raw] = {}
        self.resource_version = 0
        self._path = path
        self._counted = 0
        """How many objects are still to come that the first line has counted."""

    def take(self, entry: Entry, number: int) -> None:
        """Raises: DataDirDamaged if this cannot be the line with that number, counted from 1."""
        if number == 1:
            self._counted = entry.objects or 0
        elif self._counted:
            if entry.put is None or entry.rv > self.resource_version:
                raise DataDirDamaged(self._path, number, "lines are missing before it")
            self._counted -= 1
        elif entry.rv > self.resource_version + 1:
            raise DataDirDamaged(self._path, number, "lines are missing before it")
        self.resource_version = max(self.resource_version, entry.rv)
        if entry.put is not None:
            self.objects[_key(entry.put)] = entry.put
        elif entry.delete is not None:
            self.objects.pop(entry.delete, None)

    def end(self, line_count: int) -> None:
        """Raises: DataDirDamaged if the log cannot end here."""
        if self._counted:
            raise DataDirDamaged(self._path, line_count, f"{self._counted} lines are missing after it")


def _write_log(directory: Path, resource_version: int, objects: Iterable[Raw]) -> tuple[IO[bytes], int]:
    """Writes a new log beside the old one and puts it in its place in one step."""
    fresh = directory / f"{_FILE}.new"
    log = open(fresh, "wb", opener=_private)  # noqa: SIM115 - it stays open as the log
    try:
        listed = list(objects)
        log.write(_line(_encode(Entry(rv=resource_version, format=_FORMAT, objects=len(listed)))))
        for raw in listed:
            log.write(_line(_encode(Entry(rv=int(raw["metadata"]["resourceVersion"]), put=raw))))
        log.flush()
        os.fsync(log.fileno())
        fresh.replace(directory / _FILE)
        _sync_directory(directory)
    except BaseException:
        log.close()
        raise
    return log, log.tell()


def _private(path: str, flags: int) -> int:
    """Opens for the owner alone: Secrets are among the objects."""
    return os.open(path, flags, 0o600)


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(payload: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(payload), payload)


def _checked(line: bytes) -> bytes:
    checksum, _, payload = line.partition(b" ")
    if len(checksum) != 8 or int(checksum, 16) != zlib.crc32(payload):
        raise ValueError("its checksum does not match")
    return payload


def _key(raw: Raw) -> tuple[str, str, str, str]:
    group, slash, _ = str(raw["apiVersion"]).rpartition("/")
    metadata: dict[str, Any] = raw["metadata"]
    return (group if slash else "", raw["kind"], metadata.get("namespace") or "", metadata["name"])
