"""The filters as chips beside the field: each can be clicked, or removed with Backspace, and goes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from desktop import format as shown
from desktop import words

if TYPE_CHECKING:
    from desktop.search.query import Chip


class ChipBar(QWidget):
    """Shows chips."""

    removed = Signal(object)
    """The `Chip` that was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chips: tuple[Chip, ...] = ()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self.hide()

    def set_chips(self, chips: tuple[Chip, ...]) -> None:
        """Show other chips."""
        if chips == self._chips:
            return
        self._chips = chips
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for chip in chips:
            self._row.addWidget(self._button(chip))
        self.setVisible(bool(chips))

    def buttons(self) -> list[QPushButton]:
        """Return the buttons, in order."""
        items = [self._row.itemAt(index) for index in range(self._row.count())]
        widgets = [item.widget() for item in items if item is not None]
        return [each for each in widgets if isinstance(each, QPushButton)]

    def _button(self, chip: Chip) -> QPushButton:
        text = shown.one_line(chip.text, 32).replace("&", "&&")
        button = QPushButton(f"{text}  {words.search.REMOVE}", self)
        button.setProperty("kind", "chip")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(words.search.remove_filter(chip.text))
        button.clicked.connect(lambda: self.removed.emit(chip))
        return button
