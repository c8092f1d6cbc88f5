# pyright: reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped.

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.search.memory import MemoryFile
from desktop.search.rows import SessionItem
from tests.desktop.fakes import session_row
from tests.desktop.hands import ALT, CTRL, SHIFT, Key, press, search, selected

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import Qt
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow


def test_up_and_down_move_while_typing(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    assert selected(window) == "1"
    press(window, qtbot, Key.Key_Down)
    assert selected(window) == "2"
    press(window, qtbot, Key.Key_N, CTRL)
    assert selected(window) == "3"
    press(window, qtbot, Key.Key_Down)
    assert selected(window) == "3"
    press(window, qtbot, Key.Key_P, CTRL)
    press(window, qtbot, Key.Key_Up)
    assert selected(window) == "1"
    assert window.bar.field.text() == "auth"


def test_a_page_is_moved_at_once(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_PageDown)
    assert selected(window) == "3"
    press(window, qtbot, Key.Key_PageUp)
    assert selected(window) == "1"


def test_the_heading_of_a_list_is_never_selected(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_Up)
    assert selected(window) == "4"


def test_enter_opens_the_session_at_the_hit_and_escape_comes_back(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_Return)
    assert window.in_session
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 1"
    qtbot.waitUntil(lambda: window.session.counter.text() != "")
    press(window, qtbot, Key.Key_Escape)
    assert not window.in_session
    assert window.bar.field.text() == "auth"


def test_enter_on_a_session_opens_it_from_its_beginning(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_Enter)
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.view.first_visible == 0


def test_ctrl_and_a_digit_open_that_row(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_2, CTRL)
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 2"


def test_a_digit_without_a_row_does_nothing(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_9, CTRL)
    assert not window.in_session


def test_ctrl_d_pins_and_unpins(window: SearchWindow, qtbot: QtBot, tmp_path: Path) -> None:
    press(window, qtbot, Key.Key_D, CTRL)
    assert [pin.session_id[:8] for pin in MemoryFile(tmp_path / "desktop.json").read().pins] == ["00000004"]
    row = window.model.rows[1]
    assert isinstance(row, SessionItem)
    assert row.pinned
    press(window, qtbot, Key.Key_D, CTRL)
    assert window.remembered.pins == ()


def test_right_shows_more_hits_of_the_session_and_left_folds_them(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_Right)
    qtbot.waitUntil(lambda: window.model.rowCount() == 4)
    press(window, qtbot, Key.Key_Down)
    press(window, qtbot, Key.Key_Left)
    qtbot.waitUntil(lambda: window.model.rowCount() == 3)
    assert selected(window) == "1"


def test_right_in_the_middle_of_the_words_moves_the_cursor(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    window.bar.field.setCursorPosition(1)
    press(window, qtbot, Key.Key_Right)
    assert window.bar.field.cursorPosition() == 2
    assert window.model.rowCount() == 3


def test_escape_clears_then_hides(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_Escape)
    assert window.bar.field.text() == ""
    assert window.isVisible()
    press(window, qtbot, Key.Key_Escape)
    assert not window.isVisible()


@pytest.mark.parametrize(("key", "mode"), [(Key.Key_2, "keyword"), (Key.Key_3, "semantic"), (Key.Key_1, "hybrid")])
def test_alt_and_a_digit_choose_the_mode(window: SearchWindow, qtbot: QtBot, key: Qt.Key, mode: str) -> None:
    window.controller.set_mode("keyword" if mode == "hybrid" else "hybrid")
    press(window, qtbot, key, ALT)
    assert window.controller.mode == mode
    assert window.footer.buttons[mode].isChecked()


def test_alt_4_searches_everything(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_4, ALT)
    assert window.controller.everything
    assert window.footer.everything.isChecked()
    press(window, qtbot, Key.Key_4, ALT)
    assert not window.controller.everything


def test_older_and_newer_queries_come_back(window: SearchWindow, qtbot: QtBot) -> None:
    for text in ("auth", "unrelated"):
        search(window, qtbot, text, 3 if text == "auth" else 1)
        window.remember_query()
    press(window, qtbot, Key.Key_Up, ALT)
    assert window.bar.field.text() == "auth"
    press(window, qtbot, Key.Key_Up, ALT)
    assert window.bar.field.text() == "auth"
    press(window, qtbot, Key.Key_Down, ALT)
    assert window.bar.field.text() == "unrelated"
    press(window, qtbot, Key.Key_Down, ALT)
    assert window.bar.field.text() == ""


def test_f3_steps_through_the_matches_of_the_preview(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot)
    qtbot.waitUntil(lambda: window.preview.counter.text() == "1 of 2")
    press(window, qtbot, Key.Key_F3)
    assert window.preview.counter.text() == "2 of 2"
    press(window, qtbot, Key.Key_F3)
    assert window.preview.counter.text() == "1 of 2"
    press(window, qtbot, Key.Key_F3, SHIFT)
    assert window.preview.counter.text() == "2 of 2"


def test_ctrl_p_while_something_is_typed_only_moves_and_ends_at_the_first_row(
    window: SearchWindow, qtbot: QtBot
) -> None:
    search(window, qtbot)
    press(window, qtbot, Key.Key_N, CTRL)
    for _ in range(3):
        press(window, qtbot, Key.Key_P, CTRL)
    assert selected(window) == "1"
    assert not window.preview.isHidden()


def test_ctrl_p_on_an_empty_field_hides_the_preview_and_it_is_remembered(window: SearchWindow, qtbot: QtBot) -> None:
    press(window, qtbot, Key.Key_P, CTRL)
    assert window.preview.isHidden()
    assert not window.remembered.preview
    press(window, qtbot, Key.Key_P, CTRL | SHIFT)
    assert not window.preview.isHidden()


def test_a_pasted_session_id_jumps_there(window: SearchWindow, qtbot: QtBot) -> None:
    window.bar.field.setText("")
    qtbot.keyClicks(window.bar.field, session_row(2).session_id)
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 2"


def test_a_pasted_message_id_jumps_to_the_message(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(window.bar.field, "00000003-0000-4000-8000-000000000002")
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 3"


def test_ctrl_comma_asks_for_the_settings_and_ctrl_q_for_the_end(window: SearchWindow, qtbot: QtBot) -> None:
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    press(window, qtbot, Key.Key_Comma, CTRL)
    press(window, qtbot, Key.Key_Q, CTRL)
    assert wanted == ["settings", "quit"]
