"""What lies over the search window for a moment: the list of every action, the key help, and short confirmations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop import words
from desktop.painting import place_of
from desktop.search.actions import ACTIONS, shown_keys
from desktop.text_size import grown
from desktop.theme import colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.search.actions import Action
    from desktop.theme import Theme

EDGE: Final = 24
HEAD: Final = 52
TOAST_MS: Final = 1000
"""Each copy is confirmed for a second (desktop.md)."""
_ACTION: Final = Qt.ItemDataRole.UserRole
_KEYS: Final = Qt.ItemDataRole.UserRole + 1


class ActionList(QFrame):
    """Every action with its key, found by typing, run with Enter."""

    chosen = Signal(str)
    """The action's name."""
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("overlay")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(words.search.ACTIONS_HINT)
        self.field.setAccessibleName(words.search.ACTIONS_HINT)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._filter)
        self._model = QStandardItemModel(self)
        self.view = QListView(self)
        self.view.setObjectName("actionList")
        self.view.setModel(self._model)
        self.view.setItemDelegate(_ActionDelegate(theme, self))
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMouseTracking(True)
        self.view.setAccessibleName(words.actions.ACTIONS)
        self.view.clicked.connect(self._run)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.addWidget(self.field)
        box.addWidget(self.view)
        self._offered: tuple[Action, ...] = ()
        self.hide()

    def open(self, offered: Sequence[Action]) -> None:
        """Show the actions that make sense now."""
        self._offered = tuple(offered)
        self.field.clear()
        self._filter("")
        parent = self._over
        size = QSize(min(grown(460), parent.width() - 40), min(grown(420), parent.height() - 60))
        self.setGeometry((parent.width() - size.width()) // 2, 40, size.width(), size.height())
        self.show()
        self.raise_()
        self.field.setFocus()

    def close_list(self) -> None:
        """Hide it and give the keys back."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def names(self) -> list[str]:
        """Return what is listed."""
        return [self._model.item(row).data(_ACTION) for row in range(self._model.rowCount())]

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        self._model.clear()
        for action in self._offered:
            if all(word in action.label.casefold() for word in wanted):
                item = QStandardItem(action.label)
                item.setData(action.name, _ACTION)
                item.setData(shown_keys(action), _KEYS)
                item.setEditable(False)
                self._model.appendRow(item)
        self.view.setCurrentIndex(self._model.index(0, 0))

    def _run(self, index: QModelIndex) -> None:
        name = index.data(_ACTION)
        self.close_list()
        if name:
            self.chosen.emit(name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move in the list while the field has the focus."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            row = self.view.currentIndex().row()
            match event.key():
                case Qt.Key.Key_Down:
                    self.view.setCurrentIndex(self._model.index(min(row + 1, self._model.rowCount() - 1), 0))
                    return True
                case Qt.Key.Key_Up:
                    self.view.setCurrentIndex(self._model.index(max(row - 1, 0), 0))
                    return True
                case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                    self._run(self.view.currentIndex())
                    return True
                case Qt.Key.Key_Escape:
                    self.close_list()
                    return True
                case Qt.Key.Key_K if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                    self.close_list()
                    return True
                case _:
                    pass
        return super().eventFilter(watched, event)


class _ActionDelegate(QStyledItemDelegate):
    """Draws a label at the left and its key at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return a comfortable height."""
        return QSize(0, super().sizeHint(option, index).height() + 12)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one action."""
        rect, state = place_of(option)
        colours = self._theme.colours
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            is_selected = bool(state & QStyle.StateFlag.State_Selected)
            painter.setBrush(colour(colours.selection if is_selected else colours.hover))
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 6, 6)
        inner = rect.adjusted(10, 0, -10, 0)
        painter.setPen(colour(colours.text))
        keys, small = index.data(_KEYS) or "", self._theme.font(0.88)
        room = inner.width() - QFontMetrics(small).horizontalAdvance(keys) - 12
        text = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.setPen(colour(colours.muted))
        painter.setFont(small)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, keys)
        painter.restore()


class KeyHelp(QFrame):
    """The keys, in two columns. Any key closes it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(words.actions.KEYS)
        self.hide()

    def open(self) -> None:
        """Show it over the whole window."""
        self.setGeometry(self._over.rect())
        self.show()
        self.raise_()
        self.setFocus()

    def paintEvent(self, event: object) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the table."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        listed = [action for action in ACTIONS if action.keys]
        half = (len(listed) + 1) // 2
        step = min(grown(27), (self.height() - 2 * EDGE - HEAD) // max(1, half))
        height = HEAD + half * step + 20
        card = QRect(EDGE, (self.height() - height) // 2, self.width() - 2 * EDGE, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(colours.window, 0.8))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)
        painter.setPen(colour(colours.border))
        painter.setBrush(colour(colours.raised))
        painter.drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        painter.setFont(self._theme.font(1.1, bold=True))
        painter.setPen(colour(colours.text))
        painter.drawText(card.left() + 24, card.top() + 34, words.actions.KEYS)
        width = (card.width() - 80) // 2
        painter.setFont(self._theme.font(0.92))
        for number, action in enumerate(listed):
            column, row = divmod(number, half)
            box = QRect(card.left() + 24 + column * (width + 32), card.top() + HEAD + row * step, width, step)
            painter.setPen(colour(colours.muted))
            keys = shown_keys(action)
            room = width - painter.fontMetrics().horizontalAdvance(keys) - 12
            text = painter.fontMetrics().elidedText(action.label, Qt.TextElideMode.ElideRight, room)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
            painter.setPen(colour(colours.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, keys)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close."""
        event.accept()
        self._close()

    def mousePressEvent(self, event: object) -> None:  # noqa: ARG002 - Qt's signature
        """Close."""
        self._close()

    def _close(self) -> None:
        self.hide()
        self._over.setFocus()


class Toast(QLabel):
    """A confirmation that goes away by itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("toast")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(words.search.CONFIRMATION)
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.timeout.connect(self.hide)
        self.hide()

    def say(self, text: str, ms: int = TOAST_MS) -> None:
        """Show a text for a second, above the footer."""
        self.setText(text)
        self.adjustSize()
        parent = self._over
        self.move((parent.width() - self.width()) // 2, parent.height() - self.height() - 58)
        self.show()
        self.raise_()
        self.timer.start(ms)
