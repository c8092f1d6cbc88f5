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
from engine.cli.foreground import Told, until_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that a process sends itself")

TERM = signal.SIGTERM


@pytest.fixture
def end() -> Iterator[Told]:
    with until_told() as told:
        yield told


@pytest.fixture
def ends(end: Told) -> Iterator[EndSignals]:
    with closing(EndSignals(end)) as made:
        yield made


def from_another_thread(number: int) -> Callable[[], None]:
    """Return what sends this process a signal while its main thread waits in Qt's loop, not in Python."""
    return threading.Thread(target=os.kill, args=(os.getpid(), number)).start


def let_the_loop_run(qtbot: QtBot) -> None:
    """Return when everything that is queued now has been handled."""
    rest = QTimer()
    with qtbot.waitSignal(rest.timeout):
        rest.start(0)


def test_a_signal_wakes_the_loop_and_is_told_once(ends: EndSignals, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    with qtbot.waitSignal(ends.told):
        QTimer.singleShot(0, from_another_thread(TERM))
    let_the_loop_run(qtbot)
    assert told == [None]


def test_nothing_is_told_before_the_loop_runs(ends: EndSignals, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    signal.raise_signal(TERM)
    assert told == []
    qtbot.waitUntil(lambda: told == [None])


@pytest.mark.parametrize("again", [False, True])
def test_a_signal_from_before_there_was_a_loop_is_told_once_by_the_loop(
    end: Told, qtbot: QtBot, *, again: bool
) -> None:
    signal.raise_signal(TERM)
    told: list[None] = []
    with closing(EndSignals(end)) as ends:
        ends.told.connect(lambda: told.append(None))
        if again:
            end.set()
        assert told == []
        qtbot.waitUntil(lambda: told == [None])
        let_the_loop_run(qtbot)
    assert told == [None]


def test_a_signal_that_ends_nothing_is_not_told(ends: EndSignals, qtbot: QtBot) -> None:
    told: list[None] = []
    ends.told.connect(lambda: told.append(None))
    other: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: other.append(number))
    try:
        signal.raise_signal(signal.SIGUSR1)
        let_the_loop_run(qtbot)
        assert (other, told) == ([signal.SIGUSR1], [])
        with qtbot.waitSignal(ends.told):
            signal.raise_signal(TERM)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_closing_puts_everything_back(end: Told, qtbot: QtBot) -> None:
    ours, other = socket.socketpair()
    with closing(ours), closing(other):
        other.setblocking(False)
        at_first = signal.set_wakeup_fd(other.fileno())
        try:
            EndSignals(end).close()
        finally:
            back = signal.set_wakeup_fd(at_first)
        assert back == other.fileno()
    assert qtbot is not None
