"""Who speaks, and how that is shown above what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtWidgets import QStyle

from desktop import format as shown
from desktop import words
from desktop.resources import drawn
from desktop.text_size import grown
from desktop.theme import colour

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from desktop.theme import Theme
    from engine.core.models.sessions import MessageView


def speaker_of(message: MessageView) -> tuple[str, bool]:
    """Return who speaks, as headings group it: results belong to the one who called the tool."""
    return ("assistant" if message.role == "tool" else message.role, message.is_sidechain)


def speaker_look(message: MessageView, person: str, claude: str, tool: str) -> tuple[str, str, str]:
    """Return the drawing, the name and the colour of a speaker."""
    if message.is_sidechain:
        return "claude", words.search.SUBAGENT, tool
    match message.role:
        case "user":
            return "person", words.search.YOU, person
        case "assistant" | "tool":
            return "claude", words.search.CLAUDE, claude
        case "summary":
            return "summary", words.search.SUMMARY, tool
        case "record":
            return "summary", words.search.RECORD, tool
        case _:
            return "injected", words.search.INJECTED, tool


def paint_head(painter: QPainter, theme: Theme, message: MessageView, box: QRect, gutter: int) -> None:
    """Draw who speaks and when, above what is said.

    Args:
        painter: On a widget whose direction it has.
        theme: Colours and fonts.
        message: What is said.
        box: The line, the mark before it included.
        gutter: Pixels for the mark.
    """
    colours, direction = theme.colours, painter.layoutDirection()
    icon, name, tint = speaker_look(message, colours.person, colours.claude, colours.tool)
    size = grown(16)
    mark = QStyle.visualRect(direction, box, QRect(box.left(), box.top() + (box.height() - size) // 2, size, size))
    painter.drawPixmap(QPointF(mark.topLeft()), drawn(icon, size, tint, painter.device().devicePixelRatioF()))
    align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
    line = box.adjusted(max(gutter, size + 6), 0, 0, 0)
    painter.setFont(theme.font(0.95, bold=True))
    painter.setPen(colour(tint))
    width = painter.fontMetrics().horizontalAdvance(name)
    painter.drawText(QStyle.visualRect(direction, box, line), align, name)
    line.adjust(width + 10, 0, 0, 0)
    painter.setFont(theme.font(0.86))
    painter.setPen(colour(colours.faint))
    when = painter.fontMetrics().elidedText(
        shown.absolute(message.timestamp), Qt.TextElideMode.ElideRight, line.width()
    )
    painter.drawText(QStyle.visualRect(direction, box, line), align, when)
