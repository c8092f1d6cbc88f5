"""Local days, weeks and months as stretches of UTC time, right on the days when clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PeriodKind = Literal["day", "week", "month"]


class Period(NamedTuple):
    """One local day, week or month."""

    label: str
    """The day; the week's Monday (ISO 8601); the month as `2026-08`."""
    start_ms: int
    end_ms: int
    """Where the next one starts."""


def period_at(kind: PeriodKind, at_ms: int, zone: tzinfo) -> Period:
    """Return the period a moment lies in."""
    day = local_date(at_ms, zone)
    if kind == "month":
        first = day.replace(day=1)
        following = (first + timedelta(days=32)).replace(day=1)
        return Period(f"{first:%Y-%m}", day_start_ms(first, zone), day_start_ms(following, zone))
    length = 1
    if kind == "week":
        day -= timedelta(days=day.weekday())
        length = 7
    return Period(day.isoformat(), day_start_ms(day, zone), day_start_ms(day + timedelta(days=length), zone))


def local_date(at_ms: int, zone: tzinfo) -> date:
    """Return the date on the wall at a moment."""
    return datetime.fromtimestamp(at_ms / 1000, zone).date()


def day_start_ms(day: date, zone: tzinfo) -> int:
    """Return when a local day begins; where clocks skip midnight, the moment they do."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    return round(midnight.astimezone(UTC).timestamp() * 1000)


def iso_time(at_ms: int, zone: tzinfo) -> str:
    """Return a moment as ISO text with the local offset."""
    return datetime.fromtimestamp(at_ms / 1000, zone).isoformat(timespec="seconds")


def first_complete_day(cut_ms: int, zone: tzinfo) -> date:
    """Return the first local day that begins at or after a moment."""
    day = local_date(cut_ms, zone)
    return day if day_start_ms(day, zone) >= cut_ms else day + timedelta(days=1)


def pieces(start_ms: int, end_ms: int, cuts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Split a stretch of time at moments (in ascending order)."""
    for cut in cuts:
        if start_ms < cut < end_ms:
            yield start_ms, cut
            start_ms = cut
    if start_ms < end_ms:
        yield start_ms, end_ms
