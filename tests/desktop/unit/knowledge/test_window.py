from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop import words
from desktop.knowledge.model import RecordsModel
from desktop.knowledge.rows import Heading, RecordRow
from desktop.knowledge.window import KnowledgeWindow
from engine.core.errors import StorageFailure
from engine.knowledge.errors import EmptyQuery, RecordNotFound, UnknownEntity
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import CJK, LONG, RTL, knowledge_record, knowledge_reply, knowledge_row, looked_up
from tests.desktop.rooms import OFFSCREEN

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from desktop.services import Services
    from desktop.theme import Theme
    from tests.desktop.fake_system import FakeOpener
    from tests.desktop.rooms import MakesRoom

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)
ROWS = (knowledge_row(1, "Use SQLite", lifecycle="superseded"), knowledge_row(2, "Use PostgreSQL"))


def no_such(_asked: object) -> dict[str, Any]:
    raise UnknownEntity("No record has the name", "", "Find the id with knowledge_lookup.")


def the_record(asked: dict[str, Any]) -> dict[str, Any]:
    return knowledge_record(id=asked["id"])


@pytest.fixture
def fake() -> FakeHistory:
    return FakeHistory(
        answers={
            "knowledge_timeline": knowledge_reply(*ROWS),
            "knowledge_chronicle_day": knowledge_reply(knowledge_row(3, "Said on Thursday")),
            "knowledge_grep": knowledge_reply(knowledge_row(2, "Use PostgreSQL")),
            "knowledge_lookup": looked_up,
            "knowledge_record": the_record,
        }
    )


@pytest.fixture
def store(services: Services) -> Path:
    """Give the mark of a store that exists."""
    services.paths.knowledge.mkdir(parents=True)
    mark = services.paths.knowledge / "store.yaml"
    mark.write_text("format: 1\n", encoding="utf-8")
    return mark


@pytest.fixture
def window(store: Path, make_room: MakesRoom) -> KnowledgeWindow:
    assert store.exists()
    made = make_room(KnowledgeWindow)
    made.show()
    return made


@pytest.fixture
def filled(window: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> KnowledgeWindow:
    window.attach(fake)
    qtbot.waitUntil(lambda: len(window.model.rows) == 3)
    return window


def titles(window: KnowledgeWindow) -> list[str]:
    return [row.title if isinstance(row, RecordRow) else row.text for row in window.model.rows]


def test_without_an_engine_it_says_so(window: KnowledgeWindow) -> None:
    assert window.state.text() == words.knowledge.NO_ENGINE


def test_without_a_store_it_says_what_knowledge_is_and_asks_nothing(
    window: KnowledgeWindow, store: Path, fake: FakeHistory, qtbot: QtBot
) -> None:
    store.unlink()
    window.attach(fake)
    qtbot.waitUntil(lambda: window.state.text() == words.shared.NO_RECORDS)
    assert fake.asked == []


def test_it_says_that_it_loads(window: KnowledgeWindow, fake: FakeHistory) -> None:
    fake.gate.clear()
    window.attach(fake)
    assert window.state.text() == words.shared.LOADING


def test_an_empty_field_shows_what_was_recorded_last(filled: KnowledgeWindow, fake: FakeHistory) -> None:
    assert titles(filled) == [words.shared.RECORDED_LAST, "Use SQLite", "Use PostgreSQL"]
    assert fake.asked[-1][1]["timeField"] == "recorded_at"
    assert filled.count.text() == words.knowledge.records_of(2, 2)


def test_typing_finds_what_is_called_so_before_what_says_so(filled: KnowledgeWindow, qtbot: QtBot) -> None:
    filled.field.setText("postgres")
    qtbot.waitUntil(lambda: len(titles(filled)) == 2)
    assert titles(filled) == ["Title of postgres", "Use PostgreSQL"]


def test_signs_without_a_letter_are_no_error(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    def empty(_asked: object) -> dict[str, Any]:
        raise EmptyQuery("The question has no words")

    fake.answers["knowledge_grep"] = empty
    fake.answers["knowledge_lookup"] = knowledge_reply()
    filled.field.setText("???")
    qtbot.waitUntil(lambda: not titles(filled))
    assert filled.state.text() == words.knowledge.NONE


def test_arrows_move_over_headings_and_show_the_record(filled: KnowledgeWindow, qtbot: QtBot) -> None:
    QTest.keyClick(filled.field, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: filled.page is not None)
    text = filled.body.toPlainText()
    for part in ("superseded", "Superseded by", "Title of k_0002", "It did not scale", "“we use SQLite then”",
                 "not verified: the original does not say this", "the transcript is gone"):  # fmt: skip
        assert part in text


def test_html_and_pictures_of_a_record_stay_text(filled: KnowledgeWindow, qtbot: QtBot) -> None:
    filled.read("k_0001")
    qtbot.waitUntil(lambda: filled.page is not None)
    assert "<script>alert(1)</script>" in filled.body.toPlainText()
    assert words.search.picture("x") in filled.body.toPlainText()


def test_a_link_leads_to_a_record_and_back_again(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    filled.read("k_0001")
    qtbot.waitUntil(lambda: filled.page is not None)
    filled.body.anchorClicked.emit(QUrl("record:k_0002"))
    qtbot.waitUntil(lambda: filled.page is not None and filled.page.record["id"] == "k_0002")
    assert filled.back.isVisible()
    filled.back.click()
    qtbot.waitUntil(lambda: filled.page is not None and filled.page.record["id"] == "k_0001")
    assert not filled.back.isVisible()
    assert fake.names()[-1] == "knowledge_lookup"


def test_other_links_go_to_the_opener_which_refuses_what_is_no_web_page(
    filled: KnowledgeWindow, opener: FakeOpener
) -> None:
    filled.body.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert opener.links == ["file:///etc/passwd"]
    assert opener.files == []


def test_a_long_body_is_read_to_its_end(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    def in_two(asked: dict[str, Any]) -> dict[str, Any]:
        return (
            knowledge_record(body="the end") if "bodyOffset" in asked else knowledge_record(body="1 ", nextBodyOffset=2)
        )

    fake.answers["knowledge_record"] = in_two
    filled.read("k_0001")
    qtbot.waitUntil(lambda: "the end" in filled.body.toPlainText())
    assert "1 the end" in filled.body.toPlainText()
    assert [asked.get("bodyOffset") for method, asked in fake.asked if method == "knowledge_record"][-2:] == [None, 2]


def test_the_file_opens_in_the_persons_editor(
    filled: KnowledgeWindow, services: Services, opener: FakeOpener, qtbot: QtBot
) -> None:
    filled.read("k_0001")
    qtbot.waitUntil(lambda: filled.page is not None)
    filled.edit.click()
    assert opener.files == [services.paths.knowledge / "vault" / "claims/use-sqlite.md"]


def test_a_citation_is_copied_and_confirmed(filled: KnowledgeWindow, qtbot: QtBot) -> None:
    filled.read("k_0001")
    qtbot.waitUntil(lambda: filled.page is not None)
    filled.cite.click()
    assert QGuiApplication.clipboard().text() == "Use SQLite (k_0001, claims/use-sqlite.md)"
    assert filled.cite.text() == words.shared.COPIED


def test_the_timeline_of_an_entity_is_grouped_by_day(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    filled.views.choose("timeline")
    qtbot.waitUntil(lambda: filled.state.text() == words.knowledge.WHOSE)
    filled.field.setText("Shelfmark")
    qtbot.waitUntil(lambda: titles(filled)[:2] == ["Thu 5 Mar 2026", "Use SQLite"])
    assert fake.asked[-1][1]["entity"] == "Shelfmark"
    assert sum(isinstance(row, Heading) for row in filled.model.rows) == 1


def test_a_name_that_fits_nothing_offers_what_could_be_meant(
    filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    filled.views.choose("timeline")
    fake.answers |= {"knowledge_timeline": no_such, "knowledge_lookup": knowledge_reply()}
    filled.field.setText("Shelf")
    qtbot.waitUntil(lambda: len(titles(filled)) == 2)
    assert titles(filled) == [words.knowledge.DID_YOU_MEAN, "Use PostgreSQL"]
    fake.answers["knowledge_grep"] = knowledge_reply()
    filled.field.setText("Nobody")
    qtbot.waitUntil(lambda: filled.state.text() == words.knowledge.NOBODY)


def test_a_page_leads_to_its_timeline(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.answers["knowledge_record"] = knowledge_record(id="P-ana", kind="page", type="person", lifecycle="active")
    filled.read("P-ana")
    qtbot.waitUntil(filled.timeline.isVisible)
    assert "Use PostgreSQL" in filled.body.toPlainText()
    filled.timeline.click()
    qtbot.waitUntil(lambda: fake.asked[-1] == ("knowledge_timeline", fake.asked[-1][1] | {"entity": "P-ana"}))
    assert filled.views.key == "timeline"


def test_a_day_or_its_week_is_told_and_steps(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    filled.views.choose("day")
    qtbot.waitUntil(lambda: "Said on Thursday" in titles(filled))
    assert fake.asked[-1][1] | {"date": "2026-03-12", "week": False} == fake.asked[-1][1]
    filled.week.setChecked(True)
    filled.earlier.click()
    qtbot.waitUntil(lambda: fake.asked[-1][1] | {"date": "2026-03-05", "week": True} == fake.asked[-1][1])


def test_a_day_without_records_says_so(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.answers["knowledge_chronicle_day"] = knowledge_reply()
    filled.views.choose("day")
    qtbot.waitUntil(lambda: not titles(filled))
    assert filled.state.text() == words.knowledge.NOTHING_ON


def test_errors_are_told_on_either_side(filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.failure = StorageFailure("The store is damaged", "It cannot be read.", "Run doctor.")
    filled.load()
    qtbot.waitUntil(lambda: "The store is damaged" in filled.state.text())
    fake.failure = RecordNotFound("No record has this id")
    filled.read("k_0009")
    qtbot.waitUntil(lambda: "No record has this id" in filled.hint.text())
    assert not filled.edit.isVisible()


def test_findings_in_the_store_are_told_below_the_list(
    filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    fake.answers["knowledge_timeline"] = knowledge_reply(*ROWS, coverage={"files": 9, "issueCount": 2})
    filled.load()
    before = filled.count.text()
    qtbot.waitUntil(lambda: filled.count.text() != before)
    assert words.knowledge.incomplete_store(2) in filled.count.text()


def test_the_end_of_the_list_loads_more_of_the_same_snapshot(
    filled: KnowledgeWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    def paged(asked: dict[str, Any]) -> dict[str, Any]:
        start = asked.get("offset", 0)
        rows = [knowledge_row(start + number, f"Record {start + number}") for number in range(50)]
        return knowledge_reply(*rows, total=100, **({} if start else {"nextOffset": 50}))

    fake.answers["knowledge_timeline"] = paged
    filled.load()
    qtbot.waitUntil(lambda: "Record 0" in titles(filled))
    filled.list.scrollToBottom()
    qtbot.waitUntil(lambda: titles(filled)[-1] == "Record 99")
    assert fake.asked[-1][1]["snapshot"] == "s"
    assert filled.count.text() == words.knowledge.records_of(100, 100)


def test_both_themes_are_drawn(filled: KnowledgeWindow, theme: Theme, qtbot: QtBot) -> None:
    filled.read("k_0001")
    qtbot.waitUntil(lambda: filled.page is not None)
    before = filled.grab().toImage()
    theme.choose("dark")
    assert filled.grab().toImage() != before
    theme.choose("light")


def test_the_model_keeps_the_contract_of_models(qtmodeltester: ModelTester) -> None:
    model = RecordsModel()
    model.set_rows([Heading("Thu"), *(RecordRow(f"{n}", title, "fact") for n, title in enumerate((LONG, CJK, RTL)))])
    qtmodeltester.check(model)  # pyright: ignore[reportUnknownMemberType] - its argument has no type


def test_a_day_that_goes_on_is_not_named_again() -> None:
    model = RecordsModel()
    model.set_rows([Heading("Thu"), RecordRow("1", "One", "fact")], has_more=True)
    model.add_rows([Heading("Thu"), RecordRow("2", "Two", "fact")], has_more=False)
    assert [row.text if isinstance(row, Heading) else row.id for row in model.rows] == ["Thu", "1", "2"]


def test_the_keyboard_stays_on_its_side_when_days_are_looked_at(filled: KnowledgeWindow) -> None:
    filled.field.setFocus()
    filled.views.choose("day")
    assert filled.focusWidget() is filled.day
