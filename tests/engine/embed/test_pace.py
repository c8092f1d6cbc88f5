from __future__ import annotations

import pytest

from engine.core.clock import FixedClock
from engine.embed.pace import WINDOW_S, Pace


def test_the_rate_is_of_the_seconds_of_work_and_the_rest_follows_from_it() -> None:
    clock = FixedClock(1_000.0)
    pace = Pace(clock)
    for _ in range(3):
        clock.advance(2.0)  # a pause
        started = clock.monotonic()
        clock.advance(4.0)
        pace.add(started, 20)
    assert pace.rate == pytest.approx(5.0)
    assert pace.eta_s(100) == pytest.approx(20.0)
    assert pace.eta_s(0) is None


def test_nothing_done_lately_is_no_rate() -> None:
    clock = FixedClock(1_000.0)
    pace = Pace(clock)
    assert (pace.rate, pace.eta_s(5)) == (None, None)
    started = clock.monotonic()
    clock.advance(1.0)
    pace.add(started, 20)
    clock.advance(WINDOW_S + 1)
    assert (pace.rate, pace.eta_s(5)) == (None, None)
