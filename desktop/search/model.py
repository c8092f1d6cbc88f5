"""The list of rows as Qt's views want it. A change replaces only what differs: the selection stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from desktop import format as shown
from desktop import words
from desktop.search.rows import Heading, HitRow, RecordItem, SessionItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.search.rows import Row

ROW_ROLE = Qt.ItemDataRole.UserRole
"""The `Row` itself."""

_NOWHERE = QModelIndex()


class RowsModel(QAbstractListModel):
    """Rows of the search list."""

    more_wanted = Signal()
    """The view has come to the end, and there is more."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[Row, ...] = ()
        self._has_more = False

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: Sequence[Row], *, has_more: bool = False) -> None:
        """Show other rows. The common beginning stays untouched."""
        self._has_more = has_more
        new = tuple(rows)
        same = 0
        for before, after in zip(self._rows, new, strict=False):
            if before.key != after.key:
                break
            same += 1
        if same < len(self._rows):
            self.beginRemoveRows(_NOWHERE, same, len(self._rows) - 1)
            self._rows = self._rows[:same]
            self.endRemoveRows()
        changed = [row for row in range(same) if self._rows[row] != new[row]]
        self._rows = (*new[:same], *self._rows[same:])
        if changed:
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))
        if same < len(new):
            self.beginInsertRows(_NOWHERE, same, len(new) - 1)
            self._rows = new
            self.endInsertRows()

    def row_of(self, key: str) -> int | None:
        """Return where the row with this key stands."""
        return next((number for number, row in enumerate(self._rows) if row.key == key), None)

    def next_selectable(self, start: int, step: int) -> int | None:
        """Return the first row from `start` on, in this direction, that can be selected."""
        while 0 <= start < len(self._rows):
            if not isinstance(self._rows[start], Heading):
                return start
            start += step
        return None

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Return how many rows there are; none below a row."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the row, or its text for assistive programs and tooltips."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.UserRole:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return tooltip(row)
            case _:
                return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Return that everything but headings can be selected."""
        if not index.isValid() or isinstance(self._rows[index.row()], Heading):
            return Qt.ItemFlag.ItemIsEnabled if index.isValid() else Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Return whether the engine has a further page."""
        return not parent.isValid() and self._has_more

    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> None:
        """Ask for the further page, once."""
        if self.canFetchMore(parent):
            self._has_more = False
            self.more_wanted.emit()


def spoken(row: Row) -> str:
    """Return a row as a screen reader says it."""
    match row:
        case HitRow():
            hit = row.hit
            parts = [
                shown.one_line(hit.session_title or words.shared.UNTITLED, 120),
                shown.project_name(hit.project),
                words.search.speaker(hit.role, hit.tool),
                shown.one_line(hit.snippet, 300),
                words.search.more_in_session(row.more) if row.more else "",
            ]
            return ". ".join(part for part in parts if part)
        case SessionItem():
            session = row.session
            parts = [
                shown.one_line(session.title or words.shared.UNTITLED, 120),
                shown.project_name(session.project),
                words.amounts.messages(session.messages),
            ]
            return ". ".join(part for part in parts if part)
        case RecordItem():
            return ". ".join(part for part in (row.title, row.about, row.text) if part)
        case Heading():
            return row.text


def tooltip(row: Row) -> str | None:
    """Return what a row's tooltip says: the absolute time, and where. Qt would read HTML, so there is none of it."""
    match row:
        case HitRow():
            lines = [shown.absolute(row.hit.timestamp), shown.one_line(row.hit.project or "", 200)]
            if not row.hit.on_disk:
                lines.append(words.search.ONLY_HERE)
        case SessionItem():
            lines = [shown.absolute(row.session.last_at), shown.one_line(row.session.project or "", 200)]
            if not row.session.on_disk:
                lines.append(words.search.ONLY_HERE)
        case RecordItem():
            lines = [shown.absolute(row.when), row.about, row.id]
        case Heading():
            return None
    return "\n".join(shown.for_tooltip(line) for line in lines if line)
