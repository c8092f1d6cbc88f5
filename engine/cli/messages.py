"""Renders messages: what was said in full, tool calls and results in short."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.safe import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

SHORT_LINES = 8
"""Lines of a tool's result that are shown unless everything is asked for."""
SHORT_INPUT = 160
"""Characters of a tool's input that are shown unless everything is asked for."""


def message_lines(message: dict[str, Any], *, whole: bool) -> Iterator[RenderableType]:
    """Yield one message, ended by an empty line.

    Args:
        message: As `get_session` and `get_context` answer it.
        whole: Show tool inputs and results in full.
    """
    role = message["role"]
    style = role if role in ("user", "assistant", "tool") else "faint"
    head = Text.assemble((role, style), "  ", (words.moment(message.get("timestamp")), "time"))
    if message.get("is_sidechain"):
        head.append("  subagent", "faint")
    if message.get("source", "transcript") != "transcript":
        head.append(f"  from the {message['source']}", "faint")
    if message.get("removed"):
        head.append("  removed from its transcript", "faint")
    if message.get("in_hit"):
        head.append("  ◀", "mark")
    yield head
    for block in message["blocks"]:
        yield Indented(_block(block, whole=whole), 2)
        if block.get("truncated"):
            yield Indented(Text(one_line(block["truncated"]), style="note"), 2)
    yield Text()


def _block(block: dict[str, Any], *, whole: bool) -> Text:
    text = visible(block.get("text") or "")
    match block["kind"]:
        case "text":
            return Text(text)
        case "thinking":
            return Text(f"(thinking) {text or 'not kept by Claude Code'}", style="thinking")
        case "tool_use":
            shown = visible(_input(block.get("input"), whole=whole))
            return Text.assemble(("▸ " + one_line(block.get("tool") or "tool"), "tool"), " ", shown)
        case "tool_result":
            return Text(_short(text, whole=whole), style="bad" if block.get("is_error") else "faint")
        case kind:
            return Text(f"[{one_line(kind)}] {text}".strip(), style="faint")


def _input(given: Any, *, whole: bool) -> str:
    """Return a tool's input: the one text that says it (a command, a path), else all of it."""
    if isinstance(given, dict) and not whole:
        for name in ("command", "file_path", "pattern", "query", "url", "description", "prompt"):
            if isinstance(given.get(name), str):  # pyright: ignore[reportUnknownMemberType] - JSON
                given = given[name]  # pyright: ignore[reportUnknownVariableType] - JSON
                break
    shown = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=2 if whole else None)
    if whole or len(shown) <= SHORT_INPUT:
        return shown
    return shown[:SHORT_INPUT] + " …"


def _short(text: str, *, whole: bool) -> str:
    lines = text.splitlines()
    if whole or len(lines) <= SHORT_LINES:
        return text
    left = words.count(len(lines) - SHORT_LINES, "more line")
    return "\n".join([*lines[:SHORT_LINES], f"… {left} (--full)"])
