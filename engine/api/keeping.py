"""The front door's methods that look after the history: doctor, backup, prune, forget, restore."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.api.control import Work, no_progress
from engine.checkup import vault_problems
from engine.core.errors import NotFound
from engine.core.models.asking import Caller
from engine.maintenance.prune import PruneRequest
from engine.recall.sessions import NO_SUCH_PROJECT
from engine.search import scope
from engine.store import reading

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from engine.core.models.keeping import BackupReply, DoctorReply, ForgetReply, PruneReply, RestoreReply
    from engine.knowledge.service import KnowledgeService
    from engine.safekeeping import Safekeeping
    from engine.store.connection import Connection, ReaderPool

_NO_CALLER = Caller()


class Keeping:
    """Looks after the history.

    Args:
        readers: Read-only connections.
        keeper: Archive, prune, forget, restore, doctor.
        knowledge: Looked at by the doctor.
    """

    def __init__(self, readers: ReaderPool, keeper: Safekeeping, knowledge: KnowledgeService) -> None:
        self._readers = readers
        self._keeper = keeper
        self._knowledge = knowledge

    def doctor(
        self,
        *,
        fix: bool = False,
        deep: bool = False,
        only: Collection[str] | None = None,
        work: Work | None = None,
    ) -> DoctorReply:
        """Look at everything, and with `fix` mend what can be mended. Answers even when the database is damaged.

        Args:
            fix: Mend.
            deep: Verify the whole archive instead of a sample.
            only: Mend only the findings with these ids; None mends all.
            work: Progress and cancelling.

        Raises:
            EngineError: There is no engine to mend with, no check has such an id, or it was cancelled.
        """
        work = work or Work(no_progress, threading.Event())
        return self._keeper.doctor(
            fix=fix,
            deep=deep,
            knowledge=self._vault_problems if self._knowledge.exists() else None,
            progress=work.progress,
            cancelled=work.cancelled,
            only=only,
        )

    def backup(self) -> BackupReply:
        """Copy the index now, whatever is being written to it.

        Raises:
            EngineError: There is no engine, or the copy cannot be made.
        """
        return self._keeper.back_up()

    def prune(
        self,
        *,
        older_than_days: int,
        project: str | None = None,
        archive: bool = False,
        include_only_copies: bool = False,
        dry_run: bool = True,
        caller: Caller = _NO_CALLER,
        work: Work | None = None,
    ) -> PruneReply:
        """Say what of the history would go, or take it out: whole sessions in which nothing was said for so long.

        Args:
            older_than_days: At least 1.
            project: Part of the working directory's path.
            archive: The archived copies too.
            include_only_copies: Also sessions that exist nowhere else afterwards.
            dry_run: Change nothing.
            caller: Whose `.` a project may be.
            work: Progress and cancelling.

        Raises:
            EngineError: There is no engine to write with, the disk refused, or it was cancelled.
        """
        with self._readers.connection() as connection:
            folders, _ = scope.project_folders(connection, project, caller)
        request = PruneRequest(older_than_days, folders, archive, include_only_copies)
        work = work or Work(no_progress, threading.Event())
        reply = self._keeper.prune(request, dry_run=dry_run, progress=work.progress, cancelled=work.cancelled)
        return replace(reply, note=NO_SUCH_PROJECT) if folders == () else reply

    def forget(self, session_id: str) -> ForgetReply:
        """Take one session out of index, archive and backups, for ever. Claude Code's own file is not touched.

        Raises:
            EngineError: The id fits no session or several, or there is no engine to write with.
        """
        with self._readers.connection() as connection:
            number, found = self._session_of(connection, session_id)
        return self._keeper.forget(number, found)

    def restore(self, session_id: str, to: Path) -> RestoreReply:
        """Write a session's files into a folder as Claude Code wrote them. Nothing is overwritten.

        Raises:
            EngineError: The id fits no session or several, nothing is left of it, or the folder cannot be written.
        """
        with self._readers.connection() as connection:
            number, found = self._session_of(connection, session_id)
            return self._keeper.restore(connection, number, found, to)

    def _session_of(self, connection: Connection, session_id: str) -> tuple[int | None, str]:
        """Return number and id of a session; no number for one that was pruned from the index and only archived."""
        try:
            number = scope.session_number(connection, session_id)
        except NotFound:
            stored = self._keeper.stored_session(session_id)
            if stored is None:
                raise
            return None, stored
        return number, reading.sessions_by_id(connection, [number])[number].session_id

    def _vault_problems(self) -> tuple[str, ...]:
        return vault_problems(self._knowledge.check())
