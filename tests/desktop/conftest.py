from __future__ import annotations

import gc
import os
from functools import partialmethod
from typing import TYPE_CHECKING, Any

import pytest
from pytestqt.qtbot import QtBot

# Before any test makes an application: unit tests need no display, the ones that do start their own.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from desktop.search.memory import MemoryFile
from desktop.tasks import Tasks
from desktop.theme import Theme
from tests.desktop.fake_system import FakeOpener, Moment
from tests.desktop.fakes import FakeHistory
from tests.desktop.rooms import MakesRoom, MakesSearch, Room, no_file, search_window_over, services_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from desktop.search.window import SearchWindow
    from desktop.services import Services

PATIENCE_MS = 60_000


class PatientBot(QtBot):
    """Waits a minute for what comes at once on a machine with nothing else to do; five seconds are too few for CI."""

    # The names are pytest-qt's, and it does not say what a `partialmethod` of it is.
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815  # pyright: ignore[reportAssignmentType] - see above
    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815  # pyright: ignore[reportAssignmentType] - see above


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """Give pytest-qt's fixture, with patience."""
    assert qapp is not None
    return PatientBot(request)


@pytest.fixture(autouse=True)
def garbage_on_the_main_thread() -> Iterator[None]:
    """As in the app: Python's collector would destroy Qt's objects on whatever thread it happens to run."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture
def problems() -> list[Exception]:
    """Collect what no caller of the tasks wanted."""
    return []


@pytest.fixture
def tasks(qapp: QApplication, problems: list[Exception]) -> Iterator[Tasks]:
    """Give the real threads."""
    assert qapp is not None
    made = Tasks(problems.append)
    yield made
    made.close()
    assert problems == []


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, "light")


@pytest.fixture
def history() -> FakeHistory:
    return FakeHistory.small()


@pytest.fixture
def opener() -> FakeOpener:
    return FakeOpener()


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def services(tmp_path: Path, theme: Theme, tasks: Tasks, opener: FakeOpener, moment: Moment) -> Services:
    """Give the app's parts over fakes."""
    return services_over(tmp_path, theme, tasks, opener, moment)


@pytest.fixture
def make_room(services: Services, qtbot: QtBot, fake: FakeHistory) -> Iterator[MakesRoom]:
    """Make windows beside the search; nothing of theirs waits for the fake engine when the test is over."""
    made: list[Any] = []

    def make(kind: Callable[[Services], Room]) -> Room:
        window = kind(services)
        qtbot.addWidget(window)
        made.append(window)
        return window

    yield make
    fake.gate.set()
    for window in made:
        window.attach(None)


@pytest.fixture
def make_search(services: Services, qtbot: QtBot, tmp_path: Path) -> Iterator[MakesSearch]:
    """Make search windows that remember in a file of the test."""
    made: list[SearchWindow] = []

    def make(*, find_file: Callable[[str], Path | None] = no_file, as_program: bool = False) -> SearchWindow:
        memory = MemoryFile(tmp_path / "desktop.json")
        window = search_window_over(services, memory, find_file=find_file, as_program=as_program)
        qtbot.addWidget(window)
        made.append(window)
        return window

    yield make
    for window in made:
        window.attach(None)
