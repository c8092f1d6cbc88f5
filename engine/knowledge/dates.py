"""Structured dates as intervals: strict parsing, inclusive bounds, comparison in whole nanoseconds of UTC.

`datetime.fromisoformat` accepts weeks, missing zones and missing seconds, so the grammar is our own (R90).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from engine.knowledge.errors import InvalidDate, InvalidRange

DAY_NS = 86_400_000_000_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_STAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))",
)

Precision = Literal["day", "instant"]


@dataclass(frozen=True, slots=True)
class When:
    """A date as it was authored, and the closed interval of UTC nanoseconds it stands for."""

    text: str
    start_ns: int
    end_ns: int
    """Last nanosecond that belongs to it: equal to `start_ns` for an instant."""
    precision: Precision
    utc: bool
    """Authored with `Z`, as `recorded_at` and `updated_at` must be."""

    def day_window(self) -> tuple[int, int]:
        """Return the UTC day (or days) this interval touches, as closed nanoseconds (contract 3, point 21)."""
        return self.start_ns - self.start_ns % DAY_NS, self.end_ns - self.end_ns % DAY_NS + DAY_NS - 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """A closed range; an open end is None."""

    since_ns: int | None = None
    until_ns: int | None = None

    def holds(self, when: When) -> bool:
        """Return whether any part of the date lies in the range (R92, R95)."""
        if self.since_ns is not None and when.end_ns < self.since_ns:
            return False
        return self.until_ns is None or when.start_ns <= self.until_ns


def ordinal_day(year: int, month: int, day: int) -> int | None:
    """Return days since 1970-01-01, or None when the calendar has no such day."""
    try:
        return date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None


def parse_when(text: str) -> When | None:
    """Read a stored or asked date: `YYYY-MM-DD` or a timestamp with seconds and zone. None when it is neither."""
    match = _DATE.fullmatch(text)
    if match is not None:
        day = ordinal_day(*(int(part) for part in match.groups()))
        if day is None:
            return None
        return When(text, day * DAY_NS, day * DAY_NS + DAY_NS - 1, "day", utc=False)
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day_of_month, hour, minute, second = (int(part) for part in match.groups()[:6])
    day = ordinal_day(year, month, day_of_month)
    if day is None or hour > 23 or minute > 59 or second > 59:
        return None
    offset_s = 0
    if match[9] is not None:
        offset_hours, offset_minutes = int(match[10]), int(match[11])
        if offset_hours > 23 or offset_minutes > 59:
            return None
        offset_s = (offset_hours * 3600 + offset_minutes * 60) * (1 if match[9] == "+" else -1)
    fraction_ns = int((match[7] or "").ljust(9, "0"))
    instant = day * DAY_NS + (hour * 3600 + minute * 60 + second - offset_s) * 1_000_000_000 + fraction_ns
    return When(text, instant, instant, "instant", utc=match[8] == "Z")


def require_when(text: str, argument: str) -> When:
    """Read a date argument.

    Raises:
        InvalidDate: It is no existing date and no full timestamp; relative words are the host's job (R91).
    """
    when = parse_when(text)
    if when is None:
        raise InvalidDate(
            f"{argument} is not a date this tool accepts",
            f'You sent "{text[:60]}".',
            "Pass a resolved date: YYYY-MM-DD, or a timestamp with seconds and zone such as 2026-03-05T09:00:00Z.",
        )
    return when


def require_day(text: str, argument: str) -> date:
    """Read a calendar date argument (R139).

    Raises:
        InvalidDate: It is not an existing `YYYY-MM-DD`.
    """
    when = parse_when(text)
    if when is not None and when.precision == "day":
        return date.fromordinal(when.start_ns // DAY_NS + _EPOCH_DAY)
    raise InvalidDate(
        f"{argument} must be one calendar date",
        f'You sent "{text[:60]}".',
        "Pass an existing date as YYYY-MM-DD, without a time.",
    )


def require_bounds(since: str | None, until: str | None) -> Bounds:
    """Read an inclusive range; a bare date covers its whole UTC day at either end (R92 to R94).

    Raises:
        InvalidDate: A bound is not a date.
        InvalidRange: The range is empty (R97).
    """
    low = None if since is None else require_when(since, "since").start_ns
    high = None if until is None else require_when(until, "until").end_ns
    if low is not None and high is not None and low > high:
        raise InvalidRange("since lies after until", f"You sent {since} and {until}.", "Swap them.")
    return Bounds(low, high)


def utc_text(seconds: float) -> str:
    """Return an instant as `YYYY-MM-DDTHH:MM:SSZ`, the form written into records."""
    days, rest = divmod(int(seconds), 86_400)
    day = date.fromordinal(days + _EPOCH_DAY)
    return f"{day.isoformat()}T{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}Z"


def utc_text_ms(seconds: float) -> str:
    """Return an instant with milliseconds, the form of `freshness` and receipts."""
    thousandths = int(seconds * 1000)
    return f"{utc_text(thousandths // 1000)[:-1]}.{thousandths % 1000:03}Z"
