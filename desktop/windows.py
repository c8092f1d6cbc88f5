"""The windows beside the search: made when they are first opened, one of each kind, by the name the tray uses.

A new window is its room and its line in `MAKERS`. One with a method `attach(history)` is told which engine there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from PySide6.QtWidgets import QMessageBox, QWidget

from desktop import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from desktop.history import History
    from desktop.services import Services


@runtime_checkable
class EngineWindow(Protocol):
    """A window that asks the engine."""

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on; none while there is none."""
        ...


@runtime_checkable
class RecordWindow(Protocol):
    """A window that reads records."""

    def read(self, name: str) -> None:
        """Show a record."""
        ...


# Imported when it is opened: most are not, and the tray is to be there at once.


def _status(services: Services) -> QWidget:
    from desktop.status.window import StatusWindow  # noqa: PLC0415 - see above

    return StatusWindow(services)


def _settings(services: Services) -> QWidget:
    from desktop.settings.window import SettingsWindow  # noqa: PLC0415 - see above

    return SettingsWindow(services)


def _connect(services: Services) -> QWidget:
    from desktop.claude_panel import ConnectWindow  # noqa: PLC0415 - see above

    return ConnectWindow(services)


def _first_run(services: Services) -> QWidget:
    from desktop.first_run.window import FirstRunWindow  # noqa: PLC0415 - see above

    return FirstRunWindow(services)


def _about(services: Services) -> QWidget:
    from desktop.about import AboutWindow  # noqa: PLC0415 - see above

    return AboutWindow(services)


def _usage(services: Services) -> QWidget:
    from desktop.usage.window import UsageWindow  # noqa: PLC0415 - see above

    return UsageWindow(services)


def _doctor(services: Services) -> QWidget:
    from desktop.doctor.window import DoctorWindow  # noqa: PLC0415 - see above

    return DoctorWindow(services)


def _prune(services: Services) -> QWidget:
    from desktop.prune.window import PruneWindow  # noqa: PLC0415 - see above

    return PruneWindow(services)


def _knowledge(services: Services) -> QWidget:
    from desktop.knowledge.window import KnowledgeWindow  # noqa: PLC0415 - see above

    return KnowledgeWindow(services)


MAKERS: Final[Mapping[str, Callable[[Services], QWidget]]] = {
    "status": _status,
    "settings": _settings,
    "usage": _usage,
    "doctor": _doctor,
    "prune": _prune,
    "knowledge": _knowledge,
    "connect": _connect,
    "first_run": _first_run,
    "about": _about,
}
"""By the name the tray and other windows use."""


class Windows:
    """Opens windows and keeps them.

    Args:
        services: For the windows.
        makers: Of windows, by name.
    """

    def __init__(self, services: Services, makers: Mapping[str, Callable[[Services], QWidget]] = MAKERS) -> None:
        self._services = services
        self._makers = makers
        self._open: dict[str, QWidget] = {}

    def open(self, name: str) -> QWidget:
        """Show a window, the same one again when it is there; a sentence for one that does not exist yet.

        Args:
            name: As the tray has it; `record:ID` for the record of this id in the window of Knowledge.
        """
        name, _, record = name.partition(":")
        name = "knowledge" if record else name
        window = self._open.get(name)
        if window is None:
            maker = self._makers.get(name)
            window = _not_there_yet() if maker is None else maker(self._services)
            self._open[name] = window
            if isinstance(window, EngineWindow):
                window.attach(self._services.history())
        window.show()
        window.raise_()
        window.activateWindow()
        if record and isinstance(window, RecordWindow):
            window.read(record)
        return window

    def attach(self, history: History | None) -> None:
        """Tell every window which engine there is."""
        for window in self._open.values():
            if isinstance(window, EngineWindow):
                window.attach(history)

    def close(self) -> None:
        """Close them all."""
        for window in self._open.values():
            window.close()
            window.deleteLater()
        self._open.clear()


def _not_there_yet() -> QWidget:
    box = QMessageBox()
    box.setWindowTitle(words.shared.APP)
    box.setText(words.trouble.NOT_THERE_YET)
    box.setModal(False)
    return box
