from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from engine.core.clock import FixedClock, SystemClock
from engine.core.pause import Pause

LONG_S = 3600.0
"""No test waits for this."""


@dataclass
class Work:
    """Something that rests and goes on, and remembers both."""

    applied: list[bool] = field(default_factory=list[bool])
    changed: int = 0
    goes_on: threading.Event = field(default_factory=threading.Event)

    def apply(self, rests: bool) -> None:  # noqa: FBT001 - the signature that Pause calls
        self.applied.append(rests)

    def on_change(self) -> None:
        self.changed += 1
        if not self.applied[-1]:
            self.goes_on.set()


@pytest.fixture
def work() -> Work:
    return Work()


def pause_of(work: Work, clock: FixedClock | SystemClock | None = None) -> Pause:
    return Pause("test-pause", clock or SystemClock(), apply=work.apply, on_change=work.on_change)


def waiting() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "test-pause"]


def test_a_pause_without_an_end_lasts_until_it_is_ended(work: Work) -> None:
    pause = pause_of(work)
    pause.begin()
    assert (pause.is_on, pause.until, waiting()) == (True, None, [])
    pause.end()
    assert (pause.is_on, work.applied, work.changed) == (False, [True, False], 2)


def test_a_timed_pause_is_over_by_itself(work: Work) -> None:
    pause = pause_of(work)
    pause.begin(0.001)
    assert work.goes_on.wait(60)
    assert (pause.is_on, pause.until, work.applied) == (False, None, [True, False])


def test_the_end_of_a_timed_pause_is_told(work: Work) -> None:
    pause = pause_of(work, FixedClock(1_000.0))
    pause.begin(LONG_S)
    assert pause.until == 4_600.0
    pause.close()


def test_a_new_pause_takes_the_place_of_the_one_before(work: Work) -> None:
    pause = pause_of(work, FixedClock(1_000.0))
    pause.begin(LONG_S)
    (before,) = [thread for thread in threading.enumerate() if thread.name == "test-pause"]
    pause.begin()
    before.join(60)
    assert not before.is_alive()
    assert (pause.is_on, pause.until, work.applied) == (True, None, [True, True])


def test_an_ended_pause_leaves_nobody_waiting(work: Work) -> None:
    pause = pause_of(work)
    pause.begin(LONG_S)
    (timer,) = [thread for thread in threading.enumerate() if thread.name == "test-pause"]
    pause.end()
    timer.join(60)
    assert (timer.is_alive(), work.applied) == (False, [True, False])


def test_closing_ends_the_wait_and_not_the_pause(work: Work) -> None:
    pause = pause_of(work)
    pause.begin(LONG_S)
    pause.close()
    pause.close()
    assert (pause.is_on, waiting(), work.applied) == (True, [], [True])


def test_ending_without_a_pause_changes_nothing(work: Work) -> None:
    pause = pause_of(work)
    pause.end()
    assert (pause.is_on, work.applied) == (False, [False])
