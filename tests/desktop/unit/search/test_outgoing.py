# pyright: reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped.

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.desktop.fakes import session_row
from tests.desktop.hands import CTRL, SHIFT, Key, clipboard, press, search

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from tests.desktop.fake_system import FakeOpener


def test_ctrl_enter_resumes_in_a_terminal(window: SearchWindow, qtbot: QtBot, opener: FakeOpener) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: bool(opener.commands))
    assert opener.commands == [session_row(1).resume_command]
    assert not window.isVisible()


def test_without_a_terminal_the_command_is_copied(window: SearchWindow, qtbot: QtBot, opener: FakeOpener) -> None:
    opener.has_terminal = False
    press(window, qtbot, Key.Key_Return, CTRL)
    assert clipboard() == session_row(4).resume_command
    assert "clipboard" in window.toast.text()


def test_ctrl_c_copies_the_hits_text_and_says_so_for_a_second(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_C, CTRL)
    qtbot.waitUntil(window.toast.isVisible)
    assert clipboard() == "How does auth work?"
    assert window.toast.timer.interval() == 1000
    window.toast.timer.timeout.emit()
    assert not window.toast.isVisible()


def test_ctrl_c_copies_a_part_of_the_query_that_was_selected(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    window.bar.field.setSelection(0, 2)
    press(window, qtbot, Key.Key_C, CTRL)
    assert clipboard() == "au"


def test_ctrl_shift_c_copies_a_citation(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_C, CTRL | SHIFT)
    assert clipboard().startswith("“How does auth work?”")
    assert session_row(1).session_id in clipboard()
