"""How long the search window waits for what: before it asks, before it says that it is slow, between two repaints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable

DEBOUNCE_MS: Final = 60
"""After a key that followed another at once, before the question: faster than two keys of a fast typist (desktop.md: 60
to 80). The first key after such a rest is asked about at once."""
MEANING_MS: Final = 250
"""After a key, before the slower question by meaning: when the person pauses."""
REPAINT_MS: Final = 50
SLOW_MS: Final = 300
"""Before "Searching…" is said (desktop.md)."""


def single_shot(parent: QObject, ms: int, call: Callable[[], None]) -> QTimer:
    """Return a timer that calls once after it was started."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(ms)
    timer.timeout.connect(call)
    return timer


class Repaint(QObject):
    """Paints at once, or together with what comes next where the last repaint was just now.

    Args:
        paint: Does it.
    """

    def __init__(self, paint: Callable[[], None]) -> None:
        super().__init__()
        self._paint = paint
        self._is_due = False
        self._pause = single_shot(self, REPAINT_MS, self._paused)

    def ask(self) -> None:
        """Paint now or at the end of the pause."""
        if self._pause.isActive():
            self._is_due = True
            return
        self._paint()
        self._pause.start()

    def _paused(self) -> None:
        if self._is_due:
            self._is_due = False
            self._paint()
