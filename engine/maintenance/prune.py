"""Prune and forget: what would go is said first, and applying it leaves no trace and gives the space back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from engine.core.errors import Cancelled
from engine.core.models.keeping import ForgetReply, OnlyCopy, PruneReply
from engine.core.text import shorten
from engine.core.when import iso
from engine.maintenance.checks import plural
from engine.maintenance.clearing import STILL_READ, clear
from engine.store import named, pruning, removing
from engine.store.space import has_traces
from engine.store.usage import UsageTables

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection
    from zoneinfo import ZoneInfo

    from engine.core.clock import Clock
    from engine.maintenance.backup import Backups
    from engine.maintenance.removals import Removals
    from engine.store.connection import Connection
    from engine.store.pruning import PruneCandidate, SessionSums
    from engine.store.writer import StoreWriter

DAY_MS: Final = 86_400_000
SESSIONS_A_STEP: Final = 50
"""Deleted between two looks at the archive, which goes through all of its files."""

SESSIONS_A_TRANSACTION: Final = 4
"""Deleted in one transaction, 60 ms each on a busy machine: readers and indexing get a turn in between."""


class ArchiveRemover(Protocol):
    """The archive, as far as taking something out of it needs it."""

    def remove_sessions(self, sessions: Collection[str], places: Collection[tuple[str, str]], *, forget: bool) -> int:
        """Delete the stored files of sessions (ids, and label and path of transcripts); return the bytes given back."""
        ...


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """What should go."""

    older_than_days: int
    folders: tuple[int, ...] | None = None
    """Working directories; None for all."""
    archive: bool = False
    include_only_copies: bool = False


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What the index takes on the disk."""

    database: int
    """Bytes, with its log."""
    backups: int
    """Bytes of its backups; after a prune there is one, of what is left."""
    damaged: int
    """Bytes of damaged ones that were moved aside."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.database + self.backups + self.damaged


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What would go."""

    going: tuple[PruneCandidate, ...]
    only_copies: tuple[PruneCandidate, ...]
    sums: SessionSums
    calls: int
    before_ms: int


def draw(connection: Connection, request: PruneRequest, clock: Clock) -> PrunePlan:
    """Return what would go, and change nothing."""
    before_ms = int(clock.now() * 1000) - request.older_than_days * DAY_MS
    found = pruning.sessions_before(connection, before_ms, request.folders)
    if request.archive:
        found += pruning.archived_before(connection, before_ms, request.folders)
    # Without its transcript a session is left in the archive only, if it is there and stays there.
    only = tuple(each for each in found if not each.is_on_disk and (request.archive or not each.is_archived))
    going = found if request.include_only_copies else tuple(each for each in found if each not in only)
    return PrunePlan(
        going,
        only,
        pruning.sums_of(connection, going),
        UsageTables(connection).count_before(before_ms, request.folders),
        before_ms,
    )


def told(plan: PrunePlan, request: PruneRequest, *, disk: DiskUse, zone: ZoneInfo) -> PruneReply:
    """Return a plan as it is told, with what would come back on the disk: of the index, its log and its copies."""
    if not plan.going:
        return _reply(plan, request, 0, zone, dry_run=True)
    index = plan.sums.database_bytes - plan.sums.given_back
    after = index * 2 if disk.backups else index
    freed = max(0, disk.total - after) if plan.sums.chunks else 0
    freed += plan.sums.archive_bytes if request.archive else 0
    return _reply(plan, request, freed, zone, dry_run=True)


def _reply(plan: PrunePlan, request: PruneRequest, freed: int, zone: ZoneInfo, *, dry_run: bool) -> PruneReply:
    return PruneReply(
        dry_run=dry_run,
        chunks=plan.sums.chunks,
        calls=plan.calls,
        sessions=len(plan.going),
        vectors=plan.sums.vectors,
        bytes_freed=freed,
        archive_bytes=plan.sums.archive_bytes if request.archive else 0,
        only_copies=tuple(
            OnlyCopy(
                session_id=each.session_id,
                title=None if each.title is None else shorten(each.title, 120),
                last_at=iso(each.last_ms, zone),
            )
            for each in plan.only_copies
        ),
        note=_note(plan, request, dry_run=dry_run),
    )


@dataclass(frozen=True, slots=True)
class Pruner:
    """Takes out what a plan names. The writer does the work; `cancelled` is looked at between steps.

    Args of the constructor:
        writer: Of the database.
        removals: Where what was taken out is remembered.
        archive: What is asked to delete stored files.
        backups: Copies that must not keep what was taken out.
        clock: Now.
        zone: Of the times in replies.
        disk: Says what the index takes.
        settle: Waits until what was read before is written: it was not screened for what is taken out now.
        forget_calls: Takes the API calls of sessions out; those that another session copied are counted there.
    """

    writer: StoreWriter
    removals: Removals
    archive: ArchiveRemover
    backups: Backups
    clock: Clock
    zone: ZoneInfo
    disk: Callable[[], DiskUse]
    settle: Callable[[], None]
    forget_calls: Callable[[Connection, Collection[int]], None]

    def apply(
        self,
        plan: PrunePlan,
        request: PruneRequest,
        *,
        progress: Callable[[int, int | None, str], None],
        cancelled: threading.Event,
    ) -> PruneReply:
        """Take out what the plan names.

        Args:
            plan: Drawn just now; nobody reads the database any more, or its log could not be cleared.
            request: What the plan was drawn for.
            progress: Told steps done, all steps and what comes next.
            cancelled: Ends the work between two steps; what is done stays done, and a later prune goes on.

        Raises:
            Cancelled: It was cancelled.
            StorageFailure: The database refused.
            OSError: A file cannot be written or deleted.
        """
        before = self.disk().total
        steps = -(-len(plan.going) // SESSIONS_A_STEP) + 1
        self.removals.prune({each.session_id: each.last_ms + 1 for each in plan.going}, archive=request.archive)
        self.settle()
        # Of a forget that the disk refused half-way.
        self.finish_forgetting(lambda _what: _stop_if(cancelled))
        freed = 0
        for step in range(0, len(plan.going), SESSIONS_A_STEP):
            _stop_if(cancelled)
            some = plan.going[step : step + SESSIONS_A_STEP]
            progress(step // SESSIONS_A_STEP, steps, "Taking out sessions")
            if request.archive:
                freed += self._from_archive(some)
            for first in range(0, len(some), SESSIONS_A_TRANSACTION):
                _stop_if(cancelled)
                few = some[first : first + SESSIONS_A_TRANSACTION]
                for session, last in self.writer.write(lambda c, few=few: _prune_small(c, few)):
                    while self.writer.write(lambda c, s=session, last=last: removing.prune_some(c, s, up_to=last)):
                        _stop_if(cancelled)
        self._delete_calls(plan, request, cancelled)
        notes: list[str] = []
        if self.writer.write(has_traces):
            copies, done = clear(self.writer, self.backups, lambda what: _step(cancelled, progress, steps, what))
            notes = _cleared(copies, done=done)
        freed += max(0, before - self.disk().total)
        reply = _reply(plan, request, freed, self.zone, dry_run=False)
        return replace(reply, note=" ".join([*notes, *([reply.note] if reply.note else [])]) or None)

    def forget(
        self, session: int | None, session_id: str, places: Collection[tuple[str, str, str, bool]]
    ) -> ForgetReply:
        """Take one session out everywhere, for ever.

        Args:
            session: Its number; None for one that only the archive knows.
            session_id: Its id.
            places: Root, label, path and whether it is gone, of each of its transcripts.

        Raises:
            StorageFailure: The database refused.
            OSError: A file cannot be written or deleted.
        """
        self.removals.forget(session_id)
        self.settle()
        if session is not None:
            self.writer.write(lambda c: self._hide(c, session))
        files = [(label, path) for _, label, path, _ in places]
        self.archive.remove_sessions([session_id], files, forget=True)
        self.finish_forgetting(lambda _what: None)
        copies, done = clear(self.writer, self.backups, lambda _what: None)
        left = tuple(f"{root}/{path}" for root, _, path, is_gone in places if not is_gone)
        note = " ".join(_cleared(copies, done=done)) or None
        return ForgetReply(session_id=session_id, left_on_disk=left, note=note)

    def hide_forgotten(self) -> None:
        """Hide what was forgotten and is still there: a process was ended before it could. Before anybody reads.

        Raises:
            StorageFailure: The database refused.
        """

        def hide(connection: Connection) -> None:
            for session, session_id in named.all_sessions(connection):
                if self.removals.is_forgotten(session_id):
                    self._hide(connection, session)

        if self.removals.any_forgotten:
            self.writer.write(hide)

    def finish_forgetting(self, step: Callable[[str], None]) -> None:
        """Take out in steps what is hidden.

        Args:
            step: Told what comes next; raises to stop. What is not done is done at the next start.

        Raises:
            StorageFailure: The database refused.
        """
        for session in self.writer.write(removing.being_forgotten):
            step("Forgetting a session")
            while self.writer.write(lambda c, session=session: removing.forget_some(c, session)):
                step("Forgetting a session")

    def _hide(self, connection: Connection, session: int) -> None:
        self.forget_calls(connection, [session])
        removing.hide(connection, session)

    def _delete_calls(self, plan: PrunePlan, request: PruneRequest, cancelled: threading.Event) -> None:
        def some(connection: Connection) -> bool:
            tables = UsageTables(connection)
            cut_ms = tables.cut_before(plan.before_ms, request.folders)
            tables.delete_before(cut_ms, request.folders)
            return cut_ms < plan.before_ms

        if plan.calls:
            while self.writer.write(some):
                _stop_if(cancelled)

    def _from_archive(self, sessions: Collection[PruneCandidate]) -> int:
        places = self.writer.write(
            lambda c: [place for each in sessions for place in pruning.archived_of(c, each.session)]
        )
        return self.archive.remove_sessions([each.session_id for each in sessions], places, forget=False)


def _prune_small(connection: Connection, sessions: Collection[PruneCandidate]) -> list[tuple[int, int]]:
    """Take out what goes in one step; return the others, each with its last message."""
    large: list[tuple[int, int]] = []
    for session in pruning.unchanged(connection, sessions):
        last = removing.last_message(connection, session)
        if removing.message_count(connection, session) > removing.STEP_MESSAGES:
            large.append((session, last))
            continue
        while removing.prune_some(connection, session, up_to=last):
            pass
    return large


def _cleared(copies: int, *, done: bool) -> list[str]:
    told = [f"{plural(copies, 'copy', 'copies')} of the index that held it, deleted."] if copies else []
    return told if done else [*told, STILL_READ]


def _note(plan: PrunePlan, request: PruneRequest, *, dry_run: bool) -> str | None:
    parts: list[str] = []
    if plan.only_copies and not request.include_only_copies:
        parts.append(
            f"{plural(len(plan.only_copies), 'session exists', 'sessions exist')} nowhere else and stay; "
            "include_only_copies takes them out as well."
        )
    if dry_run and plan.going:
        parts.append("Nothing was changed; dry_run=false applies it, and deletes backups that hold the same text.")
    if not request.archive and any(each.is_archived for each in plan.going):
        parts.append("Their archived copies stay.")
    if any(each.is_on_disk for each in plan.going):
        parts.append("Claude Code's own files are never touched.")
    return " ".join(parts) or None


def _step(cancelled: threading.Event, progress: Callable[[int, int | None, str], None], steps: int, what: str) -> None:
    _stop_if(cancelled)
    progress(steps - 1, steps, what)


def _stop_if(cancelled: threading.Event) -> None:
    if cancelled.is_set():
        raise Cancelled("The prune was cancelled", "What was taken out so far stays out.", "Prune again to go on.")
