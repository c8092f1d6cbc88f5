# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from desktop import words
from desktop.search.empty import WIDEST
from desktop.search.report import Report
from tests.desktop.fakes import FakeHistory, message, session_row
from tests.desktop.hands import Key, press, search, selected

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from tests.desktop.fake_system import Moment
    from tests.desktop.rooms import MakesSearch


def test_the_window_appears_with_the_cursor_in_the_field_and_the_first_row_selected(window: SearchWindow) -> None:
    assert window.isVisible()
    assert window.bar.field.hasFocus() or QGuiApplication.focusWindow() is None
    assert selected(window) == "4"


def test_a_mode_can_be_clicked(window: SearchWindow) -> None:
    window.footer.buttons["keyword"].click()
    assert window.controller.mode == "keyword"
    window.footer.everything.click()
    assert window.controller.everything


def test_a_narrow_window_has_no_preview(window: SearchWindow) -> None:
    window.resize(650, 500)
    assert window.preview.isHidden()
    window.resize(900, 560)
    assert not window.preview.isHidden()


def test_the_last_query_is_selected_for_ninety_seconds_and_then_forgotten(
    window: SearchWindow, qtbot: QtBot, moment: Moment
) -> None:
    search(window, qtbot)
    window.dismiss()
    moment.seconds += 89
    window.present()
    assert window.bar.field.selectedText() == "auth"
    window.dismiss()
    moment.seconds += 91
    window.present()
    assert window.bar.field.text() == ""


def test_the_size_is_remembered(window: SearchWindow, make_search: MakesSearch) -> None:
    window.resize(1000, 600)
    window.dismiss()
    assert make_search().size().toTuple() == (1000, 600)


def test_rows_that_come_later_do_not_move_the_selection(
    window: SearchWindow, qtbot: QtBot, history: FakeHistory
) -> None:
    history.methods = frozenset({"keyword_search", "hybrid_search"})
    search(window, qtbot)
    press(window, qtbot, Key.Key_Down)
    key = window.row.key if window.row is not None else ""
    at = window.list.currentIndex().row()
    qtbot.waitUntil(lambda: history.names().count("search") >= 2)
    qtbot.waitUntil(lambda: not window.controller._meanings.is_busy)
    assert window.row is not None
    assert (window.row.key, window.list.currentIndex().row()) == (key, at)


def test_nothing_found_is_said_in_words(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot, "zebra", 0)
    qtbot.waitUntil(lambda: "Nothing found" in window.empty.title.text())
    assert not window.empty.isHidden()


def test_low_signal_hits_are_offered_with_a_button(window: SearchWindow, qtbot: QtBot, history: FakeHistory) -> None:
    history.low_signal = 3
    search(window, qtbot, "zebra", 0)
    qtbot.waitUntil(lambda: not window.empty.button.isHidden())
    window.empty.button.click()
    assert window.controller.everything


def test_without_any_history_the_sample_is_offered(make_search: MakesSearch, qtbot: QtBot) -> None:
    window = make_search()
    window.attach(FakeHistory())
    window.present()
    qtbot.waitUntil(lambda: "No history" in window.empty.title.text())
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    window.empty.button.click()
    assert wanted == ["sample"]


def test_while_the_engine_starts_the_window_says_so(make_search: MakesSearch) -> None:
    window = make_search()
    window.present()
    window.attach(None)
    assert "starting" in window.empty.title.text()


def test_as_a_program_the_window_stays_and_closing_it_is_the_end(make_search: MakesSearch, qtbot: QtBot) -> None:
    window = make_search(as_program=True)
    window.attach(FakeHistory.small())
    window.present()
    window.toggle()
    window.dismiss()
    press(window, qtbot, Key.Key_Escape)
    assert window.isVisible()
    closed: list[None] = []
    window.closed.connect(partial(closed.append, None))
    window.close()
    assert closed == [None]


def test_a_session_that_is_gone_is_said_and_the_list_comes_back(window: SearchWindow, qtbot: QtBot) -> None:
    window.show_session("ffffffff-0000-4000-8000-000000000000")
    qtbot.waitUntil(lambda: not window.in_session)
    assert "no such session" in window.toast.text()


@pytest.mark.parametrize(
    "text",
    ["<b>bold</b>", "x" * 1_000_000, "\x1b[31mred\x1b[0m\x00", "שלום עולם", "👩‍👩‍👧‍👦" * 50, "\ud800 lone", "a\u202eb"],
)
def test_hits_with_any_text_are_painted(window: SearchWindow, qtbot: QtBot, history: FakeHistory, text: str) -> None:
    row = session_row(8, title=text[:500])
    history.add(row, [message("00000008-0000-4000-8000-00000000000b", row.session_id, f"needle {text}")])
    search(window, qtbot, "needle", 1)
    qtbot.waitUntil(lambda: window.preview.reading is not None)
    assert not window.grab().isNull()
    press(window, qtbot, Key.Key_Return)
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert not window.grab().isNull()
    assert window.session.view.text_of(0).startswith("needle")


def test_list_and_preview_are_as_wide_as_before_when_the_preview_comes_back(window: SearchWindow, qtbot: QtBot) -> None:
    window.resize(1000, 560)
    qtbot.waitUntil(lambda: window.list.width() > 400)
    before = window.list.width()
    window.toggle_preview()
    qtbot.waitUntil(lambda: window.list.width() > 900)
    window.toggle_preview()
    qtbot.waitUntil(lambda: abs(window.list.width() - before) <= 1)
    search(window, qtbot, "zebra", 0)
    qtbot.waitUntil(window.empty.isVisible)
    search(window, qtbot)
    qtbot.waitUntil(lambda: window.list.isVisible() and abs(window.list.width() - before) <= 1)
    assert window.list.width() == pytest.approx(before, abs=1)


def test_an_empty_page_leaves_the_window_free_to_become_narrow(window: SearchWindow, qtbot: QtBot) -> None:
    search(window, qtbot, "zebra", 0)
    qtbot.waitUntil(window.empty.isVisible)
    window.resize(1400, 700)
    assert window.empty.minimumSizeHint().width() < 500
    assert window.empty.title.width() <= WIDEST


def test_a_count_of_candidates_says_what_it_counts(window: SearchWindow) -> None:
    window.footer.say(Report(total=12, total_is="candidates"))
    assert window.footer.state.text() == "12 candidates"
    assert words.search.TOTAL_IS["candidates"] in window.footer.state.toolTip()
    assert window.footer.state.accessibleDescription() == words.search.TOTAL_IS["candidates"]
    window.footer.say(Report(total=12))
    assert window.footer.state.accessibleDescription() == ""
