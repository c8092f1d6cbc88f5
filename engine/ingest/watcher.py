"""Notices changes: the operating system's events, and a periodic look at everything for what it drops.

Where events are not to be had (inotify's limit is reached) it works on by looking more often, and says so.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles._rust_notify import RustNotify

from engine.ingest.scanner import existing_roots

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from engine.core.clock import Clock
    from engine.ingest.pipeline import Ingestor
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)

BUSY_STEP_MS = 50
IDLE_STEP_MS = 250
BUSY_FOR_S = 30.0
"""Events are looked for every 50 ms for half a minute after a change, else every 250 ms: measured 0.017 CPU seconds a
minute at idle, against 0.075 at a constant 50 ms."""

DEBOUNCE_MS = 200
WAIT_MS = 5_000
RECONCILE_S = 180.0
POLLING_S = 5.0
SLEPT_S = 60.0
"""Wall time that passed unseen: the machine slept, and events may be lost."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """How changes are noticed."""

    polling: bool
    reason: str | None = None
    hint: str | None = None


class Watcher:
    """The loop of thread `engine-watch`: scan, then watch, then scan again now and then.

    Args:
        ingestor: Takes what changed.
        roots: Says which roots there are now.
        clock: Time.
    """

    def __init__(self, ingestor: Ingestor, roots: Callable[[], tuple[Root, ...]], clock: Clock) -> None:
        self._ingestor = ingestor
        self._roots = roots
        self._clock = clock
        self.state = WatchState(polling=False)

    def run(self, stopping: threading.Event) -> None:
        """Watch until stopped."""
        while not stopping.is_set():
            self._ingestor.scan()
            watched = existing_roots(self._roots())
            if not watched:
                stopping.wait(POLLING_S)
                continue
            try:
                notify = RustNotify([str(root.path) for root in watched], False, False, 0, True, True)
            except (OSError, RuntimeError) as exc:
                self._poll(stopping, exc)
                continue
            self.state = WatchState(polling=False)
            with notify:
                self._watch(notify, watched, stopping)

    def _watch(self, notify: RustNotify, watched: tuple[Root, ...], stopping: threading.Event) -> None:
        """Take events until the roots change or it is time to look at everything again."""
        self._ingestor.scan()  # What changed between the first look and the start of the watch.
        last_change = last_scan = self._clock.monotonic()
        last_wall = self._clock.now()
        while not stopping.is_set():
            busy = self._clock.monotonic() - last_change < BUSY_FOR_S
            step = BUSY_STEP_MS if busy else IDLE_STEP_MS
            events = notify.watch(DEBOUNCE_MS if busy else IDLE_STEP_MS, step, WAIT_MS, stopping)
            now, wall = self._clock.monotonic(), self._clock.now()
            if isinstance(events, set):
                last_change = now
                overflow = False
                for _, path in events:
                    if not self._ingestor.changed(Path(path)):
                        overflow = overflow or not path.endswith((".txt", ".json", ".md"))
                if overflow and any(Path(path).is_dir() for _, path in events):
                    # A folder that was moved in brings files of which no event speaks.
                    self._ingestor.scan()
                    last_scan = now
            elif events in ("stop", "signal"):
                return
            slept = wall - last_wall > SLEPT_S
            last_wall = wall
            if slept or now - last_scan > RECONCILE_S:
                self._ingestor.scan()
                last_scan = now
            if existing_roots(self._roots()) != watched:
                return

    def _poll(self, stopping: threading.Event, problem: Exception) -> None:
        """Work without events."""
        limit = _inotify_limit()
        self.state = WatchState(
            polling=True,
            reason=f"The system gives no more change events ({problem})."
            + ("" if limit is None else f" Its limit is {limit:,} watched folders for each user."),
            hint="Raise it: `sudo sysctl fs.inotify.max_user_watches=524288`. Until then changes are found every "
            f"{POLLING_S:.0f} seconds.",
        )
        logger.warning("Watching by polling: %s", problem)
        while not stopping.wait(POLLING_S):
            self._ingestor.scan()
            if self._clock.monotonic() % RECONCILE_S < POLLING_S:
                return


def _inotify_limit() -> int | None:
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
