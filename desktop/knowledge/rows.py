"""The rows of the reader's list: records, and the days above them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from desktop import format as shown
from desktop import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record."""

    id: str
    title: str
    kind: str
    """What it is, in its own words: "decision", "claim: fact"."""
    standing: str = ""
    """Superseded, withdrawn, merged or expired; empty for what holds."""
    when: str = ""
    """Its day, or its time below a day."""
    text: str = ""
    via: str = ""
    """The earlier wording that was found."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above rows. It cannot be selected."""

    text: str


Row = RecordRow | Heading


def row_of(row: Mapping[str, Any], zone: ZoneInfo | None, *, below_day: bool = False) -> RecordRow:
    """Return a row of a reply.

    Args:
        row: As the tools answer it.
        zone: Of moments; None for the system's.
        below_day: Its day stands above it.
    """
    said = str(row.get("date") or "")
    when = time_text(said, zone) if below_day else day_text(said, zone)
    via = row.get("via")
    return RecordRow(
        id=str(row["id"]),
        title=shown.one_line(str(row.get("title") or row["id"])),
        kind=shown.one_line(str(row.get("type") or row.get("kind") or "")),
        standing=standing_of(row),
        when=when,
        text=shown.one_line(_text(row), 400),
        via=shown.one_line(str(via.get("title") or via["id"])) if via else "",
        tags=tuple(shown.one_line(str(each), 40) for each in row.get("tags", ())),
    )


def dated_rows(rows: Sequence[Mapping[str, Any]], zone: ZoneInfo) -> tuple[Row, ...]:
    """Return rows in their order with a heading for each day."""
    made: list[Row] = []
    last = None
    for row in rows:
        day = day_text(str(row.get("date") or ""), zone)
        if day != last:
            made.append(Heading(day))
            last = day
        made.append(row_of(row, zone, below_day=True))
    return tuple(made)


def standing_of(row: Mapping[str, Any]) -> str:
    """Return what is special about a record's standing; nothing for one that holds."""
    lifecycle = str(row.get("lifecycle", "active"))
    parts = [] if lifecycle == "active" else [words.shared.LIFECYCLES.get(lifecycle, lifecycle)]
    return ", ".join([*parts, *([words.shared.EXPIRED] if row.get("expired") else [])])


def day_text(text: str, zone: ZoneInfo | None) -> str:
    """Return the day of a record's date; what is no date as it is."""
    moment = shown.moment(text) if "T" in text else None
    if moment is not None:
        return shown.day(moment.astimezone(zone).date())
    try:
        return shown.day(date.fromisoformat(text)) if len(text) == 10 else text
    except ValueError:
        return shown.one_line(text, 40)


def time_text(text: str, zone: ZoneInfo | None) -> str:
    """Return the time of a record's date, empty when it is a whole day."""
    moment = shown.moment(text) if "T" in text else None
    return "" if moment is None else moment.astimezone(zone).strftime("%H:%M")


def moment_text(text: str, zone: ZoneInfo | None) -> str:
    """Return day and time."""
    time = time_text(text, zone)
    return words.amounts.day_and_time(day_text(text, zone), time) if time else day_text(text, zone)


def _text(row: Mapping[str, Any]) -> str:
    snippet: Any = row.get("snippet") or row.get("summary") or ""
    return str(snippet.get("text", "")) if isinstance(snippet, dict) else str(snippet)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] - JSON
