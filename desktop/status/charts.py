"""Charts drawn with QPainter in the colours of the theme: bars, a calendar, and the curve of a backlog."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QStyle, QToolTip, QWidget

from desktop import format as shown
from desktop import words
from desktop.text_size import grown
from desktop.theme import colour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from desktop.theme import Theme

ROW: Final = 30
"""Pixels of a bar with its name, with usual text."""
NAMES: Final = 190
HEADING: Final = 20
"""Above the squares of the calendar, for the months; with usual text."""
CELL: Final = 13
STEP: Final = 16
WEEKS: Final = 53
"""A year at most; as many as there is room for."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart."""

    name: str
    share: float
    """0 to 1."""
    text: str
    hint: str = ""


class Bars(QWidget):
    """Names, bars and numbers, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._bars: tuple[Bar, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        self._bars = tuple(bars)
        self.setAccessibleDescription(". ".join(f"{bar.name}: {bar.text}" for bar in bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return room for every bar."""
        return QSize(300, max(1, len(self._bars)) * grown(ROW))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the bars."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(self.font())
        names, high = min(grown(NAMES), self.width() // 3), grown(ROW)
        numbers = max((metrics.horizontalAdvance(bar.text) for bar in self._bars), default=0) + 14
        for row, bar in enumerate(self._bars):
            top = row * high
            painter.setPen(colour(colours.text))
            name = metrics.elidedText(bar.name, Qt.TextElideMode.ElideMiddle, names - 12)
            painter.drawText(self._placed(QRect(0, top, names, high)), Qt.AlignmentFlag.AlignVCenter, name)
            track = QRect(names, top + high // 2 - 4, max(20, self.width() - names - numbers), 8)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(colours.heat[0]))
            painter.drawRoundedRect(QRectF(self._placed(track)), 4, 4)
            if bar.share > 0:
                track.setWidth(max(8, round(track.width() * min(1.0, bar.share))))
                painter.setBrush(colour(colours.accent))
                painter.drawRoundedRect(QRectF(self._placed(track)), 4, 4)
            painter.setPen(colour(colours.muted))
            box = self._placed(QRect(self.width() - numbers, top, numbers, high))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, bar.text)
        painter.end()

    def _placed(self, box: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), box)

    def event(self, event: QEvent) -> bool:
        """Show what a bar stands for."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = event.pos().y() // grown(ROW)
            hint = self._bars[row].hint if 0 <= row < len(self._bars) else ""
            QToolTip.showText(event.globalPos(), shown.for_tooltip(hint), self)
            return True
        return super().event(event)


class Calendar(QWidget):
    """Days as squares, a column a week, darker where more was said."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._days: Mapping[date, int] = {}
        self._shares: Mapping[date, str] = {}
        self._last = date(2000, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words.status.CALENDAR)

    def set_days(self, days: Mapping[date, int], last: date, shares: Mapping[date, str] | None = None) -> None:
        """Show other days.

        Args:
            days: How many messages each has.
            last: The day at the right end.
            shares: How much of each is found by meaning, in words.
        """
        self._days = days
        self._shares = shares or {}
        self._last = last
        busy = sum(1 for number in days.values() if number)
        self.setAccessibleDescription(words.status.active_days(busy))
        self.update()

    def sizeHint(self) -> QSize:
        """Return room for a quarter of a year; it takes what there is."""
        return QSize(13 * STEP, 7 * STEP + grown(HEADING) + 2)

    @property
    def weeks(self) -> int:
        """How many weeks fit."""
        return max(1, min(WEEKS, (self.width() + STEP - CELL) // STEP))

    def _first(self) -> date:
        monday = self._last - timedelta(days=self._last.weekday())
        return monday - timedelta(weeks=self.weeks - 1)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the squares."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(0.8))
        most = max(self._days.values(), default=1) or 1
        first = self._first()
        month = 0
        for week in range(self.weeks):
            monday = first + timedelta(weeks=week)
            if monday.month != month and monday.day <= 7:
                painter.setPen(colour(colours.faint))
                painter.drawText(QPointF(week * STEP, painter.fontMetrics().ascent()), shown.month(monday))
            month = monday.month
            for weekday in range(7):
                day = monday + timedelta(days=weekday)
                if day > self._last:
                    break
                number = self._days.get(day, 0)
                step = 0 if not number else min(4, 1 + int(3.99 * (number / most) ** 0.5))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour(colours.heat[step]))
                painter.drawRoundedRect(QRectF(week * STEP, grown(HEADING) + weekday * STEP, CELL, CELL), 3, 3)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say which day a square is."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            week, weekday = event.pos().x() // STEP, (event.pos().y() - grown(HEADING)) // STEP
            day = self._first() + timedelta(weeks=week, days=weekday)
            is_day = 0 <= week < self.weeks and 0 <= weekday < 7 and day <= self._last
            text = self.told(day) if is_day else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def told(self, day: date) -> str:
        """Return what is said of a day: how much was said, and how much of that is found by meaning."""
        text = words.status.on_day(words.amounts.messages(self._days.get(day, 0)), shown.day(day))
        share = self._shares.get(day)
        return words.status.embedded_too(text, share) if share else text


class Curve(QWidget):
    """How a number went over the last minutes."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._points: tuple[tuple[float, float], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words.status.BACKLOG)

    def set_points(self, points: Sequence[tuple[float, float]]) -> None:
        """Show other points: seconds and number, in order."""
        self._points = tuple(points)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a flat strip."""
        return QSize(300, 68 + grown(16))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the curve with its highest value."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0, grown(16), self.width() - 1, self.height() - grown(16) - 4)
        painter.setPen(QPen(colour(colours.border), 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        if len(self._points) >= 2:
            self._draw(painter, box)
        painter.end()

    def _draw(self, painter: QPainter, box: QRectF) -> None:
        colours = self._theme.colours
        start, end = self._points[0][0], self._points[-1][0]
        most = max(number for _, number in self._points) or 1.0
        span = max(1e-9, end - start)
        path = QPainterPath()
        for index, (second, number) in enumerate(self._points):
            point = QPointF(
                box.left() + (second - start) / span * box.width(), box.bottom() - number / most * (box.height() - 6)
            )
            if index:
                path.lineTo(point)
            else:
                path.moveTo(point)
        area = QPainterPath(path)
        area.lineTo(box.bottomRight())
        area.lineTo(box.bottomLeft())
        area.closeSubpath()
        painter.fillPath(area, colour(colours.accent, 0.14))
        painter.setPen(QPen(colour(colours.accent), 2))
        painter.drawPath(path)
        painter.setFont(self._theme.font(0.8))
        painter.setPen(colour(colours.faint))
        painter.drawText(QPointF(0, painter.fontMetrics().ascent()), words.status.at_most(shown.count(int(most))))
