from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.cli.access import InstalledAccess
from engine.cli.app import main
from engine.cli.pause import seconds_of
from engine.core.clock import FixedClock
from engine.core.errors import InvalidArgument
from engine.core.settings import Settings
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.paths import Paths
    from tests.engine.cli.conftest import Run


def test_a_pause_without_a_time_lasts_until_it_is_ended(backscroll: Callable[..., Run]) -> None:
    run = backscroll("pause", pause={"paused": True})
    assert run.asked == [("pause", {})]
    assert run.out == "Indexing is paused, until `backscroll resume` or the next start.\n"


def test_a_timed_pause_says_when_it_is_over(backscroll: Callable[..., Run]) -> None:
    run = backscroll("pause", "1h", pause={"paused": True, "until": "2026-03-04T10:05:37+00:00"})
    assert run.asked == [("pause", {"seconds": 3600})]
    assert "until 2026-03-04 10:05" in run.out


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("30 min", 1800),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2D", 172_800),
        ("365d", 31_536_000),
    ],
)
def test_a_time_is_read_as_people_write_it(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "1", "h", "-1h", "0s", "0.1s", "366d", "1h tomorrow", "99999999999d"])
def test_another_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        seconds_of(text)
    assert "1h30m" in refused.value.hint


def test_going_on_is_said(backscroll: Callable[..., Run]) -> None:
    assert backscroll("resume", resume={"paused": False}).out == "Indexing goes on.\n"
    assert backscroll("resume", resume={"paused": False, "note": "It was not paused."}).out == "It was not paused.\n"


def test_both_answer_as_json(backscroll: Callable[..., Run]) -> None:
    assert json.loads(backscroll("pause", "--json", pause={"paused": True}).out) == {"paused": True}
    assert json.loads(backscroll("resume", "--json", resume={"paused": False}).out) == {"paused": False}


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_without_an_engine_there_is_nothing_to_pause(
    verb: str, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb], access=InstalledAccess(paths)) == 3
    assert "backscroll serve" in capsys.readouterr().err


def test_a_running_engine_rests_until_it_is_told_otherwise(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    access = InstalledAccess(paths)
    engine = Engine(paths, Settings(time_zone="UTC", embedding_enabled=False), FixedClock(1_772_625_600.0), roots=())
    engine.start(watch=False, serve=True)
    try:
        assert main(["pause", "1h"], access=access) == 0
        assert main(["status", "--json"], access=access) == 0
        said, status = capsys.readouterr().out.splitlines()
        assert "until 2026-03-04 13:00" in said
        ingest = json.loads(status)["ingest"]
        assert (ingest["state"], ingest["paused_until"]) == ("paused", "2026-03-04T13:00:00+00:00")
        assert main(["resume"], access=access) == 0
        assert engine.ingest_status().state != "paused"
    finally:
        engine.stop()
