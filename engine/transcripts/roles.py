"""Who speaks in a `user` line or a queued prompt: a person, a tool, Claude Code itself, or a compaction summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.core.models.kinds import Role
from engine.transcripts import chunking
from engine.transcripts.fields import object_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.transcripts.lines import Record

_INJECTED_STARTS = (
    "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>", "<bash-stderr>",
    "<task-notification>", "<session-start-hook>", "<user-prompt-submit-hook>", "<tick>", "<goal>",
    "Caveat: The messages below", "[Request interrupted by user", "Base directory for this skill:", "<system-reminder>",
    "<ide_opened_file>", "<ide_selection>", "<ide_diagnostics>", "<post-tool-use-hook>", "<agent-notification>",
    "<teammate-message",
)  # fmt: skip
"""How text begins that Claude Code put into a `user` line (transcripts.md, section 2)."""

_CONTINUATION = "This session is being continued from a previous conversation"
_ATTACHED = frozenset({"image", "document"})
WARM_UP = "Warmup"
"""All that Claude Code says to a sub-agent it starts in advance (2.0.x)."""


def role_of_user_line(record: Record, blocks: Sequence[dict[str, Any]], *, sidechain: bool) -> Role:
    """Return who speaks in a `user` line."""
    if record.get("isCompactSummary") is True:
        return Role.SUMMARY
    if any(block.get("type") in ("tool_result", "mcp_tool_result") for block in blocks):
        return Role.TOOL
    if record.get("isMeta") is True or object_field(record, "origin").get("kind") not in (None, "human"):
        return Role.INJECTED
    texts = texts_of(blocks)
    if texts and texts[0].lstrip().startswith(_CONTINUATION):
        return Role.SUMMARY
    if sidechain or isinstance(record.get("teamName"), str):
        # A model wrote this prompt, not a person; the same words stand in the parent's Agent call.
        return Role.INJECTED
    return role_of_prompt(blocks, texts)


def role_of_prompt(blocks: Sequence[dict[str, Any]], texts: Iterable[str]) -> Role:
    """Return USER when a person typed, pasted or attached some of the blocks, else INJECTED."""
    attached = any(block.get("type") in _ATTACHED for block in blocks)
    return Role.USER if attached or any(map(is_typed, texts)) else Role.INJECTED


def texts_of(blocks: Iterable[dict[str, Any]]) -> list[str]:
    """Return the texts of content blocks."""
    return [text for block in blocks if isinstance(text := block.get("text"), str)]


def is_typed(text: str) -> bool:
    """Return whether a person typed (part of) a text of a `user` line: a slash command only with arguments."""
    stripped = text.lstrip()
    if stripped.startswith("<command-"):
        command = chunking.slash_command(stripped)
        return command is not None and bool(command[1])
    if stripped.startswith("<bash-input>"):
        return True
    # Editor context and reminders may stand before a real prompt in the same string.
    stripped = chunking.prompt_text(stripped)
    return bool(stripped) and not stripped.startswith(_INJECTED_STARTS)
