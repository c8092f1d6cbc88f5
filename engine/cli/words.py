"""How the command line says times, sizes, durations and places."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "keyword_search": "search",
        "semantic_search": "search",
        "hybrid_search": "search",
        "get_context": "show --hit",
        "get_session": "show",
        "list_sessions": "sessions",
        "get_period": "period",
        "get_usage": "usage",
        "knowledge_grep": "knowledge grep",
        "knowledge_lookup": "knowledge lookup",
        "knowledge_record": "knowledge show",
        "knowledge_records": "knowledge records",
        "knowledge_timeline": "knowledge timeline",
        "knowledge_chronicle_day": "knowledge day",
        "knowledge_chronicle_since": "knowledge since",
        "knowledge_chronicle_last_seen": "knowledge last-seen",
    }
)
"""The command that does what a tool does. The engine's sentences name tools, because most of its callers are models."""

_TOOL = re.compile(rf"`?\b({'|'.join(sorted(COMMANDS, key=len, reverse=True))})\b`?")


def moment(timestamp: str | None) -> str:
    """Return an ISO timestamp to the minute, in the zone it carries; a dash for none."""
    if not timestamp:
        return "-"
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return timestamp[:16]


def size(count: float) -> str:
    """Return a number of bytes with three digits and a unit of 1,000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.5 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("the loop returns at its last unit")


def duration(seconds: float | None) -> str:
    """Return a duration as people say it: the two largest units."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place(path: str | None, home: Path) -> str:
    """Return a folder with the person's home as `~`."""
    if not path:
        return "-"
    try:
        inside = Path(path).relative_to(home)
    except ValueError:
        return path
    return "~" if inside == Path() else f"~/{inside.as_posix()}"


def as_commands(sentence: str) -> str:
    """Return a sentence of the engine with commands in place of tools."""
    return _TOOL.sub(lambda tool: f"`backscroll {COMMANDS[tool[1]]}`", sentence)
