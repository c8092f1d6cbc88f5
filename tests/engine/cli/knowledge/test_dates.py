from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from engine.cli.knowledge import dates
from engine.core.errors import InvalidArgument

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC).timestamp()  # a Thursday


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("today", {"since": "2026-03-05", "until": "2026-03-05"}),
        ("last week", {"since": "2026-02-23", "until": "2026-03-01"}),
        ("7d", {"since": "2026-02-27", "until": "2026-03-05"}),
        ("24h", {"since": "2026-03-04T12:00:00Z"}),
    ],
)
def test_words_become_bounds(words: str, expected: dict[str, str]) -> None:
    assert dates.bounds(words, None, None, BERLIN, NOW) == expected


def test_a_time_without_a_zone_is_the_persons() -> None:
    given = dates.bounds(None, "2026-07-01T09:30", "2026-07-02", BERLIN, NOW)
    assert given == {"since": "2026-07-01T09:30:00+02:00", "until": "2026-07-02"}


@pytest.mark.parametrize("text", ["2026-02-30", "2026-13-01T00:00", "soon"])
def test_what_is_no_date_is_left_to_the_engine_to_refuse(text: str) -> None:
    assert dates.bounds(None, text, None, BERLIN, NOW) == {"since": text}


def test_words_and_dates_together_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        dates.bounds("today", "2026-03-01", None, BERLIN, NOW)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("2026-03-01", ("2026-03-01", False)),
        ("yesterday", ("2026-03-04", False)),
        ("monday", ("2026-03-02", False)),
        ("this week", ("2026-03-02", True)),
        ("last week", ("2026-02-23", True)),
    ],
)
def test_words_name_a_day_or_its_week(words: str, expected: tuple[str, bool]) -> None:
    assert dates.day_or_week(words, BERLIN, NOW) == expected


@pytest.mark.parametrize("words", ["30d", "this month", "2 weeks", "24h", "soon"])
def test_longer_times_are_no_day(words: str) -> None:
    with pytest.raises(InvalidArgument):
        dates.day_or_week(words, BERLIN, NOW)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("2026-03-01", "2026-03-01"), ("last week", "2026-02-23"), ("2 days", "2026-03-04"), ("2026-3", "2026-3")],
)
def test_a_start_is_a_date_or_words(words: str, expected: str) -> None:
    assert dates.start(words, BERLIN, NOW) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-12", ("2026-03-12", "")),
        ("2026-03-05T23:30:00Z", ("2026-03-06", "00:30")),
        ("2026-03-05T23:30:00.123456789Z", ("2026-03-06", "00:30")),
        ("no date at all", ("no date at", "")),
    ],
)
def test_moments_are_shown_in_a_zone_and_days_as_they_are(text: str, expected: tuple[str, str]) -> None:
    assert dates.split(text, BERLIN) == expected
    assert dates.shown(text, BERLIN) == " ".join(expected).strip()


def test_what_is_no_day_has_no_weekday() -> None:
    assert (dates.weekday("2026-03-05"), dates.weekday("no date at")) == ("Thursday", "")
