"""How far reading is, and how fast it goes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.core.clock import Clock
    from engine.core.errors import StorageFailure

_WINDOW_S = 10.0


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far reading is."""

    files_pending: int
    bytes_pending: int
    bytes_done: int
    """Since the engine started."""
    rate: float | None
    """Bytes a second over the last ten seconds; None while nothing is read."""
    last_ms: int | None
    problem: StorageFailure | None


class Meter:
    """Counts bytes and tells their rate. Written by one thread, read by any.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, int]] = deque()
        self.total = 0

    def count(self, size: int) -> None:
        """Add bytes that were read now."""
        self.total += size
        now = self._clock.monotonic()
        self._recent.append((now, size))
        while self._recent and now - self._recent[0][0] > _WINDOW_S:
            self._recent.popleft()

    @property
    def rate(self) -> float | None:
        """Bytes a second over the last ten seconds, None while too little is known."""
        recent = list(self._recent)
        if len(recent) < 2:
            return None
        span = self._clock.monotonic() - recent[0][0]
        if span <= 0 or span > 2 * _WINDOW_S:
            return None
        return sum(size for _, size in recent) / span
