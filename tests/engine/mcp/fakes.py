"""Small real stand-ins for what lies behind the MCP room: a history of made-up messages, and the front door to it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.core.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.core.models.asking import Caller

SESSION = "5d0c4a52-91f7-4c30-8a39-2f3f3f1b7a10"


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def hit(number: int, snippet: str = "We settled on rotating refresh tokens.") -> dict[str, Any]:
    return {
        "chunk_id": f"c{number:09d}",
        "message_uuid": uuid(number),
        "session_id": SESSION,
        "project": "/home/ada/code/shop",
        "timestamp": "2026-04-30T10:11:12+02:00",
        "role": "assistant",
        "kind": "text",
        "signal": "high",
        "is_sidechain": False,
        "score": 0.871,
        "snippet": snippet,
        "marks": [[3, 10]],
        "on_disk": True,
        "session_title": "Auth rewrite",
    }


def message(number: int, text: str = "Rotate them on each use.", *, asked: bool = False) -> dict[str, Any]:
    row: dict[str, Any] = {
        "message_uuid": uuid(number),
        "session_id": SESSION,
        "timestamp": "2026-04-30T10:11:12+02:00",
        "role": "assistant",
        "is_sidechain": False,
        "source": "transcript",
        "blocks": [{"kind": "text", "text": text}],
    }
    return {**row, "in_hit": True} if asked else row


def session_row(number: int = 0, opening: str = "Please rewrite the login.") -> dict[str, Any]:
    return {
        "session_id": uuid(number),
        "title": "Auth rewrite",
        "project": "/home/ada/code/shop",
        "started_at": "2026-04-30T10:00:00+02:00",
        "last_at": "2026-04-30T11:00:00+02:00",
        "messages": 214,
        "prompts": 12,
        "on_disk": True,
        "archived": True,
        "resume_command": f"cd /home/ada/code/shop && claude --resume {uuid(number)}",
        "opening": opening,
        "highlights": ["Chose rotation.", "Dropped the old cookie."],
    }


def search_reply(hits: list[dict[str, Any]], total: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "hits": hits,
        "total": len(hits) if total is None else total,
        "mode": {"requested": "hybrid", "realised": "hybrid"},
        "coverage": {"chunks": 1000, "embedded": 870, "percent": 87.0},
        **more,
    }


def reading(messages: list[dict[str, Any]], index: int = 40) -> dict[str, Any]:
    return {"messages": messages, "session": session_row(), "position": {"index": index, "of": 214}}


@dataclass(slots=True)
class Asked:
    method: str
    arguments: dict[str, Any]
    caller: Caller
    thread: str


@dataclass(slots=True)
class FakeApi:
    """Pages over made-up rows as the front door does, and remembers what it was asked."""

    hits: list[dict[str, Any]] = field(default_factory=lambda: [hit(number) for number in range(3)])
    messages: list[dict[str, Any]] = field(default_factory=lambda: [message(number) for number in range(5)])
    sessions: list[dict[str, Any]] = field(default_factory=lambda: [session_row(number) for number in range(4)])
    replies: dict[str, dict[str, Any] | Exception] = field(default_factory=dict[str, "dict[str, Any] | Exception"])
    asked: list[Asked] = field(default_factory=list[Asked])
    started: threading.Event = field(default_factory=threading.Event)
    """Set when a `prune` has begun; it then works until it is cancelled."""
    cancelled: threading.Event = field(default_factory=threading.Event)

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        self.asked.append(Asked(method, dict(arguments), caller, threading.current_thread().name))
        if method == "prune":
            return self._prune(cancelled)
        if method == "doctor" and progress is not None:
            for done in (1, 1, 2, 3):
                progress(done, 3, "Checking")
        named = self.replies.get(method)
        if isinstance(named, Exception):
            raise named
        if named is not None:
            return named
        offset, limit = arguments.get("offset", 0), arguments.get("limit", 10)
        if method.endswith("_search"):
            return _paged(search_reply(self.hits, len(self.hits)), "hits", offset, limit)
        if method in ("get_session", "get_context"):
            return _paged(reading(self.messages, offset), "messages", offset, limit)
        if method in ("list_sessions", "get_period"):
            reply = {"sessions": self.sessions, "total": len(self.sessions)}
            return _paged(reply, "sessions", offset, limit)
        return {}

    def _prune(self, cancelled: threading.Event | None) -> dict[str, Any]:
        self.started.set()
        if cancelled is None or not cancelled.wait(60):
            return {"dry_run": True, "chunks": 0}
        self.cancelled.set()
        raise Cancelled("The question was taken back")


def _paged(reply: dict[str, Any], key: str, offset: int, limit: int) -> dict[str, Any]:
    rows = reply[key]
    page = {**reply, key: rows[offset : offset + limit]}
    if offset + limit < len(rows):
        page["next_offset"] = offset + limit
    return page
