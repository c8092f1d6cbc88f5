"""The single writer: one thread owns the connection that writes; callers hand it a function and get a future."""

from __future__ import annotations

import logging
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.store.connection import open_writer
from engine.store.errors import StoreClosed, StoreDamaged, known_errors
from engine.store.migrations import migrate, pending, schema_version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

logger = logging.getLogger(__name__)

T = TypeVar("T")


REFUSE_S = 0.05
"""Between two looks at the queue of a thread that ends while somebody waits for room in it."""


def closed() -> StoreClosed:
    """Return what is said to whoever writes after the end."""
    return StoreClosed("Backscroll is closing", "", "Ask again in a moment.")


@dataclass(frozen=True, slots=True)
class _Reopening(Generic[T]):
    """A wish to have the database closed for a moment."""

    between: Callable[[], T]
    future: Future[T]


class StoreWriter:
    """Runs every write of the history, one at a time, each in a transaction of its own.

    Start it once, close it once. An exception of a task goes to its caller's future and never ends the thread.

    Args:
        path: The database.
        queue_limit: So many writes may wait; more block their callers.
        before_migration: Called before an existing database is changed to a newer schema.
        on_damaged: Called when the database cannot be opened because it is damaged; moves it aside, and a new one is
            made. Without it that is an error of `start`.
    """

    def __init__(
        self,
        path: Path,
        *,
        queue_limit: int = 8,
        before_migration: Callable[[], object] | None = None,
        on_damaged: Callable[[], object] | None = None,
    ) -> None:
        self._path = path
        self._before_migration = before_migration
        self._on_damaged = on_damaged
        self._tasks: queue.Queue[
            tuple[Callable[[apsw.Connection], Any], Future[Any], bool] | _Reopening[Any] | None
        ] = queue.Queue(maxsize=queue_limit)
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
                raise closed()
            self._tasks.put((task, future, transaction))
        return future

    def write(self, task: Callable[[apsw.Connection], T], *, transaction: bool = True) -> T:
        """Do a write and wait for it. Same errors as `submit`, and whatever the task raises."""
        return self.submit(task, transaction=transaction).result()

    def reopen(self, between: Callable[[], T]) -> T:
        """Close the database, call `between` (which may move its files), and open or make it again.

        Raises:
            StoreClosed: The writer is closing.
            StorageFailure: The database cannot be opened.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closing:
                raise closed()
            self._tasks.put(_Reopening(between, future))
        return future.result()

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
            connection, applied = self._open_or_replace()
            self._opened.set_result(applied)
        except BaseException as exc:  # noqa: BLE001 - goes to the caller of start()
            self._opened.set_exception(exc)
            self._refuse_the_rest()
            return
        try:
            while (item := self._tasks.get()) is not None:
                if isinstance(item, _Reopening):
                    connection = self._reopen(connection, item)
                    continue
                task, future, transaction = item
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    future.set_result(_perform(connection, task, transaction=transaction))
                except BaseException as exc:  # noqa: BLE001 - this thread's barrier: the error goes to the caller
                    future.set_exception(exc)
        finally:
            connection.close(force=True)
            self._refuse_the_rest()

    def _refuse_the_rest(self) -> None:
        """Let nobody wait for this thread, which ends: neither for an answer nor for room in the queue."""
        while True:
            # Whoever holds the lock may wait for room.
            is_last = self._lock.acquire(timeout=REFUSE_S)
            if is_last:
                self._closing = True
                self._lock.release()
            while not self._tasks.empty():
                item = self._tasks.get_nowait()
                future = None if item is None else item.future if isinstance(item, _Reopening) else item[1]
                if future is not None and future.set_running_or_notify_cancel():
                    future.set_exception(closed())
            if is_last:
                return

    def _open_or_replace(self) -> tuple[apsw.Connection, tuple[str, ...]]:
        try:
            return self._open()
        except StoreDamaged:
            if self._on_damaged is None:
                raise
            logger.info("The index is damaged and cannot be opened", exc_info=True)
            self._on_damaged()
            return self._open()

    def _open(self) -> tuple[apsw.Connection, tuple[str, ...]]:
        connection = open_writer(self._path)
        try:
            if self._before_migration is not None and schema_version(connection) and pending(connection):
                self._before_migration()
            return connection, migrate(connection)
        except BaseException:
            connection.close(force=True)
            raise

    def _reopen(self, connection: apsw.Connection, item: _Reopening[Any]) -> apsw.Connection:
        connection.close(force=True)
        try:
            result = item.between()
        except BaseException as exc:  # noqa: BLE001 - this thread's barrier: the error goes to the caller
            try:
                connection, _ = self._open()
            finally:
                item.future.set_exception(exc)
            return connection
        try:
            connection, _ = self._open()
        except BaseException as exc:
            item.future.set_exception(exc)
            raise
        item.future.set_result(result)
        return connection


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
