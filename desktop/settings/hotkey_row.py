"""The hotkey's row: one presses the keys that one wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop import words
from desktop.widgets import label

if TYPE_CHECKING:
    from desktop.services import Services

_MODIFIER_KEYS = frozenset({
    Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr, Qt.Key.Key_Super_L,
    Qt.Key.Key_Super_R, Qt.Key.Key_CapsLock, Qt.Key.Key_NumLock,
})  # fmt: skip


class KeyCatcher(QPushButton):
    """A button that, once clicked, takes the next combination."""

    caught = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setCheckable(True)
        self.setMinimumWidth(190)
        self.setAccessibleName(words.settings.SETTING_NAMES["hotkey"])
        self.clicked.connect(self._begin)
        self._before = ""

    def show_keys(self, text: str) -> None:
        """Show the combination that is registered."""
        self.setText(text or words.settings.NO_HOTKEY)

    def _begin(self, checked: bool) -> None:  # noqa: FBT001 - a slot
        if checked:
            self._before = self.text()
            self.setText(words.settings.PRESS_KEYS)
            self.grabKeyboard()
        else:
            self._end()

    def _end(self) -> None:
        self.releaseKeyboard()
        self.setChecked(False)
        if self.text() == words.settings.PRESS_KEYS:
            self.setText(self._before)

    def event(self, event: QEvent) -> bool:
        """Take Tab and shortcuts, too."""
        if self.isChecked() and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if self.isChecked() and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            self._take(event)
            return True
        return super().event(event)

    def _take(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _MODIFIER_KEYS:
            return
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == Qt.Key.Key_Escape and modifiers == Qt.KeyboardModifier.NoModifier:
            self._end()
            return
        text = QKeySequence(QKeyCombination(modifiers, key)).toString(QKeySequence.SequenceFormat.PortableText)
        self._end()
        self.caught.emit(text)

    def focusOutEvent(self, event: object) -> None:
        """Somebody went elsewhere: nothing is caught any more."""
        self._end()
        super().focusOutEvent(event)  # pyright: ignore[reportArgumentType] - passed on as it came


class HotkeyRow(QWidget):
    """Shows the hotkey, changes it, and says what is wrong with it."""

    changed = Signal(str)
    """Keys that are registered now, as the file has them."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._hotkey = services.hotkey
        self.catcher = KeyCatcher()
        self.catcher.caught.connect(self._caught)
        self.help = label(words.settings.HOTKEY_HELP, "faint", wrap=True)
        self.problem = label(kind="bad", wrap=True)
        line = QHBoxLayout()
        line.addWidget(label(words.settings.SETTING_NAMES["hotkey"]))
        line.addStretch(1)
        line.addWidget(self.catcher)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addLayout(line)
        box.addWidget(self.help)
        box.addWidget(self.problem)
        self._hotkey.changed.connect(self._show)
        self._show()

    def _caught(self, text: str) -> None:
        if self._hotkey.try_keys(text) and self._hotkey.keys is not None:
            self.changed.emit(self._hotkey.keys.text)

    def _show(self) -> None:
        hotkey = self._hotkey
        self.catcher.show_keys(hotkey.shown)
        self.catcher.setEnabled(hotkey.can_choose)
        problem = hotkey.problem
        text = "" if problem is None else " ".join(part for part in (
            f"{problem.title}.", problem.message, problem.hint,
            words.settings.hotkey_stays(hotkey.shown) if hotkey.shown else "",
        ) if part)  # fmt: skip
        self.problem.setText(text)
        self.problem.setVisible(bool(text))
