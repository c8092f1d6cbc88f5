from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop import words
from desktop.prune.request import TITLES, inside, reply_of, titles
from desktop.prune.window import PruneWindow
from engine.core.errors import StorageFailure
from engine.core.models.asking import Caller
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import CJK, RTL, prune_answer, pruned
from tests.desktop.rooms import OFFSCREEN

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import MakesRoom

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)
CHOOSE, SURE, RUNNING, DONE = range(4)


@pytest.fixture
def fake() -> FakeHistory:
    return FakeHistory(answers={"prune": pruned})


@pytest.fixture
def window(make_room: MakesRoom) -> PruneWindow:
    return make_room(PruneWindow)


@pytest.fixture
def counted(window: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> PruneWindow:
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: window.next.isEnabled() and window.project.count() > 1)
    return window


def calls(fake: FakeHistory) -> list[dict[str, Any]]:
    return [argument for name, argument in fake.asked if name == "prune"]


def test_without_an_engine_nothing_can_be_taken_out(window: PruneWindow) -> None:
    window.show()
    assert window.state.text() == words.prune.NO_ENGINE
    assert not window.next.isEnabled()


def test_opening_it_counts_and_changes_nothing(counted: PruneWindow, fake: FakeHistory) -> None:
    assert all(each["dry_run"] for each in calls(fake))
    assert counted.figures.numbers[0].text() == "412"


def test_sessions_that_exist_nowhere_else_are_named_in_a_warning(counted: PruneWindow) -> None:
    assert counted.warning.isVisible()
    assert counted.warning.text.text() == words.prune.only_copies(9, go=False)
    assert CJK in counted.warning.titles.text()
    assert RTL in counted.warning.titles.text()
    assert words.prune.and_more(9 - TITLES) in counted.warning.titles.text()


def test_enter_in_the_number_goes_on_once_it_is_counted(counted: PruneWindow, qtbot: QtBot) -> None:
    counted.age.setValue(30)
    QTest.keyClick(counted.age, Qt.Key.Key_Return)
    assert counted.pages.currentIndex() == CHOOSE
    qtbot.waitUntil(counted.next.isEnabled)
    QTest.keyClick(counted.age, Qt.Key.Key_Return)
    assert counted.pages.currentIndex() == SURE


def test_a_changed_choice_takes_the_old_numbers_away_at_once(
    counted: PruneWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    counted.age.setValue(30)
    assert not counted.next.isEnabled()
    assert counted.state.text() == words.prune.COUNTING
    qtbot.waitUntil(counted.next.isEnabled)
    assert calls(fake)[-1]["older_than_days"] == 30


def test_an_answer_to_an_older_choice_is_dropped(counted: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.gate.clear()
    counted.count()
    counted.age.setValue(30)
    fake.answers["prune"] = prune_answer(sessions=7)
    fake.gate.set()
    qtbot.waitUntil(counted.next.isEnabled)
    assert counted.figures.numbers[0].text() == "7"
    assert calls(fake)[-1]["older_than_days"] == 30


def test_a_project_is_meant_exactly_and_not_as_a_part_of_a_path(
    counted: PruneWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    counted.project.setCurrentIndex(counted.project.findData("/home/you/shelfmark/api"))
    qtbot.waitUntil(counted.next.isEnabled)
    assert calls(fake)[-1]["project"] == "."
    assert fake.caller == Caller(project_dir="/home/you/shelfmark/api")


def test_projects_inside_the_chosen_folder_are_told() -> None:
    known = ("/home/you", "/home/you/api", "/home/you-too", "C:\\you\\api")
    assert inside("/home/you", known) == ("/home/you/api",)
    assert inside("C:\\you", known) == ("C:\\you\\api",)
    assert inside(None, known) == ()


def test_the_second_step_comes_before_anything_goes(counted: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    QTest.mouseClick(counted.next, Qt.MouseButton.LeftButton)
    assert counted.pages.currentIndex() == SURE
    assert "412 sessions" in counted.summary.text()
    assert all(each["dry_run"] for each in calls(fake))
    QTest.mouseClick(counted.now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == DONE)
    assert calls(fake)[-1]["dry_run"] is False
    assert "412 sessions" in counted.outcome.text()


def test_the_second_step_can_be_left(counted: PruneWindow, fake: FakeHistory) -> None:
    QTest.mouseClick(counted.next, Qt.MouseButton.LeftButton)
    QTest.mouseClick(counted.back, Qt.MouseButton.LeftButton)
    assert counted.pages.currentIndex() == CHOOSE
    assert all(each["dry_run"] for each in calls(fake))


def test_opening_it_again_begins_with_the_first_step(counted: PruneWindow, qtbot: QtBot) -> None:
    counted.next.click()
    counted.close()
    counted.show()
    assert counted.pages.currentIndex() == CHOOSE
    qtbot.waitUntil(counted.next.isEnabled)


def test_what_would_be_lost_for_ever_needs_a_tick(counted: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    counted.only.setChecked(True)
    qtbot.waitUntil(counted.next.isEnabled)
    assert counted.warning.text.text() == words.prune.only_copies(9, go=True)
    QTest.mouseClick(counted.next, Qt.MouseButton.LeftButton)
    assert counted.understood.isVisible()
    assert not counted.now.isEnabled()
    counted.understood.setChecked(True)
    QTest.mouseClick(counted.now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == DONE)
    assert calls(fake)[-1]["include_only_copies"] is True


def test_the_tick_is_not_remembered(counted: PruneWindow, qtbot: QtBot) -> None:
    counted.only.setChecked(True)
    qtbot.waitUntil(counted.next.isEnabled)
    counted.next.click()
    counted.understood.setChecked(True)
    counted.back.click()
    counted.next.click()
    assert not counted.now.isEnabled()


def test_progress_is_told_and_cancelling_waits_for_the_step(
    counted: PruneWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    counted.next.click()
    fake.gate.clear()
    counted.now.click()
    qtbot.waitUntil(lambda: counted.step.text() == "The second of four")
    assert counted.pages.currentIndex() == RUNNING
    counted.cancel.click()
    assert not counted.cancel.isEnabled()
    fake.gate.set()
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == DONE)
    assert counted.verdict.text() == words.prune.FAILED
    assert "What is done stays done." in counted.outcome.text()


def test_when_nothing_is_that_old_there_is_no_second_step(window: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.answers["prune"] = prune_answer(sessions=0, copies=0)
    window.attach(fake)
    window.show()
    qtbot.waitUntil(lambda: window.state.text() == words.prune.NOTHING)
    assert not window.next.isEnabled()
    assert not window.warning.isVisible()


def test_an_error_while_counting_is_told(counted: PruneWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.failure = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor.")
    counted.count()
    qtbot.waitUntil(lambda: "The index is damaged" in counted.state.text())
    assert not counted.next.isEnabled()


def test_an_engine_that_ends_takes_the_choice_back(counted: PruneWindow) -> None:
    counted.next.click()
    counted.attach(None)
    assert counted.pages.currentIndex() == CHOOSE
    assert not counted.next.isEnabled()


def test_one_copy_is_named_without_a_remainder() -> None:
    assert titles(reply_of(prune_answer(copies=1))) == words.prune.titled_on("Fix the auth check", "2025-06-02")
