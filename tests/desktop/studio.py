"""What pictures of the windows are taken with: waits, and windows over any history. Used by `tests.desktop.shots`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer

from desktop.search.memory import MemoryFile
from tests.desktop.rooms import search_window_over

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from desktop.history import History
    from desktop.search.window import SearchWindow
    from desktop.services import Services
    from engine.core.models.sessions import SessionRow


@dataclass
class Studio:
    """What the pictures are taken with."""

    folder: Path
    services: Services
    name: str
    """Ends the names of the files: the theme."""

    def shoot(self, widget: QWidget, name: str) -> None:
        """Save a picture of a widget."""
        pause(60)
        widget.grab().save(str(self.folder / f"{name}-{self.name}.png"))

    def search(self, history: History | None, *, pins: tuple[SessionRow, ...] = (), width: int = 900) -> SearchWindow:
        """Return a search window over a history."""
        # A new file each time: what one picture leaves behind is not to be seen in the next.
        memory = MemoryFile(self.services.paths.state / f"{os.urandom(6).hex()}.json")
        window = search_window_over(self.services, memory)
        window.controller.set_pins(pins)
        window.resize(width, 560)
        window.attach(history)
        window.present()
        pause(250)
        return window


def pause(ms: int) -> None:
    """Let everything that is on its way arrive."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def until(ready: Callable[[], bool]) -> None:
    """Wait for something, at most five seconds."""
    for _ in range(100):
        if ready():
            return
        pause(50)
