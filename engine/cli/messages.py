"""Renders messages: what was said in full, tool calls in a line with the beginning of what came back below them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.safe import one_line, visible
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

SHORT_LINES: Final = 8
"""Lines of a tool's result that are shown unless everything is asked for."""
SHORT_RESULT: Final = 1_000
"""Characters of it: one line can hold a whole file."""
SHORT_INPUT: Final = 160
"""Characters of a tool's input that are shown unless everything is asked for."""


class Conversation:
    """Renders messages in their order. Who speaks and when is said where it changes; a result stands below its call.

    Args:
        whole: Show tool inputs and results in full.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._head: Text | None = None
        self._speaker = ""
        self._last: Literal["head", "said", "tool"] = "head"

    def lines(self, message: dict[str, Any]) -> Iterator[RenderableType]:
        """Yield one message as `get_session` and `get_context` answer it; nothing for one that says nothing."""
        blocks = [block for block in message["blocks"] if self._says_something(block)]
        if not blocks and not message.get("in_hit"):
            return
        head = _head(message)
        is_result = message["role"] == "tool" and all(block["kind"] == "tool_result" for block in blocks)
        follows_call = is_result and self._speaker == "assistant" and self._last == "tool"
        if (not follows_call or message.get("in_hit")) and head != self._head:
            if self._head is not None:
                yield Text()
            yield head
            self._head, self._speaker, self._last = head, message["role"], "head"
        for block in blocks:
            yield from self._block(block)

    def _says_something(self, block: dict[str, Any]) -> bool:
        if block["kind"] == "text" or (block["kind"] == "thinking" and not self._whole):
            return bool((block.get("text") or "").strip())
        return True

    def _block(self, block: dict[str, Any]) -> Iterator[RenderableType]:
        kind, text = block["kind"], visible(block.get("text") or "")
        is_tool = kind in ("tool_use", "tool_result")
        if not is_tool and self._last != "head":
            yield Text()
        if kind == "tool_result":
            shown = Text(self._shortened(text), style="bad" if block.get("is_error") else "faint")
            yield Indented(shown, 6, Text("    ⎿ ", style="faint"))
        elif kind == "tool_use":
            yield Indented(self._call(block), 4, Text("  ▸ ", style="tool"))
        else:
            yield Indented(_said(kind, text), 2)
        if block.get("truncated"):
            yield Indented(Text(one_line(as_commands(block["truncated"])), style="note"), 2)
        self._last = "tool" if is_tool else "said"

    def _call(self, block: dict[str, Any]) -> Text:
        tool = one_line(block.get("tool") or "tool")
        return Text.assemble((tool, "tool"), " ", visible(_input(block.get("input"), whole=self._whole)))

    def _shortened(self, text: str) -> str:
        if self._whole:
            return text
        lines = text.strip("\n").splitlines()
        left = max(0, len(lines) - SHORT_LINES)
        shown = "\n".join(lines[:SHORT_LINES])
        if len(shown) > SHORT_RESULT:
            return f"{shown[:SHORT_RESULT]} … {words.count(len(text) - SHORT_RESULT, 'more character')} (--full)"
        return f"{shown}\n… {words.count(left, 'more line')} (--full)" if left else shown


def _head(message: dict[str, Any]) -> Text:
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
    return head


def _said(kind: str, text: str) -> Text:
    match kind:
        case "text":
            return Text(text.strip())
        case "thinking":
            return Text(f"(thinking) {text.strip() or 'not kept by Claude Code'}", style="thinking")
        case _:
            return Text(f"[{one_line(kind)}] {text.strip()}".strip(), style="faint")


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
