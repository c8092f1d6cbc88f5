# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt

from desktop.search.column import KEPT, ListSource
from desktop.search.marks import Place
from desktop.search.transcript import TranscriptView
from tests.desktop.fakes import message

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.theme import Theme
    from engine.core.models.sessions import MessageView


class Counting:
    """Many messages, made when they are asked for."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.asked: set[int] = set()
        self.looked_at: list[tuple[int, int]] = []

    def message(self, index: int) -> MessageView | None:
        self.asked.add(index)
        return message(f"u{index}", "s", f"This is message number {index}. " * (1 + index % 7))

    def wanted(self, first: int, last: int) -> None:
        self.looked_at.append((first, last))


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> TranscriptView:
    made = TranscriptView(theme)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def test_of_many_messages_only_the_visible_ones_are_laid_out(view: TranscriptView) -> None:
    source = Counting(20_000)
    view.show_messages(source)
    view.grab()
    assert len(source.asked) < 20
    view.scroll_to(15_000)
    view.grab()
    assert view.first_visible == 15_000
    assert len(source.asked) < 60
    assert source.looked_at[-1][0] in {14_999, 15_000}


def test_the_message_at_the_top_stays_when_estimates_turn_out_wrong(view: TranscriptView) -> None:
    view.show_messages(Counting(5000), at=2500)
    for _ in range(3):
        view.grab()
        assert view.first_visible == 2500


def test_scrolling_through_keeps_few_documents(view: TranscriptView) -> None:
    view.show_messages(Counting(3000))
    bar = view.verticalScrollBar()
    for _ in range(60):
        bar.setValue(bar.value() + bar.pageStep())
        view.grab()
    assert view.column.kept <= KEPT


def test_the_end_can_be_reached(view: TranscriptView, qtbot: QtBot) -> None:
    view.show_messages(Counting(300))
    for _ in range(6):
        qtbot.keyClick(view, Qt.Key.Key_End)
        view.grab()
    assert view.is_at_end
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.first_visible == 0


def test_matches_are_found_and_stepped_to(view: TranscriptView) -> None:
    messages = tuple(message(f"u{n}", "s", f"line {n} needle and needle") for n in range(5))
    view.show_messages(ListSource(messages), query="needle")
    assert view.places()[:3] == (Place(0, 0), Place(0, 1), Place(1, 0))
    assert len(view.places()) == 10
    view.go_to(Place(4, 1))
    view.grab()
    view.look_for("absent")
    assert view.places() == ()


def test_a_hit_inside_a_folded_block_opens_it(view: TranscriptView) -> None:
    folded = message("u", "s", "a\nb\nneedle", kind="tool_result")
    view.show_messages(ListSource((folded,)), query="needle")
    closed = view.places()
    view.show_messages(ListSource((replace(folded, in_hit=True),)), query="needle")
    assert len(view.places()) >= 1
    assert view.column.opened(0) == {0}
    view.toggle_fold(0, 0)
    assert view.places() == closed


def test_text_is_selected_with_the_mouse(view: TranscriptView, qtbot: QtBot) -> None:
    view.show_messages(ListSource((message("u", "s", "select these words"),)))
    view.grab()
    port = view.viewport()
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(43, 52))
    qtbot.mouseMove(port, QPoint(300, 52))
    event_pos = QPoint(300, 52)
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    move = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(event_pos), QPointF(port.mapToGlobal(event_pos)), Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    view.mouseMoveEvent(move)
    assert view.selected_text == "select these words"
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=event_pos)
    assert view.selected_text == "select these words"


def test_a_link_is_only_followed_when_it_leads_to_the_web(view: TranscriptView) -> None:
    clicked: list[str] = []
    view.link_clicked.connect(clicked.append)
    for href in ("https://example.org", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x"):
        view._activate(0, href)
    assert clicked == ["https://example.org"]


def test_messages_that_are_still_loading_are_said_to(view: TranscriptView) -> None:
    class Loading(Counting):
        def message(self, index: int) -> MessageView | None:
            self.asked.add(index)
            return None

    view.show_messages(Loading(100))
    view.grab()
    assert view.marks_of(0) == 0
    assert view.text_of(0) == ""


def test_another_theme_is_drawn_anew(view: TranscriptView, theme: Theme) -> None:
    view.show_messages(ListSource((message("u", "s", "text"),)))
    before = view.grab().toImage()
    theme.choose("dark")
    assert view.grab().toImage() != before
    theme.choose("light")
