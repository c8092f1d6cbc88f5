"""Icons: drawn SVG files of `assets/icons`, turned into pixmaps of the wanted size, state and colour."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer

from engine.integrations.launch import assets_folder

if TYPE_CHECKING:
    from pathlib import Path

TRAY_SIZES = (16, 22, 24, 32, 44, 48, 64)
"""What panels ask for: 16 on Windows and tint2, 22 on KDE and macOS, each doubled on sharp screens."""


class TrayState(StrEnum):
    """What the tray icon can say. The values name the files."""

    IDLE = "idle"
    INDEXING = "indexing"
    PAUSED = "paused"
    ATTENTION = "attention"
    DISCONNECTED = "disconnected"


def icons_folder() -> Path:
    """Return where the drawings lie."""
    return assets_folder() / "icons"


def app_icon() -> QIcon:
    """Return the icon of windows and of the dock."""
    icon = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        icon.addPixmap(drawn("app", size))
    return icon


def tray_icon(state: TrayState, *, share: float | None = None, template: bool = False) -> QIcon:
    """Return the tray's icon.

    Args:
        state: What it says.
        share: For `INDEXING`, how far it is (0 to 1), drawn as an arc; None while that is not known.
        template: macOS colours it itself: black and transparent.
    """
    icon = QIcon()
    for size in TRAY_SIZES:
        pixmap = drawn(f"{'template' if template else 'tray'}-{state.value}", size)
        if state is TrayState.INDEXING and share is not None:
            pixmap = _with_arc(pixmap, share, template=template)
        icon.addPixmap(pixmap)
    icon.setIsMask(template)
    return icon


@lru_cache(maxsize=256)
def drawn(name: str, size: int, tint: str | None = None, ratio: float = 1.0) -> QPixmap:
    """Return a drawing as a square pixmap of so many logical pixels, in its own colours or all in one."""
    pixels = max(1, round(size * ratio))
    pixmap = QPixmap(QSize(pixels, pixels))
    pixmap.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray((icons_folder() / f"{name}.svg").read_bytes()))
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    if tint is not None:
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(pixmap.rect(), QColor(tint))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _with_arc(pixmap: QPixmap, share: float, *, template: bool) -> QPixmap:
    made = QPixmap(pixmap)
    side = made.width()
    width = side * 3 / 32
    inset = side * 4 / 32  # the ring of the drawing: a radius of 12 of 32
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(Qt.GlobalColor.black) if template else QColor(Qt.GlobalColor.white), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    # Qt counts sixteenths of a degree, against the clock, from three o'clock.
    painter.drawArc(QRectF(inset, inset, side - 2 * inset, side - 2 * inset), 90 * 16, -round(share * 360 * 16))
    painter.end()
    return made
