"""Draws the rows of the list: title, project, time, who said it, and two lines of snippet with the matches marked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop import format as shown
from desktop import words
from desktop.painting import place_of, read_as_written
from desktop.resources import drawn
from desktop.search.model import ROW_ROLE
from desktop.search.rows import Heading, HitRow, RecordItem, SessionItem
from desktop.search.snippet_lines import paint_lines, range_of
from desktop.text_size import grown
from desktop.theme import colour

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.search.rows import Row
    from desktop.theme import Theme
    from engine.core.models.hits import Hit

SIDE: Final = 6
"""Between the list's edge and the surface of a selected row."""
PAD: Final = 12
EDGE: Final = 11
"""Above and below a row's text."""
GAP: Final = 3
MORE_GAP: Final = 3
ICON: Final = 16
ICON_GAP: Final = 10
INDENT: Final = 18
INNER_TIME: Final = 60
"""What the time beside a further hit of a session takes from its text, with usual text."""
SNIPPET_LINES: Final = 2
MAX_SNIPPET: Final = 400
"""Characters that are laid out; two lines hold fewer at any width."""

ROLE_ICONS: Final = {"user": "person", "assistant": "claude", "tool": "tool", "summary": "summary"}
KIND_ICONS: Final = {"thinking": "thinking", "tool_use": "tool", "tool_result": "tool", "image": "image"}


class Fonts:
    """The fonts of rows with their measures, made once: each row uses six of them.

    Args:
        theme: Where they come from.
    """

    def __init__(self, theme: Theme) -> None:
        self.made_from = theme.font()
        self.title = theme.font(bold=True)
        self.small = theme.font(0.9)
        self.tiny = theme.font(0.86)
        self.heading = theme.font(0.86, bold=True)
        self.chip = theme.font(0.82)
        self.in_title = QFontMetrics(self.title)
        self.in_small = QFontMetrics(self.small)
        self.in_tiny = QFontMetrics(self.tiny)
        self.in_chip = QFontMetrics(self.chip)
        self.line = QFontMetrics(self.made_from).lineSpacing()
        self.small_line = self.in_small.lineSpacing()
        self.icon = grown(ICON)


class RowDelegate(QStyledItemDelegate):
    """Draws rows, and notices a click on a project.

    Args:
        theme: Colours and fonts.
        now: For "12 min ago".
    """

    project_clicked = Signal(str)
    """The project's name: only its hits are wanted."""

    def __init__(self, theme: Theme, now: Callable[[], float]) -> None:
        super().__init__()
        self._theme = theme
        self._colours = theme.colours
        self._bounds, self._direction = QRect(), Qt.LayoutDirection.LeftToRight
        """All three: of the row that is being painted."""
        self._now = now
        self._fonts = Fonts(theme)

    @property
    def fonts(self) -> Fonts:
        """The fonts of rows, in the system's font as it is now."""
        if self._fonts.made_from != self._theme.font():
            self._fonts = Fonts(self._theme)
        return self._fonts

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002 - Qt's signature
        """Return the height of a row; the width is the list's."""
        row: Row = index.data(ROW_ROLE)
        fonts = self._fonts
        match row:
            case Heading():
                return QSize(0, fonts.small_line + 14)
            case SessionItem():
                return QSize(0, fonts.line + GAP + fonts.small_line + 2 * EDGE)
            case RecordItem():
                lines = 2 if row.text else 1
                return QSize(0, fonts.line + GAP + fonts.small_line * lines + 2 * EDGE)
            case HitRow():
                head = 0 if row.inner else fonts.line + GAP
                more = fonts.small_line + MORE_GAP if row.more else 0
                return QSize(0, head + fonts.small_line * self._lines_of(row) + more + 2 * EDGE)

    def _lines_of(self, row: HitRow) -> int:
        """Return how many lines a snippet takes: short ones are one line, and their row is lower."""
        view = self.parent()
        if not isinstance(view, QAbstractItemView):
            return SNIPPET_LINES
        room = view.viewport().width() - 2 * (SIDE + PAD) - self._fonts.icon - ICON_GAP
        if row.inner:
            room -= INDENT + grown(INNER_TIME)
        text = row.hit.snippet[:MAX_SNIPPET]
        if len(text) * self._fonts.in_small.averageCharWidth() > 2 * room:
            return SNIPPET_LINES
        return 1 if self._fonts.in_small.horizontalAdvance(_prefix(row.hit) + text) <= room else SNIPPET_LINES

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one row."""
        row: Row = index.data(ROW_ROLE)
        rect, state = place_of(option)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._bounds, self._direction = rect, painter.layoutDirection()
        colours = self._theme.colours
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        if not isinstance(row, Heading) and (is_selected or state & QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(colours.selection if is_selected else colours.hover))
            painter.drawRoundedRect(QRectF(rect).adjusted(SIDE, 1, -SIDE, -1), 8, 8)
        inner = rect.adjusted(SIDE + PAD, EDGE, -SIDE - PAD, -EDGE)
        self._colours = colours.on_selection() if is_selected else colours
        match row:
            case Heading():
                self._heading(painter, row, rect)
            case SessionItem():
                self._session(painter, row, inner)
            case RecordItem():
                self._record(painter, row, inner)
            case HitRow():
                self._hit(painter, row, inner, is_selected=is_selected)
        painter.restore()

    def _heading(self, painter: QPainter, row: Heading, rect: QRect) -> None:
        painter.setFont(self.fonts.heading)
        painter.setPen(colour(self._colours.faint))
        box = rect.adjusted(SIDE + PAD, 6, -SIDE - PAD, 0)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, row.text)

    def _session(self, painter: QPainter, row: SessionItem, box: QRect) -> None:
        colours = self._colours
        session = row.session
        tint = colours.accent if row.pinned else colours.faint
        box = self._icon(painter, "pin" if row.pinned else "session", tint, box)
        used = self._time(painter, session.last_at, box)
        self._title(painter, session.title or words.shared.UNTITLED, box.adjusted(0, 0, -used - 10, 0))
        parts = [
            shown.project_name(session.project),
            shown.one_line(session.branch or "", 40),
            words.amounts.messages(session.messages),
            "" if session.on_disk else words.search.ONLY_HERE_SHORT,
        ]
        self._line(painter, " · ".join(part for part in parts if part), self._below(box))

    def _record(self, painter: QPainter, row: RecordItem, box: QRect) -> None:
        colours = self._colours
        box = self._icon(painter, "summary", colours.accent, box)
        used = self._time(painter, row.when, box)
        self._title(painter, row.title, box.adjusted(0, 0, -used - 10, 0))
        below = self._below(box)
        self._line(painter, row.about, below)
        if row.text:
            self._line(painter, row.text, below.adjusted(0, self.fonts.small_line, 0, 0))

    def _hit(self, painter: QPainter, row: HitRow, box: QRect, *, is_selected: bool) -> None:
        fonts, hit = self.fonts, row.hit
        if row.inner:
            box = box.adjusted(INDENT, 0, 0, 0)
        box = self._icon(painter, *self._role_look(hit), box)
        used = self._time(painter, hit.timestamp, box)
        if row.inner:
            self._snippet(painter, hit, box.adjusted(0, 0, -used - 10, 0), self._lines_of(row))
            return
        used += self._project(painter, hit, box.adjusted(0, 0, -used - 8, 0), is_selected=is_selected) + 8
        self._title(painter, hit.session_title or words.shared.UNTITLED, box.adjusted(0, 0, -used - 10, 0))
        below, lines = self._below(box), self._lines_of(row)
        self._snippet(painter, hit, below, lines)
        if row.more:
            top = below.top() + fonts.small_line * lines + MORE_GAP
            painter.setFont(fonts.tiny)
            painter.setPen(colour(self._colours.accent))
            text = f"{'▾' if row.expanded else '▸'} {words.search.more_in_session(row.more)}"
            place = QRect(below.left(), top, below.width(), fonts.small_line)
            painter.drawText(self._placed(place), Qt.AlignmentFlag.AlignLeft, text)

    def _placed(self, box: QRect) -> QRect:
        """Return where a box of the row lies: in a window from right to left at the other side."""
        return QStyle.visualRect(self._direction, self._bounds, box)

    def _icon(self, painter: QPainter, name: str, tint: str, box: QRect) -> QRect:
        """Draw the mark of a row and return what is left beside it."""
        ratio = painter.device().devicePixelRatioF()
        size = self.fonts.icon
        place = self._placed(QRect(box.left(), box.top() + 2, size, size))
        painter.drawPixmap(QPointF(place.topLeft()), drawn(name, size, tint, ratio))
        return box.adjusted(size + ICON_GAP, 0, 0, 0)

    def _role_look(self, hit: Hit) -> tuple[str, str]:
        colours = self._colours
        icon = KIND_ICONS.get(hit.kind) or ROLE_ICONS.get(hit.role, "injected")
        tints = {"user": colours.person, "assistant": colours.claude}
        return icon, tints.get(hit.role, colours.tool) if icon != "tool" else colours.tool

    def _below(self, box: QRect) -> QRect:
        return box.adjusted(0, self.fonts.line + GAP, 0, 0)

    def _title(self, painter: QPainter, text: str, box: QRect) -> None:
        fonts = self.fonts
        painter.setFont(fonts.title)
        painter.setPen(colour(self._colours.text))
        self._text(painter, shown.one_line(text, 200), box, fonts.in_title)

    def _line(self, painter: QPainter, text: str, box: QRect) -> None:
        fonts = self.fonts
        painter.setFont(fonts.small)
        painter.setPen(colour(self._colours.muted))
        self._text(painter, text, box, fonts.in_small)

    def _text(self, painter: QPainter, text: str, box: QRect, metrics: QFontMetrics) -> None:
        """Draw one line on the font's own baseline: letters of another font (Chinese, emoji) must not push it down."""
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        place = self._placed(QRect(box.left(), box.top(), metrics.horizontalAdvance(elided), metrics.height()))
        read_as_written(painter, elided, Qt.AlignmentFlag.AlignLeft)
        painter.drawText(QPointF(place.left(), place.top() + metrics.ascent()), elided)
        painter.setLayoutDirection(self._direction)

    def _time(self, painter: QPainter, timestamp: str | None, box: QRect) -> int:
        fonts = self.fonts
        text = self._ago(timestamp)
        width = fonts.in_tiny.horizontalAdvance(text)
        painter.setFont(fonts.tiny)
        painter.setPen(colour(self._colours.faint))
        place = self._placed(QRect(box.right() + 1 - width, box.top(), width, fonts.line))
        painter.drawText(QPointF(place.left(), place.top() + fonts.in_title.ascent()), text)
        return width

    def _ago(self, timestamp: str | None) -> str:
        return shown.relative(timestamp, datetime.fromtimestamp(self._now(), UTC))

    def _project(self, painter: QPainter, hit: Hit, box: QRect, *, is_selected: bool) -> int:
        """Draw the project in a chip at the right of a box and return its width."""
        colours, fonts = self._colours, self.fonts
        text, chip = self._chip(hit, box)
        if not text:
            return 0
        painter.setPen(Qt.PenStyle.NoPen)
        # On the selected row a chip of its own colour could not be seen.
        painter.setBrush(colour(colours.window if is_selected else colours.chip, 0.7 if is_selected else 1))
        chip = self._placed(chip)
        painter.drawRoundedRect(QRectF(chip), 5, 5)
        painter.setFont(fonts.chip)
        painter.setPen(colour(colours.on_chip))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        return chip.width()

    def _chip(self, hit: Hit, box: QRect) -> tuple[str, QRect]:
        """Return what a project's chip says, and where it is; nothing for a hit of no project."""
        metrics = self.fonts.in_chip
        text = metrics.elidedText(shown.project_name(hit.project), Qt.TextElideMode.ElideMiddle, box.width() // 3)
        width, height = metrics.horizontalAdvance(text) + 12, metrics.height() + 2
        return text, QRect(box.right() - width, box.top() + (self.fonts.line - height) // 2, width, height)

    def chip_at(self, rect: QRect, row: HitRow) -> QRect:
        """Return where the chip of a row lies; an empty place where there is none."""
        box = rect.adjusted(SIDE + PAD + self.fonts.icon + ICON_GAP, EDGE, -SIDE - PAD, -EDGE)
        used = self.fonts.in_tiny.horizontalAdvance(self._ago(row.hit.timestamp)) + 8
        text, chip = self._chip(row.hit, box.adjusted(0, 0, -used, 0))
        if not text or row.inner:
            return QRect()
        view = self.parent()
        return QStyle.visualRect(view.layoutDirection(), rect, chip) if isinstance(view, QWidget) else chip

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Take a click on a project's chip as the wish to see only that project."""
        row: Row = index.data(ROW_ROLE)
        if (
            isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
            and event.button() == Qt.MouseButton.LeftButton
            and isinstance(row, HitRow)
        ):
            rect, _ = place_of(option)
            if self.chip_at(rect, row).contains(event.position().toPoint()):
                self.project_clicked.emit(shown.project_name(row.hit.project))
                return True
        return super().editorEvent(event, model, option, index)

    def _snippet(self, painter: QPainter, hit: Hit, box: QRect, lines: int) -> None:
        colours = self._colours
        text, marks = shown.plain_marked(hit.snippet[:MAX_SNIPPET], tuple(m for m in hit.marks if m[1] <= MAX_SNIPPET))
        prefix = _prefix(hit)
        if prefix:
            marks = tuple((start + len(prefix), end + len(prefix)) for start, end in marks)
            text = prefix + text
        formats: list[QTextLayout.FormatRange] = []
        for start, length in shown.utf16_marks(text, marks):
            form = QTextCharFormat()
            form.setBackground(colour(colours.mark))
            form.setForeground(colour(colours.on_mark))
            formats.append(range_of(start, length, form))
        if prefix:
            form = QTextCharFormat()
            form.setForeground(colour(colours.text))
            form.setFontWeight(QFont.Weight.DemiBold)
            formats.append(range_of(0, len(prefix) - 1, form))
        paint_lines(painter, text, formats, self._placed(box), (self.fonts.small, colours.muted, lines))


def _prefix(hit: Hit) -> str:
    """Return the tool's name before what it was told or answered."""
    is_tool = hit.tool and hit.kind in {"tool_use", "tool_result"}
    return f"{shown.one_line(f'{hit.tool}:', 60)} " if is_tool else ""
