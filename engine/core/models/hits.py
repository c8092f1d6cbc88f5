"""What a search answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.core.models.asking import DateRange, Mode
    from engine.core.models.sessions import MessageView


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The prompt and the answer a hit stands between, 200 characters each."""

    prompt: str | None = None
    answer: str | None = None


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
    """`candidates` when `total` counts those of a search by meaning, `newest` when older matches were not looked at."""
    knowledge_hits: tuple[dict[str, Any], ...] | None = None
