from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest

# Before any test makes an application: unit tests need no display, the ones that do start their own.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from desktop.tasks import Tasks
from desktop.theme import Theme
from tests.desktop.fakes import FakeHistory, FakeOpener, Moment
from tests.desktop.rooms import services_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from desktop.services import Services


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
