"""The bars of the chart, made of a report by day that tells its models apart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QDate, QLocale

from desktop import format as shown
from desktop import words
from desktop.usage import numbers, periods
from engine.usage.amounts import Amounts, total_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop.usage.periods import Period, Step
    from engine.usage.report import UsageReport

SERIES: Final = 5
"""Models with a colour of their own; the rest are one."""

Unit = Literal["cost", "tokens"]


@dataclass(frozen=True, slots=True)
class StackedBar:
    """One bar."""

    name: str
    """In full."""
    short: str
    """Below the bar, where there is room."""
    parts: tuple[float, ...]
    """One number for each series, the lowest part first."""
    hint: str
    is_partial: bool = False
    """Something of it has no price, so the bar is too low."""


@dataclass(frozen=True, slots=True)
class Chart:
    """What the chart draws."""

    series: tuple[str, ...] = ()
    bars: tuple[StackedBar, ...] = ()
    unit: Unit = "cost"
    has_others: bool = False
    """The last series holds several models."""


def text_of(unit: Unit, number: float) -> str:
    """Return a number of the chart in words."""
    return numbers.dollars(number) if unit == "cost" else numbers.short(number)


def chart_of(report: UsageReport, unit: Unit, period: Period) -> Chart:
    """Return the chart of a report by day with its models told apart.

    Args:
        report: Newest day first.
        unit: What the bars measure.
        period: Where the chart begins and ends; the report's own first and last day where it has no bound.
    """
    if not report.rows:
        return Chart(unit=unit)
    days = {date.fromisoformat(row.label): row.by_model or {"": row.amounts} for row in report.rows}
    first, last = period.first or min(days), period.last or max(days)
    step = periods.step_of(first, last)
    slots: dict[date, dict[str, list[Amounts]]] = {each: {} for each in periods.begins(first, last, step)}
    everything: dict[str, list[Amounts]] = {}
    for day, models in days.items():
        slot = slots.setdefault(periods.begin_of(day, step), {})
        for model, amounts in models.items():
            slot.setdefault(model, []).append(amounts)
            everything.setdefault(model, []).append(amounts)
    sums = [(model, _measure(unit, total_of(each))) for model, each in everything.items()]
    names, has_others = numbers.ranked(sums, SERIES)
    bars = tuple(
        _bar(begin, step, unit, names, {model: total_of(each) for model, each in slots[begin].items()})
        for begin in sorted(slots)
    )
    series = (*(shown.one_line(name, 80) for name in names), *((words.usage.OTHERS,) if has_others else ()))
    if not has_others:
        bars = tuple(StackedBar(each.name, each.short, each.parts[:-1], each.hint, each.is_partial) for each in bars)
    return Chart(series, bars, unit, has_others)


def _measure(unit: Unit, amounts: Amounts) -> float:
    return float(amounts.cost_nanos if unit == "cost" else amounts.tokens)


def _bar(begin: date, step: Step, unit: Unit, names: list[str], models: Mapping[str, Amounts]) -> StackedBar:
    others = sum(_measure(unit, each) for model, each in models.items() if model not in names)
    parts = (*(_measure(unit, models[name]) if name in models else 0.0 for name in names), others)
    whole = total_of(models.values())
    name = _name(begin, step)
    total = numbers.cost(whole) if unit == "cost" else numbers.tokens(whole, whole.tokens)
    lines = [words.usage.bar_of(name, total)]
    for model, amounts in sorted(models.items(), key=lambda each: -_measure(unit, each[1])):
        amount = numbers.cost(amounts) if unit == "cost" else numbers.tokens(amounts, amounts.tokens)
        lines.append(words.usage.bar_part(shown.one_line(model, 80), amount))
    is_partial = bool(whole.unpriced_calls) and unit == "cost"
    if is_partial or (whole.incomplete_calls and models):
        lines.append(numbers.remarks(whole))
    return StackedBar(name, _short(begin, step), parts, "\n".join(lines), is_partial)


def _name(begin: date, step: Step) -> str:
    if step == "day":
        return shown.day(begin)
    if step == "week":
        return words.usage.week_of(shown.day(begin))
    return QLocale().toString(QDate(begin.year, begin.month, begin.day), "MMMM yyyy")


def _short(begin: date, step: Step) -> str:
    form = "MMM yyyy" if step == "month" else "d MMM"
    return QLocale().toString(QDate(begin.year, begin.month, begin.day), form)
