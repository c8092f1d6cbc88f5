"""A window without a frame that appears on the screen with the pointer and goes when something else is clicked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QCursor,
    QGuiApplication,
    QMouseEvent,
    QPainterPath,
    QPaintEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QSizeGrip, QVBoxLayout, QWidget

from desktop.text_size import with_room

if TYPE_CHECKING:
    from PySide6.QtGui import QScreen

SIZE: Final = QSize(900, 560)
SMALLEST: Final = QSize(460, 300)
RADIUS: Final = 12


class Grip(QSizeGrip):
    """The corner by which the window is made larger. Its shape under the pointer says so; dots need not."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw nothing."""


class FloatingWindow(QWidget):
    """Shows `frame`, in which a subclass puts its widgets.

    Args:
        as_program: An ordinary window with a frame, on the task bar, that only goes when it is closed. For desktops
            without a tray, where it is the only surface.
    """

    appeared = Signal()
    hidden = Signal()
    closed = Signal()
    """The person has closed it as a program."""

    def __init__(self, *, as_program: bool = False) -> None:
        super().__init__()
        self._as_program = as_program
        self._was_active = False
        self.frame = QFrame(self)
        self.frame.setObjectName("frame")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.frame)
        self.setMinimumSize(SMALLEST)
        self.resize(with_room(SIZE))
        if as_program:
            return
        kind = Qt.WindowType.Window if sys.platform == "darwin" else Qt.WindowType.Tool
        self.setWindowFlags(kind | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint)
        # Without a compositor a transparent corner of X11 is black, so the window gets a shape there instead.
        self._is_shaped = QGuiApplication.platformName() == "xcb"
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground, not self._is_shaped)
        self._grip = Grip(self)
        self._grip.setFixedSize(14, 14)

    @property
    def as_program(self) -> bool:
        """True when it is an ordinary window."""
        return self._as_program

    def toggle(self) -> None:
        """Show the window, or hide it when it is the one being used."""
        if self.isVisible() and (self.isActiveWindow() or not self._was_active) and not self._as_program:
            self.dismiss()
        else:
            self.present()

    def present(self) -> None:
        """Bring the window up, with the keyboard."""
        if not self.isVisible() and not self._as_program:
            screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
            self.setGeometry(placed(self.size(), screen))
        self._was_active = False
        self.show()
        self.raise_()
        self.activateWindow()
        self.appeared.emit()

    def dismiss(self) -> None:
        """Hide the window. As an ordinary one it stays: it is the only surface."""
        if self._as_program:
            return
        self.hide()
        self.hidden.emit()

    def event(self, event: QEvent) -> bool:
        """Hide when another window is clicked."""
        if event.type() == QEvent.Type.WindowActivate:
            self._was_active = True
        elif event.type() == QEvent.Type.WindowDeactivate and self._was_active and not self._as_program:
            # A menu or dialog of ours takes over only after this event.
            QTimer.singleShot(0, self._left)
        return super().event(event)

    def _left(self) -> None:
        mine = QApplication.activeWindow() or QApplication.activePopupWidget()
        if self.isVisible() and mine is None:
            self.dismiss()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing an ordinary window is the end of the program; the floating one only hides."""
        if self._as_program:
            event.accept()
            self.closed.emit()
        else:
            event.ignore()
            self.dismiss()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep shape and grip at the corners."""
        super().resizeEvent(event)
        if self._as_program:
            return
        self._grip.move(self.width() - 15, self.height() - 15)
        self._grip.raise_()
        if self._is_shaped:
            path = QPainterPath()
            path.addRoundedRect(QRectF(self.rect()), RADIUS, RADIUS)
            self.setMask(QRegion(path.toFillPolygon().toPolygon()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Let the window be moved wherever nothing else takes the mouse."""
        if event.button() == Qt.MouseButton.LeftButton and not self._as_program:
            self.windowHandle().startSystemMove()


def placed(size: QSize, screen: QScreen | None) -> QRect:
    """Return where a window of this size goes: in the middle, a little above, never larger than the screen."""
    if screen is None:
        return QRect(QPoint(0, 0), size)
    room = screen.availableGeometry()
    width, height = min(size.width(), room.width() - 20), min(size.height(), room.height() - 20)
    left = room.left() + (room.width() - width) // 2
    top = room.top() + max(10, (room.height() - height) * 2 // 5)
    return QRect(left, top, width, height)
