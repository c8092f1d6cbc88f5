"""Records that say something about a session besides content: titles, where it came from, its sub-agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.text import clean, shorten
from engine.transcripts import chunking
from engine.transcripts.fields import MAX_NAME, name_field, object_field, text_field
from engine.transcripts.records import AgentFact, SessionFact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.transcripts.lines import Record
    from engine.transcripts.records import ParsedBlock

OPENING_CHARACTERS = 200
"""Of a prompt that stands for its session in lists (the official tools cut there too, transcripts.md, section 2)."""


def fact_of(record: Record, kind: str, session_id: str) -> SessionFact | None:
    """Return what a record says about its session; None when this one says nothing, whatever its type could say.

    Args:
        record: The record.
        kind: Its type, one of `FACT_TYPES`.
        session_id: The session of its file.
    """
    return _READERS[kind](record, session_id)


def opening_of(blocks: Iterable[ParsedBlock]) -> str | None:
    """Return the beginning of a prompt, as lists show it; None of one without text."""
    return shorten(" ".join(block.text for block in blocks if block.text), OPENING_CHARACTERS) or None


def command_of(texts: Iterable[str]) -> str | None:
    """Return the slash command that a line runs without a word of the person: its session may have no other opening."""
    for text in texts:
        if text.lstrip().startswith("<command-"):
            command = chunking.slash_command(text)
            return None if command is None else shorten(clean(command[0]), OPENING_CHARACTERS)
    return None


def started_agent(record: Record, session_id: str, tool_use_id: str | None) -> AgentFact | None:
    """Return which sub-agent a tool call started, as its result says it; None when it started none."""
    agent = text_field(object_field(record, "toolUseResult"), "agentId")
    if agent is None or tool_use_id is None:
        return None
    return AgentFact(session_id, clean(agent)[:MAX_NAME], tool_use_id=clean(tool_use_id)[:MAX_NAME])


def described_agent(meta: Record, session_id: str, agent_id: str) -> AgentFact:
    """Return what a sub-agent's `meta.json` says of it."""
    return AgentFact(
        session_id,
        agent_id,
        tool_use_id=name_field(meta, "toolUseId"),
        agent_type=name_field(meta, "agentType"),
        description=name_field(meta, "description"),
        parent_agent=name_field(meta, "parentAgentId"),
    )


def _custom_title(record: Record, session_id: str) -> SessionFact | None:
    title = text_field(record, "customTitle")
    return None if title is None else SessionFact("custom_title", session_id, clean(title))


def _ai_title(record: Record, session_id: str) -> SessionFact | None:
    title = text_field(record, "aiTitle")
    return None if title is None else SessionFact("ai_title", session_id, clean(title))


def _last_prompt(record: Record, session_id: str) -> SessionFact | None:
    prompt = text_field(record, "lastPrompt")
    return (
        None if prompt is None else SessionFact("last_prompt", session_id, shorten(clean(prompt), OPENING_CHARACTERS))
    )


def _summary(record: Record, session_id: str) -> SessionFact | None:
    summary = text_field(record, "summary")
    return (
        None if summary is None else SessionFact("summary", session_id, clean(summary), text_field(record, "leafUuid"))
    )


def _fork_context(record: Record, session_id: str) -> SessionFact | None:
    parent = text_field(record, "parentSessionId")
    return None if parent in (None, session_id) else SessionFact("parent", session_id, clean(parent), "forked")


def _continued(record: Record, session_id: str) -> SessionFact | None:
    child = text_field(record, "continuedInSessionId")
    return None if child in (None, session_id) else SessionFact("parent", clean(child), session_id, "continued")


def _worktree(record: Record, session_id: str) -> SessionFact | None:
    worktree = object_field(record, "worktreeSession")
    original, path = text_field(worktree, "originalCwd"), text_field(worktree, "worktreePath")
    if original is None or path is None:
        return None
    return SessionFact("worktree", session_id, clean(original), clean(path))


_READERS: dict[str, Callable[[Record, str], SessionFact | None]] = {
    "custom-title": _custom_title,
    "ai-title": _ai_title,
    "last-prompt": _last_prompt,
    "summary": _summary,
    "fork-context-ref": _fork_context,
    "continued-in": _continued,
    "worktree-state": _worktree,
}

FACT_TYPES = frozenset(_READERS)
"""Types of records that say something about their session."""
