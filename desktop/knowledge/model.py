"""The reader's list as Qt's views want it, and how its rows are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop import format as shown
from desktop import words
from desktop.knowledge.rows import Heading, RecordRow
from desktop.painting import place_of, read_as_written
from desktop.theme import colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.knowledge.rows import Row
    from desktop.theme import Colours, Theme

ROW_ROLE: Final = Qt.ItemDataRole.UserRole
"""The `Row` itself."""

PAD: Final = 12
_NOWHERE = QModelIndex()


class RecordsModel(QAbstractListModel):
    """Rows of the reader."""

    more_wanted = Signal()
    """The view has come to the end, and there is more."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[Row, ...] = ()
        self._has_more = False

    def set_rows(self, rows: Sequence[Row], *, has_more: bool = False) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self._has_more = has_more
        self.endResetModel()

    def add_rows(self, rows: Sequence[Row], *, has_more: bool) -> None:
        """Show more rows below. A day that goes on is not named again."""
        days = [row.text for row in self.rows if isinstance(row, Heading)]
        first = rows[0] if rows else None
        new = tuple(rows[1:] if isinstance(first, Heading) and days[-1:] == [first.text] else rows)
        self._has_more = has_more
        if new:
            self.beginInsertRows(_NOWHERE, len(self.rows), len(self.rows) + len(new) - 1)
            self.rows = (*self.rows, *new)
            self.endInsertRows()

    def row_of(self, name: str) -> int | None:
        """Return where a record stands."""
        return next((at for at, row in enumerate(self.rows) if isinstance(row, RecordRow) and row.id == name), None)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Return how many rows there are; none below a row."""
        return 0 if parent.isValid() else len(self.rows)

    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Return whether there is more than what was loaded."""
        return not parent.isValid() and self._has_more

    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> None:
        """Ask for more, once."""
        if not parent.isValid() and self._has_more:
            self._has_more = False
            self.more_wanted.emit()

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Return that headings cannot be selected."""
        if index.isValid() and isinstance(self.rows[index.row()], Heading):
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the row, or its text."""
        if not index.isValid() or not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return row.text if isinstance(row, Heading) else _spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, RecordRow):
            return shown.for_tooltip("\n".join(part for part in (row.title, second_line(row), row.id) if part))
        return None


def second_line(row: RecordRow) -> str:
    """Return what stands below a title."""
    tags = " ".join(words.knowledge.tag(each) for each in row.tags)
    earlier = words.knowledge.found_by_earlier(row.via) if row.via else ""
    return " · ".join(part for part in (row.standing, row.kind, tags, earlier) if part)


def _spoken(row: RecordRow) -> str:
    return ". ".join(part for part in (row.title, second_line(row), row.when, row.text) if part)


class RecordDelegate(QStyledItemDelegate):
    """Draws rows: title and date, what it is, a line of what it says.

    Args:
        theme: Colours and fonts.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002 - Qt's signature
        """Return the height of a row; the width is the list's."""
        row: Row = index.data(ROW_ROLE)
        line = QFontMetrics(self._theme.font()).lineSpacing()
        small = QFontMetrics(self._theme.font(0.9)).lineSpacing()
        if isinstance(row, Heading):
            return QSize(0, small + 16)
        return QSize(0, line + small * (2 if row.text else 1) + 24)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one row."""
        row: Row = index.data(ROW_ROLE)
        rect, state = place_of(option)
        colours = self._theme.colours
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            self._line(painter, row.text, rect.adjusted(PAD + 6, 8, -PAD, 0), colours.faint, bold=True)
        else:
            is_selected = bool(state & QStyle.StateFlag.State_Selected)
            if is_selected or state & QStyle.StateFlag.State_MouseOver:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour(colours.selection if is_selected else colours.hover))
                painter.drawRoundedRect(QRectF(rect).adjusted(6, 1, -6, -1), 8, 8)
            shades = colours.on_selection() if is_selected else colours
            self._record(painter, row, rect.adjusted(6 + PAD, 10, -6 - PAD, -10), shades)
        painter.restore()

    def _record(self, painter: QPainter, row: RecordRow, box: QRect, colours: Colours) -> None:
        line = QFontMetrics(self._theme.font()).lineSpacing()
        small = QFontMetrics(self._theme.font(0.9)).lineSpacing()
        used = 0
        if row.when:
            painter.setFont(self._theme.font(0.86))
            used = painter.fontMetrics().horizontalAdvance(row.when) + 10
            painter.setPen(colour(colours.faint))
            place = QRect(box.left(), box.top(), box.width(), line)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.when)
        font = QFont(self._theme.font(1.0, bold=True))
        font.setStrikeOut(bool(row.standing))
        painter.setFont(font)
        painter.setPen(colour(colours.muted if row.standing else colours.text))
        title = QRect(box.left(), box.top(), box.width() - used, line)
        self._elided(painter, row.title, QStyle.visualRect(painter.layoutDirection(), box, title))
        top = box.top() + line + 2
        tint = colours.warning if row.standing else colours.tool
        self._line(painter, second_line(row), QRect(box.left(), top, box.width(), small), tint)
        if row.text:
            self._line(painter, row.text, QRect(box.left(), top + small + 1, box.width(), small), colours.muted)

    def _line(self, painter: QPainter, text: str, box: QRect, name: str, *, bold: bool = False) -> None:
        painter.setFont(self._theme.font(0.9, bold=bold))
        painter.setPen(colour(name))
        self._elided(painter, text, box)

    def _elided(self, painter: QPainter, text: str, box: QRect) -> None:
        fitting = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        direction = painter.layoutDirection()
        align = read_as_written(painter, fitting, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(box, align, fitting)
        painter.setLayoutDirection(direction)
