# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from desktop.search.controller import SearchController
from desktop.search.memory import MemoryFile
from desktop.search.query import Chip
from desktop.search.rows import HitRow, SessionItem
from desktop.search.window import SearchWindow
from tests.desktop.fakes import FakeHistory, FakeOpener, Moment, message, session_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from desktop.tasks import Tasks
    from desktop.theme import Theme

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
Key = Qt.Key
TRANSCRIPT = Path("/home/you/.claude/projects/p/1.jsonl")


def transcript(session: str) -> Path | None:
    return TRANSCRIPT if session.startswith("00000001") else None


@pytest.fixture
def parts(theme: Theme, tasks: Tasks, opener: FakeOpener, moment: Moment, tmp_path: Path) -> dict[str, Any]:
    """Give what a window is made of."""
    return {
        "theme": theme,
        "tasks": tasks,
        "controller": SearchController(tasks, moment),
        "memory": MemoryFile(tmp_path / "desktop.json"),
        "opener": opener,
        "find_file": transcript,
        "now": moment,
    }


@pytest.fixture
def make(parts: dict[str, Any], qtbot: QtBot) -> Iterator[Callable[..., SearchWindow]]:
    made: list[SearchWindow] = []

    def build(*, as_program: bool = False) -> SearchWindow:
        window = SearchWindow(**parts, as_program=as_program)
        qtbot.addWidget(window)
        made.append(window)
        return window

    yield build
    for window in made:
        window.attach(None)


@pytest.fixture
def window(make: Callable[..., SearchWindow], history: FakeHistory, qtbot: QtBot) -> SearchWindow:
    """Give a window that shows the recent sessions."""
    made = make()
    made.attach(history)
    made.present()
    qtbot.waitUntil(lambda: made.model.rowCount() == 5)
    return made


def press(
    window: SearchWindow, qtbot: QtBot, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key where the keyboard is."""
    target = window.session.view if window.in_session else window.bar.field
    if window.in_session and window.session.find_field.hasFocus():
        target = window.session.find_field
    qtbot.keyClick(target, key, modifiers)


def search(window: SearchWindow, qtbot: QtBot, text: str = "auth", count: int = 3) -> None:
    """Type words and wait for their rows."""
    window.bar.field.clear()
    qtbot.keyClicks(window.bar.field, text)
    window.controller.ask_now()
    qtbot.waitUntil(lambda: len([row for row in window.model.rows if isinstance(row, HitRow)]) == count)


def selected(window: SearchWindow) -> str:
    row = window.row
    assert isinstance(row, (HitRow, SessionItem))
    return row.session_id[:8].lstrip("0")


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def test_the_window_appears_with_the_cursor_in_the_field_and_the_first_row_selected(window: SearchWindow) -> None:
    assert window.isVisible()
    assert window.bar.field.hasFocus() or QGuiApplication.focusWindow() is None
    assert selected(window) == "4"


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


def test_a_mode_can_be_clicked(window: SearchWindow) -> None:
    window.footer.buttons["keyword"].click()
    assert window.controller.mode == "keyword"
    window.footer.everything.click()
    assert window.controller.everything


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


def test_a_narrow_window_has_no_preview(window: SearchWindow) -> None:
    window.resize(650, 500)
    assert window.preview.isHidden()
    window.resize(900, 560)
    assert not window.preview.isHidden()


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


def test_a_pasted_session_id_jumps_there(window: SearchWindow, qtbot: QtBot) -> None:
    window.bar.field.setText("")
    qtbot.keyClicks(window.bar.field, session_row(2).session_id)
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 2"


def test_a_pasted_message_id_jumps_to_the_message(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(window.bar.field, "00000003-0000-4000-8000-000000000002")
    qtbot.waitUntil(lambda: window.session.session is not None)
    assert window.session.title.text() == "Session number 3"


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


def test_the_size_is_remembered(window: SearchWindow, make: Callable[..., SearchWindow]) -> None:
    window.resize(1000, 600)
    window.dismiss()
    assert make().size().toTuple() == (1000, 600)


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


def test_without_any_history_the_sample_is_offered(make: Callable[..., SearchWindow], qtbot: QtBot) -> None:
    window = make()
    window.attach(FakeHistory())
    window.present()
    qtbot.waitUntil(lambda: "No history" in window.empty.title.text())
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    window.empty.button.click()
    assert wanted == ["sample"]


def test_while_the_engine_starts_the_window_says_so(make: Callable[..., SearchWindow]) -> None:
    window = make()
    window.present()
    window.attach(None)
    assert "starting" in window.empty.title.text()


def test_as_a_program_the_window_stays_and_closing_it_is_the_end(
    make: Callable[..., SearchWindow], qtbot: QtBot
) -> None:
    window = make(as_program=True)
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


def test_ctrl_comma_asks_for_the_settings_and_ctrl_q_for_the_end(window: SearchWindow, qtbot: QtBot) -> None:
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    press(window, qtbot, Key.Key_Comma, CTRL)
    press(window, qtbot, Key.Key_Q, CTRL)
    assert wanted == ["settings", "quit"]


class TestSession:
    """Keys of the session view."""

    @pytest.fixture
    def session(self, window: SearchWindow, qtbot: QtBot) -> SearchWindow:
        search(window, qtbot)
        press(window, qtbot, Key.Key_Return)
        qtbot.waitUntil(lambda: window.session.counter.text() == "1 of 2")
        return window

    def test_matches_are_stepped_through(self, session: SearchWindow, qtbot: QtBot) -> None:
        session.session.find_field.setText("token")
        qtbot.waitUntil(lambda: session.session.counter.text() == "1 of 2")
        press(session, qtbot, Key.Key_F3)
        assert session.session.counter.text() == "2 of 2"
        press(session, qtbot, Key.Key_F3, SHIFT)
        assert session.session.counter.text() == "1 of 2"

    def test_ctrl_f_finds_in_the_session(self, session: SearchWindow, qtbot: QtBot) -> None:
        press(session, qtbot, Key.Key_F, CTRL)
        session.session.find_field.setText("zebra")
        qtbot.waitUntil(lambda: session.session.counter.text() == "no match")
        qtbot.keyClick(session.session.find_field, Key.Key_Return)
        assert session.session.counter.text() == "no match"

    def test_ctrl_c_copies_the_message_at_the_top(self, session: SearchWindow, qtbot: QtBot) -> None:
        press(session, qtbot, Key.Key_C, CTRL)
        assert clipboard() == "How does auth work?"

    def test_ctrl_shift_c_cites_it(self, session: SearchWindow, qtbot: QtBot) -> None:
        press(session, qtbot, Key.Key_C, CTRL | SHIFT)
        assert "message 00000001-" in clipboard()

    def test_the_session_id_is_copied(self, session: SearchWindow, qtbot: QtBot) -> None:
        press(session, qtbot, Key.Key_I, CTRL | SHIFT)
        assert clipboard() == session_row(1).session_id

    def test_it_is_resumed_and_pinned_from_here(self, session: SearchWindow, qtbot: QtBot, opener: FakeOpener) -> None:
        press(session, qtbot, Key.Key_D, CTRL)
        assert session.remembered.pins[0].session_id == session_row(1).session_id
        press(session, qtbot, Key.Key_Return, CTRL)
        assert opener.commands == [session_row(1).resume_command]

    def test_the_raw_transcript_is_opened(self, session: SearchWindow, qtbot: QtBot, opener: FakeOpener) -> None:
        press(session, qtbot, Key.Key_O, CTRL)
        qtbot.waitUntil(lambda: bool(opener.files))
        assert opener.files == [TRANSCRIPT]

    def test_it_is_exported_as_markdown(self, session: SearchWindow, qtbot: QtBot, tmp_path: Path) -> None:
        session.deeds.export_to(tmp_path / "out.md", session_row(1).session_id)
        qtbot.waitUntil(lambda: session.toast.text() == "Exported")
        assert (tmp_path / "out.md").read_text(encoding="utf-8") == "# Session number 1\n"

    def test_backspace_goes_back(self, session: SearchWindow, qtbot: QtBot) -> None:
        press(session, qtbot, Key.Key_Backspace)
        assert not session.in_session

    def test_links_are_opened_by_the_browser_only_when_they_are_safe(
        self, session: SearchWindow, opener: FakeOpener
    ) -> None:
        session.session.link_clicked.emit("https://example.org/")
        session.session.link_clicked.emit("ftp://example.org/")
        assert opener.links == ["https://example.org/", "ftp://example.org/"]
        assert "cannot be opened" in session.toast.text()


def test_a_long_session_is_loaded_page_by_page(window: SearchWindow, qtbot: QtBot, history: FakeHistory) -> None:
    row = session_row(9, title="Long")
    history.add(
        row, [message(f"{n:08x}-0000-4000-8000-00000000000a", row.session_id, f"text {n}") for n in range(1000)]
    )
    window.show_session(row.session_id)
    qtbot.waitUntil(lambda: window.session.session is not None and window.session.session.title == "Long")
    window.session.view.grab()
    window.session.view.scroll_to(700)
    source = window.session._source
    assert source is not None

    def loaded() -> bool:
        window.session.view.grab()
        return source.message(700) is not None

    qtbot.waitUntil(loaded)
    pages = {argument[1] for method, argument in history.asked if method == "get_session" and argument[2] == 60}
    assert pages <= {0, 60, 660, 720, 600, 780}


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
