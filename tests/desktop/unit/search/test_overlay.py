# pyright: reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped.

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.desktop.hands import CTRL, Key, press

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow


def test_ctrl_k_lists_every_action_and_runs_the_one_that_is_typed(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_K, CTRL)
    listed = window.action_list.names()
    assert {"open", "resume", "copy", "cite", "pin", "export", "raw", "settings", "status", "quit"} <= set(listed)
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    qtbot.keyClicks(window.action_list.field, "settings")
    assert window.action_list.names() == ["settings"]
    qtbot.keyClick(window.action_list.field, Key.Key_Return)
    assert wanted == ["settings"]
    assert not window.action_list.isVisible()


def test_the_action_list_is_moved_through_and_closed(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_K, CTRL)
    qtbot.keyClick(window.action_list.field, Key.Key_Down)
    assert window.action_list.view.currentIndex().row() == 1
    qtbot.keyClick(window.action_list.field, Key.Key_Up)
    qtbot.keyClick(window.action_list.field, Key.Key_Escape)
    assert not window.action_list.isVisible()
    assert window.isVisible()


def test_f1_shows_the_keys_and_any_key_closes_them(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_F1)
    assert window.key_help.isVisible()
    window.key_help.grab()
    qtbot.keyClick(window.key_help, Key.Key_A)
    assert not window.key_help.isVisible()
