"""Threads that are started again when they die, and given up when they die too often."""

from __future__ import annotations

import threading

import pytest

from engine.core import workers
from engine.core.clock import FixedClock
from engine.core.workers import MAX_RESTARTS, RESTART_WINDOW_S, Worker


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_BACK_OFF_S", (0.0,))


def test_a_worker_runs_until_it_is_asked_to_stop() -> None:
    running = threading.Event()

    def loop(stopping: threading.Event) -> None:
        running.set()
        assert threading.current_thread().name == "engine-test"
        stopping.wait()

    worker = Worker("engine-test", loop, clock=FixedClock(0), on_failed=pytest.fail)
    assert not worker.is_alive
    worker.start()
    assert running.wait(60)
    assert worker.is_alive
    assert worker.stop(5)
    assert not worker.is_alive


@pytest.mark.expect_log("Worker engine-test failed")
def test_a_worker_that_dies_is_started_again() -> None:
    lives: list[int] = []
    well = threading.Event()

    def loop(stopping: threading.Event) -> None:
        lives.append(1)
        if len(lives) <= MAX_RESTARTS:
            raise ValueError("a bug")
        well.set()
        stopping.wait()

    worker = Worker("engine-test", loop, clock=FixedClock(0), on_failed=pytest.fail)
    worker.start()
    assert well.wait(60)
    assert worker.restarts == MAX_RESTARTS
    assert worker.stop(5)


@pytest.mark.expect_log("Worker engine-test failed")
def test_a_worker_that_dies_too_often_is_given_up_once() -> None:
    failed: list[str] = []
    given_up = threading.Event()

    def loop(_: threading.Event) -> None:
        raise ValueError("a bug")

    def on_failed(name: str) -> None:
        failed.append(name)
        given_up.set()

    worker = Worker("engine-test", loop, clock=FixedClock(0), on_failed=on_failed)
    worker.start()
    assert given_up.wait(60)
    assert worker.stop(5)
    assert failed == ["engine-test"]


@pytest.mark.expect_log("Worker engine-test failed")
def test_deaths_long_ago_do_not_count() -> None:
    clock = FixedClock(0)
    lives: list[int] = []
    well = threading.Event()

    def loop(stopping: threading.Event) -> None:
        lives.append(1)
        clock.advance(RESTART_WINDOW_S + 1)
        if len(lives) < 3 * MAX_RESTARTS:
            raise ValueError("a bug")
        well.set()
        stopping.wait()

    worker = Worker("engine-test", loop, clock=clock, on_failed=pytest.fail)
    worker.start()
    assert well.wait(60)
    assert worker.stop(5)


def test_a_worker_that_is_late_says_so() -> None:
    go_on, started = threading.Event(), threading.Event()

    def loop(_: threading.Event) -> None:
        started.set()
        go_on.wait()

    worker = Worker("engine-test", loop, clock=FixedClock(0), on_failed=pytest.fail)
    worker.start()
    assert started.wait(60)
    assert not worker.stop(0.0)
    go_on.set()
    assert worker.stop(5)


def test_a_worker_that_never_started_is_stopped_already() -> None:
    assert Worker("engine-test", lambda _: None, clock=FixedClock(0), on_failed=pytest.fail).stop()
