# pyright: reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from desktop.pulse import Pulse
from desktop.status.window import StatusWindow
from engine.core.models.status import Notice
from tests.desktop.fakes import FakeHistory, status

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


@pytest.fixture
def window(world: World, qtbot: QtBot) -> StatusWindow:
    made = StatusWindow(world.services)
    qtbot.addWidget(made)
    made.show()
    made.attach(FakeHistory.small())
    return made


def test_it_says_what_the_engine_does_and_how_long_it_takes(window: StatusWindow, world: World) -> None:
    busy = status(ingest="indexing", pending=120, eta_s=95, embedding="embedding", backlog=6900)
    world.services.pulse.changed.emit(Pulse(is_starting=False, status=busy))
    assert "reading 120 files" in window.state.text()
    assert "120 files" in window.detail.text()
    assert "about 2 min left" in window.detail.text()


def test_coverage_and_days_are_shown(window: StatusWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: "api: 50 %" in window.projects.accessibleDescription())
    assert window.calendar.accessibleDescription() == "Messages on 4 days"
    window.grab()


def test_warnings_are_said_with_what_to_do(window: StatusWindow, world: World) -> None:
    warned = status(warnings=(Notice(id="full", text="The disk is full.", hint="Make room."),))
    world.services.pulse.changed.emit(Pulse(is_starting=False, status=warned))
    assert window.troubles.text() == "The disk is full. Make room."


def test_pausing_and_looking_again_can_be_clicked(window: StatusWindow, world: World, qtbot: QtBot) -> None:
    history = FakeHistory.small()
    window.attach(history)
    world.services.pulse.changed.emit(Pulse(is_starting=False, status=status()))
    window.pause.click()
    assert world.opened == ["pause"]
    window.reindex.click()
    qtbot.waitUntil(lambda: "reindex" in history.names())


def test_escape_closes_it(window: StatusWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()
