"""Keeps the hotkey of the settings registered, and knows in words why it is not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.hotkey.base import HotkeyRefused, parse

if TYPE_CHECKING:
    from desktop.hotkey.base import HotkeyBackend, Keys

logger = logging.getLogger(__name__)


class HotkeyKeeper(QObject):
    """The one global hotkey.

    Args:
        backend: Of this desktop.
    """

    pressed = Signal()
    changed = Signal()
    """`keys` or `problem` is another."""

    def __init__(self, backend: HotkeyBackend) -> None:
        super().__init__()
        self._backend = backend
        self.keys: Keys | None = None
        """What is registered."""
        self.problem: HotkeyRefused | None = None
        """Why the wanted keys are not."""
        backend.signals.pressed.connect(self.pressed)
        backend.signals.refused.connect(self._refused)

    @property
    def can_choose(self) -> bool:
        """False where the desktop itself decides."""
        return self._backend.can_choose

    @property
    def shown(self) -> str:
        """The registered keys as the system writes them; empty when there are none."""
        return "" if self.keys is None else self.keys.shown()

    def try_keys(self, text: str) -> bool:
        """Register other keys. When they are refused the old ones stay and `problem` says why."""
        try:
            keys = parse(text)
            self._backend.replace(keys)
        except HotkeyRefused as refused:
            logger.info("The hotkey %s was refused: %s", text, refused.title)
            self.problem = refused
            self.changed.emit()
            return False
        self.keys, self.problem = keys, None
        self.changed.emit()
        return True

    def release(self) -> None:
        """Let go of the keys."""
        self._backend.release()
        self.keys = None

    def _refused(self, reason: str) -> None:
        self.keys = None
        self.problem = HotkeyRefused(reason)
        self.changed.emit()
