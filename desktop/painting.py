"""What those that paint other people's lines have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyle

from desktop.format import starts_right

if TYPE_CHECKING:
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem


def place_of(option: QStyleOptionViewItem) -> tuple[QRect, QStyle.StateFlag]:
    """Return where a row is painted, and whether it is selected or below the pointer."""
    # The stub lacks the fields of style options.
    rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - as above
    state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - as above
    return rect, state


def read_as_written(painter: QPainter, text: str, align: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
    """Let a painter order a text as its own language does, and return where it stands all the same.

    Args:
        painter: Its direction is the window's until now; set it back, or end it, after the text.
        text: What is painted next.
        align: Where it stands in a window from left to right.
    """
    stands = QStyle.visualAlignment(painter.layoutDirection(), align)
    right = starts_right(text)
    painter.setLayoutDirection(Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight)
    return stands | Qt.AlignmentFlag.AlignAbsolute
