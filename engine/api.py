"""The front door: one typed method for each thing that can be asked. No SQL, no threads.

The desktop calls the methods; the command line and Claude Code come through `call`, whose names and arguments are the
contract of `engine/arguments`. Both get the same values.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from engine import __version__
from engine.arguments import LIMIT_CAP, OPERATIONS, validate
from engine.checkup import vault_problems
from engine.core import when
from engine.core.errors import EngineError, EngineNotRunning, InvalidArgument, StorageFailure
from engine.core.models import (
    Caller,
    Coverage,
    CoverageRow,
    EmbeddingStatus,
    EngineStatus,
    FileCounts,
    IngestStatus,
    LineCounts,
    Notice,
    PauseReply,
    Problem,
    Reading,
    ReindexReply,
    Role,
    SearchFilters,
    SearchReply,
    SearchRequest,
    SessionList,
    Status,
    to_wire,
)
from engine.evidence import SessionEvidence
from engine.knowledge.requests import Caller as KnowledgeCaller
from engine.knowledge.service import KnowledgeService
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE_TOOLS
from engine.maintenance.prune import PruneRequest
from engine.recall.current import current_session
from engine.recall.raw import RawReader
from engine.recall.reader import Reader
from engine.recall.sessions import list_sessions
from engine.search import scope
from engine.search.scope import InView
from engine.search.searcher import Searcher
from engine.search.semantic import SemanticLeg
from engine.store import archived, coverage, files, generations, reading, redactions
from engine.store import filters as store_filters
from engine.store.usage_sums import UsageSums
from engine.transcripts.redaction import redacted_text
from engine.usage.pricing import Prices
from engine.usage.report import usage_report
from engine.usage.source import FolderName, SessionName, UsageFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from zoneinfo import ZoneInfo

    from engine.core.clock import Clock
    from engine.core.models import DoctorReply, Finding, ForgetReply, Job, Mode, PruneReply, RestoreReply
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.safekeeping import Safekeeping
    from engine.search.semantic import QueryEmbedder
    from engine.store.connection import Connection, ReaderPool
    from engine.usage.report import UsageReport
    from engine.usage.rows import Grouping

MAX_PROBLEMS = 200
KNOWLEDGE_HITS = 3
"""Records beside the hits of a hybrid search (interface.md): what was decided outranks what was only said."""

_KNOWLEDGE_HIT = ("id", "kind", "title", "snippet", "revision")
_SEARCHES: dict[str, Mode] = {"keyword_search": "keyword", "semantic_search": "semantic", "hybrid_search": "hybrid"}
_FILTERS = (
    "project", "when", "date_from", "date_to", "include_low_signal", "include_sidechains", "role", "kind", "tool",
    "session", "include_current",
)  # fmt: skip
_LONG = frozenset({"doctor", "prune"})
"""Calls that report progress and can be cancelled."""
_NO_CALLER = Caller()
_OPERATIONS = {**OPERATIONS, **KNOWLEDGE_TOOLS}
_UNDECIDED = "It could not be told which session asks, so nothing was left out."


class EngineControl(Protocol):
    """The running engine behind the front door; absent when a database is only read."""

    def engine_status(self) -> EngineStatus:
        """State, process, uptime."""
        ...

    def ingest_status(self) -> IngestStatus:
        """What reading is doing."""
        ...

    def embedding_status(self) -> EmbeddingStatus:
        """What embedding is doing."""
        ...

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know."""
        ...

    def clients(self) -> int:
        """Connected shims and programs."""
        ...

    def job(self) -> Job | None:
        """Long work that was asked for."""
        ...

    def reindex(self, project: str | None, *, full: bool) -> ReindexReply:
        """Queue a rescan or a rebuild."""
        ...

    def pause(self, for_s: float | None = None) -> PauseReply:
        """Stop indexing, for a time or until it is resumed."""
        ...

    def resume(self) -> PauseReply:
        """Go on indexing."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """How long work speaks with whoever asked for it."""

    progress: Callable[[int, int | None, str], None]
    """Told steps done, all steps (None when that is not known) and what comes next."""
    cancelled: threading.Event


def _no_progress(_done: int, _total: int | None, _what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class _Page:
    limit: int
    offset: int
    applied: int | None


class EngineApi:
    """Answers questions about the history.

    Args:
        readers: Read-only connections.
        paths: Shown in `status`.
        settings: The person's.
        zone: Of days and timestamps.
        clock: Now.
        control: The engine, None when there is none.
        keeper: What keeps the history: archive, prune, forget, restore, doctor.
        embedder: Makes vectors of questions, None when there is no engine.
    """

    def __init__(
        self,
        readers: ReaderPool,
        *,
        paths: Paths,
        settings: Settings,
        zone: ZoneInfo,
        clock: Clock,
        control: EngineControl | None,
        keeper: Safekeeping,
        embedder: QueryEmbedder | None = None,
    ) -> None:
        self._readers = readers
        self._paths = paths
        self._settings = settings
        self._zone = zone
        self._clock = clock
        self._control = control
        self._keeper = keeper
        self._outside: list[Callable[[], Sequence[Finding]]] = []
        self.leg = SemanticLeg(embedder, wait_s=settings.search_semantic_wait_s)
        self._searcher = Searcher(
            zone=zone,
            clock=clock,
            apart=settings.privacy_projects_apart,
            files_pending=self._files_pending,
            leg=self.leg,
        )
        redact = redacted_text if settings.privacy_redact else None
        raw = RawReader(keeper.stored, redact)
        self._reader = Reader(raw, zone)
        self.knowledge = KnowledgeService(paths.knowledge, clock, SessionEvidence(readers, raw, zone), redact=redact)
        self._prices = Prices(settings.usage_prices)
        self._calls: dict[str, Callable[[Mapping[str, Any], Caller], Any]] = {
            "get_context": self._call_context,
            "get_session": self._call_session,
            "list_sessions": self._call_list,
            "get_period": self._call_period,
            "get_usage": self._call_usage,
            "status": lambda _arguments, _caller: self.status(),
            "coverage": self._call_coverage,
            "reindex": self._call_reindex,
            "pause": lambda arguments, _caller: self.pause(arguments.get("seconds")),
            "resume": lambda _arguments, _caller: self.resume(),
            "export_session": self._call_export,
            "forget": lambda arguments, _caller: self.forget(arguments["session_id"]),
            "restore": lambda arguments, _caller: self.restore(arguments["session_id"], Path(arguments["to"])),
            "knowledge_init": lambda _arguments, _caller: dict(self.knowledge.init()),
            "knowledge_check": self._call_check,
        }

    @property
    def methods(self) -> frozenset[str]:
        """What `call` knows."""
        return frozenset(self._calls) | _LONG | frozenset(_SEARCHES) | frozenset(KNOWLEDGE_TOOLS)

    def ask(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = _NO_CALLER,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        """Answer a call by name with arguments as they came from outside. Returns JSON.

        Raises:
            InvalidArgument: A name, type or value is wrong; the text says how to call again.
            EngineError: What the method raises.
        """
        checked = validate(method, arguments, _OPERATIONS)
        return self.call(method, checked, caller=caller, progress=progress, cancelled=cancelled)

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = _NO_CALLER,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        """Answer a call by name, with arguments that `engine.arguments.validate` has passed. Returns JSON.

        Raises:
            EngineError: What the method raises, or a name that is not known.
        """
        if method in _SEARCHES:
            return to_wire(self._search(_request(method, arguments), caller, (method, arguments)))
        if method in KNOWLEDGE_TOOLS:
            return self._call_knowledge(method, arguments, caller)
        if method in _LONG:
            work = Work(progress or _no_progress, cancelled or threading.Event())
            if method == "doctor":
                fix, deep = arguments.get("fix", False), arguments.get("deep", False)
                return to_wire(self.doctor(fix=fix, deep=deep, work=work))
            return to_wire(self._call_prune(arguments, caller, work))
        known = self._calls.get(method)
        if known is None:
            names = ", ".join(sorted(self.methods))
            raise InvalidArgument(f"There is no {method[:60]!r}", "", f"It takes: {names}.")
        answer = known(arguments, caller)
        # What is a dictionary is JSON already, and usage has money in it that must not be rounded.
        return cast("dict[str, Any]", answer if isinstance(answer, dict) else to_wire(answer))

    # Searching -------------------------------------------------------------------------------------------------

    def search(self, request: SearchRequest, caller: Caller = _NO_CALLER) -> SearchReply:
        """Return one page of hits.

        Raises:
            EngineError: A filter that is not understood, a session that does not exist, a database that cannot be read.
        """
        return self._search(request, caller, None)

    def _search(
        self, request: SearchRequest, caller: Caller, asked: tuple[str, Mapping[str, Any]] | None
    ) -> SearchReply:
        with self._readers.connection() as connection:
            in_view, undecided = self._in_view(connection, request.filters, caller, asked)
            reply = self._searcher.search(connection, request, caller, in_view)
            if request.read:
                hits = list(reply.hits)
                for index, hit in enumerate(hits[: request.read]):
                    hits[index] = replace(hit, messages=self._reader.exchange(connection, hit.message_uuid))
                reply = replace(reply, hits=tuple(hits))
        notes = [reply.note, _UNDECIDED if undecided else None]
        if request.mode == "hybrid" and not request.offset and self.knowledge.exists():
            found, problem = self._knowledge_hits(request.query)
            notes.append(problem)
            reply = replace(reply, knowledge_hits=found or None)
        return replace(reply, note=" ".join(note for note in notes if note) or None)

    def _knowledge_hits(self, query: str) -> tuple[tuple[dict[str, Any], ...], str | None]:
        """Return the records that match best, and why there are none when Knowledge refuses the question."""
        try:
            reply = self.knowledge.call("knowledge_grep", {"query": query, "limit": KNOWLEDGE_HITS})
            rows = cast("list[dict[str, Any]]", reply["rows"])
        except EngineError as error:
            # Its own tools explain; a search of sessions must not fail over a record that cannot be read.
            return (), f"Knowledge was not searched: {error.title}."
        return tuple({key: row[key] for key in _KNOWLEDGE_HIT if key in row} for row in rows), None

    def _in_view(
        self,
        connection: Connection,
        filters: SearchFilters,
        caller: Caller,
        asked: tuple[str, Mapping[str, Any]] | None,
    ) -> tuple[InView | None, bool]:
        """Return what the caller still has before its eyes, and whether that should have been told but could not."""
        if asked is None or not caller.is_model or (filters.include_current and filters.session != "current"):
            return None, False
        here = scope.repository_here(caller)
        if here is None:
            return None, False
        places = files.newest_transcripts(connection, store_filters.folders_below(connection, here), 8)
        session = current_session(places, *asked, caller.session_id)
        if session is None:
            # A client that is no Claude Code has no transcript here, so there is nothing to be undecided about.
            return None, bool(places)
        return InView(session, reading.last_summary(connection, session)), False

    # Reading ---------------------------------------------------------------------------------------------------

    def get_context(self, ids: Sequence[str], *, before: int = 3, after: int = 3) -> Reading:
        """Return messages in full with their neighbours.

        Args:
            ids: Of chunks or messages.
            before: Messages before each.
            after: Messages after each.

        Raises:
            EngineError: An id names nothing, or the database cannot be read.
        """
        with self._readers.connection() as connection:
            return self._reader.context(connection, ids, before=before, after=after)

    def get_session(
        self,
        session_id: str,
        *,
        offset: int = 0,
        limit: int = 50,
        roles: frozenset[Role] | None = None,
        include_sidechains: bool = False,
    ) -> Reading:
        """Return one page of a session in full.

        Raises:
            EngineError: The id fits no session or several, or the database cannot be read.
        """
        page = _page(limit, offset)
        with self._readers.connection() as connection:
            number = scope.session_number(connection, session_id)
            found = self._reader.session(
                connection,
                number,
                offset=page.offset,
                limit=page.limit,
                roles=roles,
                sidechains=include_sidechains,
            )
        return replace(found, limit_applied=page.applied)

    def list_sessions(
        self,
        *,
        project: str | None = None,
        when_: str | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        limit: int = 10,
        offset: int = 0,
        with_highlights: bool = False,
        caller: Caller = _NO_CALLER,
    ) -> SessionList:
        """Return sessions, newest first; with highlights this is `get_period`.

        Raises:
            EngineError: A date that is not understood, or the database cannot be read.
        """
        page = _page(limit, offset)
        span = when.resolve(when=when_, date_from=date_from, date_to=date_to, zone=self._zone, now_s=self._clock.now())
        with self._readers.connection() as connection:
            folders, _ = scope.project_folders(connection, project, caller)
            apart = scope.apart_folders(connection, self._settings.privacy_projects_apart, folders, caller)
            found = list_sessions(
                connection,
                span=span,
                folders=folders,
                hidden_folders=apart,
                shown_range=scope.date_range(span, self._zone),
                limit=page.limit,
                offset=page.offset,
                zone=self._zone,
                with_highlights=with_highlights,
            )
        note = None
        if not found.sessions and project is not None:
            note = "No session in a project of this name; list_sessions without `project` shows all."
        return replace(found, limit_applied=page.applied, note=note)

    def export_session(self, session_id: str, *, form: Literal["markdown", "jsonl"] = "markdown") -> str:
        """Return a whole session as one text: Markdown to read, or its lines as Claude Code wrote them.

        Raises:
            EngineError: The id fits no session or several, or the database cannot be read.
        """
        with self._readers.connection() as connection:
            return self._reader.export(connection, scope.session_number(connection, session_id), form)

    def get_usage(
        self,
        *,
        by: Grouping = "day",
        when_: str | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        project: str | None = None,
        split_models: bool = False,
        caller: Caller = _NO_CALLER,
    ) -> UsageReport:
        """Return tokens and cost.

        Args:
            by: What a row is.
            when_: A period in words.
            date_from: Its first day or moment.
            date_to: Its last, inclusive.
            project: Part of the working directory, or `"."`.
            split_models: Each row also by model, for stacked bars.
            caller: Who asks.

        Raises:
            EngineError: A date that is not understood, or the database cannot be read.
        """
        now_s = self._clock.now()
        span = when.resolve(when=when_, date_from=date_from, date_to=date_to, zone=self._zone, now_s=now_s)
        with self._readers.connection() as connection:
            folders, _ = scope.project_folders(connection, project, caller)
            everything = UsageFilter()
            only = UsageFilter(
                start_ms=everything.start_ms if span.start_ms is None else span.start_ms,
                end_ms=everything.end_ms if span.end_ms is None else span.end_ms,
                folder_ids=folders,
            )
            return usage_report(
                UsageSums(connection),
                by=by,
                prices=self._prices,
                zone=self._zone,
                names=_Names(connection),
                now_ms=int(now_s * 1000),
                only=only,
                split_models=split_models,
            )

    def close(self) -> None:
        """Close what the front door opened itself. Idempotent."""
        self.knowledge.close()

    def restore(self, session_id: str, to: Path) -> RestoreReply:
        """Write a session's files into a folder as Claude Code wrote them. Nothing is overwritten.

        Raises:
            EngineError: The id fits no session or several, nothing is left of it, or the folder cannot be written.
        """
        with self._readers.connection() as connection:
            number = scope.session_number(connection, session_id)
            found = reading.sessions_by_id(connection, [number])[number].session_id
            return self._keeper.restore(connection, number, found, to)

    # Keeping ---------------------------------------------------------------------------------------------------

    def look_also(self, findings: Callable[[], Sequence[Finding]]) -> None:
        """Let the doctor tell what this room cannot see: the desktop reports its hotkey and its tray.

        Args:
            findings: Called at each examination, on the thread that asks.
        """
        self._outside.append(findings)

    def doctor(self, *, fix: bool = False, deep: bool = False, work: Work | None = None) -> DoctorReply:
        """Look at everything, and with `fix` mend what can be mended. Answers even when the database is damaged.

        Args:
            fix: Mend.
            deep: Verify the whole archive instead of a sample.
            work: Progress and cancelling.

        Raises:
            EngineError: There is no engine to mend with, or it was cancelled.
        """
        work = work or Work(_no_progress, threading.Event())
        return self._keeper.doctor(
            fix=fix,
            deep=deep,
            knowledge=self._vault_problems if self.knowledge.exists() else None,
            progress=work.progress,
            cancelled=work.cancelled,
            outside=[each for findings in self._outside for each in findings()],
        )

    def _vault_problems(self) -> tuple[str, ...]:
        return vault_problems(self.knowledge.check())

    # Taking out ------------------------------------------------------------------------------------------------

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
        work = work or Work(_no_progress, threading.Event())
        return self._keeper.prune(request, dry_run=dry_run, progress=work.progress, cancelled=work.cancelled)

    def forget(self, session_id: str) -> ForgetReply:
        """Take one session out of index, archive and backups, for ever. Claude Code's own file is not touched.

        Raises:
            EngineError: The id fits no session or several, or there is no engine to write with.
        """
        with self._readers.connection() as connection:
            number = scope.session_number(connection, session_id)
            found = reading.sessions_by_id(connection, [number])[number].session_id
        return self._keeper.forget(number, found)

    # The engine ------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return what the engine is doing. Answers even when the database cannot be read."""
        control = self._control
        warnings = () if control is None else control.notices()
        counted, stored_bytes, redacted = (0, 0), 0, None
        try:
            with self._readers.connection() as connection:
                counted = coverage.totals(connection)
                stored_bytes = archived.sums(connection).stored_bytes
                redacted = redactions.totals(connection) or None
        except StorageFailure as problem:
            text = f"{problem.title}. {problem.message}"
            warnings = (*warnings, Notice(id=problem.code, text=text, hint=problem.hint))
        idle = IngestStatus(state="stopped", files_pending=0, bytes_pending=0)
        return Status(
            engine=EngineStatus(state="stopped", pid=None, version=__version__, uptime_s=None)
            if control is None
            else control.engine_status(),
            ingest=idle if control is None else control.ingest_status(),
            embedding=EmbeddingStatus(state="off", backlog=0) if control is None else control.embedding_status(),
            clients=0 if control is None else control.clients(),
            paths=_shown_paths(self._paths),
            database_bytes=_size(self._paths.database),
            archive_bytes=stored_bytes,
            sessions=counted[0],
            messages=counted[1],
            warnings=warnings,
            job=None if control is None else control.job(),
            redacted=redacted,
        )

    def coverage(self, *, by: Literal["project", "day"] | None = None, limit: int = 50, offset: int = 0) -> Coverage:
        """Return how much of the history is indexed.

        Raises:
            EngineError: The database cannot be read.
        """
        page = _page(limit, offset)
        with self._readers.connection() as connection:
            counted = coverage.counts(connection)
            stored = archived.sums(connection)
            unknown = coverage.unknown_types(connection)
            troubles = coverage.problems(connection, MAX_PROBLEMS)
            made = generations.answering_counts(connection)
            rows, total = self._coverage_rows(connection, by, page)
        following = page.offset + page.limit
        return Coverage(
            files=FileCounts(
                seen=counted.files_seen,
                indexed=counted.files_indexed,
                gone=counted.files_gone,
                unreadable=counted.files_unreadable,
            ),
            sessions=counted.sessions,
            messages=counted.messages,
            prompts=counted.prompts,
            answers=counted.answers,
            tool_calls=counted.tool_calls,
            chunks=counted.chunks,
            embedded=made.embedded,
            vectors=made.vectors,
            failed=made.failed or None,
            percent=generations.percent(counted.chunks - made.excluded, made.embedded),
            archived_bytes=stored.source_bytes,
            lines=LineCounts(damaged=counted.damaged, salvaged=counted.salvaged, unknown_types=unknown),
            problems=tuple(Problem(file=each[0], what=each[1], line=each[2], offset=each[3]) for each in troubles),
            by=rows,
            total=total,
            next_offset=following if total is not None and following < total else None,
            limit_applied=page.applied,
        )

    def reindex(self, project: str | None = None, *, full: bool = False) -> ReindexReply:
        """Queue a look at every transcript, or reading all of them anew, and return at once.

        Raises:
            EngineNotRunning: There is no engine.
        """
        return self._engine().reindex(project, full=full)

    def pause(self, for_s: float | None = None) -> PauseReply:
        """Stop indexing after the present file; what is indexed can still be searched.

        Args:
            for_s: Go on after so many seconds; None waits for `resume`, or the engine's next start.

        Raises:
            EngineNotRunning: There is no engine.
        """
        return self._engine().pause(for_s)

    def resume(self) -> PauseReply:
        """Go on indexing.

        Raises:
            EngineNotRunning: There is no engine.
        """
        return self._engine().resume()

    def _engine(self) -> EngineControl:
        if self._control is None:
            raise EngineNotRunning("No engine is running", "", "Start it with `backscroll` or `backscroll serve`.")
        return self._control

    def _coverage_rows(
        self, connection: Connection, by: str | None, page: _Page
    ) -> tuple[tuple[CoverageRow, ...] | None, int | None]:
        if by == "project":
            groups, total = coverage.by_project(connection, page.limit, page.offset)
            rows = tuple(
                CoverageRow(
                    project=each.name,
                    chunks=each.chunks,
                    embedded=each.embedded,
                    messages=each.messages,
                    sessions=each.sessions,
                    percent=generations.percent(each.chunks - each.excluded, each.embedded),
                )
                for each in groups
            )
            return rows, total
        if by == "day":
            days: dict[str, list[int]] = {}
            for quarter, *counted in coverage.by_quarter_hour(connection):
                sums = days.setdefault(when.local_day(quarter * 900_000, self._zone).isoformat(), [0, 0, 0, 0])
                for index, count in enumerate(counted):
                    sums[index] += count
            names = sorted(days, reverse=True)
            shown = names[page.offset : page.offset + page.limit]
            return tuple(
                CoverageRow(
                    day=name,
                    chunks=chunks,
                    embedded=embedded,
                    messages=messages,
                    percent=generations.percent(chunks - excluded, embedded),
                )
                for name, (chunks, messages, embedded, excluded) in ((name, days[name]) for name in shown)
            ), len(names)
        return None, None

    def _files_pending(self) -> int:
        return 0 if self._control is None else self._control.ingest_status().files_pending

    # Calls by name ---------------------------------------------------------------------------------------------

    def _call_context(self, arguments: Mapping[str, Any], _caller: Caller) -> Reading:
        ids = arguments.get("ids") or [arguments.get("chunk_id") or arguments["message_uuid"]]
        return self.get_context(ids, before=arguments.get("before", 3), after=arguments.get("after", 3))

    def _call_session(self, arguments: Mapping[str, Any], _caller: Caller) -> Reading:
        roles = arguments.get("roles")
        return self.get_session(
            arguments["session_id"],
            offset=arguments.get("offset", 0),
            limit=arguments.get("limit", 50),
            roles=None if roles is None else frozenset(Role(each) for each in roles),
            include_sidechains=arguments.get("include_sidechains", False),
        )

    def _call_list(self, arguments: Mapping[str, Any], caller: Caller) -> SessionList:
        return self._listed(arguments, caller, with_highlights=False)

    def _call_period(self, arguments: Mapping[str, Any], caller: Caller) -> SessionList:
        return self._listed(arguments, caller, with_highlights=True)

    def _listed(self, arguments: Mapping[str, Any], caller: Caller, *, with_highlights: bool) -> SessionList:
        return self.list_sessions(
            project=arguments.get("project"),
            when_=arguments.get("when"),
            date_from=arguments.get("date_from"),
            date_to=arguments.get("date_to"),
            limit=arguments.get("limit", 10),
            offset=arguments.get("offset", 0),
            with_highlights=with_highlights,
            caller=caller,
        )

    def _call_usage(self, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        page = _page(arguments.get("limit", 50), arguments.get("offset", 0))
        report = self.get_usage(
            by=arguments.get("by", "day"),
            when_=arguments.get("when"),
            date_from=arguments.get("date_from"),
            date_to=arguments.get("date_to"),
            project=arguments.get("project"),
            caller=caller,
        )
        reply = report.reply(page.limit, page.offset)
        return reply if page.applied is None else {**reply, "limit_applied": page.applied}

    def _call_knowledge(self, method: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        asking = KnowledgeCaller()
        if caller.is_model:
            session = self._asking_session(method, arguments, caller)
            asking = KnowledgeCaller(session_id=session, actor="agent:claude-code")
        return dict(self.knowledge.call(method, arguments, caller=asking))

    def _call_check(self, arguments: Mapping[str, Any], _caller: Caller) -> dict[str, Any]:
        if "giveUp" in arguments:
            self.knowledge.abandon(arguments["giveUp"])
        return dict(self.knowledge.check())

    def _asking_session(self, method: str, arguments: Mapping[str, Any], caller: Caller) -> str | None:
        """Return the session a call comes from; the environment's word where no transcript holds the call yet."""
        here = scope.repository_here(caller)
        if here is None or not self._paths.database.exists():
            return caller.session_id
        with self._readers.connection() as connection:
            places = files.newest_transcripts(connection, store_filters.folders_below(connection, here), 8)
            session = current_session(places, method, arguments, caller.session_id)
            return next((each.session_id for each in places if each.session == session), caller.session_id)

    def _call_coverage(self, arguments: Mapping[str, Any], _caller: Caller) -> Coverage:
        return self.coverage(
            by=arguments.get("by"), limit=arguments.get("limit", 50), offset=arguments.get("offset", 0)
        )

    def _call_reindex(self, arguments: Mapping[str, Any], _caller: Caller) -> ReindexReply:
        return self.reindex(arguments.get("project"), full=arguments.get("full", False))

    def _call_prune(self, arguments: Mapping[str, Any], caller: Caller, work: Work) -> PruneReply:
        return self.prune(
            older_than_days=arguments["older_than_days"],
            project=arguments.get("project"),
            archive=arguments.get("archive", False),
            include_only_copies=arguments.get("include_only_copies", False),
            dry_run=arguments.get("dry_run", True),
            caller=caller,
            work=work,
        )

    def _call_export(self, arguments: Mapping[str, Any], _caller: Caller) -> dict[str, Any]:
        form = arguments.get("format", "markdown")
        text = self.export_session(arguments["session_id"], form=form)
        return {"session_id": arguments["session_id"], "format": form, "text": text}


class _Names:
    """Names of sessions and working directories for usage reports."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return names of sessions."""
        return {
            number: SessionName(info.session_id, info.title, info.project)
            for number, info in reading.sessions_by_id(self._connection, ids).items()
        }

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return names of working directories."""
        named = store_filters.folder_names(self._connection)
        return {number: FolderName(*named[number]) for number in ids if number in named}


def _request(method: str, arguments: Mapping[str, Any]) -> SearchRequest:
    filters = {name: arguments[name] for name in _FILTERS if name in arguments}
    if "role" in filters:
        filters["role"] = Role(filters["role"])
    return SearchRequest(
        query=arguments["query"],
        mode=_SEARCHES[method],
        filters=SearchFilters(**filters),
        limit=arguments.get("limit", 10),
        offset=arguments.get("offset", 0),
        fuzzy_fallback=arguments.get("fuzzy_fallback", True),
        rerank=arguments.get("rerank", True),
        read=arguments.get("read", 0),
        group=arguments.get("group"),
        prefix_last=arguments.get("prefix_last", False),
    )


def _page(limit: int, offset: int) -> _Page:
    if limit < 1 or offset < 0:
        raise InvalidArgument(
            "limit must be at least 1 and offset at least 0", f"You sent limit {limit} and offset {offset}.", ""
        )
    return _Page(min(limit, LIMIT_CAP), offset, LIMIT_CAP if limit > LIMIT_CAP else None)


def _shown_paths(paths: Paths) -> dict[str, str]:
    return {
        "data": str(paths.data),
        "database": str(paths.database),
        "archive": str(paths.archive),
        "knowledge": str(paths.knowledge),
        "settings": str(paths.settings_file),
        "log": str(paths.log_file),
    }


def _size(database: os.PathLike[str]) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(f"{os.fspath(database)}{suffix}").st_size  # noqa: PTH116 - a name with a suffix
        except FileNotFoundError:
            continue
    return total
