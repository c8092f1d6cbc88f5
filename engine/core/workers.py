"""Threads with a name, a stop event and one exception barrier; a worker that dies is started again, with limits."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.clock import Clock

logger = logging.getLogger(__name__)

MAX_RESTARTS = 3
RESTART_WINDOW_S = 600.0
"""A worker that dies more than three times in ten minutes stays down and the engine says so."""

_BACK_OFF_S = (0.5, 5.0, 30.0)


class Worker:
    """Runs a loop on a thread of its own.

    Args:
        name: Of the thread (`engine-ingest`).
        loop: Called with the stop event; returns when it is set. Anything it raises is logged here and it is called
            again after a pause.
        on_failed: Called once when the worker gave up.
    """

    def __init__(
        self, name: str, loop: Callable[[threading.Event], None], *, clock: Clock, on_failed: Callable[[str], None]
    ) -> None:
        self.name = name
        self.stopping = threading.Event()
        self._loop = loop
        self._clock = clock
        self._on_failed = on_failed
        self._deaths: deque[float] = deque()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    @property
    def restarts(self) -> int:
        """How often it died within the last ten minutes."""
        return len(self._deaths)

    def start(self) -> None:
        """Start the thread. Once."""
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """Ask the loop to end and wait. False when it is late."""
        self.stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._loop(self.stopping)
            except Exception:
                logger.exception("Worker %s failed", self.name)
            else:
                return
            now = self._clock.monotonic()
            self._deaths.append(now)
            while self._deaths and now - self._deaths[0] > RESTART_WINDOW_S:
                self._deaths.popleft()
            if len(self._deaths) > MAX_RESTARTS:
                self._on_failed(self.name)
                return
            self.stopping.wait(_BACK_OFF_S[min(len(self._deaths), len(_BACK_OFF_S)) - 1])
