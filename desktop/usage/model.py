"""The numbers as Qt's views want them: a line for each day, model, project or session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from math import inf
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from desktop import format as shown
from desktop import words
from desktop.usage import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.usage.amounts import Amounts
    from engine.usage.report import UsageReport
    from engine.usage.rows import CostComparison, UsageRow

SORT_ROLE: Final = Qt.ItemDataRole.UserRole
"""What a column is sorted by: numbers as numbers."""

ALL_TOKENS: Final = 5
COST: Final = 7
REMARKS: Final = 8
OWN_TOTAL: Final = numbers.OWN_TOTAL
DIFFERENCE: Final = 10
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table."""

    name: str
    """As it is shown."""
    key: str
    """As it is exported: a date, a model's name, a path, a title with its session."""
    hint: str
    amounts: Amounts
    own_total: CostComparison | None = None
    """Of a session: what Claude Code itself says it cost."""


def lines_of(report: UsageReport, limit: int | None = None) -> tuple[Line, ...]:
    """Return the lines of a report, in its order; at most so many."""
    return tuple(_line(report.by, row) for row in report.rows[:limit])


def _line(by: str, row: UsageRow) -> Line:
    match by:
        case "day":
            return Line(shown.day(date.fromisoformat(row.label)), row.label, row.label, row.amounts)
        case "session":
            name = shown.one_line(row.title or words.shared.UNTITLED)
            project = shown.one_line(row.project or "", 200)
            hint = "\n".join(part for part in (name, project, row.label) if part)
            return Line(name, f"{name} ({row.label})", hint, row.amounts, row.cost_state)
        case "project":
            hint = "\n".join(shown.one_line(each, 200) for each in row.cwds or (row.label,))
            return Line(shown.project_name(row.label) or words.shared.NO_PROJECT, row.label, hint, row.amounts)
        case _:
            name = shown.one_line(row.label)
            return Line(name, row.label, name, row.amounts)


class UsageModel(QAbstractTableModel):
    """Lines of one report."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: tuple[Line, ...] = ()
        self._group = ""

    def set_lines(self, group: str, lines: Sequence[Line]) -> None:
        """Show other lines.

        Args:
            group: Heading of the first column.
            lines: In their order.
        """
        self.beginResetModel()
        self._group = group
        self.lines = tuple(lines)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Return how many lines there are; none below a line."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(words.usage.COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the heading of a column."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(words.usage.COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return words.usage.COLUMNS[section] or self._group
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_alignment(section))
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell."""
        if not index.isValid() or not 0 <= index.row() < len(self.lines):
            return None
        show = _ROLES.get(role)
        return None if show is None else show(self.lines[index.row()], index.column())


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column in {0, REMARKS} else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _counts(amounts: Amounts) -> tuple[int, ...]:
    return (
        amounts.input_tokens,
        amounts.output_tokens,
        numbers.written(amounts),
        amounts.cache_read_tokens,
        amounts.tokens,
        amounts.calls,
    )


def own_total_in_words(line: Line) -> str:
    """Return what Claude Code says a session cost, how that differs from the sum of its calls, and why."""
    own = line.own_total
    if own is None:
        return ""
    difference = "" if own.difference_usd is None else numbers.difference(own)
    why = words.usage.copied(own.why, numbers.dollars(own.copied_usd * numbers.NANOS)) if own.copied_usd else own.why
    return words.usage.own_total(numbers.own_total(own), difference, why)


def _why(line: Line, column: int) -> str | None:
    return own_total_in_words(line) if column in {OWN_TOTAL, DIFFERENCE} else None


def _tooltip(line: Line, column: int) -> str:
    return shown.for_tooltip(line.hint if column == 0 else _why(line, column) or _cell(line, column))


def _cell(line: Line, column: int) -> str:
    if column == 0:
        return line.name
    if column == COST:
        return numbers.cost(line.amounts)
    if column == REMARKS:
        return numbers.remarks(line.amounts)
    if column in {OWN_TOTAL, DIFFERENCE}:
        if line.own_total is None:
            return ""
        return numbers.own_total(line.own_total) if column == OWN_TOTAL else numbers.difference(line.own_total)
    return shown.count(_counts(line.amounts)[column - 1])


def _sort_value(line: Line, column: int) -> str | float:
    """Return numbers as floats: Qt compares whole numbers beyond 32 bits in no order."""
    if column == 0:
        return line.key.casefold()
    if column == COST:
        return float(line.amounts.cost_nanos)
    if column == REMARKS:
        return float(line.amounts.unpriced_calls + line.amounts.incomplete_calls)
    if column in {OWN_TOTAL, DIFFERENCE}:
        own = line.own_total
        value = None if own is None else own.cost_usd if column == OWN_TOTAL else own.difference_usd
        return -inf if value is None else value
    return float(_counts(line.amounts)[column - 1])


_ROLES: Final[Mapping[int, Callable[[Line, int], object]]] = {
    Qt.ItemDataRole.DisplayRole: _cell,
    Qt.ItemDataRole.AccessibleTextRole: _cell,
    Qt.ItemDataRole.AccessibleDescriptionRole: _why,
    Qt.ItemDataRole.ToolTipRole: _tooltip,
    Qt.ItemDataRole.TextAlignmentRole: lambda _line, column: int(_alignment(column)),
    SORT_ROLE: _sort_value,
}
"""What a cell says to whoever asks in this role."""
