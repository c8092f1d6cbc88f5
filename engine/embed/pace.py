"""How fast something goes, over the last half minute, and how long the rest will take."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.core.clock import Clock

WINDOW_S = 30.0


class Pace:
    """Counts work as it is done. Used by one thread, read by others."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._done: deque[tuple[float, float, int]] = deque()

    def add(self, started: float, count: int) -> None:
        """Note that `count` were done since `started` (monotonic seconds)."""
        now = self._clock.monotonic()
        self._done.append((started, now, count))
        while self._done and now - self._done[0][1] > WINDOW_S:
            self._done.popleft()

    @property
    def rate(self) -> float | None:
        """Per second of work; pauses between do not count. None when nothing was done lately."""
        done = [each for each in tuple(self._done) if self._clock.monotonic() - each[1] <= WINDOW_S]
        seconds = sum(end - start for start, end, _ in done)
        return sum(count for _, _, count in done) / seconds if seconds > 0 else None

    def eta_s(self, left: int) -> float | None:
        """Seconds that so many more will take, None when it cannot be told."""
        rate = self.rate
        return left / rate if rate and left else None
