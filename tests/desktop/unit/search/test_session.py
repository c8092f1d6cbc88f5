# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.search.session import MAX_FOUND
from tests.desktop.fakes import FakeHistory, message, session_row
from tests.desktop.hands import CTRL, SHIFT, TRANSCRIPT, Key, clipboard, press, search

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from tests.desktop.fake_system import FakeOpener


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
        session.deeds.outgoing.export_to(tmp_path / "out.md", session_row(1).session_id)
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


def test_matches_beyond_those_that_are_looked_for_are_said(
    window: SearchWindow, qtbot: QtBot, history: FakeHistory
) -> None:
    row = session_row(9, title="Repeats itself")
    history.add(row, [message("00000009-0000-4000-8000-00000000000a", row.session_id, "again " * MAX_FOUND)])
    window.show_session(row.session_id)
    qtbot.waitUntil(lambda: window.session.session is not None and window.session.session.title == "Repeats itself")
    window.session.find_field.setText("again")
    qtbot.waitUntil(lambda: window.session.counter.text() == "1 of 2,000 or more")
    assert window.session.counter.text() == "1 of 2,000 or more"


def test_tool_calls_are_unfolded_and_folded_with_a_key(
    window: SearchWindow, qtbot: QtBot, history: FakeHistory
) -> None:
    row = session_row(9, title="Tools")
    ids = (f"{number:08x}-0000-4000-8000-00000000000a" for number in range(2))
    history.add(
        row,
        [message(each, row.session_id, "first line\nsecond line", kind="tool_result", tool="Bash") for each in ids],
    )
    window.show_session(row.session_id)
    qtbot.waitUntil(lambda: window.session.session is not None and window.session.session.title == "Tools")
    column = window.session.view.column
    assert column.opened(0) == frozenset()
    press(window, qtbot, Key.Key_T, CTRL)
    assert (column.opened(0), column.opened(1)) == (frozenset({0}), frozenset({0}))
    press(window, qtbot, Key.Key_T, CTRL)
    assert (column.opened(0), column.opened(1)) == (frozenset(), frozenset())
