"""Work in the background, results on the main thread: the one place where threads re-enter the interface.

`Tasks` runs functions on its threads and calls back on the thread that made it. A `Lane` is for questions of which only
the newest matters (what is being typed): one runs, one waits, every older answer is dropped.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

THREADS = 4
"""As many as the engine answers at a time."""

T = TypeVar("T")


@dataclass(slots=True)
class _Task:
    """One piece of work on its way."""

    work: Callable[[threading.Event], Any]
    done: Callable[[Any], object]
    failed: Callable[[Exception], None]
    cancelled: threading.Event
    ended: Callable[[], None] | None = None


class Tasks(QObject):
    """Runs functions in the background.

    Args:
        failed: What happens with an exception for which a caller names nothing else.
        threads: At most so many at a time.
        after_each: Called on the main thread after each result.
    """

    _arrived = Signal(object)

    def __init__(
        self,
        failed: Callable[[Exception], None],
        *,
        threads: int = THREADS,
        after_each: Callable[[], object] | None = None,
    ) -> None:
        super().__init__()
        self.failed = failed
        """For an exception for which a caller names nothing else."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="desktop-task")
        self._after_each = after_each
        self._open: set[threading.Event] = set()
        self._closed = False
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        work: Callable[[threading.Event], T],
        done: Callable[[T], object],
        failed: Callable[[Exception], None] | None = None,
    ) -> threading.Event:
        """Run `work` in the background, then `done` with its result on the main thread.

        Args:
            work: Gets the event that is set when nobody wants the result any more. May not touch the interface.
            done: On the main thread; not called when cancelled.
            failed: On the main thread, for what `work` raises.

        Returns:
            The event; setting it takes the work back.
        """
        return self._submit(_Task(work, done, failed or self.failed, threading.Event()))

    def lane(self) -> Lane:
        """Return a lane: of several runs only the newest is answered."""
        return Lane(self, self._submit)

    def later(self, call: Callable[[], None]) -> None:
        """Run a call on the main thread. May be used from any thread."""
        self._emit((call, None))

    def close(self) -> None:
        """Take everything back and end the threads. What is running is waited for."""
        self._closed = True
        for cancelled in tuple(self._open):
            cancelled.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, task: _Task) -> threading.Event:
        if self._closed:
            task.cancelled.set()
            return task.cancelled
        self._open.add(task.cancelled)
        self._pool.submit(self._perform, task)
        return task.cancelled

    def _perform(self, task: _Task) -> None:
        """Body of a task's thread: the barrier."""
        outcome: Callable[[], object] | None = None
        if not task.cancelled.is_set():
            try:
                outcome = partial(task.done, task.work(task.cancelled))
            except Exception as error:  # noqa: BLE001 - a barrier: handed to the main thread, which reports it
                outcome = partial(task.failed, error)
        self._emit((outcome, task))

    def _emit(self, arrival: tuple[Callable[[], object] | None, _Task | None]) -> None:
        try:
            self._arrived.emit(arrival)
        except RuntimeError:
            logger.debug("A result came after the interface had gone")

    @Slot(object)
    def _deliver(self, arrival: tuple[Callable[[], object] | None, _Task | None]) -> None:
        call, task = arrival
        is_wanted = not self._closed
        if task is not None:
            self._open.discard(task.cancelled)
            is_wanted = is_wanted and not task.cancelled.is_set()
            if task.ended is not None:
                task.ended()
        if call is not None and is_wanted:
            call()
        if self._after_each is not None:
            self._after_each()


class Lane:
    """Questions of which only the newest matters. Made by `Tasks.lane`; main thread only."""

    def __init__(self, tasks: Tasks, submit: Callable[[_Task], object]) -> None:
        self._tasks = tasks
        self._submit = submit
        self._running: _Task | None = None
        self._waiting: _Task | None = None

    @property
    def is_busy(self) -> bool:
        """True while an answer is wanted and has not come."""
        return self._waiting is not None or (self._running is not None and not self._running.cancelled.is_set())

    def run(
        self,
        work: Callable[[threading.Event], T],
        done: Callable[[T], object],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """As `Tasks.run`, in place of everything this lane was asked before."""
        self.cancel()
        task = _Task(work, done, failed or self._tasks.failed, threading.Event(), self._ended)
        if self._running is not None:
            self._waiting = task
            return
        self._start(task)

    def cancel(self) -> None:
        """Take back what was asked."""
        self._waiting = None
        if self._running is not None:
            self._running.cancelled.set()

    def _start(self, task: _Task) -> None:
        self._running = task
        self._submit(task)

    def _ended(self) -> None:
        self._running = None
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._start(waiting)
