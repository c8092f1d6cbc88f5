"""What the delegates that paint rows have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtCore import QRect
    from PySide6.QtWidgets import QStyle, QStyleOptionViewItem


def place_of(option: QStyleOptionViewItem) -> tuple[QRect, QStyle.StateFlag]:
    """Return where a row is painted, and whether it is selected or below the pointer."""
    # The stub lacks the fields of style options.
    rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - as above
    state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - as above
    return rect, state
