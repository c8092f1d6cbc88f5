"""The single writer: one thread owns the connection that writes; callers hand it a function and get a future."""

from __future__ import annotations

import logging
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from engine.store.connection import open_writer
from engine.store.errors import StoreClosed, known_errors
from engine.store.migrations import migrate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

logger = logging.getLogger(__name__)

T = TypeVar("T")


class StoreWriter:
    """Runs every write of the history, one at a time, each in a transaction of its own.

    Start it once, close it once. An exception of a task goes to its caller's future and never ends the thread.
    """

    def __init__(self, path: Path, *, queue_limit: int = 8) -> None:
        self._path = path
        self._tasks: queue.Queue[tuple[Callable[[apsw.Connection], Any], Future[Any], bool] | None] = queue.Queue(
            maxsize=queue_limit
        )
        self._thread = threading.Thread(target=self._run, name="engine-writer", daemon=True)
        self._opened: Future[tuple[str, ...]] = Future()
        self._lock = threading.Lock()
        self._closing = False

    def start(self) -> tuple[str, ...]:
        """Open the database, bring it to the present schema and start the thread. Returns the applied migrations.

        Raises:
            StorageFailure: The database cannot be opened or migrated.
        """
        self._thread.start()
        return self._opened.result()

    def submit(self, task: Callable[[apsw.Connection], T], *, transaction: bool = True) -> Future[T]:
        """Queue a write and return its future. Blocks while the queue is full, which slows the reader down to the disk.

        Args:
            task: Called on the writer thread with the connection, inside `BEGIN IMMEDIATE` … `COMMIT`.
            transaction: False for statements that cannot run in one (VACUUM, checkpoints).

        Raises:
            StoreClosed: The writer is closing.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closing:
                raise StoreClosed("Backscroll is closing", "", "Ask again in a moment.")
            self._tasks.put((task, future, transaction))
        return future

    def write(self, task: Callable[[apsw.Connection], T], *, transaction: bool = True) -> T:
        """Do a write and wait for it. Same errors as `submit`, and whatever the task raises."""
        return self.submit(task, transaction=transaction).result()

    def close(self, timeout_s: float = 30.0) -> bool:
        """Finish the queued writes, close the database and end the thread. False when it did not end in time."""
        with self._lock:
            if not self._closing:
                self._closing = True
                if self._thread.is_alive():
                    self._tasks.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            connection = open_writer(self._path)
            self._opened.set_result(migrate(connection))
        except BaseException as exc:  # noqa: BLE001 - goes to the caller of start()
            self._opened.set_exception(exc)
            return
        try:
            while (item := self._tasks.get()) is not None:
                task, future, transaction = item
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    future.set_result(_perform(connection, task, transaction=transaction))
                except BaseException as exc:  # noqa: BLE001 - this thread's barrier: the error goes to the caller
                    future.set_exception(exc)
        finally:
            connection.close(force=True)


def _perform(connection: apsw.Connection, task: Callable[[apsw.Connection], T], *, transaction: bool) -> T:
    with known_errors("Writing the index"):
        if not transaction:
            return task(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = task(connection)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return result
