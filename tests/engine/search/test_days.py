"""What was said on a day, by the clock of the person, on the days on which that clock is changed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from engine.core.clock import FixedClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.service import Engine

CHANGES = {
    "Europe/Berlin": (date(2026, 3, 29), date(2026, 10, 25)),
    "America/Denver": (date(2026, 3, 8), date(2026, 11, 1)),
    "Australia/Lord_Howe": (date(2026, 4, 5), date(2026, 10, 4)),
}
"""By half an hour on the last one."""
STEP = timedelta(hours=1)
AROUND = timedelta(days=2)


def moments(day: date) -> list[datetime]:
    """Return every full hour of UTC from a day before to a day after, whatever the zone."""
    first = datetime(day.year, day.month, day.day, tzinfo=UTC) - AROUND
    return [first + number * STEP for number in range(4 * 24)]


@pytest.fixture(scope="module", params=[(zone, day) for zone, days in CHANGES.items() for day in days], ids=str)
def changed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Engine, ZoneInfo, date]]:
    """Give an engine of the evening of the day after the change."""
    name, day = request.param
    zone, folder = ZoneInfo(name), tmp_path_factory.mktemp("days")
    for number, moment in enumerate(moments(day)):
        builder = TranscriptBuilder(f"{number:08d}-0000-4000-8000-000000000000", now=moment)
        builder.prompt("damson")
        builder.write(folder / "projects")
    evening = datetime(day.year, day.month, day.day, 22, tzinfo=zone) + timedelta(days=1)
    settings = Settings(time_zone=name, embedding_enabled=False)
    with running_engine(
        Paths.below(folder / "home"), folder / "projects", settings=settings, clock=FixedClock(evening.timestamp())
    ) as engine:
        yield engine, zone, day


def said(zone: ZoneInfo, day: date, around: date) -> int:
    """Count by hand: the builder's line comes five seconds after its moment."""
    return sum((each + timedelta(seconds=5)).astimezone(zone).date() == day for each in moments(around))


@pytest.mark.parametrize("distance", [-1, 0, 1])
def test_a_day_holds_what_was_said_on_it_and_nothing_else(
    changed: tuple[Engine, ZoneInfo, date], distance: int
) -> None:
    engine, zone, change = changed
    day = change + timedelta(days=distance)
    asked = {"date_from": day.isoformat(), "date_to": day.isoformat(), "limit": 500}
    hits = engine.api.ask("keyword_search", {"query": "damson", **asked})
    listed = engine.api.ask("get_period", asked)

    assert hits["total"] == listed["total"] == said(zone, day, change)
    assert {hit["timestamp"][:10] for hit in hits["hits"]} == {day.isoformat()}
    assert hits["range"]["date_from"].startswith(f"{day}T00:00:00")
    assert hits["range"]["date_to"].startswith(f"{day}T23:59:59")


@pytest.mark.parametrize(
    ("word", "distances"), [("yesterday", [0]), ("today", [1]), ("2d", [0, 1]), ("3 days", [-1, 0, 1])]
)
def test_words_mean_local_days(changed: tuple[Engine, ZoneInfo, date], word: str, distances: list[int]) -> None:
    engine, zone, change = changed
    expected = sum(said(zone, change + timedelta(days=each), change) for each in distances)

    assert engine.api.ask("keyword_search", {"query": "damson", "when": word})["total"] == expected
    weekday = f"{change:%A}"
    assert engine.api.ask("list_sessions", {"when": weekday})["total"] == said(zone, change, change)


def test_hours_are_counted_as_they_pass(changed: tuple[Engine, ZoneInfo, date]) -> None:
    engine, zone, change = changed
    evening = datetime(change.year, change.month, change.day, 22, tzinfo=zone) + timedelta(days=1)
    since = evening.astimezone(UTC) - timedelta(hours=48)
    expected = sum(each + timedelta(seconds=5) >= since for each in moments(change))

    assert engine.api.ask("keyword_search", {"query": "damson", "when": "48h"})["total"] == expected
