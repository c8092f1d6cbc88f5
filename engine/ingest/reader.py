"""Reads one transcript, from disk or from the archive, and hands what is new to the committer."""

from __future__ import annotations

import dataclasses
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from engine.core.repository import grouping_of
from engine.ingest.tail import HEAD_BYTES, FileStat, FileTail, is_rewritten, is_unchanged, session_by_content
from engine.store import files
from engine.transcripts.discovery import identify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.core.repository import Grouping
    from engine.ingest.commits import Committer, RecordObserver
    from engine.ingest.known import FileKey, KnownFiles
    from engine.ingest.preparation import Screen
    from engine.ingest.progress import Meter
    from engine.ingest.survey import StoredTranscripts
    from engine.store.files import FileRow
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import FileIdentity
    from engine.transcripts.lines import Record

_MAX_GROUPINGS = 4_096


@dataclasses.dataclass(frozen=True, slots=True)
class _Rules:
    """What reading one file asks of its surroundings."""

    project_folder: str
    excluded: Callable[[str | None], bool]
    observer: RecordObserver
    groupings: dict[tuple[str, str], Grouping]

    def grouping(self, cwd: str) -> Grouping:
        """Return the project of a working directory, asking the disk once."""
        key = (cwd, self.project_folder)
        found = self.groupings.get(key)
        if found is None:
            if len(self.groupings) >= _MAX_GROUPINGS:
                self.groupings.clear()
            found = self.groupings[key] = grouping_of(cwd, self.project_folder)
        return found

    def is_excluded(self, cwd: str | None) -> bool:
        """Return whether nothing that was said in a working directory may be indexed."""
        return self.excluded(cwd)

    def observe(self, record: Record, last_ms: int) -> object | None:
        """Note what else a record says."""
        return self.observer.read(record, undated_ms=last_ms)


class TranscriptReader:
    """Reads files on the ingest thread.

    Args:
        writer: The single writer.
        known: Rows of files.
        committer: Takes batches.
        meter: Counts what was read.
        clock: Time.
        is_excluded: True for working directories that must not be indexed.
        observer: Reads along.
        screen: Knows which sessions were removed for ever.
        stored: The archive, None without one.
        label: Returns the archive's label of a root, None where it has nothing of it.
    """

    def __init__(
        self,
        writer: StoreWriter,
        known: KnownFiles,
        committer: Committer,
        meter: Meter,
        *,
        clock: Clock,
        is_excluded: Callable[[str | None], bool],
        observer: RecordObserver,
        screen: Screen | None,
        stored: StoredTranscripts | None,
        label: Callable[[int], str | None],
    ) -> None:
        self._writer = writer
        self._known = known
        self._committer = committer
        self._meter = meter
        self._clock = clock
        self._is_excluded = is_excluded
        self._observer = observer
        self._screen = screen
        self._stored = stored
        self._label = label
        self._groupings: dict[tuple[str, str], Grouping] = {}
        self.left = 0
        """Bytes of the present file that are still to be read."""

    def forget_projects(self) -> None:
        """Ask the disk again which repository a directory belongs to: repositories are made and removed."""
        self._groupings.clear()

    def read(self, path: Path, key: FileKey, *, force: bool) -> None:
        """Read what is new in a file on disk.

        Args:
            path: The file.
            key: What it is known by.
            force: Read it from its beginning, and index what is known again.

        Raises:
            OSError: It cannot be read.
            CommitFailed: Batches were not written.
            StorageFailure: The database refused.
        """
        identity = self._identity(key)
        if identity is None:
            return
        stat = FileStat.of(path.stat())
        row = self._known.row(key)
        if is_unchanged(row, stat) and not force:
            return
        session_id = identity.session_id or row.session_id
        if identity.session_id is None and row.offset < HEAD_BYTES:
            session_id = session_by_content(path)
        moved = row.session_id is not None and session_id != row.session_id
        if row.size > 0 and (force or moved or is_rewritten(path, row, stat)):
            row = self._rewrite(row)
        elif not row.lines and not row.generation:
            row = self._read_older(row, identity)
        if stat.size == row.offset:
            self._nothing_new(row, stat)
        else:
            self._parse(path, row, identity, stat, session_id or path.stem, refresh=force)

    def read_stored(self, key: FileKey, label: str) -> None:
        """Read a transcript that is gone from its stored copies, the oldest first: a rewrite may have removed text.

        Raises:
            OSError: The archive cannot be read.
            CommitFailed: Batches were not written.
            StorageFailure: The database refused.
        """
        identity = self._identity(key)
        if identity is None or self._stored is None:
            return
        row = self._known.row(key)
        for generation in reversed(self._stored.generations(label, key[1])):
            row = self._read_generation(row, identity, label, generation)
        self._committer.settle()
        number, now_ms = row.id, int(self._clock.now() * 1000)
        self._writer.write(lambda connection: files.mark_gone(connection, [number], now_ms))
        self._known.remember(dataclasses.replace(row, gone=True))

    def _identity(self, key: FileKey) -> FileIdentity | None:
        identity = identify(PurePosixPath(key[1]))
        if identity is not None and self._screen is not None and self._screen.is_forgotten(identity.session_id):
            return None
        return identity

    def _nothing_new(self, row: FileRow, stat: FileStat) -> None:
        """Note the state of an empty stub, or of a file that was only touched."""
        number = row.id
        self._writer.submit(lambda c: files.mark_read(c, number, stat.size, stat.mtime_ns, stat.inode))
        self._known.remember(
            dataclasses.replace(row, size=stat.size, mtime_ns=stat.mtime_ns, inode=stat.inode, gone=False, error=None)
        )

    def _read_older(self, row: FileRow, identity: FileIdentity) -> FileRow:
        """Read what a new index cannot find on disk: the generations before a rewrite."""
        label = self._label(row.root_id)
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
            stat = FileStat(path.stat().st_size, mtime_ns=0, inode=0)
            return self._parse(path, row, identity, stat, identity.session_id or session_by_content(path))

    def _rewrite(self, row: FileRow) -> FileRow:
        """Begin a file anew."""
        self._committer.settle()
        self._writer.write(lambda connection: files.begin_rewrite(connection, row.id))
        fresh = dataclasses.replace(
            row,
            session_id=None,
            generation=row.generation + 1,
            offset=0,
            tail=None,
            lines=0,
            parser=None,
            first_ms=None,
            size=0,
            mtime_ns=0,
        )
        self._known.remember(fresh)
        return fresh

    def _parse(
        self,
        path: Path,
        row: FileRow,
        identity: FileIdentity,
        stat: FileStat,
        session_id: str,
        *,
        refresh: bool = False,
    ) -> FileRow:
        """Hand what follows a file's offset to the committer and return the file's row as it will be."""
        folder = PurePosixPath(row.path).parts[0]
        rules = _Rules(folder, self._is_excluded, self._observer, self._groupings)
        tail = FileTail(path, row, identity, stat, session_id=session_id, rules=rules, refresh=refresh)
        self.left = stat.size - row.offset
        for batch in tail.batches():
            position = batch.position
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
            self._known.remember(row)
            self._committer.add(batch)
            self._meter.count(position.offset - batch.start)
            self.left = max(0, stat.size - position.offset)
        return row
