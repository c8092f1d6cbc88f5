"""Notices changes: the operating system's events, and a periodic look at everything for what it drops.

Where events are not to be had (inotify's limit is reached) it works on by looking more often, and says so.
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

# The public generator of watchfiles fixes its step for its whole life, and a short one costs CPU while nothing happens.
from watchfiles._rust_notify import RustNotify

from engine.core.errors import StorageFailure

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from engine.core.clock import Clock

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
POLLING_SHARE = 20
"""Looking at everything may take one part in so many of the time: with very many files it is done less often."""

SLEPT_S = 60.0
"""Wall time that passed unseen: the machine slept, and events may be lost."""

MANY_CHANGES = 4_096
"""So many changes at once: the system's queue (16,384 events on Linux) may have overflowed, which nobody tells us."""

_NO_TRANSCRIPTS = frozenset({".txt", ".json", ".md", ".js", ".lock", ".tmp"})


class Indexer(Protocol):
    """What watching needs of ingestion."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders whose changes matter, as the last scan found them."""
        ...

    def scan(self) -> int:
        """Look at everything.

        Raises:
            StorageFailure: The database refused.
        """
        ...

    def changed(self, path: Path) -> bool:
        """Take a file that changed; False when it is no transcript."""
        ...

    def folder_vanished(self, path: Path) -> None:
        """Take a folder, if it was one, that is not there any more."""
        ...


class Events(Protocol):
    """Changes of files, as `watchfiles` collects them."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None
    ) -> set[tuple[int, str]] | Literal["signal", "stop", "timeout"]:
        """Wait for changes and return them."""
        ...


@dataclass(frozen=True, slots=True)
class WatchState:
    """How changes are noticed."""

    polling: bool
    reason: str | None = None
    hint: str | None = None


def system_events(folders: tuple[Path, ...]) -> AbstractContextManager[Events]:
    """Return the operating system's events below some folders.

    Raises:
        OSError: There are no more to be had, or a folder is not there.
        RuntimeError: Watching failed for a reason that the library does not know.
    """
    return RustNotify([str(folder) for folder in folders], False, False, 0, True, True)


class Watcher:
    """The loop of thread `engine-watch`: scan, then watch, then scan again now and then.

    Args:
        indexer: Takes what changed.
        roots: Returns the roots that exist now, whatever it takes to tell them from others.
        clock: Time.
        events: Where changes come from.
    """

    def __init__(
        self,
        indexer: Indexer,
        roots: Callable[[], object],
        clock: Clock,
        events: Callable[[tuple[Path, ...]], AbstractContextManager[Events]] = system_events,
    ) -> None:
        self._indexer = indexer
        self._roots = roots
        self._clock = clock
        self._events = events
        self._problem: str | None = None
        self.state = WatchState(polling=False)

    def run(self, stopping: threading.Event) -> None:
        """Watch until stopped."""
        while not stopping.is_set():
            roots = self._roots()
            self._look()
            folders = self._indexer.folders
            if not folders:
                stopping.wait(POLLING_S)
                continue
            try:
                with self._events(folders) as events:
                    self.state = WatchState(polling=False)
                    self._watch(events, roots, stopping)
            except FileNotFoundError:
                continue  # A root went away between the scan and the watch.
            except (OSError, RuntimeError) as exc:
                self._poll(stopping, exc)

    def _watch(self, events: Events, roots: object, stopping: threading.Event) -> None:
        """Take events until the roots change or the machine woke from sleep."""
        self._look()  # What changed between the first look and the start of the watch.
        last_change = last_scan = self._clock.monotonic()
        last_wall = self._clock.now()
        while not stopping.is_set():
            busy = self._clock.monotonic() - last_change < BUSY_FOR_S
            step = BUSY_STEP_MS if busy else IDLE_STEP_MS
            found = events.watch(DEBOUNCE_MS if busy else IDLE_STEP_MS, step, WAIT_MS, stopping)
            if found in ("stop", "signal"):
                return
            now, wall = self._clock.monotonic(), self._clock.now()
            missed = wall - last_wall > SLEPT_S or now - last_scan > RECONCILE_S
            if isinstance(found, set):
                last_change = now
                missed = self._take(found) or missed
            last_wall = wall
            if missed:
                self._look()
                last_scan = now
            if self._roots() != roots:
                return

    def _look(self) -> None:
        """Look at everything. A disk that refuses is no reason to stop watching: the next look tries again."""
        try:
            self._indexer.scan()
        except StorageFailure as exc:
            if exc.title != self._problem:
                logger.warning("What changed could not be noted: %s", exc.title)
            self._problem = exc.title
        else:
            self._problem = None

    def _take(self, found: set[tuple[int, str]]) -> bool:
        """Hand changes on. True when there may have been more than were told."""
        for _, name in found:
            path = Path(name)
            if self._indexer.changed(path) or path.suffix in _NO_TRANSCRIPTS:
                continue
            if path.is_dir():
                # A folder that was moved in, or made and filled at once, brings files of which no event speaks.
                for file in path.rglob("*.jsonl"):
                    self._indexer.changed(file)
            elif not path.exists():
                self._indexer.folder_vanished(path)
        return len(found) >= MANY_CHANGES

    def _poll(self, stopping: threading.Event, problem: Exception) -> None:
        """Work without events for a while."""
        self.state = _without_events(problem)
        logger.warning("Watching by polling: %s", problem)
        began = self._clock.monotonic()
        wait_s = POLLING_S
        while not stopping.wait(wait_s) and self._clock.monotonic() - began < RECONCILE_S:
            before = self._clock.monotonic()
            self._look()
            wait_s = max(POLLING_S, (self._clock.monotonic() - before) * POLLING_SHARE)


def _without_events(problem: Exception) -> WatchState:
    """Say why there are no events and what would give them back: the number and the command."""
    name = "max_user_watches"
    if isinstance(problem, OSError) and (problem.errno == errno.EMFILE or "os error 24" in str(problem)):
        name = "max_user_instances"
    limit = _system_limit(name)
    known = "" if limit is None else f" Its limit fs.inotify.{name} is {limit:,} for each user."
    hint = f"Until then changes are found every {POLLING_S:.0f} seconds."
    if limit is not None:
        raised = max(524_288 if name == "max_user_watches" else 1_024, limit * 2)
        hint = f"Raise it with `sudo sysctl fs.inotify.{name}={raised}`. {hint}"
    return WatchState(polling=True, reason=f"The system gives no more change events ({problem}).{known}", hint=hint)


def _system_limit(name: str) -> int | None:
    try:
        return int(Path(f"/proc/sys/fs/inotify/{name}").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
