"""From content blocks to the text that is indexed: one chunk is one block, cut per kind, the cut recorded."""

from __future__ import annotations

import re
from typing import Any, cast

from engine.core.models.kinds import Kind, Role
from engine.transcripts.signals import PLAN_TOOLS, QUESTION_TOOLS

PROSE_LIMIT = 40_000
"""Characters of a prompt, an answer, a thought, a plan or a summary that are indexed; of longer ones, head and tail."""

MACHINE_LIMIT = 4_000
"""Characters of a tool's input or result, or of injected text: 2,000 of head and 2,000 of tail."""

_GAP = "\n…\n"
_NOISE = re.compile(r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook)>")
_TAG = re.compile(r"</?(?:command-name|command-message|command-args|local-command-stdout|local-command-stderr)>")


def cut(text: str, limit: int) -> tuple[str, int]:
    """Return the text with its middle left out when it is longer than `limit`, and how many characters that were.

    Cuts fall on white space where some is near, so that no half words enter the index.
    """
    if len(text) <= limit:
        return text, 0
    half = limit // 2
    head_end = _near_space(text, half, -1)
    tail_start = _near_space(text, len(text) - half, 1)
    return text[:head_end] + _GAP + text[tail_start:], tail_start - head_end


def _near_space(text: str, position: int, direction: int) -> int:
    for step in range(60):
        at = position + direction * step
        if 0 < at < len(text) and text[at].isspace():
            return at
    return position


def limit_for(role: Role, kind: Kind, tool: str | None) -> int:
    """Return how many characters of a block are indexed."""
    if role is Role.INJECTED:
        return MACHINE_LIMIT
    if kind in (Kind.TEXT, Kind.THINKING):
        return PROSE_LIMIT
    if tool is not None and (tool in PLAN_TOOLS or tool in QUESTION_TOOLS):
        return PROSE_LIMIT
    return MACHINE_LIMIT


def prompt_text(text: str) -> str:
    """Return what a person typed, without reminders and editor context that Claude Code put into the same string."""
    if "<" not in text:
        return text
    kept: list[str] = []
    never_closed: set[str] = set()
    position = searched = 0
    while (opening := _NOISE.search(text, searched)) is not None:
        searched = opening.end()
        tag = opening[1]
        end = -1 if tag in never_closed else text.find(f"</{tag}>", searched)
        if end < 0:
            never_closed.add(tag)
            continue
        kept.append(text[position : opening.start()])
        position = searched = end + len(tag) + 3
    return "".join([*kept, text[position:]]).strip()


def slash_command(text: str) -> tuple[str, str] | None:
    """Return (command, arguments) of a slash command's markup, or None. The order of the tags varies."""
    name = _tagged(text, "command-name")
    if name is None:
        return None
    name = name.strip()
    return (name if name.startswith("/") else f"/{name}"), (_tagged(text, "command-args") or "").strip()


def bash_input(text: str) -> str | None:
    """Return the command of a `!command` prompt, or None."""
    return _tagged(text, "bash-input") if text.lstrip().startswith("<bash-input>") else None


def _tagged(text: str, tag: str) -> str | None:
    start = text.find(f"<{tag}>")
    if start < 0:
        return None
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return text[start:end] if end >= 0 else text[start:]


def without_tags(text: str) -> str:
    """Return injected command text without the markup around it."""
    return _TAG.sub(" ", text).strip() if "<" in text else text


def tool_input_text(tool: str, value: object) -> str:
    """Return a tool's input as lines of text: a command as it was typed, everything else as `name: value`."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else _flat(value)
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get("command"), str):
        command = cast("str", fields["command"])
        rest = {key: item for key, item in fields.items() if key not in ("command", "timeout", "run_in_background")}
        return "\n".join(part for part in (command, _lines(rest)) if part)
    if tool in PLAN_TOOLS and isinstance(fields.get("plan"), str):
        return cast("str", fields["plan"])
    return _lines(fields)


def _lines(fields: dict[str, Any], depth: int = 0) -> str:
    lines: list[str] = []
    for key, item in fields.items():
        if item is None or item is False or item == "":
            continue
        text = _flat(item, depth)
        if text:
            lines.append(f"{key}: {text}")
    return "\n".join(lines)


_MAX_DEPTH = 12


def _flat(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "" if depth > _MAX_DEPTH else _lines(cast("dict[str, Any]", value), depth + 1)
    if isinstance(value, list):
        if depth > _MAX_DEPTH:
            return ""
        return "\n".join(_flat(item, depth + 1) for item in cast("list[object]", value))
    return "" if value is None else str(value)


_RESULT_FIELDS = ("text", "tool_name", "title", "url", "stdout", "stderr", "error_code")
"""What can be read of a part of a tool's result: text, a tool that was looked up, a page found on the web, what
code printed that ran at the API (web_search_tool_result, code_execution_tool_result and their kin)."""


def result_text(content: object, depth: int = 0) -> str:
    """Return the text of a tool result: a string, a part, or a list of them. Images and base64 are left out."""
    if isinstance(content, str):
        return content
    if depth > _MAX_DEPTH:
        return ""
    if isinstance(content, list):
        parts = [result_text(item, depth + 1) for item in cast("list[object]", content)]
        return "\n".join([part for part in parts if part])
    if not isinstance(content, dict):
        return ""
    part = cast("dict[str, Any]", content)
    found = [value for name in _RESULT_FIELDS if isinstance(value := part.get(name), str) and value]
    found += [inner for name in ("content", "resource") if (inner := result_text(part.get(name), depth + 1))]
    return "\n".join(found)


def other_text(block: dict[str, Any]) -> str:
    """Return what can be read in a block of a kind that is not known: its text fields, never data or signatures."""
    kept = {
        key: item
        for key, item in block.items()
        if key in ("text", "name", "title", "url", "query", "input", "content", "message", "error")
    }
    return _drop_binary(_lines(kept))


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{400,}")


def _drop_binary(text: str) -> str:
    return _BASE64.sub("", text)
