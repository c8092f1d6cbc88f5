"""Who speaks, and how that is shown above what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop import words

if TYPE_CHECKING:
    from engine.core.models.sessions import MessageView


def speaker_of(message: MessageView) -> tuple[str, bool]:
    """Return who speaks, as headings group it: results belong to the one who called the tool."""
    return ("assistant" if message.role == "tool" else message.role, message.is_sidechain)


def speaker_look(message: MessageView, person: str, claude: str, tool: str) -> tuple[str, str, str]:
    """Return the drawing, the name and the colour of a speaker."""
    if message.is_sidechain:
        return "claude", words.search.SUBAGENT, tool
    match message.role:
        case "user":
            return "person", words.search.YOU, person
        case "assistant" | "tool":
            return "claude", words.search.CLAUDE, claude
        case "summary":
            return "summary", words.search.SUMMARY, tool
        case "record":
            return "summary", words.search.RECORD, tool
        case _:
            return "injected", words.search.INJECTED, tool
