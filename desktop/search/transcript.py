"""Shows messages one below the other: only what is visible is laid out, so 20,000 scroll like twenty.

The message at the top edge stays where it is when the estimate of a height above it turns out wrong.
"""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QStyle, QToolTip, QWidget

from desktop import format as shown
from desktop import words
from desktop.search.column import GAP, HEAD, Column, Laid, Source
from desktop.search.document import FOLD_SCHEME, plain_text
from desktop.search.marks import Place, Selected, painted
from desktop.search.speakers import paint_head
from desktop.text_size import grown
from desktop.theme import Theme, colour

MARGIN = 18
GUTTER = 24
"""Left of the text, for the speaker's mark."""


class TranscriptView(QAbstractScrollArea):
    """The messages."""

    link_clicked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.column = Column(theme)
        self._current: Place | None = None
        self._anchor = 0
        self._offset = 0
        self._selected: Selected | None = None
        self._pressed: tuple[int, int] | None = None
        self._is_scrolling = False
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(words.search.MESSAGES)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(24)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        theme.changed.connect(self._recoloured)

    # What is shown -----------------------------------------------------------------------------------------------

    def show_messages(self, source: Source, *, query: str = "", at: int = 0) -> None:
        """Show other messages, with a message at the top edge."""
        self.column.fit(self._width())
        self.column.show(source, query)
        self._current = None
        self._selected = None
        self.scroll_to(at)

    def refresh(self) -> None:
        """Draw messages that have been loaded meanwhile."""
        self.column.grow()
        self.viewport().update()

    def scroll_to(self, message: int, *, context: int = 0) -> None:
        """Put a message to the top edge, or so many pixels below it."""
        self._anchor = max(0, min(message, len(self.column.heights) - 1))
        self._offset = -context
        self._settle()
        self.viewport().update()

    @property
    def first_visible(self) -> int:
        """The message at the top edge."""
        return self._anchor

    @property
    def is_at_end(self) -> bool:
        """True when the last message is seen to its end."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    # Matches -----------------------------------------------------------------------------------------------------

    def marks_of(self, message: int) -> int:
        """Return how many matches a loaded message holds in what is unfolded."""
        laid = self.column.lay(message)
        return len(laid.marks) if laid is not None else 0

    def places(self) -> tuple[Place, ...]:
        """Return every match of a short list of messages, in order."""
        return tuple(
            Place(message, mark)
            for message in range(len(self.column.heights))
            for mark in range(self.marks_of(message))
        )

    def go_to(self, place: Place | None) -> None:
        """Mark a match as the current one and bring it into view."""
        self._current = place
        if place is not None:
            laid = self.column.lay(place.message)
            if laid is not None and place.mark < len(laid.marks):
                self._reveal(place.message, laid, laid.marks[place.mark][0])
        self.viewport().update()

    def look_for(self, query: str) -> None:
        """Mark other words."""
        self.column.look_for(query)
        self._current = None
        self.viewport().update()

    # Copying -----------------------------------------------------------------------------------------------------

    @property
    def selected_text(self) -> str:
        """What was selected with the mouse."""
        if self._selected is None:
            return ""
        laid = self.column.lay(self._selected.message)
        return "" if laid is None else self._selected.text_in(laid.document)

    def text_of(self, message: int) -> str:
        """Return everything a message says."""
        found = self.column.source.message(message) if 0 <= message < self.column.source.total else None
        return plain_text(found) if found is not None else ""

    # Layout ------------------------------------------------------------------------------------------------------

    def _recoloured(self, _colours: object) -> None:
        self.column.forget()
        self.viewport().update()

    def _width(self) -> int:
        return max(120, self.viewport().width() - 2 * MARGIN - GUTTER)

    def _content_height(self) -> int:
        return self.column.tops[-1] + 2 * MARGIN

    def _settle(self) -> None:
        """Put the scroll bar where the anchor is."""
        bar = self.verticalScrollBar()
        height = self.viewport().height()
        maximum = max(0, self._content_height() - height)
        value = self.column.tops[self._anchor] + self._offset if self.column.heights else 0
        clamped = max(0, min(value, maximum))
        self._is_scrolling = True
        bar.setPageStep(height)
        bar.setRange(0, maximum)
        bar.setValue(clamped)
        self._is_scrolling = False
        if clamped != value:
            self._anchor_at(clamped)

    def _anchor_at(self, value: int) -> None:
        tops = self.column.tops
        self._anchor = max(0, min(bisect_right(tops, value) - 1, len(self.column.heights) - 1))
        self._offset = value - tops[self._anchor]

    def _scrolled(self, value: int) -> None:
        if not self._is_scrolling:
            self._anchor_at(value)
            self.viewport().update()

    def _visible(self) -> list[tuple[int, int, Laid | None]]:
        """Lay out what the viewport shows: message, its top in the viewport, its layout."""
        shown_rows: list[tuple[int, int, Laid | None]] = []
        for _attempt in range(3):
            shown_rows = []
            y = MARGIN - self._offset
            index = self._anchor
            while index > 0 and y > 0:
                index -= 1
                self.column.lay(index)
                y -= self.column.heights[index]
            while index < len(self.column.heights) and y < self.viewport().height():
                laid = self.column.lay(index)
                if y + self.column.heights[index] > 0:
                    shown_rows.append((index, y, laid))
                y += self.column.heights[index]
                index += 1
            before = (self._anchor, self._offset)
            self._settle()
            if before == (self._anchor, self._offset):
                return shown_rows
        return shown_rows

    def _reveal(self, index: int, laid: Laid, position: int) -> None:
        """Bring a character of a message into view."""
        block = laid.document.findBlock(position)
        rect = laid.document.documentLayout().blockBoundingRect(block)
        line = block.layout().lineForTextPosition(position - block.position())
        y = laid.top + rect.top() + (line.y() if line.isValid() else 0)
        top = self.column.tops[index] + MARGIN + round(y)
        value, height = self.verticalScrollBar().value(), self.viewport().height()
        if not value + 10 <= top <= value + height - 50:
            self._anchor_at(max(0, top - height // 3))
            self._settle()

    # Painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the visible messages."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = self._visible()
        if rows:
            self.column.source.wanted(rows[0][0], rows[-1][0])
        for index, y, laid in rows:
            self._paint_message(painter, index, y, laid)
        painter.end()

    def _paint_message(self, painter: QPainter, index: int, y: int, laid: Laid | None) -> None:
        colours = self._theme.colours
        message = self.column.source.message(index)
        if laid is None or message is None:
            painter.setPen(colour(colours.faint))
            painter.drawText(self._left, y + grown(HEAD), words.shared.LOADING)
            return
        if not laid.height:
            return
        indent = 10 if message.is_sidechain else 0
        if message.in_hit:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(colours.accent))
            rim = QRect(4, y, 3, laid.height - GAP)
            place = QStyle.visualRect(self.layoutDirection(), self.viewport().rect(), rim)
            painter.drawRoundedRect(QRectF(place), 1.5, 1.5)
        if laid.top:
            # The rest of its height is the space below it.
            line = QRect(MARGIN + indent, y, GUTTER - indent + self._width(), laid.top - 6)
            place = QStyle.visualRect(self.layoutDirection(), self.viewport().rect(), line)
            paint_head(painter, self._theme, message, place, GUTTER - indent)
        painter.save()
        painter.translate(QPointF(self._left, y + laid.top))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(colours.sunken))
        for surface in laid.surfaces:
            painter.drawRoundedRect(surface, 6, 6)
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Text, colour(colours.text))
        context.palette = palette
        context.clip = QRectF(0, -y - laid.top, self.viewport().width(), self.viewport().height())
        context.selections = self._selections(index, laid)
        laid.document.documentLayout().draw(painter, context)
        painter.restore()

    @property
    def _left(self) -> int:
        """Where texts begin: beside the marks of the speakers."""
        return MARGIN if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else MARGIN + GUTTER

    def _selections(self, index: int, laid: Laid) -> list[QAbstractTextDocumentLayout.Selection]:
        colours = self._theme.colours
        made: list[QAbstractTextDocumentLayout.Selection] = []
        for number, (start, length) in enumerate(laid.marks):
            is_current = self._current == Place(index, number)
            back = colours.mark_current if is_current else colours.mark
            made.append(painted(laid.document, start, start + length, back, colours.on_mark))
        if self._selected is not None and self._selected.message == index:
            start, end = self._selected.start, self._selected.end
            made.append(painted(laid.document, start, end, colours.accent, colours.on_accent))
        return made

    # Mouse and keys ------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay everything out anew in the new width."""
        if event.oldSize().width() != event.size().width():
            self.column.fit(self._width())
        super().resizeEvent(event)
        self.column.fit(self._width())
        self._settle()

    def _hit(self, point: QPoint) -> tuple[int, Laid, QPointF] | None:
        for index, y, laid in self._visible():
            if laid is not None and y <= point.y() < y + laid.height:
                return index, laid, QPointF(point.x() - self._left, point.y() - y - laid.top)
        return None

    def _anchor_under(self, point: QPoint) -> tuple[int, str] | None:
        hit = self._hit(point)
        if hit is None:
            return None
        href = hit[1].document.documentLayout().anchorAt(hit[2])
        return (hit[0], href) if href else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a selection."""
        hit = self._hit(event.position().toPoint())
        self._selected = self._pressed = None
        if hit is not None and event.button() == Qt.MouseButton.LeftButton:
            position = hit[1].document.documentLayout().hitTest(hit[2], Qt.HitTestAccuracy.FuzzyHit)
            self._pressed = (hit[0], max(0, position))
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, or show that something can be clicked."""
        point = event.position().toPoint()
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            hit = self._hit(point)
            if hit is not None and hit[0] == self._pressed[0]:
                position = hit[1].document.documentLayout().hitTest(hit[2], Qt.HitTestAccuracy.FuzzyHit)
                self._selected = Selected(hit[0], self._pressed[1], max(0, position))
                self.viewport().update()
            return
        over = self._anchor_under(point) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Fold, unfold, or follow a link, unless something was selected."""
        if self._selected is None and event.button() == Qt.MouseButton.LeftButton:
            found = self._anchor_under(event.position().toPoint())
            if found is not None:
                self._activate(*found)
        self._pressed = None

    def _activate(self, index: int, href: str) -> None:
        scheme, _, rest = href.partition(":")
        if scheme == FOLD_SCHEME and rest.isdecimal():
            self.toggle_fold(index, int(rest))
        elif QUrl(href).scheme() in {"http", "https"}:
            self.link_clicked.emit(href)

    def toggle_fold(self, index: int, block: int) -> None:
        """Open a folded block, or close it."""
        self.column.toggle_fold(index, block)
        self.viewport().update()

    def toggle_folds(self) -> None:
        """Open every folded block in view, or close them where all are open."""
        in_view = [index for index, _, _ in self._visible()]
        is_open = all(self.column.is_unfolded(index) for index in in_view)
        for index in in_view:
            self.column.fold(index, is_open=not is_open)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show where a link leads before it is clicked."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._anchor_under(event.pos())
            text = "" if found is None or found[1].startswith(f"{FOLD_SCHEME}:") else shown.one_line(found[1], 200)
            QToolTip.showText(event.globalPos(), shown.for_tooltip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll."""
        bar = self.verticalScrollBar()
        match event.key():
            case Qt.Key.Key_Down:
                bar.setValue(bar.value() + 40)
            case Qt.Key.Key_Up:
                bar.setValue(bar.value() - 40)
            case Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                bar.setValue(bar.value() + bar.pageStep() - 40)
            case Qt.Key.Key_PageUp:
                bar.setValue(bar.value() - bar.pageStep() + 40)
            case Qt.Key.Key_Home:
                self.scroll_to(0)
            case Qt.Key.Key_End:
                bar.setValue(bar.maximum())
            case _:
                event.ignore()
