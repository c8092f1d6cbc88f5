from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop import words
from desktop.doctor.outside import outside_findings, worst_first
from desktop.doctor.rows import FindingRow, means_of
from desktop.doctor.window import DoctorWindow
from desktop.hotkey.base import HotkeyRefused
from engine.core.errors import StorageFailure
from engine.core.models.keeping import Finding
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import CJK, LONG, RTL, doctor_answer, findings
from tests.desktop.rooms import OFFSCREEN

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.theme import Theme
    from tests.desktop.rooms import MakesRoom

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)


@pytest.fixture
def fake() -> FakeHistory:
    return FakeHistory(answers={"doctor": doctor_answer})


@pytest.fixture
def window(make_room: MakesRoom) -> DoctorWindow:
    return make_room(DoctorWindow)


@pytest.fixture
def looked(window: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> DoctorWindow:
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: bool(window.rows))
    return window


def calls(fake: FakeHistory) -> list[Any]:
    return [argument for name, argument in fake.asked if name == "doctor"]


def test_without_an_engine_it_waits_and_looks_as_soon_as_there_is_one(
    window: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    window.show()
    assert window.detail.text() == words.doctor.NO_ENGINE
    assert not window.again.isEnabled()
    window.attach(fake)
    qtbot.waitUntil(lambda: bool(window.rows))


def test_opening_it_looks_and_changes_nothing(looked: DoctorWindow, fake: FakeHistory) -> None:
    assert calls(fake) == [{"fix": False}]
    assert looked.verdict.text() == words.doctor.found(3)


def test_asking_for_the_doctor_again_looks_again_though_the_window_is_open(
    looked: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    looked.show()
    qtbot.waitUntil(lambda: len(calls(fake)) == 2)
    assert calls(fake) == [{"fix": False}, {"fix": False}]


def test_findings_stand_worst_first_each_with_its_mark(looked: DoctorWindow) -> None:
    order = [row.finding.severity for row in looked.rows]
    assert order == sorted(order, key=("error", "warning", "info", "ok").index)
    assert all(words.doctor.MARK_NAMES[row.finding.severity] in row.accessibleName() for row in looked.rows)


def test_only_what_can_be_mended_has_a_button(looked: DoctorWindow) -> None:
    assert [row.finding.id for row in looked.rows if row.fix is not None] == ["database", "unread"]
    assert looked.fix_all.isVisible()


def test_progress_is_told_while_it_looks(window: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.gate.clear()
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: window.detail.text() == "The second of four")
    assert (window.bar.value(), window.bar.maximum()) == (1, 4)
    assert window.bar.isVisible()
    assert not window.again.isVisible()


def test_one_finding_is_mended_alone(looked: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    row = next(row for row in looked.rows if row.finding.id == "unread")
    assert row.fix is not None
    QTest.mouseClick(row.fix, Qt.MouseButton.LeftButton)
    assert "read them now" in looked.question_text.text()
    assert "build the index anew" not in looked.question_text.text()
    assert not looked.fix_all.isVisible()
    QTest.mouseClick(looked.fix_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: calls(fake)[1:] == [{"fix": True, "only": ["unread"]}])
    qtbot.waitUntil(lambda: not looked.is_working)


def test_mending_asks_once_and_says_everything_it_will_do(
    looked: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    QTest.mouseClick(looked.fix_all, Qt.MouseButton.LeftButton)
    assert "build the index anew" in looked.question_text.text()
    assert "read them now" in looked.question_text.text()
    assert calls(fake) == [{"fix": False}]
    QTest.mouseClick(looked.fix_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(each.fixed for each in looked.findings))
    assert calls(fake) == [{"fix": False}, {"fix": True, "only": ["database", "unread"]}]
    assert not looked.question.isVisible()
    assert "index-2026-03-12-fix.db" in looked.detail.text()
    assert looked.verdict.text() == words.doctor.found(1)


def test_the_keyboard_is_where_the_next_step_is(looked: DoctorWindow, qtbot: QtBot) -> None:
    QTest.keyClick(looked.fix_all, Qt.Key.Key_Space)
    QTest.keyClick(looked.fix_now, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: any(each.fixed for each in looked.findings))
    assert looked.focusWidget() is looked.again


def test_the_question_can_be_declined(looked: DoctorWindow, fake: FakeHistory) -> None:
    QTest.mouseClick(looked.fix_all, Qt.MouseButton.LeftButton)
    QTest.mouseClick(looked.keep, Qt.MouseButton.LeftButton)
    assert not looked.question.isVisible()
    assert looked.fix_all.isVisible()
    assert calls(fake) == [{"fix": False}]


def test_what_could_not_be_mended_stays_on_top_and_can_be_tried_again(
    looked: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    fake.answers["doctor"] = findings(fixed=False)
    looked.mend()
    qtbot.waitUntil(lambda: any(each.fixed is False for each in looked.findings))
    assert looked.rows[0].finding.id == "database"
    assert looked.rows[0].fix is not None


def test_when_nothing_is_wrong_it_says_so(window: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    good = [each for each in findings()["findings"] if each["severity"] == "ok"]
    fake.answers["doctor"] = {"ok": True, "findings": good}
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: bool(window.rows))
    assert window.verdict.text() == words.doctor.WELL
    assert not window.fix_all.isVisible()


def test_an_error_is_told_and_it_can_look_again(looked: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.failure = StorageFailure("The disk is full", "Nothing can be written.", "Make room.")
    looked.look()
    qtbot.waitUntil(lambda: looked.verdict.text() == words.doctor.STOPPED)
    assert "The disk is full. Nothing can be written. Make room." in looked.detail.text()
    assert looked.again.isEnabled()


def test_cancelling_waits_for_the_step_and_says_what_became_of_it(
    window: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    fake.gate.clear()
    window.attach(fake)
    window.show()
    QTest.mouseClick(window.cancel, Qt.MouseButton.LeftButton)
    assert window.is_working
    assert not window.cancel.isEnabled()
    fake.gate.set()
    qtbot.waitUntil(lambda: window.verdict.text() == words.doctor.STOPPED)
    assert "cancelled" in window.detail.text()


def test_a_new_engine_is_looked_at_when_the_old_one_ended_meanwhile(
    window: DoctorWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    fake.gate.clear()
    window.attach(fake)
    window.show()
    window.attach(None)
    other = FakeHistory(answers={"doctor": doctor_answer})
    window.attach(other)
    fake.gate.set()
    qtbot.waitUntil(lambda: bool(window.rows))
    assert calls(other) == [{"fix": False}]


def test_other_peoples_text_is_shown_as_it_is(window: DoctorWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    texts = ("<b>bold</b>", LONG * 20, CJK, RTL, "\x1b[31mred\x1b[0m")
    fake.answers["doctor"] = {
        "findings": [
            {"id": f"{number}", "title": "Knowledge", "severity": "warning", "found": text, "means": text}
            for number, text in enumerate(texts)
        ]
    }
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: bool(window.rows))
    assert "<b>bold</b>" in window.rows[0].accessibleName()
    assert "\x1b" not in window.rows[4].accessibleName()
    assert window.grab().width() == window.width()


def test_hotkey_and_tray_are_looked_at_too() -> None:
    refused = HotkeyRefused("F9 could not be claimed", "Another program uses it.", "Choose others.")
    hotkey, tray = outside_findings(refused, has_tray=False)
    assert (hotkey.severity, hotkey.means) == ("warning", "Choose others.")
    assert tray.severity == "info"
    assert [each.severity for each in outside_findings(None, has_tray=True)] == ["ok"]


def test_what_was_mended_stands_with_what_is_in_order() -> None:
    one = Finding(id="a", title="", severity="error", found="", means="", fix="x", fixed=True)
    two = Finding(id="b", title="", severity="warning", found="", means="")
    assert [each.id for each in worst_first([one, two])] == ["b", "a"]


@pytest.mark.parametrize(
    ("finding", "severity", "window"),
    [
        ("claude_code", "info", "connect"),
        ("hotkey", "warning", "settings"),
        ("claude_code", "ok", None),
        ("x", "info", None),
    ],
)
def test_what_only_a_person_mends_leads_to_its_window(
    theme: Theme, qtbot: QtBot, finding: str, severity: Literal["ok", "info", "warning", "error"], window: str | None
) -> None:
    opened: list[str] = []
    made = Finding(id=finding, title="Title", severity=severity, found="Found.", means="Means. `backscroll connect`.")
    row = FindingRow(made, theme, lambda: None, opened.append)
    assert means_of(made) == ("Means. backscroll connect." if window is None else "Means.")
    qtbot.addWidget(row)
    if row.go is not None:
        row.go.click()
    assert opened == ([] if window is None else [window])
