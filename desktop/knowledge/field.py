"""The field of the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

LENGTH: Final = 200
"""The most a name may have (`knowledge_lookup`)."""


class Field(QLineEdit):
    """The field; Up and Down move in the list below it while typing."""

    stepped = Signal(int)
    """1 for down, -1 for up."""

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(LENGTH)
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move, or type."""
        if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Up}:
            self.stepped.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
