"""What the engine is doing and how much of the history it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
