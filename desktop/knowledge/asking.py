"""What the reader asks of Knowledge, put together for one face of the window. For worker threads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from desktop import words
from desktop.knowledge.rows import Heading, RecordRow, dated_rows, row_of
from engine.knowledge.errors import AmbiguousEntity, EmptyQuery, UnknownEntity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zoneinfo import ZoneInfo

    from desktop.history import History
    from desktop.knowledge.rows import Row

View = Literal["search", "timeline", "day"]
PAGE: Final = 50
"""As many as one answer holds."""

RECENT: Final = 8
"""Dated records below the page of a person, a project or another thing."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the list is to show."""

    view: View = "search"
    text: str = ""
    """Words to search, or whose timeline."""
    day: str = ""
    """`YYYY-MM-DD`."""
    week: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list."""

    rows: tuple[Row, ...]
    total: int = 0
    issues: int = 0
    next_offset: int | None = None
    snapshot: str | None = None
    empty: str = words.knowledge.NONE
    """What stands there when there are no rows."""


@dataclass(frozen=True, slots=True)
class Page:
    """A record with what is known of the records it names."""

    record: Mapping[str, Any]
    titles: Mapping[str, str]
    known: tuple[RecordRow, ...] = ()
    """The newest dated records about it."""
    known_total: int = 0


def listing(
    history: History, question: Question, zone: ZoneInfo, *, offset: int = 0, snapshot: str | None = None
) -> Listing:
    """Return one page of what a question asks for.

    Args:
        history: The front door.
        question: What is asked.
        zone: Of days.
        offset: Where the page begins.
        snapshot: Of the first page, for dated lists.

    Raises:
        EngineError: What Knowledge refuses.
    """
    more = {"offset": offset, "snapshot": snapshot} if offset and snapshot else {}
    match question.view:
        case "search" if question.text:
            return _found(history, question.text, offset)
        case "search":
            recent = {"timeField": "recorded_at", "limit": PAGE, **more}
            reply = history.call("knowledge_timeline", recent)
            rows = tuple(row_of(each, zone) for each in _rows(reply))
            head: tuple[Row, ...] = (Heading(words.shared.RECORDED_LAST),) if rows and not offset else ()
            return _listing(reply, (*head, *rows), words.shared.NO_RECORDS)
        case "timeline" if not question.text:
            return Listing((), empty=words.knowledge.WHOSE)
        case "timeline":
            asked = {"entity": question.text, "eligibility": "include_inactive", "limit": PAGE, **more}
            try:
                reply = history.call("knowledge_timeline", asked)
            except (UnknownEntity, AmbiguousEntity):
                return _meant(history, question.text)
        case "day":
            asked = {"date": question.day, "week": question.week, "timeZone": zone.key, "limit": PAGE, **more}
            reply = history.call("knowledge_chronicle_day", asked)
    return _listing(reply, dated_rows(_rows(reply), zone), words.knowledge.NOTHING_ON)


def _found(history: History, text: str, offset: int) -> Listing:
    """Return the records that are called so, then those that say so."""
    exact: tuple[RecordRow, ...] = ()
    if not offset:
        named = history.call("knowledge_lookup", {"query": text, "lifecycle": "all", "limit": 5})
        exact = tuple(row_of(each, None) for each in _rows(named))
    try:
        reply = history.call("knowledge_grep", {"query": text, "limit": PAGE, "offset": offset})
    except EmptyQuery:
        return Listing(exact, len(exact))  # signs without a letter can still be a title
    ids = {row.id for row in exact}
    rows = (row_of(each, None) for each in _rows(reply))
    return _listing(reply, (*exact, *(row for row in rows if row.id not in ids)), words.knowledge.NONE)


def _meant(history: History, text: str) -> Listing:
    """Return the records that could be meant by a name nothing has, or several have."""
    rows = tuple(row_of(each, None) for each in _rows(history.call("knowledge_lookup", {"query": text})))
    if not rows:
        try:
            found = history.call("knowledge_grep", {"query": text, "kind": "page", "mode": "any", "limit": PAGE})
        except EmptyQuery:
            found = {}
        rows = tuple(row_of(each, None) for each in _rows(found))
    head: tuple[Row, ...] = (Heading(words.knowledge.DID_YOU_MEAN),) if rows else ()
    return Listing((*head, *rows), len(rows), empty=words.knowledge.NOBODY)


def page(history: History, name: str, zone: ZoneInfo) -> Page:
    """Return a record in full.

    Raises:
        NotFound: No record has this id.
    """
    record: dict[str, Any] = history.call("knowledge_record", {"id": name, "maxChars": 65_536})["record"]
    while (following := record.pop("nextBodyOffset", None)) is not None:
        rest = history.call("knowledge_record", {"id": name, "bodyOffset": following, "maxChars": 65_536})["record"]
        if not rest.get("body"):
            break
        record = {**record, "body": record["body"] + rest["body"]}
        if "nextBodyOffset" in rest:
            record["nextBodyOffset"] = rest["nextBodyOffset"]
    titles: dict[str, str] = {}
    for each in references(record):
        for row in _rows(history.call("knowledge_lookup", {"query": each, "lifecycle": "all"})):
            if row["id"] == each:
                titles[each] = str(row["title"])
    if not is_entity(record):
        return Page(record, titles)
    known = history.call("knowledge_timeline", {"entity": name, "limit": RECENT})
    rows = tuple(row_of(each, zone) for each in _rows(known) if each["id"] != name)
    return Page(record, titles, rows, int(known["total"]))


def is_entity(record: Mapping[str, Any]) -> bool:
    """Return whether a record is something that others can be about."""
    return record.get("kind") == "page" and record.get("lifecycle") == "active" and not record.get("flags")


def references(record: Mapping[str, Any]) -> list[str]:
    """Return the ids that a record names, each once."""
    named: list[Any] = [record.get(key) for key in ("supersededBy", "mergedInto", "owner", "from", "to")]
    named.append(record.get("attribution", {}).get("by"))
    for key in ("entities", "sources", "supersedes", "dependencies"):
        named += record.get(key, ())
    return list(dict.fromkeys(str(one) for one in named if one and " " not in str(one)))


def _rows(reply: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    return cast("Sequence[dict[str, Any]]", reply.get("rows") or ())


def _listing(reply: Mapping[str, Any], rows: Sequence[Row], empty: str) -> Listing:
    return Listing(
        rows=tuple(rows),
        total=int(reply.get("total") or 0),
        issues=int(reply.get("coverage", {}).get("issueCount", 0)),
        next_offset=reply.get("nextOffset"),
        snapshot=reply.get("snapshot"),
        empty=empty,
    )
