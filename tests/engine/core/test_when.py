"""Dates and periods as people say them, in any zone, over both changes of the clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import InvalidArgument
from engine.core.when import TimeSpan, iso, local_day, resolve

BERLIN = ZoneInfo("Europe/Berlin")
TOKYO = ZoneInfo("Asia/Tokyo")
DENVER = ZoneInfo("America/Denver")
ZONES = (BERLIN, TOKYO, DENVER)


def at(text: str, zone: ZoneInfo) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def span(zone: ZoneInfo, now: str, **asked: str) -> TimeSpan:
    names = {"when": None, "date_from": None, "date_to": None, **asked}
    return resolve(
        when=names["when"], date_from=names["date_from"], date_to=names["date_to"], zone=zone, now_s=at(now, zone)
    )


def local(found: TimeSpan, zone: ZoneInfo) -> tuple[str | None, str | None]:
    return iso(found.start_ms, zone), iso(found.end_ms, zone)


def hours(found: TimeSpan) -> float:
    assert found.start_ms is not None
    assert found.end_ms is not None
    return (found.end_ms - found.start_ms) / 3_600_000


@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize(
    ("word", "first", "after"),
    [
        ("today", "2026-05-13T00:00:00", "2026-05-14T00:00:00"),
        ("yesterday", "2026-05-12T00:00:00", "2026-05-13T00:00:00"),
        ("this week", "2026-05-11T00:00:00", "2026-05-14T00:00:00"),
        ("last week", "2026-05-04T00:00:00", "2026-05-11T00:00:00"),
        ("last month", "2026-04-01T00:00:00", "2026-05-01T00:00:00"),
        ("7d", "2026-05-07T00:00:00", "2026-05-14T00:00:00"),
        ("2 weeks", "2026-04-30T00:00:00", "2026-05-14T00:00:00"),
        ("monday", "2026-05-11T00:00:00", "2026-05-12T00:00:00"),
        ("Wednesday", "2026-05-06T00:00:00", "2026-05-07T00:00:00"),
        ("last_sunday", "2026-05-10T00:00:00", "2026-05-11T00:00:00"),
    ],
)
def test_words_name_local_days(zone: ZoneInfo, word: str, first: str, after: str) -> None:
    found = span(zone, "2026-05-13T15:00:00", when=word)

    assert found == TimeSpan(int(at(first, zone) * 1000), int(at(after, zone) * 1000))


def test_hours_count_back_from_now_and_stay_open() -> None:
    found = span(BERLIN, "2026-05-13T15:00:00", when="24h")

    assert local(found, BERLIN) == ("2026-05-12T15:00:00+02:00", None)


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_a_bare_date_means_the_whole_local_day_at_both_ends(zone: ZoneInfo) -> None:
    found = span(zone, "2026-05-13T15:00:00", date_from="2026-05-01", date_to="2026-05-02")

    assert found == TimeSpan(int(at("2026-05-01T00:00:00", zone) * 1000), int(at("2026-05-03T00:00:00", zone) * 1000))


@pytest.mark.parametrize(
    ("zone", "day", "length"),
    [
        (BERLIN, "2026-03-29", 23),
        (BERLIN, "2026-10-25", 25),
        (DENVER, "2026-03-08", 23),
        (DENVER, "2026-11-01", 25),
        (TOKYO, "2026-03-29", 24),
    ],
)
def test_days_on_which_the_clock_changes_have_their_real_length(zone: ZoneInfo, day: str, length: int) -> None:
    assert hours(span(zone, "2026-12-01T12:00:00", date_from=day, date_to=day)) == length
    assert hours(span(zone, f"{day}T22:00:00", when="today")) == length


def test_a_timestamp_with_an_offset_keeps_it_and_one_without_is_local() -> None:
    with_offset = span(BERLIN, "2026-05-13T15:00:00", date_from="2026-05-01T10:00:00Z")
    without = span(BERLIN, "2026-05-13T15:00:00", date_from="2026-05-01T12:00:00")

    assert with_offset == without


def test_the_last_second_of_a_range_is_inside() -> None:
    found = span(BERLIN, "2026-05-13T15:00:00", date_from="2026-05-01T12:00:00", date_to="2026-05-01T12:00:00")

    assert hours(found) * 3600 == 1


@pytest.mark.parametrize("nonsense", ["soon", "", "tomorrow", "99999999d", "-1d", "0x7d", "0d", "00h", "next week"])
def test_words_that_are_not_understood_are_refused_with_the_words_that_are(nonsense: str) -> None:
    with pytest.raises(InvalidArgument, match="yesterday"):
        span(BERLIN, "2026-05-13T15:00:00", when=nonsense)


@pytest.mark.parametrize("nonsense", ["2026-13-01", "yesterday", "01.05.2026", "2026-02-30", "", "x" * 500])
def test_dates_that_are_none_are_refused_with_an_example(nonsense: str) -> None:
    with pytest.raises(InvalidArgument, match="2026-03-01"):
        span(BERLIN, "2026-05-13T15:00:00", date_from=nonsense)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="after"):
        span(BERLIN, "2026-05-13T15:00:00", date_from="2026-05-02", date_to="2026-05-01")


def test_when_and_dates_name_the_same_thing_twice() -> None:
    with pytest.raises(InvalidArgument, match="combined"):
        span(BERLIN, "2026-05-13T15:00:00", when="today", date_to="2026-05-01")


@pytest.mark.parametrize("zone", [*ZONES, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Etc/GMT+12")], ids=str)
def test_the_first_and_the_last_date_there_are_leave_that_end_open(zone: ZoneInfo) -> None:
    assert span(zone, "2026-05-13T15:00:00", date_from="0001-01-01", date_to="9999-12-31") == TimeSpan()
    found = span(zone, "2026-05-13T15:00:00", date_from="0001-01-02", date_to="9999-12-30")
    first, after = local(found, zone)
    assert first is not None
    assert first.startswith("0001-01-02T00:00:00")
    assert after is not None
    assert after.startswith("9999-12-31T00:00:00")


@pytest.mark.parametrize("spelling", ["20260302", "2026-W10-1", " 2026-03-02 "])
def test_a_date_means_its_whole_day_however_it_is_spelt(spelling: str) -> None:
    usual = span(BERLIN, "2026-05-13T15:00:00", date_from="2026-03-02", date_to="2026-03-02")

    assert span(BERLIN, "2026-05-13T15:00:00", date_from=spelling, date_to=spelling) == usual


@given(st.datetimes(timezones=st.just(UTC)), st.sampled_from(ZONES))
def test_any_moment_has_a_timestamp_and_a_day(moment: datetime, zone: ZoneInfo) -> None:
    ms = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    told = iso(ms, zone)

    assert told is not None
    assert datetime.fromisoformat(told) == moment.replace(microsecond=0)
    assert local_day(ms, zone) == datetime.fromisoformat(told).date()


@given(st.dates(), st.dates(), st.sampled_from(ZONES))
def test_any_two_dates_are_a_range_or_refused_in_words(first: date, last: date, zone: ZoneInfo) -> None:
    asked = {"date_from": first.isoformat(), "date_to": last.isoformat()}
    if last < first:
        with pytest.raises(InvalidArgument, match="earlier"):
            span(zone, "2026-05-13T15:00:00", **asked)
    else:
        local(span(zone, "2026-05-13T15:00:00", **asked), zone)
