"""The values that cross borders: what a search, a reading, a listing and a status answer.

Field names are the keys of the replies (MCP, `--json`): `to_wire` turns any of them into JSON by dropping nulls.
Nothing here knows SQL, files or Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    """What a person typed, queued prompts and slash commands with arguments included."""
    ASSISTANT = "assistant"
    TOOL = "tool"
    """Results of tools."""
    INJECTED = "injected"
    """Meta lines, reminders, hooks, command output, task notifications, prompts written by a model for a sub-agent."""
    SUMMARY = "summary"
    """Compaction summaries."""


class Kind(StrEnum):
    """What a block is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    OTHER = "other"


class Signal(StrEnum):
    """How much a chunk says about what was meant or decided (the table is in `engine/transcripts/signals.py`)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


Mode = Literal["keyword", "semantic", "hybrid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking, as the shim's `hello` says it. All unknown for a person at the window or a terminal."""

    cwd: str | None = None
    project_dir: str | None = None
    """Claude Code's `CLAUDE_PROJECT_DIR`: the folder the session was started in."""
    session_id: str | None = None
    """Claude Code's `CLAUDE_CODE_SESSION_ID`; stale after `--resume` or `/clear`, so it is checked before use."""
    is_model: bool = False
    """True for Claude Code: what it still has in view is left out of its own searches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """What a search may return. All filters are applied before ranking."""

    project: str | None = None
    """Case-insensitive part of the working directory; `"."` is the caller's repository with its worktrees."""
    when: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    include_low_signal: bool = False
    include_sidechains: bool = False
    role: Role | None = None
    kind: str | None = None
    """A `Kind`, or `"tool"` for both tool kinds."""
    tool: str | None = None
    session: str | None = None
    """A session id, a unique prefix of one, or `"current"`."""
    include_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question to the index."""

    query: str
    mode: Mode = "hybrid"
    filters: SearchFilters = field(default_factory=SearchFilters)
    limit: int = 10
    offset: int = 0
    fuzzy_fallback: bool = True
    rerank: bool = True
    read: int = 0
    """How many of the first hits carry their whole exchange (0 to 5)."""
    group: Literal["exchange"] | None = None
    """`exchange`: the best hit of each exchange, the others of it counted in `similar`."""
    prefix_last: bool = False
    """The last word is still being typed: it matches as a prefix."""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The prompt and the answer a hit stands between, 200 characters each."""

    prompt: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One content block in full."""

    kind: str
    text: str | None = None
    tool: str | None = None
    input: Any = None
    """A tool's input as Claude Code wrote it."""
    is_error: bool | None = None
    truncated: str | None = None
    """What was cut and how to read the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """One message as a reader sees it."""

    message_uuid: str
    session_id: str
    timestamp: str | None
    role: str
    is_sidechain: bool
    source: Literal["transcript", "archive", "index"]
    blocks: tuple[Block, ...]
    model: str | None = None
    agent: str | None = None
    """The sub-agent that speaks or is spoken to: its kind and task, else its id."""
    in_hit: bool | None = None
    """True for the message that was asked for."""
    removed: bool | None = None
    """True when a rewrite took the message out of its transcript and only Backscroll still has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk found by a search."""

    chunk_id: str
    message_uuid: str
    session_id: str
    project: str | None
    timestamp: str | None
    role: str
    kind: str
    signal: str
    is_sidechain: bool
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """Matches in `snippet`: start and end in code points."""
    on_disk: bool
    """False when Claude Code has deleted the transcript."""
    cwd: str | None = None
    """Relative to `project` when inside it; left out when equal."""
    tool: str | None = None
    session_title: str | None = None
    exchange: Exchange | None = None
    also_in: tuple[str, ...] | None = None
    similar: int | None = None
    """How many other chunks of the same exchange this hit stands for."""
    messages: tuple[MessageView, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMode:
    """How the answer was asked for and how it was made."""

    requested: Mode
    realised: Mode
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexShare:
    """How much of the history meaning-based search covers."""

    chunks: int
    embedded: int
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """A date filter as it was understood, ISO with offset, both ends inclusive."""

    date_from: str | None = None
    date_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReply:
    """What a search found, how, and what it left out."""

    hits: tuple[Hit, ...]
    total: int
    mode: SearchMode
    coverage: IndexShare
    note: str | None = None
    next_offset: int | None = None
    range: DateRange | None = None
    excluded: int | None = None
    """Hits left out because the caller still has them in view."""
    corrected_query: str | None = None
    low_signal_matches: int | None = None
    """What a search without `include_low_signal` did not show."""
    limit_applied: int | None = None
    truncated: bool | None = None
    projects: tuple[str, ...] | None = None
    """Projects that do match, when the asked one does not."""
    total_is: str | None = None
    """Says so when `total` counts candidates only."""
    knowledge_hits: tuple[dict[str, Any], ...] | None = None


LineageKind = Literal["resumed", "forked", "background", "continued"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Where a session comes from. Sub-agents and asides are no sessions of their own: they belong to their parent's."""

    parent: str
    kind: LineageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session in a list."""

    session_id: str
    title: str | None
    project: str | None
    started_at: str | None
    last_at: str | None
    messages: int
    prompts: int
    on_disk: bool
    archived: bool
    resume_command: str
    cwd: str | None = None
    branch: str | None = None
    lineage: Lineage | None = None
    opening: str | None = None
    highlights: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """Sessions, newest first."""

    sessions: tuple[SessionRow, ...]
    total: int
    note: str | None = None
    next_offset: int | None = None
    range: DateRange | None = None
    limit_applied: int | None = None
    truncated: bool | None = None
    projects: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where in its session the first returned message stands, counted from 0."""

    index: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Messages in full, with their session."""

    messages: tuple[MessageView, ...]
    session: SessionRow
    position: Position
    note: str | None = None
    next_offset: int | None = None
    limit_applied: int | None = None
    truncated: bool | None = None
    other_sessions: tuple[SessionRow, ...] | None = None
    """The further sessions when ids of several were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """The engine itself."""

    state: str
    pid: int | None
    version: str
    uptime_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestStatus:
    """What indexing is doing."""

    state: Literal["scanning", "indexing", "watching", "polling", "paused", "stopped"]
    files_pending: int
    bytes_pending: int
    rate: float | None = None
    """Bytes a second over the last seconds."""
    eta_s: float | None = None
    last_at: str | None = None
    paused_until: str | None = None
    """When a timed pause is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStatus:
    """What the embedding loop is doing."""

    state: Literal["off", "waiting", "loading", "embedding", "idle", "paused", "failed"]
    backlog: int
    rate: float | None = None
    """Chunks a second."""
    eta_s: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Long work that was asked for."""

    id: str
    kind: str
    done: int
    total: int
    state: Literal["queued", "running", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the person should know, with what to do."""

    id: str
    text: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The answer of `status`."""

    engine: EngineStatus
    ingest: IngestStatus
    embedding: EmbeddingStatus
    clients: int
    paths: dict[str, str]
    database_bytes: int
    archive_bytes: int
    sessions: int
    messages: int
    warnings: tuple[Notice, ...]
    job: Job | None = None
    note: str | None = None
    redacted: dict[str, int] | None = None
    """Secrets replaced before they entered the index, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCounts:
    """Transcript files."""

    seen: int
    indexed: int
    gone: int
    unreadable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCounts:
    """Lines that were not plain messages."""

    damaged: int
    salvaged: int
    unknown_types: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A file or line that could not be read whole."""

    file: str
    what: str
    line: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """Coverage of one project or one local day."""

    chunks: int
    embedded: int
    messages: int
    percent: float
    sessions: int | None = None
    project: str | None = None
    day: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the history is indexed, embedded and archived."""

    files: FileCounts
    sessions: int
    messages: int
    prompts: int
    answers: int
    tool_calls: int
    chunks: int
    embedded: int
    vectors: int
    percent: float
    """Of the chunks that can be embedded: calls of Backscroll itself never are."""
    archived_bytes: int
    lines: LineCounts
    problems: tuple[Problem, ...]
    failed: int | None = None
    """Chunks whose embedding was given up after the worker died over them twice."""
    by: tuple[CoverageRow, ...] | None = None
    total: int | None = None
    next_offset: int | None = None
    limit_applied: int | None = None
    truncated: bool | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check of the doctor found."""

    id: str
    title: str
    severity: Literal["ok", "info", "warning", "error"]
    found: str
    means: str
    """Why it matters."""
    fix: str | None = None
    """What fixing it does; None where a person has to do something, which `means` says."""
    fixed: bool | None = None
    """True after it was fixed, False when fixing it was tried and failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReply:
    """The findings, worst first. `ok` when none of them is a warning or an error that was not fixed."""

    ok: bool
    findings: tuple[Finding, ...]
    note: str | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyCopy:
    """A session that would exist nowhere after a prune."""

    session_id: str
    title: str | None
    last_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReply:
    """What a prune would take out, or took out."""

    dry_run: bool
    chunks: int
    calls: int
    sessions: int
    vectors: int
    bytes_freed: int
    """On the disk: estimated before, measured after."""
    archive_bytes: int
    """Of them, in the archive."""
    only_copies: tuple[OnlyCopy, ...]
    note: str | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReply:
    """What `forget` took out."""

    session_id: str
    left_on_disk: tuple[str, ...]
    """Claude Code's own files of the session, which are never touched."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReply:
    """The copy of the index that `backup` made."""

    file: str
    bytes: int
    kept: int
    """Copies there are now, this one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """One file that was written back."""

    file: str
    bytes: int
    source: Literal["transcript", "archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReply:
    """What `restore` wrote."""

    session_id: str
    files: tuple[RestoredFile, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReply:
    """What `reindex` queued."""

    job: str
    queued_files: int
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseReply:
    """Whether indexing rests, and until when."""

    paused: bool
    until: str | None = None
    note: str | None = None


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def to_wire(value: Any) -> Any:
    """Return the JSON form of a value: dataclasses become objects without their null keys, floats get 3 places."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {str(key): to_wire(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
    if isinstance(value, (list, tuple)):
        return [to_wire(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - JSON
    if is_dataclass(value) and not isinstance(value, type):
        wire: dict[str, Any] = {}
        for name in _field_names(type(value)):
            item = getattr(value, name)
            if item is not None:
                wire[name] = to_wire(item)
        return wire
    raise TypeError(f"{type(value).__name__} has no JSON form")
