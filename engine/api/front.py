"""`EngineApi`: one typed method for each thing that can be asked of the history and of Backscroll itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from engine.api.calls import CallTable
from engine.api.keeping import Keeping
from engine.api.overview import coverage_of, status_of
from engine.api.page import page_of
from engine.api.searching import Searching, asking_session
from engine.api.usage import usage_of
from engine.arguments import OPERATIONS, validate
from engine.core import when
from engine.core.errors import EngineNotRunning
from engine.core.models.asking import Caller, SearchRequest
from engine.evidence import SessionEvidence
from engine.knowledge.service import KnowledgeService
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE_TOOLS
from engine.recall.raw import RawReader
from engine.recall.reader import Reader
from engine.recall.sessions import NO_SUCH_PROJECT, list_sessions
from engine.search import scope
from engine.search.searcher import Searcher
from engine.search.semantic import SemanticLeg
from engine.transcripts.redaction import redacted_text
from engine.usage.pricing import Prices

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from zoneinfo import ZoneInfo

    from engine.api.control import EngineControl
    from engine.core.clock import Clock
    from engine.core.models.hits import SearchReply
    from engine.core.models.kinds import Role
    from engine.core.models.sessions import Reading, SessionList
    from engine.core.models.status import Coverage, PauseReply, ReindexReply, Status
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.safekeeping import Safekeeping
    from engine.search.semantic import QueryEmbedder
    from engine.store.connection import ReaderPool
    from engine.usage.report import UsageReport
    from engine.usage.rows import Grouping

_NO_CALLER = Caller()
_OPERATIONS = {**OPERATIONS, **KNOWLEDGE_TOOLS}


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
        self.leg = SemanticLeg(embedder, wait_s=settings.search_semantic_wait_s)
        searcher = Searcher(
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
        self._searching = Searching(searcher, self._reader, self.knowledge)
        self.keeping = Keeping(readers, keeper, self.knowledge)
        self._prices = Prices(settings.usage_prices)
        self._table = CallTable(self)

    @property
    def methods(self) -> frozenset[str]:
        """What `call` knows."""
        return self._table.methods

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
        return self._table.call(method, arguments, caller=caller, progress=progress, cancelled=cancelled)

    # Searching -------------------------------------------------------------------------------------------------

    def search(
        self,
        request: SearchRequest,
        caller: Caller = _NO_CALLER,
        *,
        asked: tuple[str, Mapping[str, Any]] | None = None,
    ) -> SearchReply:
        """Return one page of hits.

        Args:
            request: The question.
            caller: Who asks.
            asked: The very call, name and arguments, by which a session that asks is told from others.

        Raises:
            EngineError: A filter that is not understood, a session that does not exist, a database that cannot be read.
        """
        with self._readers.connection() as connection:
            reply = self._searching.search(connection, request, caller, asked)
        return self._searching.with_records(reply, request)

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
        page = page_of(limit, offset)
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
        page = page_of(limit, offset)
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
        return replace(found, limit_applied=page.applied)

    def export_session(self, session_id: str, *, form: Literal["markdown", "jsonl"] = "markdown") -> str:
        """Return a whole session as one text: Markdown to read, or its lines as Claude Code wrote them.

        Raises:
            EngineError: The id fits no session or several, or the database cannot be read.
        """
        return self.export(session_id, form=form)[0]

    def export(self, session_id: str, *, form: Literal["markdown", "jsonl"]) -> tuple[str, int]:
        """Return what `export_session` does, and how many messages are missing in it: no line of them is left.

        Raises:
            EngineError: As `export_session`.
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
            return usage_of(
                connection,
                by=by,
                span=span,
                folders=folders,
                prices=self._prices,
                zone=self._zone,
                now_s=now_s,
                split_models=split_models,
            )

    def close(self) -> None:
        """Close what the front door opened itself. Idempotent."""
        self.knowledge.close()

    # The engine ------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return what the engine is doing. Answers even when the database cannot be read."""
        return status_of(self._readers, self._paths, self._settings, self._control, self._zone)

    def coverage(self, *, by: Literal["project", "day"] | None = None, limit: int = 50, offset: int = 0) -> Coverage:
        """Return how much of the history is indexed.

        Raises:
            EngineError: The database cannot be read.
        """
        page = page_of(limit, offset)
        with self._readers.connection() as connection:
            return coverage_of(connection, by, page, self._zone)

    def reindex(self, project: str | None = None, *, full: bool = False, caller: Caller = _NO_CALLER) -> ReindexReply:
        """Queue a look at every transcript, or reading all of them anew, and return at once.

        Args:
            project: Only the transcripts of working directories whose path has this in it, or of the caller's `"."`.
            full: Read them anew.
            caller: Whose `.` the project may be.

        Raises:
            EngineError: There is no engine, or the database refused.
        """
        engine = self._engine()
        if project is None:
            return engine.reindex(None, full=full)
        with self._readers.connection() as connection:
            folders, here = scope.project_folders(connection, project, caller)
        reply = engine.reindex(here or project, full=full)
        return reply if folders or reply.queued_files else replace(reply, note=NO_SUCH_PROJECT)

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

    def _files_pending(self) -> int:
        return 0 if self._control is None else self._control.ingest_status().files_pending

    def asking_session(self, method: str, arguments: Mapping[str, Any], caller: Caller) -> str | None:
        """Return the session a call comes from; the environment's word where no transcript holds the call yet."""
        if not self._paths.database.exists():
            return caller.session_id
        with self._readers.connection() as connection:
            return asking_session(connection, method, arguments, caller)
