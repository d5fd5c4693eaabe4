"""The garbage collector, out of the way while a whole cluster is read in."""

from __future__ import annotations

import gc


class Collector:
    """Pauses collection during the first list, and afterwards leaves what was read out of every later one.

    Measured: with collection on, decoding 100,000 routes takes three times as long; each full collection afterwards
    would look at all of them again, though they live as long as the process.
    """

    def __init__(self) -> None:
        self._is_paused = False
        self._was_enabled = True

    def pause(self) -> None:
        self._was_enabled = gc.isenabled()
        self._is_paused = True
        gc.disable()

    def resume(self) -> None:
        """Once, after the first pass; later calls do nothing."""
        if not self._is_paused:
            return
        self._is_paused = False
        gc.freeze()
        if self._was_enabled:
            gc.enable()
