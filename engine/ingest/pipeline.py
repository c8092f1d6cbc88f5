"""The one path from a changed file to committed rows. Backfill, watcher and reindex all come through here."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from engine.core.errors import StorageFailure
from engine.core.repository import encode_cwd, projects_of
from engine.ingest.queue import FileTask, IngestQueue
from engine.ingest.scanner import existing_roots, scan
from engine.ingest.tail import FileStat, FileTail, is_rewritten, is_unchanged
from engine.store import files
from engine.store.history import HistoryWriter
from engine.transcripts.discovery import Root, identify

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from engine.core.clock import Clock
    from engine.store.batches import BatchResult, FileBatch
    from engine.store.connection import Connection
    from engine.store.files import FileRow
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import FileIdentity

logger = logging.getLogger(__name__)

GROUP_MESSAGES = 2_000
"""Batches of small files are committed together until they hold this many messages: a commit for each of 15,000 small
sessions would take longer than reading them."""

GROUP_FILES = 64
RETRY_S = 5.0
"""Pause after the disk refused a write, before reading the same bytes again."""

_RATE_WINDOW_S = 10.0


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far reading is."""

    files_pending: int
    bytes_pending: int
    bytes_done: int
    """Since the engine started."""
    rate: float | None
    """Bytes a second over the last ten seconds; None while nothing is read."""
    last_ms: int | None
    problem: StorageFailure | None


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


class Screen(Protocol):
    """Decides what of a transcript may enter the index, and in which words."""

    def is_forgotten(self, session_id: str | None) -> bool:
        """Return True for a session that a person removed for ever: its files are not even opened."""
        ...

    def pass_on(self, batch: FileBatch) -> FileBatch:
        """Return the batch without what was pruned and with secrets replaced."""
        ...


class StoredTranscripts(Protocol):
    """The archive, as far as reading what is not on disk any more needs it."""

    def roots(self) -> Mapping[str, str]:
        """Return the path of each root that has something stored, by its label."""
        ...

    def transcripts(self, label: str) -> Iterable[tuple[str, int]]:
        """Return (path below the root, bytes) of the stored transcripts of a root."""
        ...

    def generations(self, label: str, path: str) -> tuple[int, ...]:
        """Return the stored generations of a transcript, newest first."""
        ...

    def as_file(self, label: str, path: str, generation: int) -> AbstractContextManager[Path]:
        """Give a stored transcript as a file of its own name, for the length of a block."""
        ...


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
    ) -> None:
        self.queue = IngestQueue()
        self._writer = writer
        self._observer = observer
        self._screen = screen
        self._stored = stored
        self._roots = roots
        self._clock = clock
        self._on_committed = on_committed
        self._is_excluded = is_excluded
        self._lock = threading.Lock()
        self._rows: dict[tuple[int, str], FileRow] = {}
        self._root_paths: dict[int, Path] = {}
        self._labels: dict[int, str] = {}
        self._group: list[FileBatch] = []
        self._group_messages = 0
        self._in_flight: deque[Future[tuple[BatchResult, ...]]] = deque()
        self._reading_bytes = 0
        self._done_bytes = 0
        self._recent: deque[tuple[float, int]] = deque()
        self._last_ms: int | None = None
        self._problem: StorageFailure | None = None
        self._closed = threading.Event()
        self._resumed = threading.Event()
        self._resumed.set()

    # Finding work ----------------------------------------------------------------------------------------------

    def scan(self, *, force: bool = False, project: str | None = None) -> int:
        """Look at every root, queue what changed, note what vanished. Returns how many files were queued.

        Args:
            force: Queue every file, to be read from its beginning.
            project: Only files whose folder or working directory contains this text, whatever its case.

        Raises:
            StorageFailure: The database refused.
        """
        roots = existing_roots(self._roots())
        remembered = {} if self._stored is None else dict(self._stored.roots())
        # The archive's own labels first: in a new database they must name the same roots as before.
        self._writer.write(lambda c: [files.register_root(c, path, label) for label, path in remembered.items()])
        numbers = self._writer.write(lambda c: [files.register_root(c, str(r.path), r.label) for r in roots])
        known = self._writer.write(files.all_files)
        labels = {number: label for number, (_, label) in self._writer.write(files.roots).items()}
        with self._lock:
            self._labels = labels
            self._root_paths = dict(zip(numbers, (root.path for root in roots), strict=True))
            for key, row in known.items():
                self._rows.setdefault(key, row)
        found_keys: set[tuple[int, str]] = set()
        back: list[int] = []
        queued = 0
        for number, root in zip(numbers, roots, strict=True):
            for found in scan(root.path):
                key = (number, found.relative)
                found_keys.add(key)
                row = known.get(key)
                if project is not None and not _mentions(found.relative, project):
                    continue
                if row is not None and is_unchanged(row, found.stat) and not force:
                    if row.gone:
                        back.append(row.id)
                    continue
                self.queue.put(FileTask(-found.stat.mtime_ns, number, found.relative, found.stat.size, force=force))
                queued += 1
        queued += self._scan_stored(known, found_keys, force=force, project=project)
        present = set(numbers)
        gone = [row.id for key, row in known.items() if key not in found_keys and not row.gone and key[0] in present]
        now_ms = int(self._clock.now() * 1000)
        if gone or back:
            self._writer.write(lambda c: (files.mark_gone(c, gone, now_ms), files.mark_back(c, back)))
        return queued

    def _scan_stored(
        self,
        known: Mapping[tuple[int, str], FileRow],
        found: Collection[tuple[int, str]],
        *,
        force: bool,
        project: str | None,
    ) -> int:
        """Queue transcripts that only the archive still has and the index does not know (`force`: all of them)."""
        if self._stored is None:
            return 0
        queued = 0
        for number, label in self._labels.items():
            for path, size in self._stored.transcripts(label):
                key = (number, path)
                if key in found or (key in known and not force) or (project and not _mentions(path, project)):
                    continue
                self.queue.put(FileTask(0, number, path, size, force=force, stored=label))
                queued += 1
        return queued

    def changed(self, path: Path) -> bool:
        """Queue one file that the operating system reported. False when it is not a transcript of ours."""
        with self._lock:
            roots = dict(self._root_paths)
        for number, root in roots.items():
            if root in path.parents:
                relative = PurePosixPath(*path.relative_to(root).parts)
                identity = identify(relative)
                if identity is None or not identity.is_transcript:
                    return False
                try:
                    stat = path.stat()
                except OSError:
                    self._vanished(number, str(relative))
                    return True
                self.queue.put(FileTask(-time.time_ns(), number, str(relative), stat.st_size))
                return True
        return False

    def _vanished(self, root_id: int, relative: str) -> None:
        now_ms = int(self._clock.now() * 1000)
        row = self._rows.get((root_id, relative))
        if row is not None:
            self._writer.submit(lambda c: files.mark_gone(c, [row.id], now_ms))

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

    def drain(self) -> None:
        """Read everything that waits now, on the caller's thread, and commit it."""
        while (task := self.queue.get(0)) is not None:
            self.process(task)
        self.settle()

    def process(self, task: FileTask) -> None:
        """Read one file. Its batches may wait for the next `settle`."""
        with self._lock:
            root = self._root_paths.get(task.root_id)
        if root is None and task.stored is None:
            return
        self._reading_bytes = task.size
        try:
            if root is not None and (task.stored is None or (root / task.relative).exists()):
                self._read(root / task.relative, task)
            elif task.stored is not None:
                self._read_stored(task, task.stored)
        except FileNotFoundError:
            self._vanished(task.root_id, task.relative)
        except OSError as exc:
            self._unreadable(task, exc)
        except StorageFailure as exc:
            self._recover(exc, [task])
        finally:
            self._reading_bytes = 0

    def settle(self) -> None:
        """Commit what was read so far and wait for it."""
        self._submit_group()
        while self._in_flight:
            self._collect(self._in_flight.popleft())

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
        busy = self._reading_bytes
        return IngestProgress(
            files_pending=waiting + (1 if busy else 0),
            bytes_pending=size + busy,
            bytes_done=self._done_bytes,
            rate=self._rate(),
            last_ms=self._last_ms,
            problem=self._problem,
        )

    def _read(self, path: Path, task: FileTask) -> None:
        identity = self._identity(task)
        if identity is None:
            return
        stat = FileStat.of(path.stat())
        row = self._row(task)
        if is_unchanged(row, stat) and not task.force:
            return
        if row.offset and (task.force or is_rewritten(path, row, stat)):
            row = self._rewrite(row)
        elif not row.lines and not row.generation:
            row = self._read_older(row, identity)
        if stat.size == row.offset:
            # Nothing new to parse: an empty stub, or a file that was only touched.
            self._remember(dataclasses.replace(row, size=stat.size, mtime_ns=stat.mtime_ns, inode=stat.inode))
            number = row.id
            self._writer.submit(lambda c: files.mark_read(c, number, stat.size, stat.mtime_ns, stat.inode))
            return
        self._parse(path, row, identity, stat)

    def _identity(self, task: FileTask) -> FileIdentity | None:
        identity = identify(PurePosixPath(task.relative))
        if identity is not None and self._screen is not None and self._screen.is_forgotten(identity.session_id):
            return None
        return identity

    def _read_older(self, row: FileRow, identity: FileIdentity) -> FileRow:
        """Read what a new index cannot find on disk: the generations before a rewrite."""
        label = self._labels.get(row.root_id)
        if self._stored is None or label is None:
            return row
        for generation in reversed(self._stored.generations(label, row.path)[1:]):
            row = self._read_generation(row, identity, label, generation)
        return self._rewrite(row) if row.offset else row

    def _read_generation(self, row: FileRow, identity: FileIdentity, label: str, generation: int) -> FileRow:
        if self._stored is None:
            return row
        with self._stored.as_file(label, row.path, generation) as path:
            if row.offset:
                row = self._rewrite(row)
            return self._parse(path, row, identity, FileStat(path.stat().st_size, mtime_ns=0, inode=0))

    def _read_stored(self, task: FileTask, label: str) -> None:
        """Read a transcript that is gone from its stored copies, the oldest first: a rewrite may have removed text."""
        identity = self._identity(task)
        if identity is None or self._stored is None:
            return
        row = self._row(task)
        for generation in reversed(self._stored.generations(label, task.relative)):
            row = self._read_generation(row, identity, label, generation)
        self.settle()
        number, now_ms = row.id, int(self._clock.now() * 1000)
        self._writer.write(lambda c: files.mark_gone(c, [number], now_ms))
        self._remember(dataclasses.replace(row, gone=True))

    def _parse(self, path: Path, row: FileRow, identity: FileIdentity, stat: FileStat) -> FileRow:
        """Hand what follows a file's offset to the writer and return the file's row as it will be."""
        folder = PurePosixPath(row.path).parts[0]
        tail = FileTail(
            path,
            row,
            identity,
            stat,
            projects_of=lambda folders: projects_of(folders, folder),
            is_excluded=self._is_excluded,
            observe=lambda record, last_ms: self._observer.read(record, undated_ms=last_ms),
        )
        before = row.offset
        for batch in tail.batches():
            position = batch.position
            self._count(max(0, position.offset - before))
            self._reading_bytes = max(0, stat.size - position.offset)
            before = position.offset
            row = dataclasses.replace(
                row,
                session_id=batch.session_id,
                inode=position.inode,
                size=position.size,
                mtime_ns=position.mtime_ns,
                offset=position.offset,
                tail=position.tail,
                lines=position.lines,
                first_ms=batch.first_ms,
                parser=position.parser,
                gone=False,
                error=None,
            )
            self._remember(row)
            self._group.append(batch if self._screen is None else self._screen.pass_on(batch))
            self._group_messages += len(batch.occurrences)
            if self._group_messages >= GROUP_MESSAGES or len(self._group) >= GROUP_FILES:
                self._submit_group()
        return row

    def _row(self, task: FileTask) -> FileRow:
        row = self._rows.get(task.key)
        if row is None:
            row = self._writer.write(lambda c: files.register_file(c, task.root_id, task.relative))
            self._remember(row)
        return row

    def _remember(self, row: FileRow) -> None:
        with self._lock:
            self._rows[row.root_id, row.path] = row

    def _rewrite(self, row: FileRow) -> FileRow:
        self.settle()
        self._writer.write(lambda c: files.begin_rewrite(c, row.id))
        fresh = dataclasses.replace(
            row, generation=row.generation + 1, offset=0, tail=None, lines=0, parser=None, first_ms=None, size=0
        )
        self._remember(fresh)
        return fresh

    # Writing ---------------------------------------------------------------------------------------------------

    def _submit_group(self) -> None:
        if not self._group:
            return
        group = tuple(self._group)
        self._group.clear()
        self._group_messages = 0
        self._in_flight.append(self._writer.submit(lambda c: _apply(c, group, self._observer)))
        while self._in_flight and self._in_flight[0].done():
            self._collect(self._in_flight.popleft())

    def _collect(self, future: Future[tuple[BatchResult, ...]]) -> None:
        try:
            results = future.result()
        except StorageFailure as exc:
            self._recover(exc, [])
            return
        self._problem = None
        self._last_ms = int(self._clock.now() * 1000)
        self._on_committed(results)

    def _recover(self, problem: StorageFailure, again: Iterable[FileTask]) -> None:
        """After a refused write: forget what was not committed and queue it again, after a pause."""
        logger.error("Indexing paused: %s", problem.title)
        self._problem = problem
        for future in self._in_flight:
            future.exception()
        self._in_flight.clear()
        self._group.clear()
        self._group_messages = 0
        with self._lock:
            pending = list(self._rows)
            self._rows.clear()
        self._closed.wait(RETRY_S)
        for root_id, relative in pending:
            self.queue.put(FileTask(0, root_id, relative))
        for task in again:
            self.queue.put(task)

    def _unreadable(self, task: FileTask, exc: OSError) -> None:
        logger.warning("A transcript cannot be read (%s)", exc.strerror)
        row = self._row(task)
        text = exc.strerror or type(exc).__name__
        self._writer.submit(lambda c: files.mark_unreadable(c, row.id, text))
        self._remember(dataclasses.replace(row, error=text))

    # Counting --------------------------------------------------------------------------------------------------

    def _count(self, size: int) -> None:
        self._done_bytes += size
        now = self._clock.monotonic()
        self._recent.append((now, size))
        while self._recent and now - self._recent[0][0] > _RATE_WINDOW_S:
            self._recent.popleft()

    def _rate(self) -> float | None:
        recent = list(self._recent)
        if len(recent) < 2:
            return None
        span = self._clock.monotonic() - recent[0][0]
        if span <= 0 or span > 2 * _RATE_WINDOW_S:
            return None
        return sum(size for _, size in recent) / span


def _apply(connection: Connection, group: tuple[FileBatch, ...], observer: RecordObserver) -> tuple[BatchResult, ...]:
    writer = HistoryWriter(connection)
    results: list[BatchResult] = []
    for batch in group:
        results.append(writer.apply(batch))
        if batch.said:
            projects = batch.projects
            observer.write(
                connection,
                batch.said,
                session=writer.names.session(batch.session_id),
                name=batch.session_id,
                began_ms=None if batch.is_sidechain else batch.first_ms,
                folder_of=lambda cwd, projects=projects: writer.names.folder(cwd, projects),
            )
    return tuple(results)


def _mentions(relative: str, project: str) -> bool:
    wanted = project.casefold()
    folder = relative.split("/", 1)[0].casefold()
    return wanted in folder or encode_cwd(wanted) in folder
