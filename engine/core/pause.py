"""A pause that a person asked for: until it is ended, or for a time and then over by itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.core.workers import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.clock import Clock


class Pause:
    """Whether work rests, and until when. Thread-safe.

    Args:
        name: Of the thread that waits for the end of a timed pause (`engine-pause`).
        clock: Time of day.
        apply: Stops the work (True) or lets it go on (False). Called by one thread at a time, must return at once.
        on_change: Called after that, with nothing held.
    """

    def __init__(
        self, name: str, clock: Clock, *, apply: Callable[[bool], None], on_change: Callable[[], None]
    ) -> None:
        self._name = name
        self._clock = clock
        self._apply = apply
        self._on_change = on_change
        self._lock = threading.Lock()
        self._is_on = False
        self._until: float | None = None
        self._timer: Worker | None = None

    @property
    def is_on(self) -> bool:
        """True while work rests."""
        return self._is_on

    @property
    def until(self) -> float | None:
        """When it ends by itself, in seconds since 1970; None when it does not, or there is none."""
        return self._until

    def begin(self, for_s: float | None = None) -> None:
        """Let the work rest. A pause that is on already gets the new end.

        Args:
            for_s: After so many seconds of the machine being awake it goes on by itself; None waits for `end`.
        """
        timer: Worker | None = None
        if for_s is not None:
            timer = Worker(self._name, lambda stopping: self._wait(stopping, for_s), clock=self._clock, on_failed=_gone)
        with self._lock:
            self._switch(on=True, until=None if for_s is None else self._clock.now() + for_s, timer=timer)
        if timer is not None:
            timer.start()
        self._on_change()

    def end(self) -> None:
        """Let the work go on. Without a pause nothing changes."""
        with self._lock:
            self._switch(on=False, until=None, timer=None)
        self._on_change()

    def close(self) -> None:
        """Stop waiting for the end of a timed pause; the pause itself stays as it is."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()

    def _switch(self, *, on: bool, until: float | None, timer: Worker | None) -> None:
        if self._timer is not None:
            self._timer.stopping.set()
        self._is_on, self._until, self._timer = on, until, timer
        self._apply(on)

    def _wait(self, stopping: threading.Event, for_s: float) -> None:
        if stopping.wait(for_s):
            return
        with self._lock:
            if stopping.is_set():  # another pause, or its end, came in between
                return
            self._switch(on=False, until=None, timer=None)
        self._on_change()


def _gone(_worker: str) -> None:
    """The wait for the end gave up, which its log says; the pause stays until somebody ends it."""
