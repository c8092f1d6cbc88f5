"""Hands batches to the writer: small files many at a time, never far ahead, failures told with their files."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from engine.store.files import note_last_read
from engine.store.history import HistoryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Future

    from engine.core.clock import Clock
    from engine.ingest.preparation import Preparation
    from engine.store.batches import BatchResult, FileBatch
    from engine.store.connection import Connection
    from engine.store.writer import StoreWriter

GROUP_MESSAGES = 2_000
"""Batches of small files are committed together until they hold this many messages: a commit for each of 15,000 small
sessions would take longer than reading them."""

GROUP_FILES = 64
GROUP_BYTES = 4 * 1024 * 1024


class RecordObserver(Protocol):
    """Somebody who reads along and writes in the same transaction: usage accounting."""

    def read(self, record: Mapping[str, Any], *, undated_ms: int = 0) -> object | None:
        """Return what a record says, None for nothing.

        Args:
            record: One parsed object of a transcript.
            undated_ms: Time of a line that has none: the last one seen in its file.
        """
        ...

    def write(
        self,
        connection: Connection,
        found: Iterable[Any],
        *,
        session: int,
        name: str,
        began_ms: int | None,
        folder_of: Callable[[str], int | None],
    ) -> None:
        """Write what a stretch of one file said, in the transaction that commits the file's offset."""
        ...


class CommitFailed(Exception):
    """Batches were not written. What belongs to their files has to be read again.

    Args:
        cause: The first failure.
        files: Numbers of the files of all batches that were lost.
    """

    def __init__(self, cause: Exception, files: frozenset[int]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.files = files


@dataclass(frozen=True, slots=True)
class _Flight:
    """A transaction that was handed over."""

    future: Future[tuple[BatchResult, ...]]
    files: frozenset[int]


class Committer:
    """Collects batches on the ingest thread and commits them in order.

    Args:
        writer: The single writer.
        observer: Reads along.
        preparation: Makes batches ready.
        on_committed: Called on the ingest thread with what a transaction changed.
        clock: Time.
    """

    def __init__(
        self,
        writer: StoreWriter,
        observer: RecordObserver,
        preparation: Preparation,
        on_committed: Callable[[tuple[BatchResult, ...]], None],
        clock: Clock,
    ) -> None:
        self._writer = writer
        self._observer = observer
        self._preparation = preparation
        self._on_committed = on_committed
        self._clock = clock
        self._group: list[FileBatch] = []
        self._messages = 0
        self._bytes = 0
        self._flights: deque[_Flight] = deque()

    def add(self, batch: FileBatch) -> None:
        """Take a batch as it was read; it is made ready and committed with the next ones.

        Raises:
            CommitFailed: Earlier batches were not written.
            StorageFailure: The writer is closing.
        """
        for ready in self._preparation.put(batch):
            self._take(ready)

    def settle(self) -> None:
        """Commit everything that was added and wait for it.

        Raises:
            CommitFailed: Batches were not written.
            StorageFailure: The writer is closing.
        """
        for ready in self._preparation.drain():
            self._take(ready)
        self._submit()
        while self._flights:
            self._land()

    def abandon(self) -> None:
        """Forget what was not committed yet, after waiting for what the writer has in hand."""
        for flight in self._flights:
            flight.future.exception()
        self._flights.clear()
        self._preparation.drop()
        self._forget_group()

    def _take(self, batch: FileBatch) -> None:
        self._group.append(batch)
        self._messages += len(batch.occurrences)
        self._bytes += batch.position.offset - batch.start
        if self._messages >= GROUP_MESSAGES or self._bytes >= GROUP_BYTES or len(self._group) >= GROUP_FILES:
            self._submit()

    def _submit(self) -> None:
        if not self._group:
            return
        group = tuple(self._group)
        self._forget_group()
        files = frozenset(batch.file_id for batch in group)
        settled = threading.Event()
        future = self._writer.submit(lambda connection: self._apply(connection, group, settled))
        future.add_done_callback(lambda _: settled.set())
        self._flights.append(_Flight(future, files))
        # Two threads of Python would only take the lock from each other. What is left then is SQLite's own work, which
        # needs none: beside it the next files are read.
        settled.wait()
        while self._flights and self._flights[0].future.done():
            self._land()

    def _land(self) -> None:
        flight = self._flights.popleft()
        try:
            results = flight.future.result()
        except Exception as exc:
            # What was read behind it builds on it: let it end, too, and count it as lost where it did not.
            lost = set(flight.files)
            for later in self._flights:
                if later.future.exception() is not None:
                    lost |= later.files
            lost.update(batch.file_id for batch in self._group)
            lost |= self._preparation.drop()
            self._flights.clear()
            self._forget_group()
            raise CommitFailed(exc, frozenset(lost)) from exc
        self._on_committed(results)

    def _forget_group(self) -> None:
        self._group.clear()
        self._messages = self._bytes = 0

    def _apply(
        self, connection: Connection, group: tuple[FileBatch, ...], settled: threading.Event
    ) -> tuple[BatchResult, ...]:
        """Write a group, on the writer's thread."""
        writer = HistoryWriter(connection)
        results = tuple(self._write(connection, writer, batch) for batch in group)
        writer.settle()
        note_last_read(connection, int(self._clock.now() * 1000))
        settled.set()
        writer.finish()
        return results

    def _write(self, connection: Connection, writer: HistoryWriter, batch: FileBatch) -> BatchResult:
        result = writer.apply(batch)
        sessions: dict[str, list[object]] = {}
        for noted in batch.said:
            sessions.setdefault(noted.session_id, []).append(noted.what)
        for name, found in sessions.items():
            self._observer.write(
                connection,
                found,
                session=writer.names.session(name),
                name=name,
                began_ms=None if batch.is_sidechain else batch.first_ms,
                folder_of=lambda cwd: writer.names.folder(cwd, batch.projects),
            )
        return result
