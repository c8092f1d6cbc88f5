"""The rows as they are drawn: how high they are, and the click on a project's chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from desktop.search.query import Chip
from desktop.search.rows import HitRow
from tests.desktop.fakes import FakeHistory, message, session_row

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from tests.desktop.rooms import MakesSearch


SHORT, LONG = "auth", "auth " + "and what the token holds of it " * 12


@pytest.fixture
def window(make_search: MakesSearch, qtbot: QtBot) -> SearchWindow:
    """Give a window that found a short text and a long one."""
    history = FakeHistory()
    for number, text in ((1, SHORT), (2, LONG)):
        row = session_row(number)
        history.add(row, [message(f"{number:08x}-0000-4000-8000-000000000001", row.session_id, text)])
    made = make_search()
    made.controller.mode = "keyword"
    made.attach(history)
    made.present()
    made.bar.set_query("auth")
    qtbot.waitUntil(lambda: len([row for row in made.model.rows if isinstance(row, HitRow)]) == 2)
    return made


def heights(window: SearchWindow) -> tuple[int, int]:
    first, second = (window.list.visualRect(window.model.index(row)).height() for row in (0, 1))
    return first, second


def test_a_row_is_as_high_as_its_text(window: SearchWindow) -> None:
    short, long = heights(window)
    assert 8 < long - short < 30  # a line of text


def test_a_row_grows_when_the_list_becomes_narrow(window: SearchWindow, qtbot: QtBot) -> None:
    assert isinstance(window.model.rows[0], HitRow)
    before = heights(window)
    window.resize(1600, 600)
    qtbot.waitUntil(lambda: window.list.width() > 600)
    wide = heights(window)
    window.resize(900, 560)
    qtbot.waitUntil(lambda: heights(window) == before)
    assert wide[1] <= before[1]


def test_a_click_on_the_project_leaves_only_its_hits(window: SearchWindow, qtbot: QtBot) -> None:
    row = window.model.rows[1]
    assert isinstance(row, HitRow)
    rect = window.list.visualRect(window.model.index(1))
    place = window.delegate.chip_at(rect, row).center()
    assert rect.contains(place)
    QTest.mouseClick(window.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert window.bar.filters == (Chip("project", "project2"),)
    qtbot.waitUntil(lambda: window.controller.chips == (Chip("project", "project2"),))


def test_a_click_beside_it_only_selects(window: SearchWindow) -> None:
    rect = window.list.visualRect(window.model.index(1))
    QTest.mouseClick(
        window.list.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        rect.topLeft() + QPoint(60, 30),
    )
    assert window.bar.filters == ()
    assert window.list.currentIndex().row() == 1


def test_the_project_of_the_selected_row_is_an_action(window: SearchWindow) -> None:
    window.deeds.run("only_project")
    assert window.bar.filters == (Chip("project", "project1"),)


def test_from_right_to_left_a_row_is_the_other_way_round(window: SearchWindow) -> None:
    row = window.model.rows[1]
    assert isinstance(row, HitRow)
    rect = window.list.visualRect(window.model.index(1))
    usual = window.delegate.chip_at(rect, row)
    window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    mirrored = window.delegate.chip_at(rect, row)
    assert usual.center().x() > rect.center().x() > mirrored.center().x()
    assert not window.grab().isNull()
