"""The table of the usage window: which columns stand where, and which of them there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from desktop import words
from desktop.text_size import grown
from desktop.usage.model import ALL_TOKENS, COST, DIFFERENCE, OWN_TOTAL, REMARKS, SORT_ROLE, UsageModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtCore import QItemSelection

    from desktop.usage.model import Line

Group = Literal["day", "model", "project", "session"]
NAME_WIDTHS: Final[Mapping[Group, int]] = {"day": 150, "model": 210, "project": 220, "session": 300}
"""Pixels of the first column with usual text: what stands there is longer or shorter."""
FIRST: Final = (COST, OWN_TOTAL, DIFFERENCE, REMARKS, ALL_TOKENS)
"""What it cost and what is missing from that stand first; the rest may need scrolling."""


LINE: Final = 26
"""Pixels of a line with usual text."""
LINES: Final = 4
"""As many are seen however low the window is."""


class UsageTable(QTableView):
    """Shows the lines of a report, sorted as the person wants."""

    line_chosen = Signal(object)
    """The `Line` that was selected last, None without one."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = UsageModel()
        self._sorted = QSortFilterProxyModel()
        self._sorted.setSourceModel(self._lines)
        self._sorted.setSortRole(SORT_ROLE)
        self.setAccessibleName(words.usage.TABLE)
        self.setModel(self._sorted)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(grown(LINE))
        self.setMinimumHeight(grown((LINES + 1.5) * LINE))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(60)
        for place, column in enumerate(FIRST, 1):
            header.moveSection(header.visualIndex(column), place)
        self.set_group("day")
        self.set_lines("", ())

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines, in the report's order."""
        return self._lines.lines

    def set_group(self, group: Group) -> None:
        """Make room for the names of such lines."""
        self.horizontalHeader().resizeSection(0, grown(NAME_WIDTHS[group]))

    def set_lines(self, group: str, lines: Sequence[Line]) -> None:
        """Show other lines.

        Args:
            group: Heading of the first column.
            lines: In their order.
        """
        self._lines.set_lines(group, lines)
        has_own_totals = any(line.own_total is not None for line in lines)
        for column in (OWN_TOTAL, DIFFERENCE):
            self.setColumnHidden(column, not has_own_totals)

    def chosen(self) -> list[Line]:
        """Return the selected lines, in the report's order."""
        rows = {self._sorted.mapToSource(each).row() for each in self.selectionModel().selectedRows()}
        return [line for row, line in enumerate(self.lines) if row in rows]

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Tell which line was selected."""
        super().selectionChanged(selected, deselected)
        rows = [self._sorted.mapToSource(each).row() for each in selected.indexes()]
        chosen = self.chosen()
        self.line_chosen.emit(self.lines[rows[0]] if rows else chosen[0] if chosen else None)
