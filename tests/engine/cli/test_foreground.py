"""Signals to end: taken, told and given back, whenever they come."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.foreground import Told, giving_way, until_told
from engine.core.clock import SystemClock
from engine.core.events import HandoverRequested
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@posix_only
def test_the_first_signal_is_told_and_the_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with until_told() as told:
        signal.raise_signal(signal.SIGTERM)
        assert told.wait(60)
        assert signal.getsignal(signal.SIGTERM) == before


def at_step(number: int, act: Callable[[], object], frames: tuple[str, ...]) -> Callable[..., Any]:
    """Return a trace function that acts once, before the given line among those of the files so named."""
    steps = itertools.count()

    def trace(frame: FrameType, event: str, _argument: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.endswith(frames):
            return None
        if event == "line" and next(steps) == number:
            act()
        return trace

    return trace


@posix_only
def test_a_signal_at_any_step_of_the_wait_ends_it_and_never_hangs() -> None:
    def hung(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError("the handler waits for the thread that it interrupted")

    before = signal.signal(signal.SIGALRM, hung)
    tracing = sys.gettrace()
    try:
        sent = [0]
        step = 0
        while sent:
            sent: list[int] = []

            def send(sent: list[int] = sent) -> None:
                sent.append(1)
                signal.raise_signal(signal.SIGTERM)

            with until_told() as told:
                signal.alarm(60)
                sys.settrace(at_step(step, send, ("foreground.py", "threading.py", "queue.py")))
                told.wait(0.001)
                sys.settrace(tracing)
                signal.alarm(0)
                assert told.wait(0) == bool(sent)
            step += 1
        assert step > 3
    finally:
        sys.settrace(tracing)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@posix_only
def test_a_signal_at_any_step_of_taking_and_giving_back_is_heard_once_and_leaves_all_as_before() -> None:
    heard: list[int] = []

    def at_first(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    before = {number: signal.signal(number, at_first) for number in (signal.SIGTERM, signal.SIGINT)}
    tracing = sys.gettrace()
    try:
        told_at: list[bool] = []
        step = 0
        while True:
            heard.clear()
            sent: list[int] = []

            def send(sent: list[int] = sent) -> None:
                sent.append(1)
                signal.raise_signal(signal.SIGTERM)

            sys.settrace(at_step(step, send, ("foreground.py", "contextlib.py")))
            with until_told() as told:
                pass
            sys.settrace(tracing)
            if not sent:
                break
            assert len(heard) + told.is_set() == 1, step
            assert [signal.getsignal(number) for number in before] == [at_first, at_first], step
            told_at.append(told.is_set())
            step += 1
        assert {True, False} == set(told_at)
    finally:
        sys.settrace(tracing)
        for number, handler in before.items():
            signal.signal(number, handler)


@posix_only
def test_the_second_signal_goes_to_who_had_it_before() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        with until_told() as told:
            signal.raise_signal(signal.SIGTERM)
            assert (told.is_set(), heard) == (True, [])
            signal.raise_signal(signal.SIGTERM)
            assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


@posix_only
@pytest.mark.parametrize("is_told", [False, True])
def test_a_handler_that_others_have_set_since_is_theirs(*, is_told: bool) -> None:
    def theirs(_number: int, _frame: FrameType | None) -> None:
        pytest.fail("never sent")

    before = signal.getsignal(signal.SIGTERM)
    try:
        with until_told():
            if is_told:
                signal.raise_signal(signal.SIGINT)
            signal.signal(signal.SIGTERM, theirs)
        assert signal.getsignal(signal.SIGTERM) is theirs
    finally:
        signal.signal(signal.SIGTERM, before)


@posix_only
def test_a_handler_that_python_did_not_set_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    real = signal.getsignal
    before = real(signal.SIGTERM)

    def of_python_only(number: int) -> object:
        return None if number == signal.SIGTERM else real(number)

    monkeypatch.setattr(signal, "getsignal", of_python_only)
    with until_told():
        assert real(signal.SIGTERM) is before
        assert real(signal.SIGINT) is not signal.default_int_handler
    assert real(signal.SIGTERM) is before


@posix_only
def test_a_signal_that_is_to_be_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with until_told() as told:
            signal.raise_signal(signal.SIGHUP)
            assert not told.is_set()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_engine_without_a_window_ends_when_the_app_wants_to_take_over(tmp_path: Path) -> None:
    engine = Engine(Paths.below(tmp_path), Settings(), SystemClock(), roots=())
    told = Told()
    with giving_way(engine, told):
        engine.events.publish(HandoverRequested())
        assert told.is_set()
