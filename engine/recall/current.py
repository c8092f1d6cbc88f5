"""Tells which session a call comes from: the one whose newest lines hold this very call.

The id that Claude Code puts into the environment goes stale after `--resume` or `/clear`, so it only decides between
several sessions that all hold the call.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.transcripts.lines import parse_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.store.files import TranscriptPlace
    from engine.transcripts.lines import Record

TAIL_BYTES = 256 * 1024
"""Of a transcript that are searched for the call: it is among the last lines, since its result is not written yet."""


def current_session(
    places: Sequence[TranscriptPlace], method: str, arguments: Mapping[str, Any], named: str | None
) -> int | None:
    """Return the number of the session whose transcript ends with this call, None when that cannot be decided.

    Args:
        places: Transcripts of the caller's repository, newest first.
        method: The tool that was called.
        arguments: As it was called.
        named: The session id of the caller's environment.
    """
    holders: list[tuple[str, TranscriptPlace]] = []
    for place in places:
        stamp = _open_call(Path(place.root) / place.path, method, arguments)
        if stamp is not None:
            holders.append((stamp, place))
    if not holders:
        return None
    if len({place.session for _, place in holders}) > 1:
        same = [place for _, place in holders if place.session_id == named]
        if same:
            return same[0].session
    return max(holders, key=lambda each: each[0])[1].session


def _open_call(path: Path, method: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the timestamp of a line near the end that makes this call and has no result yet, else None."""
    answered: set[str] = set()
    for line in reversed(_tail(path).split(b"\n")):
        if b"tool_use" not in line:
            continue
        for record in parse_line(line).records:
            for block in _blocks(record):
                if block.get("type") == "tool_result":
                    answered.add(str(block.get("tool_use_id")))
                elif block.get("id") not in answered and _is_call(block, method, arguments):
                    return str(record.get("timestamp") or "")
    return None


def _tail(path: Path) -> bytes:
    """Return the last bytes of a transcript; nothing where it cannot be read, since then it is not the asking one."""
    try:
        with path.open("rb", buffering=0) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except OSError:
        return b""


def _blocks(record: Record) -> list[dict[str, Any]]:
    message = record.get("message")
    content = cast("dict[str, Any]", message).get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[object]", content) if isinstance(item, dict)]


def _is_call(block: dict[str, Any], method: str, arguments: Mapping[str, Any]) -> bool:
    name = block.get("name")
    given = block.get("input")
    if block.get("type") != "tool_use" or not isinstance(name, str) or not isinstance(given, dict):
        return False
    if not name.endswith(f"__{method}"):
        return False
    sent = cast("dict[str, Any]", given)
    if "query" in arguments:
        return sent.get("query") == arguments["query"]
    return all(sent.get(key) == value for key, value in arguments.items() if key in sent)
