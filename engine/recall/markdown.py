"""A session as Markdown that reads well: who said what, tool calls folded into code blocks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.core.models.sessions import Block, MessageView, SessionRow

_SPEAKERS = {
    Role.USER: "You",
    Role.ASSISTANT: "Claude",
    Role.TOOL: "Result",
    Role.INJECTED: "Context",
    Role.SUMMARY: "Summary",
}


def session_markdown(session: SessionRow, messages: Iterable[MessageView]) -> str:
    """Return a session as one Markdown document."""
    title = (session.title or session.session_id).replace("\n", " ")
    lines = [f"# {title}", ""]
    facts = {
        "Session": f"`{session.session_id}`",
        "Project": session.project,
        "Branch": session.branch,
        "From": session.started_at,
        "To": session.last_at,
        "Resume": f"`{session.resume_command}`",
    }
    lines += [f"- {name}: {value}" for name, value in facts.items() if value]
    speaker: str | None = None
    for message in messages:
        body = [text for block in message.blocks if (text := _block(block))]
        if not body:
            continue
        who = _SPEAKERS[Role(message.role)]
        if who != speaker:
            lines += ["", f"## {who}" + (f" · {message.timestamp}" if message.timestamp else "")]
            speaker = who
        for text in body:
            lines += ["", text]
    return "\n".join(lines) + "\n"


def _block(block: Block) -> str:
    text = (block.text or "").strip()
    if block.kind == Kind.TEXT:
        return text
    if block.kind == Kind.THINKING:
        return "\n".join(f"> {line}" for line in text.splitlines())
    if block.kind == Kind.TOOL_USE:
        return f"**{block.tool}**\n\n{_fenced(_input(block), 'json')}"
    if block.kind == Kind.TOOL_RESULT:
        return _fenced(text, "text") if text else ""
    return text


def _input(block: Block) -> str:
    return json.dumps(block.input, ensure_ascii=False, indent=2)


def _fenced(text: str, language: str) -> str:
    """Put a text between fences longer than any it holds (CommonMark, section 4.5)."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
