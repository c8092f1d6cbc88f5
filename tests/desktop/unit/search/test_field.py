# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.search.query import Chip
from tests.desktop.hands import Key, press

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow


def test_a_typed_filter_becomes_a_chip_and_backspace_takes_it_away(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(window.bar.field, "role:user ")
    assert window.bar.filters == (Chip("role", "user"),)
    assert window.bar.field.text() == ""
    assert [button.accessibleName() for button in window.bar.chips.buttons()] == ["Remove the filter role:user"]
    press(window, qtbot, Key.Key_Backspace)
    assert window.bar.filters == ()


def test_a_chip_is_removed_with_a_click(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(window.bar.field, "role:user tool:Bash ")
    window.bar.chips.buttons()[0].click()
    assert window.bar.filters == (Chip("tool", "Bash"),)


def test_project_names_are_completed(window: SearchWindow, qtbot: QtBot) -> None:
    window.bar.set_projects(["api", "web", "sync"])
    qtbot.keyClicks(window.bar.field, "project:we")
    assert window.bar.is_completing
    window.bar._completed("web")
    assert window.bar.filters == (Chip("project", "web"),)
    assert window.bar.field.text() == ""
