from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QTimer

from desktop.signals import EndSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that a process sends itself")

TERM, HUP = signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)


class Before:
    """A handler that was there before, and what it heard."""

    def __init__(self) -> None:
        self.heard: list[int] = []

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.heard.append(number)


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    """Leave this process as it was, whatever a test does to it."""
    numbers = (signal.SIGINT, TERM, HUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def before() -> Before:
    """Handle the end of a process, as some other part of it would."""
    made = Before()
    signal.signal(TERM, made)
    return made


@pytest.fixture
def ends(before: Before) -> Iterator[EndSignals]:
    assert before.heard == []
    with closing(EndSignals()) as made:
        yield made


def from_another_thread(number: int) -> Callable[[], None]:
    """Return what sends this process a signal while its main thread waits in Qt's loop, not in Python."""
    return threading.Thread(target=os.kill, args=(os.getpid(), number)).start


def test_a_signal_wakes_the_loop_and_is_told_once(ends: EndSignals, before: Before, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    with qtbot.waitSignal(ends.told, timeout=5000):
        QTimer.singleShot(0, from_another_thread(TERM))
    rest = QTimer()
    with qtbot.waitSignal(rest.timeout, timeout=5000):
        rest.start(0)
    assert told == [None]
    assert before.heard == []


def test_nothing_is_told_before_the_loop_runs(ends: EndSignals, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    signal.raise_signal(TERM)
    assert told == []
    qtbot.waitUntil(lambda: told == [None])


def test_the_second_signal_goes_to_who_had_it_before(ends: EndSignals, before: Before, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    signal.raise_signal(TERM)
    signal.raise_signal(TERM)
    assert before.heard == [TERM]
    qtbot.waitUntil(lambda: bool(told))
    assert told == [None]


def test_after_any_of_them_all_are_as_before(before: Before, qtbot: QtBot) -> None:
    # Whoever runs the tests may have it ignored.
    signal.signal(HUP, Before())
    with closing(EndSignals()):
        assert signal.getsignal(TERM) is not before
        signal.raise_signal(HUP)
        assert signal.getsignal(TERM) is before
    assert qtbot is not None


def test_what_is_ignored_stays_so(qtbot: QtBot) -> None:
    signal.signal(HUP, signal.SIG_IGN)
    with closing(EndSignals()) as ends:
        assert signal.getsignal(HUP) is signal.SIG_IGN
        told: list[None] = []
        ends.told.connect(lambda: told.append(None))
        signal.raise_signal(HUP)
        # A later signal is told first of all: the ignored one left nothing behind.
        with qtbot.waitSignal(ends.told, timeout=5000):
            signal.raise_signal(TERM)
        assert told == [None]
        assert signal.getsignal(HUP) is signal.SIG_IGN
    assert signal.getsignal(HUP) is signal.SIG_IGN


def test_a_handler_set_since_for_an_ignored_signal_is_left_alone(qtbot: QtBot) -> None:
    signal.signal(HUP, signal.SIG_IGN)
    since = Before()
    with closing(EndSignals()):
        signal.signal(HUP, since)
        signal.raise_signal(TERM)
    assert signal.getsignal(HUP) is since
    assert qtbot is not None


def test_a_handler_set_since_the_first_signal_is_left_alone(ends: EndSignals) -> None:
    signal.raise_signal(TERM)
    since = Before()
    signal.signal(TERM, since)
    ends.close()
    assert signal.getsignal(TERM) is since


def test_a_handler_that_python_did_not_set_is_not_taken(monkeypatch: pytest.MonkeyPatch, before: Before) -> None:
    real = signal.getsignal

    def of_python_only(number: int) -> object:
        return None if number == TERM else real(number)

    monkeypatch.setattr(signal, "getsignal", of_python_only)
    with closing(EndSignals()):
        assert real(TERM) is before
    assert real(TERM) is before


def test_closing_puts_everything_back(before: Before, qtbot: QtBot) -> None:
    ours, other = socket.socketpair()
    with closing(ours), closing(other):
        other.setblocking(False)
        at_first = signal.set_wakeup_fd(other.fileno())
        try:
            ends = EndSignals()
            assert signal.getsignal(TERM) is not before
            ends.close()
            assert signal.getsignal(TERM) is before
        finally:
            back = signal.set_wakeup_fd(at_first)
        assert back == other.fileno()
    assert qtbot is not None
