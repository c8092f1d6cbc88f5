"""Draws the rows of the list: title, project, time, who said it, and two lines of snippet with the matches marked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop import format as shown
from desktop import words
from desktop.resources import drawn
from desktop.search.model import ROW_ROLE
from desktop.search.rows import Heading, HitRow, SessionItem
from desktop.theme import colour, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.search.rows import Row
    from desktop.theme import Theme
    from engine.core.models.hits import Hit

PAD: Final = 12
ICON: Final = 16
INDENT: Final = 18
SNIPPET_LINES: Final = 2
MAX_SNIPPET: Final = 400
"""Characters that are laid out; two lines hold fewer at any width."""

ROLE_ICONS: Final = {"user": "person", "assistant": "claude", "tool": "tool", "summary": "summary"}
KIND_ICONS: Final = {"thinking": "thinking", "tool_use": "tool", "tool_result": "tool", "image": "image"}


class RowDelegate(QStyledItemDelegate):
    """Draws rows.

    Args:
        theme: Colours and fonts.
        now: For "12 min ago".
    """

    def __init__(self, theme: Theme, now: Callable[[], float]) -> None:
        super().__init__()
        self._theme = theme
        self._now = now

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002 - Qt's signature
        """Return the height of a row; the width is the list's."""
        row: Row = index.data(ROW_ROLE)
        line = QFontMetrics(self._theme.font()).lineSpacing()
        small = QFontMetrics(self._theme.font(0.9)).lineSpacing()
        match row:
            case Heading():
                return QSize(0, small + 14)
            case SessionItem():
                return QSize(0, line + small + 26)
            case HitRow():
                extra = small + 4 if row.more else 0
                head = 0 if row.inner else line + 3
                return QSize(0, head + small * SNIPPET_LINES + 24 + extra)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one row."""
        row: Row = index.data(ROW_ROLE)
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - the stub lacks the fields of style options
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - as above
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = self._theme.colours
        if not isinstance(row, Heading):
            is_selected = bool(state & QStyle.StateFlag.State_Selected)
            is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
            if is_selected or is_hovered:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour(colours.selection if is_selected else colours.hover))
                painter.drawRoundedRect(QRectF(rect).adjusted(6, 1, -6, -1), 8, 8)
        inner = rect.adjusted(6 + PAD, 10, -6 - PAD, -10)
        match row:
            case Heading():
                self._heading(painter, row, rect)
            case SessionItem():
                self._session(painter, row, inner)
            case HitRow():
                self._hit(painter, row, inner)
        painter.restore()

    def _heading(self, painter: QPainter, row: Heading, rect: QRect) -> None:
        painter.setFont(self._theme.font(0.86, bold=True))
        painter.setPen(colour(self._theme.colours.faint))
        box = rect.adjusted(6 + PAD, 6, -6 - PAD, 0)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, row.text)

    def _session(self, painter: QPainter, row: SessionItem, box: QRect) -> None:
        colours = self._theme.colours
        session = row.session
        ratio = painter.device().devicePixelRatioF()
        icon = drawn("pin" if row.pinned else "session", ICON, colours.accent if row.pinned else colours.faint, ratio)
        painter.drawPixmap(QPointF(box.left(), box.top() + 2), icon)
        box = box.adjusted(ICON + 10, 0, 0, 0)
        used = self._time(painter, session.last_at, box)
        self._title(
            painter, shown.one_line(session.title or words.shared.UNTITLED, 200), box.adjusted(0, 0, -used - 10, 0)
        )
        parts = [
            shown.project_name(session.project),
            shown.one_line(session.branch or "", 40),
            words.amounts.messages(session.messages),
            "" if session.on_disk else words.search.ONLY_HERE_SHORT,
        ]
        self._line(painter, " · ".join(part for part in parts if part), self._below(box))

    def _hit(self, painter: QPainter, row: HitRow, box: QRect) -> None:
        colours = self._theme.colours
        hit = row.hit
        ratio = painter.device().devicePixelRatioF()
        if row.inner:
            box = box.adjusted(INDENT, 0, 0, 0)
        name, tint = self._role_look(hit)
        painter.drawPixmap(QPointF(box.left(), box.top() + 2), drawn(name, ICON, tint, ratio))
        box = box.adjusted(ICON + 10, 0, 0, 0)
        if row.inner:
            used = self._time(painter, hit.timestamp, box)
            self._snippet(painter, hit, box.adjusted(0, 0, -used - 10, 0))
            return
        used = self._time(painter, hit.timestamp, box)
        used += self._project(painter, hit, box.adjusted(0, 0, -used - 8, 0)) + 8
        self._title(
            painter, shown.one_line(hit.session_title or words.shared.UNTITLED, 200), box.adjusted(0, 0, -used - 10, 0)
        )
        below = self._below(box)
        self._snippet(painter, hit, below)
        if row.more:
            small = QFontMetrics(self._theme.font(0.9)).lineSpacing()
            top = below.top() + small * SNIPPET_LINES + 4
            painter.setFont(self._theme.font(0.86))
            painter.setPen(colour(colours.accent))
            text = f"{'▾' if row.expanded else '▸'} {words.search.more_in_session(row.more)}"
            painter.drawText(QRect(below.left(), top, below.width(), small), Qt.AlignmentFlag.AlignLeft, text)

    def _role_look(self, hit: Hit) -> tuple[str, str]:
        colours = self._theme.colours
        icon = KIND_ICONS.get(hit.kind) or ROLE_ICONS.get(hit.role, "injected")
        tints = {"user": colours.person, "assistant": colours.claude}
        return icon, tints.get(hit.role, colours.tool) if icon != "tool" else colours.tool

    def _below(self, box: QRect) -> QRect:
        return box.adjusted(0, QFontMetrics(self._theme.font()).lineSpacing() + 3, 0, 0)

    def _title(self, painter: QPainter, text: str, box: QRect) -> None:
        font = scaled(self._theme.font(), 1.0, bold=True)
        painter.setFont(font)
        painter.setPen(colour(self._theme.colours.text))
        elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(
            box, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine, elided
        )

    def _line(self, painter: QPainter, text: str, box: QRect) -> None:
        font = self._theme.font(0.9)
        painter.setFont(font)
        painter.setPen(colour(self._theme.colours.muted))
        elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(
            box, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine, elided
        )

    def _time(self, painter: QPainter, timestamp: str | None, box: QRect) -> int:
        text = shown.relative(timestamp, datetime.fromtimestamp(self._now(), UTC))
        font = self._theme.font(0.86)
        painter.setFont(font)
        painter.setPen(colour(self._theme.colours.faint))
        painter.drawText(box.adjusted(0, 1, 0, 0), Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight, text)
        return QFontMetrics(font).horizontalAdvance(text)

    def _project(self, painter: QPainter, hit: Hit, box: QRect) -> int:
        """Draw the project in a chip at the right of a box and return its width."""
        colours = self._theme.colours
        font = self._theme.font(0.82)
        metrics = QFontMetrics(font)
        text = metrics.elidedText(shown.project_name(hit.project), Qt.TextElideMode.ElideMiddle, box.width() // 3)
        if not text:
            return 0
        width = metrics.horizontalAdvance(text) + 12
        chip = QRectF(box.right() - width, box.top(), width, metrics.height() + 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(colours.chip))
        painter.drawRoundedRect(chip, 5, 5)
        painter.setFont(font)
        painter.setPen(colour(colours.on_chip))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        return width

    def _snippet(self, painter: QPainter, hit: Hit, box: QRect) -> None:
        colours = self._theme.colours
        text, marks = shown.plain_marked(hit.snippet[:MAX_SNIPPET], tuple(m for m in hit.marks if m[1] <= MAX_SNIPPET))
        prefix = f"{hit.tool}: " if hit.tool and hit.kind in {"tool_use", "tool_result"} else ""
        if prefix:
            prefix = shown.one_line(prefix, 60) + " "
            marks = tuple((start + len(prefix), end + len(prefix)) for start, end in marks)
            text = prefix + text
        formats: list[QTextLayout.FormatRange] = []
        for start, length in shown.utf16_marks(text, marks):
            form = QTextCharFormat()
            form.setBackground(colour(colours.mark))
            form.setForeground(colour(colours.on_mark))
            formats.append(_range(start, length, form))
        if prefix:
            form = QTextCharFormat()
            form.setForeground(colour(colours.text))
            form.setFontWeight(QFont.Weight.DemiBold)
            formats.append(_range(0, len(prefix) - 1, form))
        paint_lines(painter, text, formats, box, (self._theme.font(0.9), colours.muted))


def _range(start: int, length: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start = start
    made.length = length
    made.format = form
    return made


def paint_lines(
    painter: QPainter,
    text: str,
    formats: list[QTextLayout.FormatRange],
    box: QRect,
    look: tuple[QFont, str],
) -> None:
    """Draw the first lines of a text in a font and a colour, with an ellipsis when there is more."""
    font, tint = look
    lines = SNIPPET_LINES
    metrics = QFontMetrics(font)
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats(formats)
    layout.beginLayout()
    y = 0.0
    overflows = False
    for number in range(lines + 1):
        line = layout.createLine()
        if not line.isValid():
            break
        if number == lines:
            overflows = True
            line.setPosition(QPointF(0, 1e6))
            break
        line.setLineWidth(max(20, box.width() - (metrics.horizontalAdvance("…") if number == lines - 1 else 0)))
        line.setPosition(QPointF(0, y))
        y += metrics.lineSpacing()
    layout.endLayout()
    painter.setPen(colour(tint))
    # The layout as a whole is drawn, since a single line would not know its formats; the line too much is clipped.
    clip = QRectF(box.left(), box.top(), box.width(), y + metrics.descent() / 2)
    layout.draw(painter, QPointF(box.topLeft()), [], clip)
    if overflows:
        last = layout.lineAt(lines - 1)
        right = last.naturalTextRect().right() + box.left()
        painter.setFont(font)
        painter.drawText(QPointF(right, box.top() + (lines - 1) * metrics.lineSpacing() + metrics.ascent()), "…")
