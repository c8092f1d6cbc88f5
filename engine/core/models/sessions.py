"""Sessions and their messages as a reader sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from engine.core.models.asking import DateRange


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
