"""Draws the first lines of a snippet, its matches marked, with an ellipsis where there is more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QTextLayout, QTextOption

from desktop import format as shown
from desktop.theme import colour

if TYPE_CHECKING:
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QFont, QPainter, QTextCharFormat


def range_of(start: int, length: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    """Return a format for some of the characters."""
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
    look: tuple[QFont, str, int],
) -> None:
    """Draw the first lines of a text in a font, a colour and so many lines, with an ellipsis when there is more."""
    font, tint, lines = look
    metrics = QFontMetrics(font)
    layout = QTextLayout(text, font)
    option = QTextOption()
    if painter.layoutDirection() == Qt.LayoutDirection.RightToLeft:
        option.setAlignment(Qt.AlignmentFlag.AlignRight)
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
        last = layout.lineAt(lines - 1).naturalTextRect().translated(box.left(), 0)
        painter.setFont(font)
        # The end of what is read from right to left is at the left.
        end = last.left() - metrics.horizontalAdvance("…") if shown.starts_right(text) else last.right()
        painter.drawText(QPointF(end, box.top() + (lines - 1) * metrics.lineSpacing() + metrics.ascent()), "…")
