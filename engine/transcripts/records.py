"""The values a transcript's records become: messages with their blocks, facts about sessions, things left alone.

Those that are made for every line are named tuples: a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from engine.core.models.kinds import Kind, Role, Signal

CopyKind = Literal["resumed", "forked", "background"]
"""How a session came to hold messages of another one."""


class ParsedBlock(NamedTuple):
    """One content block in the form that is indexed."""

    number: int
    """Position among the content blocks of its line."""
    kind: Kind
    signal: Signal
    text: str
    """Cleaned and cut; empty when nothing of it can be read (images, empty thinking)."""
    cut: int = 0
    """Characters left out of the middle."""
    tool: str | None = None
    is_error: bool = False


class ParsedMessage(NamedTuple):
    """One line that carries content."""

    uuid: str
    """Claude Code's; made from the record where it is missing (old and foreign files)."""
    parent_uuid: str | None
    original_uuid: str | None
    """Uuid of the message that this one says it was copied from (SDK forks give copies new uuids)."""
    session_id: str
    """The session this occurrence belongs to (rule of transcripts.md, section 4)."""
    copied_from: str | None
    """The session that the line itself says it was copied from."""
    copy_kind: CopyKind
    """What this occurrence is, should another session turn out to have said it first."""
    timestamp_ms: int | None
    role: Role
    is_sidechain: bool
    agent_id: str | None
    cwd: str | None
    branch: str | None
    version: str | None
    model: str | None
    fingerprint: int
    """63 bits over what stays the same in a copy that got a new uuid."""
    has_strong_id: bool
    """The fingerprint holds an id of the API (`msg_`, `toolu_`), so that it identifies the message by itself."""
    starts_exchange: bool
    """A human prompt, or the task of a sub-agent: what follows answers it."""
    blocks: tuple[ParsedBlock, ...]
    opening: str | None = None
    """First 200 characters of a human prompt; of a slash command without arguments its name."""
    unknown_blocks: tuple[str, ...] = ()
    """Types of its blocks that this program does not know; they are indexed by what text they hold."""


FactKind = Literal["custom_title", "ai_title", "last_prompt", "summary", "parent", "worktree"]


@dataclass(frozen=True, slots=True)
class SessionFact:
    """Something a record says about its session besides content."""

    kind: FactKind
    session_id: str
    text: str
    about: str | None = None
    """A summary's `leafUuid`, a parent's lineage kind, a worktree's path."""


@dataclass(frozen=True, slots=True)
class AgentFact:
    """A sub-agent: what started it and what it is for. The parts are said in different places."""

    session_id: str
    agent_id: str
    tool_use_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    parent_agent: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A record that is not indexed. It stays in the transcript and the archive; its kind is counted."""

    type: str
    known: bool


Parsed = ParsedMessage | SessionFact | Kept
