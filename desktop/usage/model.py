"""The numbers as Qt's views want them: a line for each day, model, project or session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from desktop import format as shown
from desktop import words
from desktop.usage import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.usage.amounts import Amounts
    from engine.usage.report import UsageReport
    from engine.usage.rows import UsageRow

SORT_ROLE: Final = Qt.ItemDataRole.UserRole
"""What a column is sorted by: numbers as numbers."""

ALL_TOKENS: Final = 5
COST: Final = 7
REMARKS: Final = 8
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
            return Line(name, f"{name} ({row.label})", hint, row.amounts)
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
        line, column = self.lines[index.row()], index.column()
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return _cell(line, column)
        if role == SORT_ROLE:
            return _sort_value(line, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return shown.for_tooltip(line.hint if column == 0 else _cell(line, column))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_alignment(column))
        return None


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


def _cell(line: Line, column: int) -> str:
    if column == 0:
        return line.name
    if column == COST:
        return numbers.cost(line.amounts)
    if column == REMARKS:
        return numbers.remarks(line.amounts)
    return shown.count(_counts(line.amounts)[column - 1])


def _sort_value(line: Line, column: int) -> str | float:
    """Return numbers as floats: Qt compares whole numbers beyond 32 bits in no order."""
    if column == 0:
        return line.key.casefold()
    if column == COST:
        return float(line.amounts.cost_nanos)
    if column == REMARKS:
        return float(line.amounts.unpriced_calls + line.amounts.incomplete_calls)
    return float(_counts(line.amounts)[column - 1])
