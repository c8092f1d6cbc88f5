"""Periods of a usage report, and how its days become the bars of a chart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

DAYS_AS_DAYS: Final = 62
"""A chart of the window's width shows so many bars of five pixels and more."""

DAYS_AS_WEEKS: Final = 400

Step = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True)
class Period:
    """Days from the first to the last, both included. None: no bound."""

    first: date | None = None
    last: date | None = None


def period_of(key: str, today: date) -> Period:
    """Return one of the periods of `words.USAGE_PERIODS`, everything for a name it does not know."""
    match key:
        case "7d" | "30d" | "90d":
            return Period(today - timedelta(days=int(key[:-1]) - 1), today)
        case "month":
            return Period(today.replace(day=1), today)
        case "last_month":
            end = today.replace(day=1) - timedelta(days=1)
            return Period(end.replace(day=1), end)
        case "year":
            return Period(today.replace(month=1, day=1), today)
        case _:
            return Period()


def step_of(first: date, last: date) -> Step:
    """Return what one bar stands for in a chart of so many days."""
    days = (last - first).days + 1
    return "day" if days <= DAYS_AS_DAYS else "week" if days <= DAYS_AS_WEEKS else "month"


def begin_of(day: date, step: Step) -> date:
    """Return the first day of the bar a day belongs to. Weeks begin on Monday (ISO 8601)."""
    match step:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)


def begins(first: date, last: date, step: Step) -> Iterator[date]:
    """Yield the first day of every bar, empty ones too: a gap in time is a gap in the chart."""
    at = begin_of(first, step)
    while at <= last:
        yield at
        match step:
            case "day":
                at += timedelta(days=1)
            case "week":
                at += timedelta(days=7)
            case "month":
                at = (at + timedelta(days=32)).replace(day=1)
