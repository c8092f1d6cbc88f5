"""Puts together what keeps the history: archive, screen, backups, prune, forget, restore, doctor. One for each engine.

The rooms below do not know each other; here the archive meets the database and both meet the person's wishes.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from engine.archive.archiver import Archiver
from engine.archive.reader import ArchiveReader
from engine.checkup import ArchiveSight, ClaudeSight, stop_when
from engine.core.errors import Cancelled, EngineError, EngineNotRunning, StorageFailure
from engine.core.models.keeping import BackupReply
from engine.maintenance import prune
from engine.maintenance.backup import Backups
from engine.maintenance.checks import CheckUp
from engine.maintenance.checks_disk import close_to_others
from engine.maintenance.clearing import clear
from engine.maintenance.doctor import doctor
from engine.maintenance.prune import DiskUse, Pruner
from engine.maintenance.removals import FILE_NAME, Removals
from engine.maintenance.restore import restore
from engine.maintenance.screen import Screen
from engine.store import coverage, pruning, redactions, removing, space
from engine.store.usage import UsageTables
from engine.transcripts.discovery import identify
from engine.transcripts.redaction import redacted_text
from engine.transcripts.secret_shapes import RULES_VERSION
from engine.usage.ledger import forget_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from zoneinfo import ZoneInfo

    from engine.core.clock import Clock
    from engine.core.models.keeping import DoctorReply, ForgetReply, PruneReply, RestoreReply
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.maintenance.checks import EngineView
    from engine.maintenance.prune import PruneRequest
    from engine.store.connection import Connection, ReaderPool
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)

T = TypeVar("T")

_LATE_WRITE_MS = 3_600_000
"""Claude Code may touch a transcript a while after its last message (titles, snapshots)."""


class Safekeeping:
    """What keeps the history of one data directory.

    Args:
        paths: Where everything lies.
        settings: The person's.
        clock: Time.
        zone: Of the times in replies.
        readers: Read-only connections.
        writer: The single writer; None where a database is only read.
        roots: Says which roots exist, links resolved.
        is_excluded: True for working directories that must not be kept; None when there are none.
        is_reading: True while transcripts wait to be read.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock,
        zone: ZoneInfo,
        *,
        readers: ReaderPool,
        writer: StoreWriter | None,
        roots: Callable[[], tuple[Root, ...]],
        is_excluded: Callable[[str | None], bool] | None,
        is_reading: Callable[[], bool],
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._engine: EngineView | None = None
        self._unredacted = False
        self._removing = threading.Lock()
        """One prune or forget at a time: each clears what both leave."""
        self._clock = clock
        self._zone = zone
        self._readers = readers
        readers.redact_with(redacted_text if settings.privacy_redact else None)
        self._writer = writer
        self.removals = Removals(paths.data / FILE_NAME)
        self.screen = Screen(self.removals, redacts=settings.privacy_redact)
        self.stored = ArchiveReader(paths.archive)
        self.backups = Backups(paths.database, clock)
        self.archiver = (
            None
            if writer is None or not settings.archive_enabled
            else Archiver(
                paths.archive,
                writer,
                roots,
                clock=clock,
                is_excluded=is_excluded,
                is_pruned=self._is_pruned,
                is_reading=is_reading,
            )
        )

    # Prune and forget --------------------------------------------------------------------------------------------

    def prune(
        self,
        request: PruneRequest,
        *,
        dry_run: bool,
        progress: Callable[[int, int | None, str], None],
        cancelled: threading.Event,
    ) -> PruneReply:
        """Return what would go, or take it out.

        Raises:
            EngineNotRunning: There is no engine to write with.
            StorageFailure: The disk or the database refused.
            Cancelled: It was cancelled between two steps.
        """
        if dry_run:
            return prune.told(self._plan(request), request, disk=self._disk_use(), zone=self._zone)
        with self._removing:
            plan = self._plan(request)
            return self._writing(lambda: self._pruner().apply(plan, request, progress=progress, cancelled=cancelled))

    def forget(self, session: int | None, session_id: str) -> ForgetReply:
        """Take one session out everywhere, for ever.

        Raises:
            EngineNotRunning: There is no engine to write with.
            StorageFailure: The disk or the database refused.
        """
        with self._readers.connection() as connection:
            places = () if session is None else pruning.places_of(connection, session)
        with self._removing:
            return self._writing(lambda: self._pruner().forget(session, session_id, places))

    def remove_sessions(self, sessions: Collection[str], places: Collection[tuple[str, str]], *, forget: bool) -> int:
        """Delete the stored files of sessions; the archive's side of prune and forget."""
        return self._archive().remove(sessions, places, forget=forget)

    def _plan(self, request: PruneRequest) -> prune.PrunePlan:
        with self._readers.connection() as connection:
            return prune.draw(connection, request, self._clock)

    def _is_pruned(self, session_id: str | None, mtime_ns: int) -> bool:
        """Return True for a source that was taken out of the archive and has said nothing since."""
        removed = self.removals.of(session_id)
        if removed is None or not removed.archive:
            return False
        return removed.before_ms < 0 or mtime_ns // 1_000_000 < removed.before_ms + _LATE_WRITE_MS

    def _pruner(self) -> Pruner:
        return Pruner(
            self._need_writer(),
            self.removals,
            self,
            self.backups,
            self._clock,
            self._zone,
            self._disk_use,
            lambda: None if self._engine is None else self._engine.settle(),
            lambda connection, sessions: forget_sessions(UsageTables(connection), sessions),
        )

    def _disk_use(self) -> DiskUse:
        return DiskUse(database_bytes(self._paths.database), *self.backups.bytes())

    def _archive(self) -> Archiver:
        """Return what changes the archive; also when storing into it is switched off."""
        return self.archiver or Archiver(
            self._paths.archive,
            self._need_writer(),
            lambda: (),
            clock=self._clock,
            is_excluded=None,
            is_pruned=self._is_pruned,
            is_reading=lambda: False,
        )

    def _need_writer(self) -> StoreWriter:
        if self._writer is None:
            raise EngineNotRunning("No engine is running", "", "Start it with `backscroll` or `backscroll serve`.")
        return self._writer

    # Doctor ------------------------------------------------------------------------------------------------------

    def begin(self, engine: EngineView) -> None:
        """Take note of the engine that now runs, and of the setting that replaces secrets."""
        self._engine = engine
        self._need_writer().write(self._note_setting)
        self._pruner().hide_forgotten()
        if os.name == "posix":
            close_to_others(self._paths, self.backups)
        self.removals.remove_unfinished()
        self.stored.remove_unfinished()
        self.backups.remove_unfinished()

    def run(self, stopping: threading.Event) -> None:
        """Do `keep` and go on storing until stopped. The loop of thread `engine-archive`."""

        def step(_what: str) -> None:
            if stopping.is_set():
                raise Cancelled("Backscroll is closing")

        self._finish_removing(step)
        if self.archiver is None:
            stopping.wait()
        else:
            self.archiver.run(stopping)

    def keep(self) -> None:
        """Clear what an earlier run was kept from clearing, and make one pass of the archive."""
        self._finish_removing(lambda _what: None)
        if self.archiver is not None:
            self.archiver.store()

    def _finish_removing(self, step: Callable[[str], None]) -> None:
        """Take out what was forgotten, and clear deleted text, when a process was ended in the middle of that."""
        writer = self._need_writer()
        try:
            with self._removing:
                self._forget_in_archive(writer)
                self._pruner().finish_forgetting(step)
            if writer.write(space.has_traces):
                clear(writer, self.backups, step)
        except (EngineError, OSError) as exc:
            # Nobody waits for it, and the next start tries again.
            logger.warning("Deleted text was not cleared (%s)", type(exc).__name__)

    def _forget_in_archive(self, writer: StoreWriter) -> None:
        if not self.removals.any_forgotten:
            return
        places = writer.write(
            lambda c: [place for each in removing.being_forgotten(c) for place in pruning.archived_of(c, each)]
        )
        identities = (identify(PurePosixPath(stored.path)) for stored, _ in self.stored.stored())
        ids = {each.session_id for each in identities if each is not None and each.session_id is not None}
        left = [each for each in ids if self.removals.is_forgotten(each)]
        if left or places:
            self.remove_sessions(left, places, forget=True)

    def renewed(self) -> None:
        """Take note of a database that was just made."""
        if self.archiver is not None:
            self.archiver.forget_rows()
        self._need_writer().write(self._note_setting)

    def _note_setting(self, connection: Connection) -> None:
        if not self._settings.privacy_redact:
            redactions.note_redaction(connection, 0)
        elif not coverage.chunk_count(connection):
            redactions.note_redaction(connection, RULES_VERSION)
        self._unredacted = self._settings.privacy_redact and redactions.redacted_with(connection) < RULES_VERSION

    @property
    def has_unredacted(self) -> bool:
        """True when secrets should be replaced and part of the index was made without."""
        return self._unredacted

    def doctor(
        self,
        *,
        fix: bool,
        deep: bool,
        knowledge: Callable[[], tuple[str, ...]] | None,
        progress: Callable[[int, int | None, str], None],
        cancelled: threading.Event,
        only: Collection[str] | None = None,
    ) -> DoctorReply:
        """Look at everything, and mend what can be mended when asked: all of it, or only the findings of these ids.

        Raises:
            InvalidArgument: No check has such an id.
            EngineNotRunning: There is no engine to mend with.
            Cancelled: It was cancelled between two steps.
        """
        if fix:
            self._need_writer()
        checkup = CheckUp(
            self._paths,
            self._settings,
            self._clock,
            self._readers.connection,
            self._writer,
            self.backups,
            ArchiveSight(self.stored, self.archiver),
            self._engine,
            ClaudeSight(self._paths, self._clock),
            knowledge,
            deep,
        )
        reply = doctor(checkup, fix=fix, step=stop_when(cancelled, progress), only=only)
        if any(each.id == "secrets" and each.fixed for each in reply.findings):
            self._unredacted = False
        return reply

    # Back up -----------------------------------------------------------------------------------------------------

    def back_up(self) -> BackupReply:
        """Copy the database now; the last copies are kept, older ones go.

        Raises:
            EngineNotRunning: There is no engine.
            StorageFailure: It cannot be copied, or the folder cannot be written.
        """
        self._need_writer()
        made = self._writing(lambda: self.backups.make("asked"))
        return BackupReply(file=str(made), bytes=made.stat().st_size, kept=len(self.backups.all()))

    # Restore -----------------------------------------------------------------------------------------------------

    def stored_session(self, prefix: str) -> str | None:
        """Return the id of the one session in the archive whose id begins so: pruned from the index it may be there."""
        return self.stored.session(prefix)

    def restore(self, connection: Connection, session: int | None, session_id: str, to: Path) -> RestoreReply:
        """Write a session's files back as Claude Code wrote them: transcript, sub-agents, spilled outputs.

        Args:
            connection: Any.
            session: Its number; None for one that only the archive knows.
            session_id: Its id.
            to: A folder, made when it is not there. Files are never overwritten.

        Raises:
            NotFound: Neither transcripts nor archive hold it.
            StorageFailure: The folder cannot be written, or a file is there already.
        """
        places = () if session is None else pruning.places_of(connection, session)
        return restore(self.stored, places, session_id, to)

    # Failing for people --------------------------------------------------------------------------------------------

    def _writing(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as exc:
            raise StorageFailure(
                "The data folder cannot be written",
                f"{exc.filename or self._paths.data}: {exc.strerror}.",
                "Check the disk and the folder's permissions, then try again.",
            ) from exc


def database_bytes(database: os.PathLike[str]) -> int:
    """Return the size of a database with its log."""
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(f"{os.fspath(database)}{suffix}").st_size  # noqa: PTH116 - a name with a suffix
        except FileNotFoundError:
            continue
    return total
