from __future__ import annotations

import csv
from datetime import date
from io import StringIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop import words
from desktop.usage import numbers
from desktop.usage.bars import SERIES, chart_of
from desktop.usage.chart import nice
from desktop.usage.model import Line, lines_of
from desktop.usage.periods import Period, begins, period_of, step_of
from engine.usage.amounts import Amounts, total_of
from engine.usage.report import UsageReport
from engine.usage.rows import UsageRow
from tests.desktop.invented import CJK, amounts, report

TODAY = date(2026, 3, 12)


@pytest.mark.parametrize(
    ("key", "first", "last"),
    [
        ("7d", date(2026, 3, 6), TODAY),
        ("month", date(2026, 3, 1), TODAY),
        ("last_month", date(2026, 2, 1), date(2026, 2, 28)),
        ("year", date(2026, 1, 1), TODAY),
        ("all", None, None),
    ],
)
def test_periods_have_their_first_and_last_day(key: str, first: date | None, last: date | None) -> None:
    assert period_of(key, TODAY) == Period(first, last)


@given(st.dates(date(2020, 1, 1), date(2026, 1, 1)), st.integers(0, 1500))
def test_every_bar_begins_once_and_none_is_missing(first: date, days: int) -> None:
    last = date.fromordinal(first.toordinal() + days)
    step = step_of(first, last)
    all_begins = list(begins(first, last, step))
    assert all_begins[0] <= first
    assert all_begins[-1] <= last
    gaps = {(b - a).days for a, b in pairwise(all_begins)}
    assert gaps <= {"day": {1}, "week": {7}, "month": {28, 29, 30, 31}}[step]
    assert len(all_begins) <= 62


def test_days_without_calls_are_gaps_in_the_chart() -> None:
    day = UsageRow(label="2026-03-02", amounts=amounts(3, "m"), by_model={"m": amounts(3, "m")})
    made = chart_of(of_days(day), "cost", Period(date(2026, 3, 1), date(2026, 3, 4)))
    assert [bool(sum(bar.parts)) for bar in made.bars] == [False, True, False, False]


def test_the_bars_sum_up_to_the_total_of_the_report() -> None:
    made = chart_of(report("day"), "tokens", Period())
    assert sum(sum(bar.parts) for bar in made.bars) == report("day").totals.tokens


def test_more_models_than_colours_become_one_series_and_nothing_is_lost() -> None:
    models = {f"model-{number}": amounts(number + 1, f"model-{number}") for number in range(9)}
    row = UsageRow(label="2026-03-02", amounts=total_of(models.values()), by_model=models)
    made = chart_of(of_days(row), "cost", Period())
    assert len(made.series) == SERIES + 1
    assert made.series[-1] == words.usage.OTHERS
    assert sum(made.bars[0].parts) == row.amounts.cost_nanos


def test_a_bar_that_lacks_a_price_says_so() -> None:
    row = UsageRow(
        label="2026-03-02", amounts=amounts(2, "m", priced=False), by_model={"m": amounts(2, "m", priced=False)}
    )
    made = chart_of(of_days(row), "cost", Period())
    assert made.bars[0].is_partial
    assert words.usage.UNPRICED in made.bars[0].hint
    assert not chart_of(of_days(row), "tokens", Period()).bars[0].is_partial


def test_what_has_no_price_is_never_shown_as_free() -> None:
    assert numbers.cost(amounts(2, "m", priced=False)) == words.usage.UNPRICED
    partly = total_of([amounts(2, "m", priced=False), amounts(100, "n")])
    assert numbers.cost(partly) == words.usage.at_least("$6.10")
    assert numbers.remarks(partly) == words.usage.unpriced_calls(2)
    assert numbers.cost(Amounts()) == "$0.00"


def test_incomplete_calls_are_remarked() -> None:
    assert numbers.remarks(amounts(2, "m", incomplete=1)) == words.usage.incomplete_calls(1)


def test_csv_holds_exact_numbers_and_a_total_that_is_their_sum() -> None:
    made = report("model")
    rows = list(csv.reader(StringIO(numbers.table_text("Model", lines_of(made), made.totals))))
    assert rows[0][0] == "Model"
    assert [row[0] for row in rows[1:-1]] == [row.label for row in made.rows]
    assert sum(int(row[1]) for row in rows[1:-1]) == int(rows[-1][1])
    assert rows[1][7] == f"{made.rows[0].amounts.cost_nanos / 1e9:.9f}"
    assert rows[-2][7] == words.usage.UNPRICED


@given(st.text(max_size=40))
def test_no_name_becomes_a_formula_or_breaks_the_table(name: str) -> None:
    line = Line(name, name, name, Amounts())
    rows = list(csv.reader(StringIO(numbers.table_text("Session", [line], Amounts()))))
    assert len(rows) == 3
    assert {len(row) for row in rows} == {9}
    assert not rows[1][0].startswith(("=", "+", "-", "@"))


def test_lines_name_sessions_by_title_and_projects_by_their_last_folder() -> None:
    assert CJK in [line.name for line in lines_of(report("session"))]
    assert lines_of(report("project"))[0].name == "api"


@given(st.floats(0.001, 1e15))
def test_the_axis_ends_at_or_little_above_the_highest_bar(most: float) -> None:
    assert most * 0.99 <= nice(most) <= most * 2.6


def of_days(*rows: UsageRow) -> UsageReport:
    return UsageReport(
        by="day", rows=rows, totals=total_of(row.amounts for row in rows), time_zone="UTC", since=None, notes=()
    )
