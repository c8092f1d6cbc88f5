"""The only subscriber of the engine's events: turns them into typed signals on the main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from engine.core.events import ChunksAdded, EngineStateChanged, StatusChanged, WindowRequested

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.events import Event, EventHub


class Bridge(QObject):
    """Signals for what the engine announces. They are emitted on the main thread, whatever thread the event came on."""

    chunks_added = Signal(int)
    """How many became searchable."""
    status_changed = Signal()
    engine_state_changed = Signal(str)
    """A value of `EngineState`."""
    window_requested = Signal(str)
    """`show` or `toggle`."""

    _arrived = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._unsubscribe: Callable[[], None] | None = None
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def attach(self, events: EventHub) -> None:
        """Listen to an engine, and no longer to the one before."""
        self.detach()
        self._unsubscribe = events.subscribe(self._arrived.emit)

    def detach(self) -> None:
        """Listen to nobody."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    @Slot(object)
    def _deliver(self, event: Event) -> None:
        match event:
            case ChunksAdded():
                self.chunks_added.emit(event.chunks)
            case StatusChanged():
                self.status_changed.emit()
            case EngineStateChanged():
                self.engine_state_changed.emit(event.state)
            case WindowRequested():
                self.window_requested.emit(event.action)
            case _:
                pass  # not the desktop's business
