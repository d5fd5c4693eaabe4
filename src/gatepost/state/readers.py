"""Which runs read which cell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from gatepost.state.run import Run


class Readers:
    """Cell -> the runs that read it. One reader stands alone: of most cells there is no other, and sets are large."""

    __slots__ = ("_by_cell",)

    def __init__(self) -> None:
        self._by_cell: dict[Hashable, Run | set[Run]] = {}

    def __contains__(self, cell: Hashable) -> bool:
        return cell in self._by_cell

    def of(self, cell: Hashable) -> Iterable[Run]:
        readers = self._by_cell.get(cell)
        if readers is None:
            return ()
        return readers if isinstance(readers, set) else (readers,)

    def replace(self, run: Run, before: tuple[Hashable, ...], after: tuple[Hashable, ...]) -> list[Hashable]:
        """Puts the new reads of a run in the place of its old ones. Returns: the cells that nobody reads any more."""
        unread: list[Hashable] = []
        if before:
            kept = set(after)
            unread = [cell for cell in before if cell not in kept and self._remove(cell, run)]
        for cell in after:
            self._add(cell, run)
        return unread

    def _add(self, cell: Hashable, run: Run) -> None:
        readers = self._by_cell.get(cell)
        if readers is None:
            self._by_cell[cell] = run
        elif isinstance(readers, set):
            readers.add(run)
        elif readers is not run:
            self._by_cell[cell] = {readers, run}

    def _remove(self, cell: Hashable, run: Run) -> bool:
        """Returns: whether nobody reads the cell any more."""
        readers = self._by_cell.get(cell)
        if isinstance(readers, set):
            readers.discard(run)
            if readers:
                return False
        elif readers is not run:
            return False
        del self._by_cell[cell]
        return True
