from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.usage.calls import LATEST_MS
from engine.usage.periods import PeriodKind, first_complete_day, local_date, period_at, pieces

HOUR = 3_600_000
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/Denver",
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "America/Asuncion",
    "Africa/Cairo",
]


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("America/Denver", "2026-11-01", 25),
        ("Africa/Cairo", "2026-04-24", 23),
        ("Europe/Berlin", "2026-08-03", 24),
    ],
)
def test_a_day_on_which_clocks_change_is_as_long_as_it_is(zone: str, day: str, hours: int) -> None:
    period = period_at("day", ms(f"{day}T12:00:00Z"), ZoneInfo(zone))
    assert (period.label, period.end_ms - period.start_ms) == (day, hours * HOUR)


def test_where_clocks_skip_midnight_the_day_begins_when_they_do() -> None:
    """Cairo, 24 April 2026: 23:59:59 is followed by 01:00:00."""
    period = period_at("day", ms("2026-04-24T12:00:00Z"), ZoneInfo("Africa/Cairo"))
    assert period.start_ms == ms("2026-04-23T22:00:00Z")


def test_a_week_begins_on_monday() -> None:
    period = period_at("week", ms("2026-08-09T23:59:59Z"), ZoneInfo("UTC"))
    assert period == ("2026-08-03", ms("2026-08-03T00:00:00Z"), ms("2026-08-10T00:00:00Z"))


@pytest.mark.parametrize(
    ("month", "following"), [("2026-02", "2026-03"), ("2026-12", "2027-01"), ("2026-01", "2026-02")]
)
def test_a_month_ends_where_the_next_begins(month: str, following: str) -> None:
    period = period_at("month", ms(f"{month}-28T05:00:00Z"), ZoneInfo("UTC"))
    assert period == (month, ms(f"{month}-01T00:00:00Z"), ms(f"{following}-01T00:00:00Z"))


@given(
    at_ms=st.integers(ms("2025-01-01T00:00:00Z"), ms("2030-01-01T00:00:00Z")),
    zone=st.sampled_from(ZONES),
    kind=st.sampled_from(["day", "week", "month"]),
)
def test_periods_contain_their_moments_follow_each_other_and_fit_the_roll_up(
    at_ms: int, zone: str, kind: PeriodKind
) -> None:
    period = period_at(kind, at_ms, ZoneInfo(zone))
    assert period.start_ms <= at_ms < period.end_ms
    assert period_at(kind, period.end_ms, ZoneInfo(zone)).start_ms == period.end_ms
    assert period_at(kind, period.start_ms, ZoneInfo(zone)) == period
    assert period.start_ms % 900_000 == 0, "a period begins at a UTC quarter of an hour"


def test_the_last_moment_that_can_be_recorded_has_a_day() -> None:
    for zone in ZONES:
        assert local_date(LATEST_MS, ZoneInfo(zone)).year in {2099, 2100}


@pytest.mark.parametrize(
    ("cut", "day"),
    [
        ("2026-08-03T22:00:00Z", "2026-08-04"),
        ("2026-08-03T22:00:01Z", "2026-08-05"),
        ("2026-08-03T21:00:00Z", "2026-08-04"),
    ],
)
def test_a_day_is_complete_when_nothing_of_it_is_cut(cut: str, day: str) -> None:
    assert first_complete_day(ms(cut), ZoneInfo("Europe/Berlin")).isoformat() == day


def test_a_stretch_is_split_at_the_moments_inside_it() -> None:
    assert list(pieces(10, 50, [5, 10, 20, 40, 50, 60])) == [(10, 20), (20, 40), (40, 50)]
    assert list(pieces(10, 10, [10])) == []
