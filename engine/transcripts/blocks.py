"""One content block to the form that is indexed: its kind, its text, its signal, and what identifies it in a copy."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from engine.core.models.kinds import Kind, Role
from engine.core.text import clean
from engine.transcripts import chunking
from engine.transcripts.fields import text_field
from engine.transcripts.records import ParsedBlock
from engine.transcripts.signals import signal_of

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_BINARY = frozenset({"image", "document", "container_upload"})
_IDENTIFYING = 1_000
"""Characters at the head of a text that, with its length, tell it from the other blocks of the same API call."""


class Speaker(NamedTuple):
    """What the blocks of one line have in common."""

    role: Role
    synthetic: bool
    """Claude Code wrote the answer itself."""
    warmup: bool


class ReadBlock(NamedTuple):
    """A block as it is indexed, with what else must be known of it."""

    block: ParsedBlock
    identity: str
    """The same in every copy of the block."""
    tool_use_id: str | None = None
    is_known: bool = True
    """False for a type that this program does not know."""


def content_blocks(content: object) -> list[dict[str, Any]]:
    """Return a message's content as blocks: Claude Code writes a string or a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        return []
    blocks: list[dict[str, Any]] = []
    for item in cast("list[object]", content):
        if isinstance(item, dict):
            blocks.append(cast("dict[str, Any]", item))
        elif isinstance(item, str) and item:
            blocks.append({"type": "text", "text": item})
    return blocks


def read_block(number: int, raw: dict[str, Any], speaker: Speaker, open_tools: dict[str, str]) -> ReadBlock:
    """Return a block in the form that is indexed.

    Args:
        number: Its position in its line.
        raw: The block.
        speaker: Who says it.
        open_tools: Names of the tools that were called and have not answered, by id. Kept up to date here.
    """
    kind_name = raw.get("type")
    if kind_name == "text":
        text = text_field(raw, "text") or ""
        return _indexed(number, Kind.TEXT, _prose(text, speaker.role), speaker, identity=_of_text("text", text))
    if kind_name in ("thinking", "redacted_thinking"):
        text = text_field(raw, "thinking") or ""
        return _indexed(number, Kind.THINKING, text, speaker, identity=_of_text(kind_name, text))
    if kind_name in _CALLS:
        return _call(number, raw, speaker, open_tools)
    if isinstance(kind_name, str) and kind_name.endswith("tool_result"):
        return _result(number, raw, speaker, open_tools)
    if kind_name in _BINARY:
        return _indexed(number, Kind.IMAGE, text_field(raw, "title") or "", speaker, identity=str(kind_name))
    text = chunking.other_text(raw)
    known = kind_name == "search_result"
    return _indexed(number, Kind.OTHER, text, speaker, identity=_of_text(str(kind_name), text), is_known=known)


def _call(number: int, raw: dict[str, Any], speaker: Speaker, open_tools: dict[str, str]) -> ReadBlock:
    tool = clean(text_field(raw, "name") or "tool")
    tool_use_id = text_field(raw, "id")
    if tool_use_id is not None:
        open_tools[tool_use_id] = tool
    # A call without input is found, and counted, by the name of its tool.
    text = chunking.tool_input_text(tool, raw.get("input")) or tool
    identity = tool_use_id or _of_text(tool, text)
    return _indexed(number, Kind.TOOL_USE, text, speaker, identity=identity, tool=tool, tool_use_id=tool_use_id)


def _result(number: int, raw: dict[str, Any], speaker: Speaker, open_tools: dict[str, str]) -> ReadBlock:
    tool_use_id = text_field(raw, "tool_use_id")
    tool = None if tool_use_id is None else open_tools.pop(tool_use_id, None)
    text = chunking.result_text(raw.get("content"))
    return _indexed(
        number,
        Kind.TOOL_RESULT,
        text,
        speaker,
        identity=tool_use_id or _of_text("result", text),
        tool=tool,
        failed=raw.get("is_error") is True,
        tool_use_id=tool_use_id,
    )


def _indexed(
    number: int,
    kind: Kind,
    text: str,
    speaker: Speaker,
    *,
    identity: str,
    tool: str | None = None,
    failed: bool = False,
    tool_use_id: str | None = None,
    is_known: bool = True,
) -> ReadBlock:
    # Cut before it is cleaned: a 60 MB string need not be normalised whole.
    text, removed = chunking.cut(text.strip(), chunking.limit_for(speaker.role, kind, tool))
    text = clean(text).strip()
    signal = signal_of(speaker.role, kind, tool=tool, failed=failed, synthetic=speaker.synthetic, warmup=speaker.warmup)
    block = ParsedBlock(number, kind, signal, text, removed, tool, failed)
    return ReadBlock(block, identity, tool_use_id, is_known)


def _of_text(kind: str, text: str) -> str:
    return f"{kind}:{len(text)}:{text[:_IDENTIFYING]}"


def _prose(text: str, role: Role) -> str:
    if "<" not in text:
        return text
    if role is Role.INJECTED:
        return chunking.without_tags(text)
    if role is not Role.USER:
        return text
    command = chunking.slash_command(text) if text.lstrip().startswith("<command-") else None
    if command is not None:
        return " ".join(part for part in command if part)
    typed = chunking.bash_input(text)
    return f"!{typed}" if typed is not None else chunking.prompt_text(text)
