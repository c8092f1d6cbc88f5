"""The table of what can be asked of the history: names, arguments and their schemas, as plain data.

The texts are read by a model that chooses arguments, and each character of them is paid for in every session (the whole
`tools/list` stays under 9,000 tokens), so they say what a name does not.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from engine.arguments.operation import Operation, Schema
from engine.core.errors import InvalidArgument
from engine.core.models.kinds import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Mapping


def _when_or_dates(name: str, given: Mapping[str, Any]) -> None:
    if "when" in given and ("date_from" in given or "date_to" in given):
        raise InvalidArgument(
            "when cannot be combined with date_from or date_to",
            hint=f'Call {name} again with "when" alone, or with the dates alone.',
        )


def _a_period(name: str, given: Mapping[str, Any]) -> None:
    if "when" in given or {"date_from", "date_to"} <= given.keys():
        return
    half = next((each for each in ("date_from", "date_to") if each in given), None)
    if half is None:
        raise InvalidArgument(
            f"{name} needs a period", hint='Call again with "when": "today", or with "date_from" and "date_to".'
        )
    other = "date_to" if half == "date_from" else "date_from"
    raise InvalidArgument(
        f"{other} is missing", f"A period has two ends; {half} is one.", f'Call again with "{other}" as well.'
    )


def _one_target(name: str, given: Mapping[str, Any]) -> None:
    targets = ("chunk_id", "message_uuid", "ids")
    named = [each for each in targets if each in given]
    if not named:
        raise InvalidArgument(
            f"{name} needs an id",
            "Every search hit has a chunk_id and a message_uuid.",
            'Call again with "chunk_id" or "message_uuid", or several of them in "ids".',
        )
    if len(named) > 1:
        raise InvalidArgument(
            f"{name} takes one of {', '.join(targets)}",
            f"You sent {' and '.join(named)}.",
            'Call again with one of them; several ids go in "ids".',
        )


def _text(description: str = "") -> Schema:
    return {"type": "string", "description": description} if description else {"type": "string"}


def _flag(description: str = "", *, default: bool = False) -> Schema:
    schema: dict[str, Any] = {"type": "boolean"}
    if default:
        schema["default"] = True
    return {**schema, "description": description} if description else schema


def _choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


_LIMIT: Final[Schema] = {"type": "integer", "minimum": 1, "default": 10}
_OFFSET: Final[Schema] = {"type": "integer", "minimum": 0}
_MAX_TOKENS: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "default": 6000,
    "description": "Of the reply; to 20000.",
}
_READ: Final[Schema] = {
    "type": "integer",
    "minimum": 0,
    "maximum": 5,
    "description": "0-5: so many hits carry their whole exchange.",
}
_ROLE: Final = _choice(*Role)
_PROJECT: Final = _text('Part of its path; "." is this repository.')
_DATES: Final[Mapping[str, Schema]] = {
    "when": {**_text("today, last week, 7d, 24h, monday…"), "examples": ["today"]},
    "date_from": {**_text("YYYY-MM-DD or ISO time."), "examples": ["2026-03-01"]},
    "date_to": {**_text("Inclusive."), "examples": ["2026-03-01"]},
}
_PAGE: Final[Mapping[str, Schema]] = {"limit": _LIMIT, "offset": _OFFSET}
_LONG_PAGE: Final[Mapping[str, Schema]] = {"limit": {**_LIMIT, "default": 50}, "offset": _OFFSET}

COMMON: Final[Mapping[str, Schema]] = {
    "project": _PROJECT,
    **_DATES,
    "include_low_signal": _flag("Also tool noise, reminders, summaries."),
    "include_sidechains": _flag("Also subagents."),
    "role": _ROLE,
    "kind": _choice(*Kind, "tool"),
    "tool": _text("Such as Bash."),
    "session": _text('Id, unique prefix or "current".'),
    "include_current": _flag("Also what you still have in view."),
    **_PAGE,
    "read": _READ,
    "max_tokens": _MAX_TOKENS,
}
"""What the three searches share (interface.md, "Common arguments")."""


def _count(default: int) -> Schema:
    return {"type": "integer", "minimum": 0, "maximum": 500, "default": default}


_ALL: Final = (
    Operation(
        "keyword_search",
        {
            "query": _text(),
            **COMMON,
            "fuzzy_fallback": _flag(default=True),
            "group": _choice("exchange"),
        },
        ("query",),
        (_when_or_dates,),
    ),
    Operation("semantic_search", {"query": _text(), **COMMON}, ("query",), (_when_or_dates,)),
    Operation(
        "hybrid_search",
        {"query": _text(), **COMMON, "rerank": _flag(default=True)},
        ("query",),
        (_when_or_dates,),
    ),
    Operation(
        "get_context",
        {
            "chunk_id": _text(),
            "message_uuid": _text(),
            "ids": {"type": "array", "items": _text(), "minItems": 1, "maxItems": 10},
            "before": _count(3),
            "after": _count(3),
            "max_tokens": _MAX_TOKENS,
        },
        rules=(_one_target,),
    ),
    Operation(
        "get_session",
        {
            "session_id": _text(),
            **_LONG_PAGE,
            "roles": {"type": "array", "items": _ROLE, "minItems": 1},
            "include_sidechains": _flag("Also subagents."),
            "max_tokens": _MAX_TOKENS,
        },
        ("session_id",),
    ),
    Operation(
        "export_session",
        {"session_id": _text(), "format": {**_choice("markdown", "jsonl"), "default": "markdown"}},
        ("session_id",),
    ),
    Operation("list_sessions", {"project": _PROJECT, **_DATES, **_PAGE}, rules=(_when_or_dates,)),
    Operation(
        "get_period",
        {**_DATES, "project": _PROJECT, **_PAGE, "max_tokens": _MAX_TOKENS},
        rules=(_when_or_dates, _a_period),
    ),
    Operation(
        "get_usage",
        {
            "by": {**_choice("day", "week", "month", "model", "session", "project", "block"), "default": "day"},
            **_DATES,
            "project": _PROJECT,
            **_PAGE,
        },
        rules=(_when_or_dates,),
    ),
    Operation("status"),
    Operation("coverage", {"by": _choice("project", "day"), **_LONG_PAGE}),
    Operation("reindex", {"project": _PROJECT, "full": _flag()}),
    Operation("knowledge_init"),
    Operation("knowledge_check", {"giveUp": _text()}),
    Operation("pause", {"seconds": {"type": "integer", "minimum": 1, "maximum": 31_536_000}}),
    Operation("resume"),
    Operation("doctor", {"fix": _flag(), "deep": _flag()}),
    Operation("backup"),
    Operation("forget", {"session_id": _text()}, ("session_id",)),
    Operation("restore", {"session_id": _text(), "to": _text()}, ("session_id", "to")),
    Operation(
        "prune",
        {
            "older_than_days": {"type": "integer", "minimum": 1},
            "project": _PROJECT,
            "archive": _flag(),
            "include_only_copies": _flag(),
            "dry_run": _flag(default=True),
        },
        ("older_than_days",),
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({each.name: each for each in _ALL})
"""Every operation on the history, by the name that MCP, the command line and `Api.call` use. What is shown as a tool is
`engine/mcp`'s business."""
