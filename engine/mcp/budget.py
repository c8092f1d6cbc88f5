"""Making a reply fit its token budget: which rows stay, where the next page begins, and what is said about the rest.

Rows go from the end, and `next_offset` continues exactly there. A row that alone is too large keeps its place with its
texts cut. Reading around a hit keeps the hit and loses its surroundings from both ends. Whatever a search was asked to
read along takes at most 60 % of the budget, and never the place of a hit (interface.md, "What the model sees").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from engine.arguments import MAX_TOKENS_CAP
from engine.knowledge.replies import leaner_evidence
from engine.mcp.exchange import around
from engine.mcp.measure import (
    CHARACTER_UNITS,
    SEPARATOR,
    UNITS_PER_TOKEN,
    cost,
    cut_to_fit,
    head,
    longest_prefix,
    printable,
)
from engine.mcp.sources import SourcesOfRows, prefix

DEFAULT_TOKENS: Final = 6_000
"""Budget of a reply when the call names none (interface.md)."""
LEAST_TOKENS: Final = 500
"""A smaller budget is answered as this: below it the ids of one hit do not fit."""
CHARACTER_CAP: Final = 45_000
"""Whatever was asked: Claude Code spills results over 50,000 characters to a file and shows 2 KB (interface.md)."""
READ_SHARE: Final = 0.6
"""Of the budget, for the exchanges a search reads along (interface.md, `read`)."""
_RESERVE: Final = 420 * CHARACTER_UNITS
"""For `truncated`, `next_offset` and the sentences of `note` that say what was left out."""
_NOTE_CAP: Final = 600
"""Characters of the front door's own note that are passed on when room is short."""

ROWS: Final[Mapping[str, str]] = {
    "keyword_search": "hits",
    "semantic_search": "hits",
    "hybrid_search": "hits",
    "get_context": "messages",
    "get_session": "messages",
    "list_sessions": "sessions",
    "get_period": "sessions",
    "get_usage": "rows",
    "coverage": "by",
    "status": "warnings",
    "doctor": "findings",
    "prune": "only_copies",
}
"""The list that makes a reply long, by operation."""

UNPAGED: Final = frozenset({"get_context", "status", "doctor", "prune"})
"""Operations without `offset`: what does not fit is said, not continued."""

Reply = dict[str, Any]
Row = dict[str, Any]


def fit(method: str, wire: Mapping[str, Any], arguments: Mapping[str, Any]) -> Reply:
    """Return a reply that costs no more than its budget, `note` first.

    Args:
        method: The operation that answered.
        wire: Its answer; it is not changed.
        arguments: The validated arguments of the call: `max_tokens` and `offset` count here.
    """
    reply = cast("Reply", printable(wire))
    units = budget_units(arguments.get("max_tokens"))
    if cost(reply) > units or _read_along(reply) > units * READ_SHARE:
        reply = _Fitting(method, reply, arguments, units).result()
    if "note" in reply:
        reply = {"note": reply.pop("note"), **reply}
    return reply


def budget_units(max_tokens: int | None) -> int:
    """Return a budget in the unit of `measure.cost`, never more than `CHARACTER_CAP` characters."""
    tokens = DEFAULT_TOKENS if max_tokens is None else max(max_tokens, LEAST_TOKENS)
    return min(tokens * UNITS_PER_TOKEN, CHARACTER_CAP * CHARACTER_UNITS)


def _read_along(reply: Reply) -> int:
    """Return what the messages cost that a search carries at its hits."""
    hits = reply.get("hits")
    rows = cast("list[Row]", hits) if isinstance(hits, list) else []
    return sum(cost(row["messages"]) for row in rows if row.get("messages"))


class _Fitting:
    """One reply on its way to its size."""

    def __init__(self, method: str, reply: Reply, arguments: Mapping[str, Any], units: int) -> None:
        self._method = method
        self._reply = reply
        self._arguments = arguments
        self._units = units
        self._notes: list[str] = []
        self._sources = SourcesOfRows.taken_from(method, reply)
        self._key = self._rows_key()

    def result(self) -> Reply:
        """Return the reply, at most `units` large."""
        readings = self._take_readings()
        self._slim_envelope()
        if self._method == "get_context":
            self._fit_context()
        elif self._method == "knowledge_record":
            self._fit_record()
        elif self._key:
            self._fit_page(self._key)
        if readings:
            self._put_readings(readings)
        if self._sources is not None:
            self._put_sources(self._sources)
        self._finish_note()
        return _squeezed(self._reply, self._units)

    def _rows_key(self) -> str | None:
        named = ROWS.get(self._method)
        if named and isinstance(self._reply.get(named), list):
            return named
        if self._method == "coverage" and isinstance(self._reply.get("problems"), list):
            return "problems"
        if isinstance(self._reply.get("rows"), list):
            return "rows"
        lists = [key for key, value in self._reply.items() if isinstance(value, list)]
        return max(lists, key=lambda key: cost(self._reply[key]), default=None)

    def _slim_envelope(self) -> None:
        """Shorten what stands beside the rows when it alone takes half of the budget."""
        note = self._reply.get("note")
        if isinstance(note, str):
            self._reply["note"] = head(note, _NOTE_CAP)
        if cost(self._envelope()) * 2 <= self._units:
            return
        session = self._reply.get("session")
        if isinstance(session, dict):
            kept = ("session_id", "project", "on_disk", "archived")
            self._reply["session"] = {key: value for key, value in cast("Row", session).items() if key in kept}
        for key in ("other_sessions", "knowledge_hits", "problems", "warnings"):
            value = self._reply.get(key)
            if key != self._key and isinstance(value, list) and value:
                rows = cast("list[Any]", value)
                self._reply[key] = rows[:1]
                if len(rows) > 1:
                    self._notes.append(f"{len(rows) - 1} more {key} were left out.")

    def _envelope(self) -> Reply:
        return {**self._reply, self._key: []} if self._key else self._reply

    def _room(self) -> int:
        return self._units - cost(self._envelope()) - _RESERVE

    def _fit_page(self, key: str) -> None:
        rows = cast("list[Any]", self._reply[key])
        room = self._room()
        kept = prefix(rows, room) if self._sources is None else self._sources.prefix(rows, room)
        page = rows[:kept]
        if rows and not kept:
            room //= 1 if self._sources is None else 2
            page = [cut_to_fit(rows[0], room - SEPARATOR, self._how_to_read(rows[0]))]
            self._reply["truncated"] = True
            self._notes.append("A long text in it is cut.")
        if len(page) < len(rows):
            self._left_out(key, len(page), len(rows))
        self._reply[key] = page

    def _left_out(self, key: str, kept: int, total: int) -> None:
        self._reply["truncated"] = True
        more = f"{total - kept} more {key} did not fit"
        if self._method in UNPAGED or key == "problems":
            self._notes.append(f"{more}; `backscroll {self._method.removeprefix('get_')}` in a terminal shows all.")
            return
        following = int(self._arguments.get("offset", 0)) + kept
        name = "nextOffset" if self._method.startswith("knowledge_") else "next_offset"
        self._reply[name] = following
        self._notes.append(f"{more}: call again with offset={following}.")

    def _fit_context(self) -> None:
        messages = cast("list[Row]", self._reply["messages"])
        before, kept, after = around(messages, self._room(), self._how_to_read)
        if kept == messages:
            return
        self._reply["messages"] = kept
        self._reply["truncated"] = True
        position = self._reply.get("position")
        if before and isinstance(position, dict):
            place = cast("Row", position)
            self._reply["position"] = {**place, "index": place.get("index", 0) + before}
        left = len(messages) - len(kept)
        if left:
            ends = f" ({before} before, {after} after)" if left == before + after else ""
            self._notes.append(f"{left} of {len(messages)} messages did not fit{ends}.")
        if self._units < budget_units(MAX_TOKENS_CAP):
            self._notes.append(f"max_tokens={MAX_TOKENS_CAP} shows more, get_session pages through all.")
        else:
            self._notes.append("get_session pages through all.")

    def _fit_record(self) -> None:
        """Shorten the body of a record at its end, where `bodyOffset` goes on."""
        found = self._reply.get("record")
        record = cast("Row", found) if isinstance(found, dict) else {}
        body = record.get("body")
        if not isinstance(body, str):
            return
        room = self._room_for_body(record)
        for evidence in leaner_evidence(cast("list[Row]", record.get("evidence") or [])):
            if room >= min(cost(body), self._units // 4):
                break
            record = {**record, "evidence": evidence, "truncated": True}
            room = self._room_for_body(record)
        if room >= cost(body):
            self._reply["record"] = record
            return
        kept = max(longest_prefix(body, room), 1)
        following = int(self._arguments.get("bodyOffset", 0)) + kept
        self._reply["record"] = {**record, "body": body[:kept], "nextBodyOffset": following}
        self._reply["truncated"] = True
        self._notes.append(f"The body goes on: call again with bodyOffset={following}.")

    def _room_for_body(self, record: Row) -> int:
        return self._units - cost({**self._reply, "record": {**record, "body": ""}}) - _RESERVE

    def _take_readings(self) -> dict[int, list[Row]]:
        if self._key != "hits":
            return {}
        hits = cast("list[Row]", self._reply["hits"])
        readings = {n: cast("list[Row]", hit["messages"]) for n, hit in enumerate(hits) if hit.get("messages")}
        self._reply["hits"] = [{k: v for k, v in hit.items() if k != "messages"} for hit in hits]
        return readings

    def _put_readings(self, readings: dict[int, list[Row]]) -> None:
        hits = cast("list[Row]", self._reply["hits"])
        wanted = [(number, messages) for number, messages in readings.items() if number < len(hits)]
        room = min(int(self._units * READ_SHARE), self._units - cost(self._reply) - _RESERVE)
        shortened, read = len(wanted) < len(readings), 0
        for place, (number, messages) in enumerate(wanted):
            share = room // (len(wanted) - place) - cost({"messages": []}) - SEPARATOR
            _, kept, _ = around(messages, share, self._how_to_read, ends=True)
            if kept and cost(kept) <= share:
                hits[number]["messages"] = kept
                room -= cost({"messages": kept})
                read += 1
            shortened = shortened or kept != messages
        if shortened:
            self._reply["truncated"] = True
            self._notes.append(
                "What was read along is shortened: get_context with a chunk_id reads the rest."
                if read
                else "The hits leave no room to read along: ask for fewer with limit, or for more with max_tokens."
            )

    def _put_sources(self, sources: SourcesOfRows) -> None:
        """Put back the summaries of what the rows that stayed are drawn from, as many as fit."""
        wanted = sources.of(self._reply.get("rows") or [self._reply.get("record")])
        kept = prefix(wanted, self._units - cost({**self._reply, "sources": []}) - _RESERVE)
        self._reply["sources"] = wanted[:kept]
        if kept < len(wanted):
            self._reply["sourcesTruncated"] = True
            self._notes.append(f"{len(wanted) - kept} more sources did not fit; knowledge_record reads each.")

    def _how_to_read(self, row: Any) -> str:
        members = cast("Row", row) if isinstance(row, Mapping) else {}
        uuid, session = members.get("message_uuid"), members.get("session_id")
        if uuid and self._units < budget_units(MAX_TOKENS_CAP):
            return f'get_context(message_uuid="{uuid}", before=0, after=0, max_tokens={MAX_TOKENS_CAP}) reads more'
        if session:
            return f"`backscroll show {session}` in a terminal prints it whole"
        return "its record holds it whole"

    def _finish_note(self) -> None:
        said = self._reply.get("note")
        sentences = [said, *self._notes] if isinstance(said, str) else self._notes
        if sentences:
            self._reply["note"] = " ".join(sentences)


def _squeezed(reply: Reply, units: int) -> Reply:
    """Return a reply that fits although something beside its rows is large. The last resort, seldom needed."""
    if cost(reply) > units:
        reply = cast("Reply", cut_to_fit(reply, units, "it is cut"))
    for length in (400, 200, 100, 60):
        if cost(reply) <= units:
            return reply
        reply = {key: _bounded(value, length) for key, value in reply.items()}
    if cost(reply) <= units:
        return reply
    note = f"{head(str(reply.get('note', '')), _NOTE_CAP)} The reply does not fit in max_tokens."
    return {"note": note.strip(), "truncated": True}


def _bounded(value: Any, length: int) -> Any:
    """Return a value with no text longer than `length` and no list or object longer than a tenth of it."""
    if isinstance(value, str):
        return head(value, length)
    if isinstance(value, Mapping):
        members = list(cast("Mapping[str, Any]", value).items())[: length // 2]
        return {head(key, length): _bounded(item, length) for key, item in members}
    if isinstance(value, list):
        return [_bounded(item, length) for item in cast("list[Any]", value)[: max(length // 10, 1)]]
    return value
