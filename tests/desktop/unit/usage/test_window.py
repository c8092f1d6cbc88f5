from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop import words
from desktop.usage.model import COST, DIFFERENCE, OWN_TOTAL, REMARKS, SORT_ROLE, UsageModel, lines_of
from desktop.usage.window import UsageWindow
from engine.core.errors import StorageFailure
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import report
from tests.desktop.rooms import OFFSCREEN

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from desktop.theme import Theme
    from engine.usage.report import UsageReport
    from engine.usage.rows import Grouping
    from tests.desktop.rooms import MakesRoom

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)


@pytest.fixture
def fake() -> FakeHistory:
    return FakeHistory(usage=report)


@pytest.fixture
def window(make_room: MakesRoom) -> UsageWindow:
    made = make_room(UsageWindow)
    made.show()
    return made


@pytest.fixture
def filled(window: UsageWindow, fake: FakeHistory, qtbot: QtBot) -> UsageWindow:
    window.attach(fake)
    qtbot.waitUntil(lambda: window.report is not None)
    return window


def test_before_the_engine_is_there_the_window_says_so(window: UsageWindow) -> None:
    assert window.state.text() == words.shared.STARTING
    assert not window.table.isVisible()
    assert not window.export_button.isEnabled()


def test_it_says_that_it_loads(window: UsageWindow, fake: FakeHistory) -> None:
    fake.gate.clear()
    window.attach(fake)
    assert window.state.text() == words.shared.LOADING
    assert window.state.isVisible()


def test_thirty_days_are_shown_with_their_bars_and_what_is_missing(filled: UsageWindow) -> None:
    assert len(filled.chart.chart.bars) == 30
    assert filled.table.model().rowCount() == len(report("day").rows)
    assert "no price" in filled.notes.text()
    assert "too low" in filled.notes.text()


def test_numbers_that_are_known_to_be_too_low_are_said_to_be_at_least_so(filled: UsageWindow) -> None:
    assert [each.text().startswith("≥") for each in filled.figures.numbers] == [True, True, True, False, False]
    assert filled.figures.numbers[3].accessibleName() == "Calls: 952"
    filled.units.choose("tokens")
    assert any(": ≥ " in bar.hint for bar in filled.chart.chart.bars)


def test_a_period_without_calls_says_so(window: UsageWindow, qtbot: QtBot) -> None:
    window.attach(FakeHistory())
    qtbot.waitUntil(lambda: window.state.text() == words.usage.NONE)
    assert not window.chart.isVisible()


def test_an_error_takes_the_place_of_old_numbers(filled: UsageWindow, fake: FakeHistory, qtbot: QtBot) -> None:
    fake.failure = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor.")
    filled.load()
    qtbot.waitUntil(lambda: "The index is damaged" in filled.state.text())
    assert filled.table.model().rowCount() == 0
    assert filled.report is None
    assert filled.state.isVisible()


@pytest.mark.parametrize("group", ["model", "project", "session"])
def test_rows_are_what_was_chosen_and_bars_stay_days(filled: UsageWindow, qtbot: QtBot, group: str) -> None:
    filled.groups.choose(group)
    qtbot.waitUntil(lambda: filled.report is not None and filled.report.by == group)
    assert filled.table.model().headerData(0, Qt.Orientation.Horizontal) == words.usage.GROUPS[group]
    assert len(filled.chart.chart.bars) == 30


def test_the_chosen_period_is_what_the_engine_is_asked_for(
    filled: UsageWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    filled.period.setCurrentIndex(filled.period.findData("all"))
    qtbot.waitUntil(lambda: fake.asked[-1] == ("get_usage", ("day", None, None, True)))
    filled.period.setCurrentIndex(filled.period.findData("own"))
    assert filled.first.isVisible()
    qtbot.waitUntil(lambda: fake.asked[-1][1][1] is not None)


def test_keys_walk_along_the_bars_and_say_what_each_holds(filled: UsageWindow) -> None:
    QTest.keyClick(filled.chart, Qt.Key.Key_End)
    assert filled.chart.current == 29
    QTest.keyClick(filled.chart, Qt.Key.Key_Left)
    assert "11 Mar 2026" in filled.detail.text()
    assert "11 Mar 2026" in filled.chart.accessibleDescription()
    QTest.keyClick(filled.chart, Qt.Key.Key_Home)
    assert filled.chart.current == 0


def test_a_click_chooses_the_bar_below_it(filled: UsageWindow) -> None:
    place = filled.chart.rect().center()
    QTest.mouseClick(filled.chart, Qt.MouseButton.LeftButton, pos=place)
    assert filled.chart.current == filled.chart.bar_at(place.x()) >= 0


def test_numbers_sort_as_numbers(filled: UsageWindow) -> None:
    filled.table.sortByColumn(COST, Qt.SortOrder.DescendingOrder)
    rows = filled.table.model()
    costs = [rows.index(row, COST).data(SORT_ROLE) for row in range(rows.rowCount())]
    assert costs == sorted(costs, reverse=True)


def test_all_numbers_are_copied_with_tabs(filled: UsageWindow, qtbot: QtBot) -> None:
    filled.copy()
    qtbot.waitUntil(lambda: filled.said.text() == words.shared.COPIED)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == len(report("day").rows) + 2
    assert lines[0].split("\t")[0] == words.usage.GROUPS["day"]


def test_chosen_lines_are_copied_alone(filled: UsageWindow, qtbot: QtBot) -> None:
    filled.table.selectRow(2)
    filled.copy()
    qtbot.waitUntil(lambda: filled.said.text() == words.shared.COPIED)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[0] for line in lines] == [words.usage.GROUPS["day"], "2026-03-10", words.usage.TOTAL]
    assert lines[1].split("\t")[1:] == lines[2].split("\t")[1:]


def shown_columns(window: UsageWindow) -> list[int]:
    header = window.table.horizontalHeader()
    columns = [header.logicalIndex(place) for place in range(header.count())]
    return [column for column in columns if not header.isSectionHidden(column)]


def by_session(window: UsageWindow, qtbot: QtBot) -> UsageWindow:
    window.groups.choose("session")
    qtbot.waitUntil(lambda: window.report is not None and window.report.by == "session")
    return window


def test_what_is_missing_from_the_cost_stands_beside_it(filled: UsageWindow) -> None:
    assert shown_columns(filled)[:3] == [0, COST, REMARKS]


def test_claude_codes_own_total_of_a_session_stands_beside_the_sum_with_the_difference(
    filled: UsageWindow, qtbot: QtBot
) -> None:
    rows = by_session(filled, qtbot).table.model()
    assert shown_columns(filled)[:5] == [0, COST, OWN_TOTAL, DIFFERENCE, REMARKS]
    assert [rows.index(row, OWN_TOTAL).data() for row in range(5)] == ["$19.94", "", "$9.99", "", "$1.50"]
    assert [rows.index(row, DIFFERENCE).data() for row in range(5)] == ["+$0.48", "", "−$0.50", "", "–"]
    assert "no transcript line records" in rows.index(0, OWN_TOTAL).data(Qt.ItemDataRole.ToolTipRole)
    assert "no transcript line records" in rows.index(0, DIFFERENCE).data(Qt.ItemDataRole.AccessibleDescriptionRole)


def test_a_chosen_session_says_why_claude_codes_own_total_differs(filled: UsageWindow, qtbot: QtBot) -> None:
    by_session(filled, qtbot).table.selectRow(0)
    assert filled.said.text().endswith("no transcript line records. Copied calls: $0.25.")
    filled.table.selectRow(2)
    assert filled.said.text() == "$9.99 (−$0.50). Claude Code's own total. It was written before the last calls."
    filled.table.selectRow(4)
    assert filled.said.text().startswith("$1.50. Claude Code's own total. It cannot be compared")
    filled.table.selectRow(1)
    assert filled.said.text() == ""


def test_sessions_without_such_a_total_have_no_column_for_it(
    filled: UsageWindow, fake: FakeHistory, qtbot: QtBot
) -> None:
    def without(by: Grouping) -> UsageReport:
        made = report(by)
        return replace(made, rows=tuple(replace(row, cost_state=None) for row in made.rows))

    fake.usage = without
    assert OWN_TOTAL not in shown_columns(by_session(filled, qtbot))


def test_sessions_are_exported_with_claude_codes_own_totals(filled: UsageWindow, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "usage.csv"
    by_session(filled, qtbot).export(file)
    qtbot.waitUntil(lambda: filled.said.text() == words.shared.EXPORTED)
    rows = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0][-2:] == list(words.usage.COLUMNS[-2:])
    assert [row[-2:] for row in rows[1:]] == [
        ["19.942100000", "0.482100000"], ["", ""], ["9.990000000", "-0.502000000"], ["", ""], ["1.500000000", ""],
        ["", ""],
    ]  # fmt: skip


def test_the_csv_is_written_and_says_so(filled: UsageWindow, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "usage.csv"
    filled.export(file)
    qtbot.waitUntil(lambda: filled.said.text() == words.shared.EXPORTED)
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    assert len(file.read_text(encoding="utf-8-sig").splitlines()) == len(report("day").rows) + 2


def test_a_csv_that_cannot_be_written_says_why(filled: UsageWindow, qtbot: QtBot, tmp_path: Path) -> None:
    filled.export(tmp_path / "missing" / "usage.csv")
    qtbot.waitUntil(lambda: bool(filled.said.text()))
    assert filled.said.text().startswith(words.usage.NOT_WRITTEN)
    assert not (tmp_path / "missing").exists()


def test_both_themes_are_drawn(filled: UsageWindow, theme: Theme) -> None:
    before = filled.chart.grab().toImage()
    theme.choose("dark")
    assert filled.chart.grab().toImage() != before
    theme.choose("light")


def test_the_model_keeps_the_contract_of_models(qtmodeltester: ModelTester) -> None:
    model = UsageModel()
    model.set_lines("Session", lines_of(report("session")))
    qtmodeltester.check(model)  # pyright: ignore[reportUnknownMemberType] - its argument has no type
