"""The windows beside the search: made when they are first opened, one of each kind, by the name the tray uses.

A new window is its room and its line in `MAKERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from PySide6.QtWidgets import QMessageBox, QWidget

from desktop import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from desktop.errors import Trouble
    from desktop.history import History
    from desktop.services import Services


class EngineWindow(Protocol):
    """A window that asks the engine."""

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on; none while there is none."""
        ...


MAKERS: Final[Mapping[str, Callable[[Services], QWidget]]] = {}


class Windows:
    """Opens windows and keeps them."""

    def __init__(self, services: Services, makers: Mapping[str, Callable[[Services], QWidget]] = MAKERS) -> None:
        self._services = services
        self._makers = makers
        self._open: dict[str, QWidget] = {}

    def open(self, name: str) -> QWidget:
        """Show a window, the same one again when it is there."""
        window = self._open.get(name)
        if window is None:
            maker = self._makers.get(name)
            window = _not_there_yet() if maker is None else maker(self._services)
            self._open[name] = window
            if hasattr(window, "attach"):
                cast("EngineWindow", window).attach(self._services.history())
        window.show()
        window.raise_()
        window.activateWindow()
        return window

    def attach(self, history: History | None) -> None:
        """Tell every window which engine there is."""
        for window in self._open.values():
            if hasattr(window, "attach"):
                cast("EngineWindow", window).attach(history)

    def trouble(self, trouble: Trouble) -> None:
        """Note a defect, for the report that the About window offers."""
        self.last_trouble = trouble

    def close(self) -> None:
        """Close them all."""
        for window in self._open.values():
            window.close()
            window.deleteLater()
        self._open.clear()


def _not_there_yet() -> QWidget:
    box = QMessageBox()
    box.setWindowTitle(words.APP)
    box.setText(words.NOT_THERE_YET)
    box.setModal(False)
    return box
