"""How much room things get where the system's text is larger than usual: sizes in pixels are those of usual text."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QApplication

USUAL_LINE: Final = 16.5
"""Pixels from line to line of the systems' own fonts at their usual size: 15 to 16.5 at 100 %."""
OF_THE_SCREEN: Final = 0.92
"""A window that grew leaves a rim of the screen, on which others can be reached."""


def larger() -> float:
    """Return how many times larger than usual the system's text is; never less than once."""
    return max(1.0, QFontMetricsF(QApplication.font()).lineSpacing() / USUAL_LINE)


def grown(pixels: float) -> int:
    """Return so many pixels of usual text in the system's text."""
    return round(pixels * larger())


def with_room(size: QSize) -> QSize:
    """Return the size of a window in which as much can be read as with usual text, where the screen has the room."""
    wanted = QSize(grown(size.width()), grown(size.height()))
    if wanted == size:
        return size
    return wanted.boundedTo(QGuiApplication.primaryScreen().availableSize() * OF_THE_SCREEN).expandedTo(size)
