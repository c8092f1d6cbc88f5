"""The one path from a changed file to committed rows. Backfill, watcher and reindex all come through here."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from engine.core.errors import StorageFailure
from engine.ingest.commits import CommitFailed, Committer
from engine.ingest.known import KnownFiles
from engine.ingest.preparation import Preparation
from engine.ingest.progress import IngestProgress, Meter
from engine.ingest.queue import FileTask, IngestQueue
from engine.ingest.reader import TranscriptReader
from engine.ingest.survey import Survey
from engine.ingest.tail import FileStat, unread
from engine.store import files
from engine.store.history import OutOfStep
from engine.transcripts.discovery import identify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.ingest.commits import RecordObserver
    from engine.ingest.known import FileKey
    from engine.ingest.preparation import Assistant, Screen
    from engine.ingest.survey import StoredTranscripts
    from engine.store.batches import BatchResult
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)

RETRY_S = 5.0
"""Pause after the disk refused a write, before reading the same bytes again."""

MAX_FAILURES = 20
"""So many transcripts in a row that are not understood are no accident: the thread fails, and the engine says so."""


class Ingestor:
    """Reads files from the queue, parses them and hands batches to the writer.

    Args:
        writer: The single writer, started.
        roots: Says which roots there are; asked at each scan, because folders appear and settings change.
        clock: Time.
        on_committed: Called on the ingest thread after new rows were committed.
        is_excluded: True for working directories that must not be indexed.
        observer: Reads along.
        screen: Looks at each batch before it is written.
        stored: Where transcripts are read from that are gone, None without an archive.
        assistant: Starts what prepares texts during a backfill (`second_process.if_it_pays`); None does without.
    """

    def __init__(
        self,
        writer: StoreWriter,
        roots: Callable[[], tuple[Root, ...]],
        *,
        clock: Clock,
        on_committed: Callable[[tuple[BatchResult, ...]], None],
        is_excluded: Callable[[str | None], bool],
        observer: RecordObserver,
        screen: Screen | None = None,
        stored: StoredTranscripts | None = None,
        assistant: Callable[[], Assistant] | None = None,
    ) -> None:
        self.queue = IngestQueue()
        self._writer = writer
        self._clock = clock
        self._on_committed = on_committed
        self._known = KnownFiles(writer)
        self._survey = Survey(writer, self._known, roots, clock=clock, stored=stored)
        self._preparation = Preparation(screen, assistant)
        self._committer = Committer(writer, observer, self._preparation, self._committed, clock)
        self._meter = Meter(clock)
        self._reader = TranscriptReader(
            writer,
            self._known,
            self._committer,
            self._meter,
            clock=clock,
            is_excluded=is_excluded,
            observer=observer,
            screen=screen,
            stored=stored,
            label=self._survey.stored_label,
        )
        self._suspects: set[FileKey] = set()
        """Files of a transaction that failed for no known reason: each is read and committed alone."""
        self._given_up: dict[FileKey, FileStat | None] = {}
        """Files that could not be understood, as they were then: they are tried again when they change."""
        self._failures = 0
        self._last_ms: int | None = None
        self._problem: StorageFailure | None = None
        self._gate = threading.Lock()
        """Held while a file is read: the database is not replaced meanwhile."""
        self._closed = threading.Event()
        self._resumed = threading.Event()
        self._resumed.set()

    # Finding work ----------------------------------------------------------------------------------------------

    def scan(self, *, force: bool = False, project: str | None = None) -> int:
        """Look at every root, queue what changed, note what vanished. Returns how many files were queued.

        Args:
            force: Queue every file, to be read from its beginning.
            project: Only files whose folder contains this text, whatever its case.

        Raises:
            StorageFailure: The database refused.
        """
        self._reader.forget_projects()
        tasks = self._survey.look(force=force, project=project)
        for task in tasks:
            self.queue.put(task)
        return len(tasks)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders whose changes matter, as the last scan found them."""
        return self._survey.folders

    def changed(self, path: Path) -> bool:
        """Queue one file that the operating system reported. False when it is not a transcript of ours."""
        key = self._survey.locate(path)
        identity = None if key is None else identify(PurePosixPath(key[1]))
        if key is None or identity is None or not identity.is_transcript:
            return False
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            self._vanished(key)
        except OSError:
            self.queue.put(FileTask(-time.time_ns(), *key))
        else:
            row = self._known.get(key)
            self.queue.put(FileTask(-time.time_ns(), *key, size if row is None else unread(row, size)))
        return True

    def folder_vanished(self, path: Path) -> None:
        """Mark the files of a folder that is not there any more."""
        key = self._survey.locate(path)
        gone = [] if key is None else [row.id for row in self._known.below(*key)]
        if gone:
            now_ms = int(self._clock.now() * 1000)
            self._writer.submit(lambda connection: files.mark_gone(connection, gone, now_ms))

    def _vanished(self, key: FileKey) -> None:
        now_ms = int(self._clock.now() * 1000)
        row = self._known.get(key)
        if row is not None:
            self._writer.submit(lambda connection: files.mark_gone(connection, [row.id], now_ms))

    # Reading ---------------------------------------------------------------------------------------------------

    def run(self, stopping: threading.Event) -> None:
        """Read until stopped. The loop of thread `engine-ingest`."""
        while not stopping.is_set():
            self._resumed.wait()
            task = self.queue.get(None)
            if task is None:
                break
            if self.is_paused:  # since this thread began to wait for work
                self.queue.put(task)
                continue
            self.process(task)
            if self.queue.waiting[0] == 0:
                self.settle()
        self.settle()

    def drain(self, on_progress: Callable[[], None] | None = None) -> None:
        """Read everything that waits now, on the caller's thread, and commit it; `progress.problem` says if it failed.

        Args:
            on_progress: Called after each file.
        """
        self._problem = None
        while self.queue.waiting[0] and self._problem is None:
            # With a disk that refuses every file would wait for the next try.
            while self._problem is None and (task := self.queue.get(0)) is not None:
                self.process(task)
                if on_progress is not None:
                    on_progress()
            self.settle()

    def start_over(self, replace: Callable[[], None]) -> int:
        """Replace the database between two files, and queue everything for it. Returns how many files were queued.

        Args:
            replace: Does it.

        Raises:
            StorageFailure: The new database refused.
        """
        with self._gate:
            self.queue.clear()
            # What is on its way belongs to the old database; if that refuses it, it is read again anyway.
            self._committer.abandon()
            replace()
            self._known.clear()
            self._given_up.clear()
            self._problem = None
        return self.scan()

    def process(self, task: FileTask) -> None:
        """Read one file. Its batches may wait for the next `settle`."""
        with self._gate:
            self._process(task)

    def _process(self, task: FileTask) -> None:
        try:
            if task.key in self._suspects:
                self._committer.settle()
            self._preparation.expect(self.queue.waiting[1] + task.size)
            self._read(task)
            if task.key in self._suspects:
                self._committer.settle()
                self._suspects.discard(task.key)
        except FileNotFoundError:
            self._vanished(task.key)
        except OSError as exc:
            self._refuse(task.key, exc.strerror or type(exc).__name__)
        except CommitFailed as exc:
            self._recover(exc.cause, [*self._known.forget(exc.files), task.key])
        except StorageFailure as exc:
            self._recover(exc, [task.key])
        except Exception as exc:
            # One transcript must not keep all others from being read.
            logger.exception("A transcript could not be read")
            self._give_up(task.key, exc)
        finally:
            self._reader.left = 0

    def settle(self) -> None:
        """Commit what was read so far and wait for it."""
        with self._gate:
            try:
                self._committer.settle()
            except CommitFailed as exc:
                self._recover(exc.cause, self._known.forget(exc.files))
            except StorageFailure as exc:
                self._recover(exc, [])
            else:
                if self.queue.waiting[0] == 0:
                    # What was refused is written, or is not there any more.
                    self._problem = None
            if self.queue.waiting[0] == 0:
                self._preparation.rest()

    def pause(self) -> None:
        """Stop taking files after the present one."""
        self._resumed.clear()

    def resume(self) -> None:
        """Go on."""
        self._resumed.set()

    def close(self) -> None:
        """Let the loop end."""
        self._closed.set()
        self.queue.close()
        self._resumed.set()

    @property
    def is_paused(self) -> bool:
        """True between `pause` and `resume`."""
        return not self._resumed.is_set()

    @property
    def progress(self) -> IngestProgress:
        """How far reading is. Cheap, any thread."""
        waiting, size = self.queue.waiting
        left = self._reader.left
        return IngestProgress(
            files_pending=waiting + (1 if left else 0),
            bytes_pending=size + left,
            bytes_done=self._meter.total,
            rate=self._meter.rate,
            last_ms=self._last_ms,
            problem=self._problem,
        )

    def _read(self, task: FileTask) -> None:
        path = self._survey.path(task.key)
        if path is not None and task.key in self._given_up:
            if self._given_up[task.key] == _stat_of(path):
                return
            del self._given_up[task.key]
        if path is not None and (task.stored is None or path.exists()):
            self._reader.left = task.size
            self._reader.read(path, task.key, force=task.force)
        elif task.stored is not None:
            self._reader.left = task.size
            self._reader.read_stored(task.key, task.stored)

    def _committed(self, results: tuple[BatchResult, ...]) -> None:
        self._problem = None
        self._failures = 0
        self._last_ms = int(self._clock.now() * 1000)
        self._on_committed(results)

    # What can go wrong -----------------------------------------------------------------------------------------

    def _recover(self, cause: Exception, keys: Iterable[FileKey]) -> None:
        """Queue again what was not committed: after a pause when the disk refused, alone when a bug is suspected."""
        again = set(keys)
        if isinstance(cause, StorageFailure):
            if self._closed.is_set():
                return
            logger.error("Indexing paused: %s", cause.title)
            self._problem = cause
            self._closed.wait(RETRY_S)
        elif not isinstance(cause, OutOfStep):
            logger.error("A transaction failed", exc_info=cause)
            culprits = again & self._suspects
            if len(again) == 1 and culprits:
                self._give_up(culprits.pop(), cause)
                return
            self._suspects |= again
        for root_id, relative in again:
            self.queue.put(FileTask(0, root_id, relative))

    def _give_up(self, key: FileKey, cause: Exception) -> None:
        """Leave a file alone that is too much for this program, until it changes."""
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            raise cause
        path = self._survey.path(key)
        self._given_up[key] = None if path is None else _stat_of(path)
        self._refuse(key, f"not understood ({type(cause).__name__})")

    def _refuse(self, key: FileKey, why: str) -> None:
        """Note that a file cannot be read; it is tried again at every scan."""
        if self._closed.is_set():
            return
        row = self._known.row(key)
        if row.error != why:
            logger.warning("A transcript cannot be read (%s)", why)
            self._writer.submit(lambda connection: files.mark_unreadable(connection, row.id, why))
            self._known.remember(dataclasses.replace(row, error=why))


def _stat_of(path: Path) -> FileStat | None:
    try:
        return FileStat.of(path.stat())
    except OSError:
        return None
