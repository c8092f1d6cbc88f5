"""A small history behind the front door's methods, which remembers what it was asked."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from engine.core.errors import Cancelled, NotFound
from engine.core.models.asking import Caller, SearchRequest
from engine.core.models.hits import Hit, IndexShare, SearchMode, SearchReply
from engine.core.models.sessions import Block, MessageView, Position, Reading, SessionList, SessionRow
from engine.core.models.status import (
    Coverage,
    CoverageRow,
    EmbeddingStatus,
    EngineStatus,
    FileCounts,
    IngestStatus,
    LineCounts,
    ReindexReply,
    Status,
)
from engine.search.query import read_query
from engine.search.snippets import matches_in
from engine.usage.amounts import total_of
from engine.usage.report import UsageReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.core.models.kinds import Role
    from engine.usage.rows import Grouping, UsageRow

EVERYTHING = frozenset(
    {"keyword_search", "semantic_search", "hybrid_search", "get_session", "list_sessions", "status", "coverage"}
)


NO_CALLER = Caller()


def session_row(number: int, *, title: str | None = None, on_disk: bool = True) -> SessionRow:
    """Return an invented session."""
    return SessionRow(
        session_id=f"{number:08x}-0000-4000-8000-000000000000",
        title=title or f"Session number {number}",
        project=f"/home/you/project{number}",
        started_at=f"2026-03-{number:02d}T09:00:00+00:00",
        last_at=f"2026-03-{number:02d}T10:00:00+00:00",
        messages=4,
        prompts=2,
        on_disk=on_disk,
        archived=False,
        resume_command=f"cd /home/you/project{number} && claude --resume {number:08x}-0000-4000-8000-000000000000",
        branch="main",
    )


def message(
    uuid: str, session: str, text: str, *, role: str = "assistant", kind: str = "text", **block: Any
) -> MessageView:
    """Return a message of one block."""
    return MessageView(
        message_uuid=uuid,
        session_id=session,
        timestamp="2026-03-02T09:00:00+00:00",
        role=role,
        is_sidechain=False,
        source="transcript",
        blocks=(Block(kind=kind, text=text, **block),),
    )


@dataclass
class FakeHistory:
    """Sessions and their messages. Searching looks for words in texts; `gate` holds answers back until it is opened."""

    sessions: dict[str, SessionRow] = field(default_factory=dict[str, SessionRow])
    messages: dict[str, list[MessageView]] = field(default_factory=dict[str, list[MessageView]])
    methods: frozenset[str] = EVERYTHING
    asked: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    gate: threading.Event = field(default_factory=threading.Event)
    failure: Exception | None = None
    low_signal: int = 0
    total_is: str | None = None
    """Of a search by words."""
    realised: Literal["keyword", "semantic", "hybrid"] | None = None
    reason: str | None = None
    percent: float = 100.0
    status_value: Status | None = None
    usage: Callable[[Grouping], UsageReport] | None = None
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    """To `call`, by method: JSON, or what makes it of the arguments."""
    caller: Caller = NO_CALLER
    """Who called last."""

    def __post_init__(self) -> None:
        self.gate.set()

    @classmethod
    def small(cls) -> FakeHistory:
        """Return four sessions; "auth" is in three of them, twice in the first."""
        made = cls()
        texts = {
            1: ["How does auth work?", "The **auth** token is `opaque`.", "And the other token?", "It has no claims."],
            2: ["Why is auth slow?", "One query more.", "Fix it.", "Done."],
            3: ["Rename the auth module", "Renamed.", "Thanks", "Welcome."],
            4: ["Unrelated", "Indeed.", "Yes", "No."],
        }
        for number, lines in texts.items():
            row = session_row(number)
            made.add(row, [
                message(f"{number:08x}-0000-4000-8000-{place:012x}", row.session_id, text,
                        role="user" if place % 2 == 1 else "assistant")
                for place, text in enumerate(lines, 1)
            ])  # fmt: skip
        return made

    def add(self, row: SessionRow, messages: Iterable[MessageView]) -> None:
        """Add a session."""
        kept = list(messages)
        self.sessions[row.session_id] = replace(row, messages=len(kept))
        self.messages[row.session_id] = kept

    def _note(self, method: str, argument: Any) -> None:
        self.asked.append((method, argument))
        assert self.gate.wait(60)
        if self.failure is not None:
            raise self.failure

    def names(self) -> list[str]:
        """Return the methods that were called."""
        return [method for method, _ in self.asked]

    def search(self, request: SearchRequest) -> SearchReply:
        self._note("search", request)
        query = read_query(request.query, prefix_last=request.prefix_last)
        hits: list[Hit] = []
        for session, messages in self.messages.items():
            for each in messages:
                text = each.blocks[0].text or ""
                found = matches_in(text, query)
                if len({match.term for match in found}) == len(query.terms) and query.terms:
                    hits.append(self._hit(session, each, text, tuple((m.start, m.end) for m in found)))
        if request.mode == "hybrid":
            hits.reverse()
        page = hits[request.offset : request.offset + request.limit]
        following = request.offset + request.limit
        realised = self.realised or request.mode
        return SearchReply(
            hits=tuple(page),
            total=len(hits),
            next_offset=following if following < len(hits) else None,
            mode=SearchMode(requested=request.mode, realised=realised, reason=self.reason),
            coverage=IndexShare(chunks=100, embedded=int(self.percent), percent=self.percent),
            low_signal_matches=None if request.filters.include_low_signal else self.low_signal or None,
            total_is=self.total_is if request.mode == "keyword" else "candidates",
        )

    def _hit(self, session: str, view: MessageView, text: str, marks: tuple[tuple[int, int], ...]) -> Hit:
        row = self.sessions[session]
        return Hit(
            chunk_id=f"{view.message_uuid[:8]}{view.message_uuid[-4:]}",
            message_uuid=view.message_uuid,
            session_id=session,
            project=row.project,
            timestamp=view.timestamp,
            role=view.role,
            kind=view.blocks[0].kind,
            signal="high",
            is_sidechain=view.is_sidechain,
            score=1.0,
            snippet=text,
            marks=marks,
            on_disk=row.on_disk,
            tool=view.blocks[0].tool,
            session_title=row.title,
        )

    def get_context(self, ids: Sequence[str], *, before: int = 3, after: int = 3) -> Reading:
        self._note("get_context", tuple(ids))
        for session, messages in self.messages.items():
            for place, each in enumerate(messages):
                if ids[0] in {each.message_uuid, f"{each.message_uuid[:8]}{each.message_uuid[-4:]}"}:
                    first = max(0, place - before)
                    shown = messages[first : place + after + 1]
                    marked = tuple(replace(m, in_hit=True) if m is each else m for m in shown)
                    return Reading(
                        messages=marked,
                        session=self.sessions[session],
                        position=Position(index=first, of=len(messages)),
                    )
        raise NotFound("There is no such message")

    def get_session(
        self,
        session_id: str,
        *,
        offset: int = 0,
        limit: int = 50,
        roles: frozenset[Role] | None = None,
        include_sidechains: bool = False,
    ) -> Reading:
        self._note("get_session", (session_id, offset, limit, roles, include_sidechains))
        messages = self.messages.get(session_id)
        if messages is None:
            raise NotFound("There is no such session")
        page = messages[offset : offset + limit]
        following = offset + limit
        return Reading(
            messages=tuple(page),
            session=self.sessions[session_id],
            position=Position(index=min(offset, len(messages)), of=len(messages)),
            next_offset=following if following < len(messages) else None,
        )

    def list_sessions(
        self,
        *,
        project: str | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SessionList:
        self._note("list_sessions", (project, date_from, date_to))
        rows = sorted(self.sessions.values(), key=lambda row: row.last_at or "", reverse=True)
        fitting = [row for row in rows if project is None or project in (row.project or "")]
        return SessionList(sessions=tuple(fitting[offset : offset + limit]), total=len(fitting))

    def export_session(self, session_id: str, *, form: Literal["markdown", "jsonl"] = "markdown") -> str:
        self._note("export_session", (session_id, form))
        return "# " + (self.sessions[session_id].title or "") + "\n"

    def status(self) -> Status:
        self._note("status", None)
        return self.status_value or status()

    def coverage(self, *, by: Literal["project", "day"] | None = None, limit: int = 50, offset: int = 0) -> Coverage:
        self._note("coverage", (by, limit, offset))
        return coverage(by)

    def reindex(self, project: str | None = None, *, full: bool = False) -> ReindexReply:
        self._note("reindex", (project, full))
        return ReindexReply(job="reindex-1", queued_files=1)

    def get_usage(
        self,
        *,
        by: Grouping = "day",
        date_from: str | None = None,
        date_to: str | None = None,
        split_models: bool = False,
    ) -> UsageReport:
        self._note("get_usage", (by, date_from, date_to, split_models))
        return self.usage(by) if self.usage else usage_of(by)

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = NO_CALLER,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        self.caller = caller
        if progress is not None:
            progress(1, 4, "The second of four")
        self._note(method, dict(arguments))
        if cancelled is not None and cancelled.is_set():
            raise Cancelled("It was cancelled", "What is done stays done.")
        answer = self.answers.get(method, {})
        return cast("dict[str, Any]", answer if isinstance(answer, dict) else answer(dict(arguments)))


def usage_of(by: Grouping, rows: Sequence[UsageRow] = ()) -> UsageReport:
    """Return a report over rows."""
    totals = total_of(row.amounts for row in rows)
    return UsageReport(by=by, rows=tuple(rows), totals=totals, time_zone="UTC", since=None, notes=())


def status(
    *,
    engine: str = "running",
    ingest: Literal["scanning", "indexing", "watching", "polling", "paused", "stopped"] = "watching",
    pending: int = 0,
    embedding: Literal["off", "waiting", "loading", "embedding", "idle", "paused", "failed"] = "idle",
    backlog: int = 0,
    eta_s: float | None = None,
    **more: Any,
) -> Status:
    """Return a status."""
    return Status(
        engine=EngineStatus(state=engine, pid=1, version="0", uptime_s=1.0),
        ingest=IngestStatus(state=ingest, files_pending=pending, bytes_pending=pending * 1000, eta_s=eta_s),
        embedding=EmbeddingStatus(state=embedding, backlog=backlog, eta_s=eta_s),
        clients=0,
        paths={"database": "/home/you/index.db", "log": "/home/you/backscroll.log"},
        database_bytes=1_000_000,
        archive_bytes=2_000_000,
        sessions=12,
        messages=18_204,
        warnings=more.pop("warnings", ()),
        **more,
    )


def coverage(by: str | None = None) -> Coverage:
    """Return a coverage of two projects or four days."""
    rows = {
        "project": (
            CoverageRow(project="/home/you/shelfmark/api", chunks=300, embedded=150, messages=200, percent=50.0),
            CoverageRow(project="/home/you/shelfmark/web", chunks=100, embedded=100, messages=80, percent=100.0),
        ),
        "day": tuple(
            CoverageRow(day=f"2026-03-{day:02d}", chunks=day * 10, embedded=0, messages=day * 7, percent=0.0)
            for day in (2, 3, 5, 11)
        ),
    }
    return Coverage(
        files=FileCounts(seen=10, indexed=9, gone=1, unreadable=0),
        sessions=8, messages=280, prompts=60, answers=90, tool_calls=120, chunks=400, embedded=250, vectors=260,
        percent=62.5, archived_bytes=0, lines=LineCounts(damaged=0, salvaged=0, unknown_types={}), problems=(),
        by=rows.get(by or ""), total=None,
    )  # fmt: skip
