"""`in:knowledge`: records among the rows, previewed beside them and opened in their own window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop import words
from desktop.search.query import Chip
from desktop.search.records import ask
from desktop.search.rows import Heading, RecordItem
from desktop.windows import Windows
from engine.knowledge.errors import EmptyQuery, StoreUnavailable
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import RTL, knowledge_record, knowledge_reply, knowledge_row

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from desktop.services import Services
    from tests.desktop.rooms import MakesSearch

GONE = knowledge_row(3, "Use SQLite", lifecycle="superseded", expired=True)


@pytest.fixture
def knowing() -> FakeHistory:
    made = FakeHistory.small()
    made.answers = {
        "knowledge_timeline": knowledge_reply(knowledge_row(1, "Tokens are opaque"), knowledge_row(2, RTL)),
        "knowledge_lookup": knowledge_reply(GONE),
        "knowledge_grep": knowledge_reply(GONE, knowledge_row(4, "Why SQLite")),
        "knowledge_record": knowledge_record(),
    }
    return made


@pytest.fixture
def window(make_search: MakesSearch, knowing: FakeHistory) -> SearchWindow:
    made = make_search()
    made.attach(knowing)
    made.present()
    made.controller.set_chips((Chip("in", "knowledge"),))
    return made


def titles(window: SearchWindow) -> list[str]:
    return [row.title for row in window.model.rows if isinstance(row, RecordItem)]


def test_without_words_the_newest_records_are_listed(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(titles(window)) == 2)
    assert window.model.rows[0] == Heading(words.shared.RECORDED_LAST)
    window.grab()


def test_words_find_records_by_name_first_each_once(window: SearchWindow, qtbot: QtBot) -> None:
    QTest.keyClicks(window.bar.field, "sqlite")
    qtbot.waitUntil(lambda: titles(window) == ["Use SQLite", "Why SQLite"])
    row = window.row
    assert isinstance(row, RecordItem)
    assert row.about == "decision · superseded · expired"
    qtbot.waitUntil(lambda: window.footer.state.text() == "2 records")


def test_the_record_is_previewed_as_text(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.preview.title.text() == "Tokens are opaque")
    assert window.preview.place.text() == "decision · k_0001"
    message = window.preview.view.column.source.message(0)
    assert message is not None
    assert "<script>alert(1)</script>" in (message.blocks[0].text or "")
    window.grab()


def test_enter_opens_the_record_in_its_own_window(window: SearchWindow, qtbot: QtBot) -> None:
    wanted: list[str] = []
    window.wanted.connect(wanted.append)
    qtbot.waitUntil(lambda: len(titles(window)) == 2)
    QTest.keyClick(window.bar.field, Qt.Key.Key_Return)
    assert wanted == ["record:k_0001"]
    QTest.keyClick(window.bar.field, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert wanted[1:] == ["record:k_0002"]


def test_a_record_is_copied_and_cited(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(titles(window)) == 2)
    QTest.keyClick(window.bar.field, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("Tokens are opaque, because")
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window.bar.field, Qt.Key.Key_C, both)
    assert QGuiApplication.clipboard().text() == "Tokens are opaque (k_0001)"


def test_what_is_for_sessions_does_nothing_to_a_record(window: SearchWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(titles(window)) == 2)
    for name in ("pin", "resume", "export", "raw", "copy_id", "expand", "fold"):
        window.deeds.run(name)
    assert window.remembered.pins == ()


def test_a_store_that_does_not_exist_is_said_with_what_it_would_hold(
    window: SearchWindow, knowing: FakeHistory, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: len(titles(window)) == 2)
    knowing.failure = StoreUnavailable("There is no Knowledge store", "", "")
    QTest.keyClicks(window.bar.field, "x")
    qtbot.waitUntil(lambda: window.empty.title.text() == "No records yet")
    assert not window.preview.isVisible()


def test_signs_without_a_letter_can_be_a_title(knowing: FakeHistory) -> None:
    def refuse(_asked: dict[str, Any]) -> dict[str, Any]:
        raise EmptyQuery("Nothing to look for", "", "")

    knowing.answers["knowledge_grep"] = refuse
    assert [row.id for row in ask(knowing, "???").rows if isinstance(row, RecordItem)] == ["k_0003"]


def test_the_window_of_knowledge_reads_the_record_it_is_opened_for(services: Services, qtbot: QtBot) -> None:
    class Reader(QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.records: list[str] = []

        def read(self, name: str) -> None:
            self.records.append(name)

    reader = Reader()
    qtbot.addWidget(reader)
    windows = Windows(services, {"knowledge": lambda _services: reader})

    assert windows.open("record:k_0001") is reader
    assert windows.open("knowledge") is reader
    assert reader.records == ["k_0001"]
