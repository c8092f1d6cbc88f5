"""Dates of Knowledge: what people write for them, and how records' dates are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from engine.cli.access import settings_of
from engine.cli.output import Output
from engine.core import when as spans
from engine.core.errors import InvalidArgument

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from engine.core.paths import Paths

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_LIKE: Final = re.compile(r"\d+-")


def zone_of(paths: Paths) -> ZoneInfo:
    """Return the zone of the person's days."""
    from engine.core.zone import zone_of as named  # noqa: PLC0415 - 6 ms that `--help` need not pay

    return named(settings_of(paths, Output()).time_zone)


def bounds(
    words: str | None, date_from: str | None, date_to: str | None, zone: ZoneInfo, now_s: float
) -> dict[str, str]:
    """Return `since` and `until` as the tools take them, from words or dates.

    Raises:
        InvalidArgument: Words that are not understood, or both words and dates.
    """
    if words is None:
        given = {"since": date_from, "until": date_to}
        return {name: with_zone(text, zone) for name, text in given.items() if text is not None}
    span = spans.resolve(when=words, date_from=date_from, date_to=date_to, zone=zone, now_s=now_s)
    found: dict[str, str] = {}
    if span.start_ms is not None:
        day = spans.local_day(span.start_ms, zone)
        whole = spans.start_of_day(day, zone) == span.start_ms
        found["since"] = day.isoformat() if whole else _utc(span.start_ms)
    if span.end_ms is not None:
        found["until"] = spans.local_day(span.end_ms - 1, zone).isoformat()
    return found


def start(words: str, zone: ZoneInfo, now_s: float) -> str:
    """Return the first day or moment that a date or words name.

    Raises:
        InvalidArgument: Words that are not understood.
    """
    if _DATE_LIKE.match(words):
        return with_zone(words, zone)
    return bounds(words, None, None, zone, now_s)["since"]


def day_or_week(words: str, zone: ZoneInfo, now_s: float) -> tuple[str, bool]:
    """Return the date that words name, and whether they name its week.

    Raises:
        InvalidArgument: They name neither a day nor a week.
    """
    if _DATE_LIKE.match(words):
        return words, False
    span = spans.resolve(when=words, date_from=None, date_to=None, zone=zone, now_s=now_s)
    if span.start_ms is not None and span.end_ms is not None:
        first, last = spans.local_day(span.start_ms, zone), spans.local_day(span.end_ms - 1, zone)
        if first == last and "week" not in words:
            return first.isoformat(), False
        if "week" in words and (last - first).days < 7:
            return first.isoformat(), True
    raise InvalidArgument(
        f"{words[:60]!r} is neither a day nor a week",
        "",
        "Write a date (2026-03-01), today, yesterday, a weekday, this week or last week; "
        "`backscroll knowledge since` takes longer times.",
    )


def with_zone(text: str, zone: ZoneInfo) -> str:
    """Return a date as it is, and a time without a zone in the person's, to the second, as the tools want it.

    What is neither is returned as it is: the engine says what is wrong with it.
    """
    if _DAY.fullmatch(text.strip()):
        return text.strip()
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)).isoformat(timespec="seconds")


def split(text: str, zone: ZoneInfo) -> tuple[str, str]:
    """Return day and time of a record's date in a zone. A bare date has no time and is the same day in every zone."""
    if _DAY.fullmatch(text):
        return text, ""
    try:
        moment = datetime.fromisoformat(text).astimezone(zone)
    except (ValueError, OverflowError):
        return text[:10], ""
    return moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M")


def shown(text: str, zone: ZoneInfo) -> str:
    """Return a record's date for people."""
    return " ".join(part for part in split(text, zone) if part)


def weekday(day: str) -> str:
    """Return the name of a day's weekday; nothing for what is no day."""
    try:
        return datetime.fromisoformat(day).strftime("%A")
    except ValueError:
        return ""


def _utc(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
