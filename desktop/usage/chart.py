"""Stacked bars drawn with QPainter in the colours of the theme, and their legend. Keys and pointer choose a bar."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QStyle, QToolTip, QWidget

from desktop import format as shown
from desktop import words
from desktop.text_size import grown
from desktop.theme import colour
from desktop.usage.bars import Chart, text_of

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from desktop.theme import Colours, Theme

HEIGHT: Final = 190
"""Pixels with usual text."""
TOP: Final = 14
BELOW: Final = 24
"""Below the bars, for their names; with usual text."""
GAP: Final = 8
LABEL_GAP: Final = 18
"""Between two labels below the bars."""
SWATCH: Final = 10
WIDEST: Final = 34
"""Of a bar."""


def series_colour(colours: Colours, number: int, *, is_others: bool) -> QColor:
    """Return the colour of a series by its rank."""
    return colour(colours.faint if is_others else colours.series[number % len(colours.series)])


class StackedBars(QWidget):
    """Bars over time. Left, Right, Home and End choose one when the chart has the focus."""

    chosen = Signal(str)
    """What the chosen bar stands for; empty when there is none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.chart = Chart()
        self.current = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Where the window is low, the table needs the room more.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(words.usage.CHART)

    def set_chart(self, chart: Chart) -> None:
        """Draw another chart."""
        self.chart = chart
        total = sum(sum(bar.parts) for bar in chart.bars)
        self._summary = words.usage.chart_summary(words.usage.bars(len(chart.bars)), text_of(chart.unit, total))
        self.setAccessibleDescription(self._summary)
        self.choose(-1)
        self.update()

    def choose(self, number: int) -> None:
        """Choose a bar; -1 chooses none."""
        self.current = number if 0 <= number < len(self.chart.bars) else -1
        hint = self.chart.bars[self.current].hint if self.current >= 0 else ""
        self.setAccessibleDescription(hint or self._summary)
        self.chosen.emit(hint)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a strip as wide as there is room."""
        return QSize(420, grown(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Return a strip in which bars can still be compared."""
        return QSize(200, grown(HEIGHT) // 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the bars."""
        last = len(self.chart.bars) - 1
        match event.key():
            case Qt.Key.Key_Left:
                self.choose(last if self.current < 0 else max(0, self.current - 1))
            case Qt.Key.Key_Right:
                self.choose(min(last, self.current + 1))
            case Qt.Key.Key_Home:
                self.choose(0)
            case Qt.Key.Key_End:
                self.choose(last)
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the bar below the pointer."""
        super().mousePressEvent(event)
        self.choose(self.bar_at(event.position().x()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that they go elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def bar_at(self, x: float) -> int:
        """Return the number of the bar at a place, -1 for none."""
        area = self._area()
        if not self.chart.bars or not area.left() <= x < area.right():
            return -1
        return min(len(self.chart.bars) - 1, int((x - area.left()) / (area.width() / len(self.chart.bars))))

    def event(self, event: QEvent) -> bool:
        """Say what a bar stands for."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self.bar_at(event.pos().x())
            hint = self.chart.bars[number].hint if number >= 0 else ""
            QToolTip.showText(event.globalPos(), shown.for_tooltip(hint), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw lines, bars, and what they say."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(0.8))
        area = self._area()
        self._lines(painter, area)
        if self.chart.bars:
            self._bars(painter, area)
            self._names(painter, area)
        if self.hasFocus():
            painter.setPen(QPen(colour(self._theme.colours.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()

    def _most(self) -> float:
        return nice(max((sum(bar.parts) for bar in self.chart.bars), default=0.0))

    def _area(self) -> QRectF:
        metrics = QFontMetrics(self._theme.font(0.8))
        most = self._most()
        labels = max(metrics.horizontalAdvance(text_of(self.chart.unit, most * share)) for share in (0.5, 1))
        return QRectF(
            labels + GAP + 4, TOP, max(10, self.width() - labels - GAP - 12), self.height() - TOP - grown(BELOW)
        )

    def _lines(self, painter: QPainter, area: QRectF) -> None:
        colours = self._theme.colours
        for share in (0.0, 0.5, 1.0):
            y = round(area.bottom() - share * area.height()) + 0.5
            painter.setPen(QPen(colour(colours.border), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            if share:
                painter.setPen(colour(colours.faint))
                box = QRectF(0, y - 10, area.left() - GAP, 20)
                text = text_of(self.chart.unit, self._most() * share)
                # Time runs from left to right in every language, and so the axis stays on the left.
                side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
                painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _bars(self, painter: QPainter, area: QRectF) -> None:
        colours = self._theme.colours
        room = area.width() / len(self.chart.bars)
        width = max(1.0, min(WIDEST, room - max(1.0, room * 0.25)))
        most = self._most()
        for number, bar in enumerate(self.chart.bars):
            left = area.left() + room * number + (room - width) / 2
            if number == self.current:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour(colours.selection))
                painter.drawRoundedRect(QRectF(area.left() + room * number, TOP - 6, room, area.height() + 6), 3, 3)
            bottom = area.bottom()
            painter.setPen(Qt.PenStyle.NoPen)
            for rank, part in enumerate(bar.parts):
                if part <= 0:
                    continue
                height = max(1.0, part / most * area.height())
                is_others = self.chart.has_others and rank == len(bar.parts) - 1
                painter.setBrush(series_colour(colours, rank, is_others=is_others))
                painter.drawRect(QRectF(left, bottom - height, width, height))
                bottom -= height
            if bar.is_partial:
                painter.setPen(QPen(colour(colours.warning), 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(QPointF(left + width / 2, bottom - 6), 2.6, 2.6)

    def _names(self, painter: QPainter, area: QRectF) -> None:
        metrics = painter.fontMetrics()
        painter.setPen(colour(self._theme.colours.faint))
        room = area.width() / len(self.chart.bars)
        widest = max(metrics.horizontalAdvance(bar.short) for bar in self.chart.bars)
        every = max(1, math.ceil((widest + LABEL_GAP) / room))
        for number in range(0, len(self.chart.bars), every):
            middle = area.left() + room * (number + 0.5)
            left = min(max(area.left(), middle - widest / 2), self.width() - widest - 2)
            box = QRect(round(left), round(area.bottom()) + 4, widest + 2, grown(BELOW) - 4)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, self.chart.bars[number].short)


class Legend(QWidget):
    """Names of the series with their colours, and what a ring above a bar means."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chart = Chart()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_chart(self, chart: Chart) -> None:
        """Name another chart's series."""
        self._chart = chart
        self.setAccessibleName(", ".join(chart.series))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        """Return that names take a second line where the first is full."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        row = QFontMetrics(self._theme.font(0.86)).height() + 6
        return max((top + row for _, top, _, _ in self._places(width)), default=0)

    def sizeHint(self) -> QSize:
        """Return room for one line."""
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def _places(self, width: int) -> list[tuple[int, int, str, int]]:
        metrics = QFontMetrics(self._theme.font(0.86))
        names = list(self._chart.series)
        if any(bar.is_partial for bar in self._chart.bars):
            names.append(words.usage.UNPRICED)
        places: list[tuple[int, int, str, int]] = []
        left = top = 0
        for number, name in enumerate(names):
            text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, grown(200))
            used = SWATCH + 6 + metrics.horizontalAdvance(text) + 18
            if left and left + used > width:
                left, top = 0, top + metrics.height() + 6
            places.append((left, top, text, number))
            left += used
        return places

    def _mirrored(self, box: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), box)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the names."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(0.86))
        height = painter.fontMetrics().height() + 6
        for left, top, text, number in self._places(self.width()):
            sign = self._mirrored(QRect(left, top, SWATCH, height))
            middle = QRectF(sign).center()
            if number < len(self._chart.series):
                is_others = self._chart.has_others and number == len(self._chart.series) - 1
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(series_colour(colours, number, is_others=is_others))
                swatch = QRectF(0, 0, SWATCH, SWATCH)
                swatch.moveCenter(middle)
                painter.drawRoundedRect(swatch, 2, 2)
            else:
                painter.setPen(QPen(colour(colours.warning), 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(middle, 2.6, 2.6)
            painter.setPen(colour(colours.muted))
            box = self._mirrored(QRect(left + SWATCH + 6, top, grown(240), height))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


def nice(most: float) -> float:
    """Return a round number at or above the highest bar: 1, 2, 4, 5 or 10 times a power of ten."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 5, 10) if step * power >= most * 0.999999)
