"""Who asks and what for: the caller, a search with its filters, and a date filter as it was understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engine.core.models.kinds import Role

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
class DateRange:
    """A date filter as it was understood, ISO with offset, both ends inclusive."""

    date_from: str | None = None
    date_to: str | None = None
