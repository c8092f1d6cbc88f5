"""A reply in a few readable lines, for clients that show a tool's text and not its structure.

Nothing is said here that the structured reply does not say: Claude Code drops this text (interface.md, "What the model
sees").
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

from engine.core.text import shorten

TEXT_CAP: Final = 6_000
"""Characters of the whole text."""
_SNIPPET: Final = 200
_MESSAGE: Final = 600

Row = dict[str, Any]


def outline(reply: Row) -> str:
    """Return the text for a reply."""
    lines = [str(reply["note"])] if reply.get("note") else []
    if "hits" in reply:
        lines += _search(reply)
    elif "messages" in reply and isinstance(reply["messages"], list):
        lines += [_message(row) for row in cast("list[Row]", reply["messages"])]
    elif "sessions" in reply and isinstance(reply["sessions"], list):
        lines += [_session(row) for row in cast("list[Row]", reply["sessions"])]
    else:
        rest = {key: value for key, value in reply.items() if key != "note"}
        lines.append(json.dumps(rest, ensure_ascii=False))
    for name in ("next_offset", "nextOffset"):
        if name in reply:
            lines.append(f"More with offset={reply[name]}.")
    text = "\n".join(lines)
    return text if len(text) <= TEXT_CAP else text[: TEXT_CAP - 1] + "…"


def _search(reply: Row) -> list[str]:
    mode, coverage = reply.get("mode", {}), reply.get("coverage", {})
    made = f"{mode.get('realised', '')} search, {coverage.get('percent', 0)} % of the history embedded"
    lines = [f"{len(reply['hits'])} of {reply.get('total', 0)} hits ({made})"]
    for hit in cast("list[Row]", reply["hits"]):
        where = " ".join(str(hit[key]) for key in ("timestamp", "role", "project") if hit.get(key))
        lines.append(f"[{hit.get('chunk_id')}] {where}: {shorten(str(hit.get('snippet', '')), _SNIPPET)}")
        lines += [f"    {_message(row)}" for row in cast("list[Row]", hit.get("messages", []))]
    return lines


def _message(row: Row) -> str:
    texts: list[str] = []
    for block in cast("list[Row]", row.get("blocks", [])):
        if block.get("text"):
            texts.append(str(block["text"]))
        elif block.get("tool"):
            texts.append(f"({block['tool']} {json.dumps(block.get('input'), ensure_ascii=False)})")
    return f"{row.get('timestamp', '')} {row.get('role', '')}: {shorten(' '.join(texts), _MESSAGE)}".strip()


def _session(row: Row) -> str:
    title = shorten(str(row.get("title") or row.get("opening") or ""), _SNIPPET)
    when = f"{row.get('started_at', '')} to {row.get('last_at', '')}"
    return f"[{row.get('session_id')}] {when}, {row.get('project', '')}, {row.get('messages', 0)} messages: {title}"
