from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent

from desktop.about import AboutWindow

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


def test_about_offers_the_version_to_copy(world: World, qtbot: QtBot) -> None:
    window = AboutWindow(world.services)
    qtbot.addWidget(window)
    window.copy_version()
    assert QGuiApplication.clipboard().text().startswith("Backscroll ")


def test_a_key_of_a_window_that_means_nothing_goes_on(world: World, qtbot: QtBot) -> None:
    window = AboutWindow(world.services)
    qtbot.addWidget(window)
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
    window.keyPressEvent(event)
    assert not event.isAccepted()
