"""Small widgets that every window uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from desktop.format import for_tooltip
from desktop.painting import read_as_written
from desktop.text_size import with_room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ElidedLabel(QLabel):
    """A line of other people's text that ends in an ellipsis where there is no room. Never rich text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_text(self, text: str, meaning: str = "") -> None:
        """Show a text, and in the tooltip all of it with what it means."""
        self.setText(text)
        self.setToolTip(for_tooltip(f"{text}\n{meaning}" if meaning else text))
        self.setAccessibleDescription(meaning)

    def minimumSizeHint(self) -> QSize:
        """Return that any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw as much as fits."""
        painter = QPainter(self)
        metrics = QFontMetrics(self.font())
        box = self.contentsRect()
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, box.width())
        align = read_as_written(painter, text, self.alignment())
        self.style().drawItemText(
            painter, box, int(align), self.palette(), self.isEnabled(), text, self.foregroundRole()
        )
        painter.end()


def label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label of plain text in one of the style sheet's kinds."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if kind:
        made.setProperty("kind", kind)
    return made


def set_kind(widget: QWidget, kind: str) -> None:
    """Give a widget another of the style sheet's kinds, at once."""
    if widget.property("kind") != kind:
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def button(text: str, clicked: Callable[[], object], kind: str = "") -> QPushButton:
    """Return a button that does something."""
    made = QPushButton(text)
    made.setAccessibleName(text.replace("&", ""))
    if kind:
        made.setProperty("kind", kind)
    made.clicked.connect(lambda _checked=False: clicked())
    return made


class Choice(QWidget):
    """Buttons side by side of which exactly one is down.

    Args:
        names: What they say, by key; the first is down.
        name: What is chosen here, for assistive programs.
    """

    chosen = Signal(str)
    """The key of the button a person pressed."""

    def __init__(self, names: Mapping[str, str], name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.buttons: dict[str, QPushButton] = {}
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        for key, text in names.items():
            made = button(text, lambda key=key: self.chosen.emit(key), "mode")
            made.setCheckable(True)
            made.setAutoExclusive(True)
            made.setChecked(not self.buttons)
            box.addWidget(made)
            self.buttons[key] = made

    @property
    def key(self) -> str:
        """Which button is down."""
        return next(key for key, each in self.buttons.items() if each.isChecked())

    def choose(self, key: str) -> None:
        """Press a button."""
        self.buttons[key].click()


def line() -> QFrame:
    """Return a thin line across."""
    made = QFrame()
    made.setProperty("kind", "line")
    return made


def card() -> QFrame:
    """Return a frame with a surface of its own."""
    made = QFrame()
    made.setProperty("kind", "card")
    return made


class PlainWindow(QWidget):
    """An ordinary window. Escape closes it."""

    def __init__(self, title: str, size: QSize) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self.resize(with_room(size))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


def padded(spin: QAbstractSpinBox) -> None:
    """Set a number in from the edge of its field: a style sheet's padding does not reach it."""
    spin.lineEdit().setTextMargins(7, 0, 0, 0)


def scrolled(inside: QWidget) -> QScrollArea:
    """Return a widget that can be scrolled up and down."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    inside.setObjectName("page")
    area.setWidget(inside)
    area.viewport().setAutoFillBackground(False)
    return area


def heading(text: str, font: QFont) -> QLabel:
    """Return a title in a font."""
    made = label(text)
    made.setFont(font)
    return made
