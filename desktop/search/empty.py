"""What stands in place of rows: a drawing, a sentence or two, and a button where something can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop.resources import drawn
from desktop.widgets import button, heading, label

if TYPE_CHECKING:
    from desktop.search.report import Emptiness
    from desktop.theme import Theme

ICON: Final = 40
WIDEST: Final = 460
"""Pixels of a line: longer ones are hard to read."""


class EmptyPage(QWidget):
    """Shows why there are no rows.

    Args:
        theme: Colours and fonts.
    """

    wanted = Signal(str)
    """What the button does."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Emptiness | None = None
        self.icon = QLabel()
        self.icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = heading("", theme.font(1.1, bold=True))
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title.setWordWrap(True)
        self.text = label(kind="muted", wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = button("", self._clicked)
        self.button.hide()
        middle = QWidget()
        middle.setMaximumWidth(WIDEST)
        across = QHBoxLayout(self)
        across.setContentsMargins(30, 20, 30, 20)
        across.addStretch(1)
        # All there is, up to its widest.
        across.addWidget(middle, 1000)
        across.addStretch(1)
        box = QVBoxLayout(middle)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addStretch(2)
        box.addWidget(self.icon)
        box.addSpacing(4)
        box.addWidget(self.title)
        box.addWidget(self.text)
        box.addSpacing(6)
        box.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addStretch(3)
        theme.changed.connect(self._draw)

    def say(self, shown: Emptiness) -> None:
        """Show this."""
        self._shown = shown
        title, _, text = shown.text.partition("\n\n")
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self.button.setText(shown.offer)
        self.button.setAccessibleName(shown.offer)
        self.button.setVisible(bool(shown.offer))
        self._draw()

    def _draw(self, _colours: object = None) -> None:
        if self._shown is not None:
            self.icon.setPixmap(drawn(self._shown.icon, ICON, self._theme.colours.faint, self.devicePixelRatioF()))

    def _clicked(self) -> None:
        if self._shown is not None:
            self.wanted.emit(self._shown.action)
