"""Records of Knowledge among the rows: `in:knowledge` asks for them; they are read in full in their own window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from desktop import format as shown
from desktop import words
from desktop.search.rows import Heading, RecordItem
from engine.core.models.sessions import Block, MessageView
from engine.knowledge.errors import EmptyQuery, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop.history import History
    from desktop.search.rows import Row

PAGE: Final = 50
"""As many as one answer holds."""
BODY: Final = 20_000
"""Characters of a record that are previewed."""


@dataclass(frozen=True, slots=True)
class Records:
    """What Knowledge answered."""

    rows: tuple[Row, ...]
    total: int
    note: str | None = None


def ask(history: History, text: str) -> Records:
    """Return the records that are called so, then those that say so; without words those recorded last.

    Raises:
        EngineError: What Knowledge refuses.
    """
    try:
        if not text.strip():
            reply = history.call("knowledge_timeline", {"timeField": "recorded_at", "limit": PAGE})
            recent = items_of(reply)
            head: tuple[Row, ...] = (Heading(words.shared.RECORDED_LAST),) if recent else ()
            return Records((*head, *recent), len(recent), None if recent else words.shared.NO_RECORDS)
        exact = items_of(history.call("knowledge_lookup", {"query": text, "lifecycle": "all", "limit": 5}))
        try:
            reply = history.call("knowledge_grep", {"query": text, "limit": PAGE})
        except EmptyQuery:
            reply = {}  # signs without a letter can still be a title
    except StoreUnavailable:
        return Records((), 0, words.shared.NO_RECORDS)
    known = {item.id for item in exact}
    found = tuple(item for item in items_of(reply) if item.id not in known)
    return Records((*exact, *found), max(int(reply.get("total") or 0), len(exact) + len(found)))


def items_of(reply: Mapping[str, Any]) -> tuple[RecordItem, ...]:
    """Return the rows of a reply."""
    return tuple(
        RecordItem(
            id=str(row["id"]),
            title=shown.one_line(str(row.get("title") or row["id"]), 200),
            about=_about(row),
            when=str(row.get("date") or "") or None,
            text=shown.one_line(_said(row), 400),
        )
        for row in cast("list[dict[str, Any]]", reply.get("rows") or [])
    )


def preview_of(history: History, id_: str) -> MessageView:
    """Return the text of a record in the form of a message, which the preview knows how to lay out.

    Raises:
        EngineError: There is no such record, or Knowledge refuses.
    """
    record = cast("dict[str, Any]", history.call("knowledge_record", {"id": id_, "maxChars": BODY})["record"])
    return MessageView(
        message_uuid=id_,
        session_id="",
        timestamp=cast("str | None", record.get("recordedAt") or record.get("date")),
        role="record",
        is_sidechain=False,
        source="index",
        blocks=(Block(kind="text", text=str(record.get("body") or record.get("title") or id_).strip("\n")),),
    )


def _about(row: Mapping[str, Any]) -> str:
    """Return what a record is and how it stands: "decision · superseded"."""
    lifecycle = str(row.get("lifecycle", "active"))
    parts = [
        shown.one_line(str(row.get("type") or row.get("kind") or ""), 60),
        "" if lifecycle == "active" else words.shared.LIFECYCLES.get(lifecycle, lifecycle),
        words.shared.EXPIRED if row.get("expired") else "",
    ]
    return " · ".join(part for part in parts if part)


def _said(row: Mapping[str, Any]) -> str:
    snippet: object = row.get("snippet") or row.get("summary") or ""
    return str(cast("dict[str, Any]", snippet).get("text", "")) if isinstance(snippet, dict) else str(snippet)
