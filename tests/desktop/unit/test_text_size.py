from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QFont, QFontMetricsF, QGuiApplication

from desktop.text_size import OF_THE_SCREEN, USUAL_LINE, grown, larger, with_room
from desktop.widgets import PlainWindow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    """Give the application, and its font back."""
    font = QFont(qapp.font())
    yield qapp
    qapp.setFont(font)


def of_height(pixels: int) -> QFont:
    font = QFont()
    font.setPixelSize(pixels)
    return font


def test_usual_and_small_text_takes_the_usual_room(application: QApplication) -> None:
    application.setFont(of_height(8))
    assert larger() == 1
    assert grown(30) == 30
    assert with_room(QSize(700, 500)) == QSize(700, 500)


def test_larger_text_takes_as_much_more(application: QApplication) -> None:
    application.setFont(of_height(26))
    times = QFontMetricsF(application.font()).lineSpacing() / USUAL_LINE
    assert times > 1.5
    assert grown(30) == round(30 * times)
    assert with_room(QSize(200, 100)) == QSize(round(200 * times), round(100 * times))


def test_a_window_grows_no_larger_than_the_screen(application: QApplication, qtbot: QtBot) -> None:
    application.setFont(of_height(40))
    window = PlainWindow("Large", QSize(600, 500))
    qtbot.addWidget(window)
    room = QGuiApplication.primaryScreen().availableSize()
    assert window.width() <= room.width() * OF_THE_SCREEN + 1
    assert window.height() <= room.height() * OF_THE_SCREEN + 1
    assert window.width() > 600
