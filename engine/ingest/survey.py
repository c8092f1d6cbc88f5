"""Compares what is on disk and in the archive with what was read: what to read, what is gone, what is back."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from engine.core.repository import encode_cwd
from engine.ingest.queue import FileTask
from engine.ingest.scanner import Scan, existing_roots
from engine.ingest.tail import is_unchanged, unread
from engine.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from engine.core.clock import Clock
    from engine.ingest.known import FileKey, KnownFiles
    from engine.store.connection import Connection
    from engine.store.files import FileRow
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that is looked at, and what it stands for."""

    path: Path
    root: int
    prefix: PurePosixPath
    """Below the root; more than nothing for a folder that a link leads to."""


@dataclass(slots=True)
class _Findings:
    """One comparison in the making."""

    tasks: list[FileTask] = field(default_factory=list[FileTask])
    present: set[FileKey] = field(default_factory=set["FileKey"])
    new: list[FileKey] = field(default_factory=list["FileKey"])
    back: list[int] = field(default_factory=list[int])


class Survey:
    """Looks at the roots. Used by the thread that watches and whoever asks for a reindex.

    Args:
        writer: The single writer.
        known: Rows of files.
        roots: Says which roots there are; asked at each look, because folders appear and settings change.
        clock: Time.
        stored: The archive, None without one.
    """

    def __init__(
        self,
        writer: StoreWriter,
        known: KnownFiles,
        roots: Callable[[], tuple[Root, ...]],
        *,
        clock: Clock,
        stored: StoredTranscripts | None,
    ) -> None:
        self._writer = writer
        self._known = known
        self._roots = roots
        self._clock = clock
        self._stored = stored
        self._lock = threading.Lock()
        self._folders: tuple[_Folder, ...] = ()
        self._labels: dict[int, str] = {}
        self._archived: frozenset[str] = frozenset()
        self._paths: dict[int, Path] = {}
        self._refused: dict[str, str] | None = None
        """Folders that could not be read at the last look, None before the first one."""

    def look(self, *, force: bool = False, project: str | None = None) -> list[FileTask]:
        """Return the files that have something new, and note which are gone and which are back.

        Args:
            force: Return every file, to be read from its beginning.
            project: Only files whose folder contains this text, whatever its case.

        Raises:
            StorageFailure: The database refused.
        """
        scan = Scan(existing_roots(self._roots()))
        numbers = self._register(scan.roots)
        table = self._writer.write(files.all_files, transaction=False)
        self._known.load(table)
        findings = _Findings()
        for root in scan.roots:
            number = numbers[root.path]
            for found in scan.files(root):
                key = (number, found.relative)
                findings.present.add(key)
                row = table.get(key)
                if project is not None and not _mentions(found.relative, project):
                    continue
                if row is not None and is_unchanged(row, found.stat) and not force:
                    if row.gone:
                        findings.back.append(row.id)
                    continue
                if row is None:
                    findings.new.append(key)
                size = found.stat.size if row is None or force else unread(row, found.stat.size)
                findings.tasks.append(FileTask(-found.stat.mtime_ns, number, found.relative, size, force=force))
        self._take_folders(scan, numbers)
        self._look_into_archive(findings, table, force=force, project=project)
        self._note(findings, table, frozenset(numbers.values()))
        return findings.tasks

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders whose changes matter: the roots, and where links in them lead."""
        with self._lock:
            return tuple(folder.path for folder in self._folders)

    def locate(self, path: Path) -> FileKey | None:
        """Return the file that a path on disk is, None outside the roots."""
        with self._lock:
            folders = self._folders
        for folder in folders:
            if folder.path in path.parents:
                relative = folder.prefix / PurePosixPath(*path.relative_to(folder.path).parts)
                return folder.root, str(relative)
        return None

    def path(self, key: FileKey) -> Path | None:
        """Return where a file lies, None when its root is not there."""
        with self._lock:
            root = next((each.path for each in self._folders if each.root == key[0] and not each.prefix.parts), None)
        return None if root is None else root / key[1]

    def stored_label(self, root: int) -> str | None:
        """Return the label of a root of which the archive had something at the last look, else None."""
        with self._lock:
            label = self._labels.get(root)
            return label if label in self._archived else None

    def _register(self, roots: tuple[Root, ...]) -> dict[Path, int]:
        remembered = {} if self._stored is None else dict(self._stored.roots())

        def register(connection: Connection) -> tuple[list[int], dict[int, tuple[str, str]]]:
            # The archive's own labels first: in a new database they must name the same roots as before.
            for label, path in remembered.items():
                files.register_root(connection, path, label)
            numbers = [files.register_root(connection, str(root.path), root.label) for root in roots]
            return numbers, files.roots(connection)

        numbers, listed = self._writer.write(register)
        with self._lock:
            self._labels = {number: label for number, (_, label) in listed.items()}
            self._archived = frozenset(remembered)
            self._paths = {number: Path(path) for number, (path, _) in listed.items()}
        return dict(zip((root.path for root in roots), numbers, strict=True))

    def _take_folders(self, scan: Scan, numbers: Mapping[Path, int]) -> None:
        folders = [_Folder(root.path, numbers[root.path], PurePosixPath()) for root in scan.roots]
        folders += [
            _Folder(real, numbers[root.path], PurePosixPath(relative)) for real, (root, relative) in scan.links.items()
        ]
        with self._lock:
            self._folders = tuple(folders)
        if scan.refused.keys() - (self._refused or {}).keys():
            logger.warning("%d folders below the roots cannot be read", len(scan.refused))
        if scan.refused or scan.refused != self._refused:  # every time, because the database may be a new one
            self._writer.write(lambda connection: files.note_refused_folders(connection, scan.refused))
        self._refused = scan.refused

    def _look_into_archive(
        self, findings: _Findings, table: Mapping[FileKey, FileRow], *, force: bool, project: str | None
    ) -> None:
        """Add transcripts that only the archive still has and the index does not know (`force`: all of them)."""
        if self._stored is None:
            return
        with self._lock:
            labels = dict(self._labels)
        for number, label in labels.items():
            for path, size in self._stored.transcripts(label):
                key = (number, path)
                if key in findings.present or (key in table and not force):
                    continue
                if project is None or _mentions(path, project):
                    findings.tasks.append(FileTask(0, number, path, size, force=force, stored=label))

    def _note(self, findings: _Findings, table: Mapping[FileKey, FileRow], scanned: frozenset[int]) -> None:
        """Write what the look found out beside work; nothing on most days."""
        gone = [
            row.id
            for key, row in table.items()
            if key not in findings.present and not row.gone and self._is_gone(key, scanned)
        ]
        if not (gone or findings.back or findings.new):
            return
        now_ms = int(self._clock.now() * 1000)

        def note(connection: Connection) -> dict[FileKey, FileRow]:
            files.mark_gone(connection, gone, now_ms)
            files.mark_back(connection, findings.back)
            return files.register_files(connection, findings.new)

        self._known.add(self._writer.write(note))

    def _is_gone(self, key: FileKey, scanned: frozenset[int]) -> bool:
        """Return whether a file that was not found is missing, and not only out of sight for now."""
        root = self._paths[key[0]]
        if key[0] not in scanned:
            # A root that nobody names any more may still be there; one that vanished took its files along.
            return not root.is_dir()
        path = root / key[1]
        return not any(Path(folder) in path.parents for folder in self._refused or ())


def _mentions(relative: str, project: str) -> bool:
    wanted = project.casefold()
    folder = relative.split("/", 1)[0].casefold()
    return wanted in folder or encode_cwd(wanted) in folder
