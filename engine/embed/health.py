"""Counts the worker's deaths: one may happen to anybody, three in ten minutes mean that it is not to be."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.core.clock import Clock

MAX_DEATHS = 3
WINDOW_S = 600.0


class Health:
    """Remembers deaths for ten minutes, and a refusal until somebody asks again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._deaths: deque[float] = deque()
        self._refusal: str | None = None
        self._refused_at = 0.0

    def died(self) -> None:
        """Note a death."""
        with self._lock:
            self._deaths.append(self._clock.monotonic())

    def refused(self, reason: str) -> None:
        """Note that the model cannot be loaded. It is tried again after ten minutes."""
        with self._lock:
            self._refusal, self._refused_at = reason, self._clock.monotonic()

    def forgive(self) -> None:
        """Forget everything: the person asked to go on."""
        with self._lock:
            self._deaths.clear()
            self._refusal = None

    @property
    def problem(self) -> str | None:
        """Why there is no search by meaning now, None when nothing is wrong."""
        with self._lock:
            now = self._clock.monotonic()
            while self._deaths and now - self._deaths[0] > WINDOW_S:
                self._deaths.popleft()
            if self._refusal is not None and now - self._refused_at <= WINDOW_S:
                return self._refusal
            if len(self._deaths) >= MAX_DEATHS:
                return f"The embedding worker ended {len(self._deaths)} times within ten minutes."
            return None

    @property
    def wait_s(self) -> float | None:
        """After how many seconds it is worth another try, None when nothing is wrong."""
        if self.problem is None:
            return None
        with self._lock:
            first = self._refused_at if self._refusal is not None else self._deaths[-MAX_DEATHS]
            return max(1.0, first + WINDOW_S - self._clock.monotonic() + 1.0)
