"""Dates as people say them: `2026-03-01`, ISO timestamps, `yesterday`, `last week`, `7d`, `tuesday`, in a zone.

Ranges are half open in epoch milliseconds; both ends of what was asked are inclusive. Days are the zone's own, 23 or
25 hours long where the clock changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from engine.core.errors import InvalidArgument

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AGO = re.compile(r"(?P<count>0*[1-9]\d{0,4})\s*(?P<unit>h|d|w|hours?|days?|weeks?)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JOINED = re.compile(r"(?<=[a-z])[-_](?=[a-z])")
"""`last_week` and `last-week` are `last week`."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time: from the first millisecond to before the last. None is open."""

    start_ms: int | None = None
    end_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """True when it leaves nothing out."""
        return self.start_ms is None and self.end_ms is None


def resolve(*, when: str | None, date_from: str | None, date_to: str | None, zone: ZoneInfo, now_s: float) -> TimeSpan:
    """Return the span that a question names.

    Raises:
        InvalidArgument: A word or date that is not understood, or `when` together with dates.
    """
    if when is not None and (date_from is not None or date_to is not None):
        raise InvalidArgument(
            "when cannot be combined with date_from or date_to",
            "They name the same thing twice.",
            "Call again with `when` alone, or with the dates alone.",
        )
    now = datetime.fromtimestamp(now_s, zone)
    if when is not None:
        return _span_of_words(when, now, zone)
    span = TimeSpan(
        None if date_from is None else _first_ms(date_from, zone, "date_from"),
        None if date_to is None else _end_ms(date_to, zone, "date_to"),
    )
    if span.start_ms is not None and span.end_ms is not None and span.start_ms >= span.end_ms:
        raise InvalidArgument(
            "date_from is after date_to",
            f"You sent {date_from!r} and {date_to!r}.",
            "Call again with the earlier date in date_from.",
        )
    return span


def iso(ms: int | None, zone: ZoneInfo) -> str | None:
    """Return an ISO timestamp with the local offset, to the second."""
    if ms is None:
        return None
    return _local(ms, zone).isoformat(timespec="seconds")


def local_day(ms: int, zone: ZoneInfo) -> date:
    """Return the local date of a moment."""
    return _local(ms, zone).date()


def _local(ms: int, zone: ZoneInfo) -> datetime:
    moment = _EPOCH + timedelta(milliseconds=ms)
    try:
        return moment.astimezone(zone)
    except OverflowError:  # year 1 of a writer with an unset clock, west of Greenwich: it has no local time
        return moment


def start_of_day(day: date, zone: ZoneInfo) -> int:
    """Return the first millisecond of a local day."""
    return int(datetime.combine(day, time.min, zone).timestamp() * 1000)


def end_of_day(day: date, zone: ZoneInfo) -> int | None:
    """Return the first millisecond after a local day; none for the last day there is (9999-12-31), which is open."""
    return None if day == date.max else start_of_day(day + timedelta(days=1), zone)


def _span_of_words(when: str, now: datetime, zone: ZoneInfo) -> TimeSpan:
    words = " ".join(_JOINED.sub(" ", when.lower()).split())
    today = now.date()
    ago = _AGO.fullmatch(words)
    if ago is not None:
        hours = {"h": 1, "d": 24, "w": 168}[ago["unit"][0]] * int(ago["count"])
        if ago["unit"][0] == "h":
            return TimeSpan(int((now.timestamp() - hours * 3600) * 1000), None)
        try:
            return _days(today - timedelta(days=hours // 24 - 1), today, zone)
        except OverflowError:
            return TimeSpan()
    monday = today - timedelta(days=today.weekday())
    first_of_month = today.replace(day=1)
    named = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1), today - timedelta(days=1)),
        "this week": (monday, today),
        "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "this month": (first_of_month, today),
        "last month": ((first_of_month - timedelta(days=1)).replace(day=1), first_of_month - timedelta(days=1)),
    }
    if words in named:
        return _days(*named[words], zone)
    day_name = words.removeprefix("last ").removeprefix("on ")
    if day_name in _DAYS:
        back = (today.weekday() - _DAYS.index(day_name)) % 7 or 7
        day = today - timedelta(days=back)
        return _days(day, day, zone)
    raise InvalidArgument(
        f"when does not understand {when[:60]!r}",
        "It takes: today, yesterday, this week, last week, this month, last month, a number of days, hours or weeks "
        "(7d, 24h, 2w), or a weekday (its last occurrence).",
        'For other spans call again with date_from and date_to, for example "2026-03-01".',
    )


def _days(first: date, last: date, zone: ZoneInfo) -> TimeSpan:
    return TimeSpan(start_of_day(first, zone), end_of_day(last, zone))


def _first_ms(text: str, zone: ZoneInfo, name: str) -> int | None:
    day = _bare_date(text)
    if day == date.min:
        return None  # which begins in no year at all east of Greenwich
    return _moment_ms(text, zone, name) if day is None else start_of_day(day, zone)


def _end_ms(text: str, zone: ZoneInfo, name: str) -> int | None:
    day = _bare_date(text)
    if day is not None:
        return end_of_day(day, zone)
    # A timestamp to the second means that whole second.
    return _moment_ms(text, zone, name) + (1 if "." in text else 1000)


def _bare_date(text: str) -> date | None:
    """Return a date that has no time with it, in any of ISO 8601's spellings."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _moment_ms(text: str, zone: ZoneInfo, name: str) -> int:
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        return int(moment.astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError) as exc:
        raise _not_a_date(text, name) from exc


def _not_a_date(text: str, name: str) -> InvalidArgument:
    return InvalidArgument(
        f"{name} is not a date",
        f"You sent {text[:60]!r}.",
        f'Call again with "{name}": "2026-03-01" (the whole day) or "2026-03-01T14:30:00".',
    )
