"""What the app knows about the engine at this moment: one value in memory, refreshed in the background when it changes.

The tray's icon, tooltip and menu are drawn from it without asking anybody. While nothing happens, nothing is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.resources import TrayState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.bridge import Bridge
    from desktop.errors import Trouble
    from desktop.history import History
    from desktop.tasks import Tasks
    from engine.core.models.status import Notice, Status
    from engine.integrations.registration import ConnectionState

SOON_MS: Final = 250
"""Events of the engine are gathered for so long before it is asked."""
BUSY_MS: Final = 1000
"""Between two questions while it works."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The state of everything, as far as the tray shows it."""

    is_starting: bool = True
    status: Status | None = None
    problem: Trouble | None = None
    """Why there is no engine."""
    connection: ConnectionState | None = None
    """Of Claude Code; None until it is known."""

    @property
    def tray_state(self) -> TrayState:
        """What the icon shows."""
        status = self.status
        if self.problem is not None:
            return TrayState.ATTENTION
        if status is None:
            return TrayState.INDEXING if self.is_starting else TrayState.DISCONNECTED
        if status.engine.state == "degraded" or serious(status):
            return TrayState.ATTENTION
        if status.ingest.state == "paused":
            return TrayState.PAUSED
        if is_reading(status) or is_embedding(status):
            return TrayState.INDEXING
        return TrayState.IDLE

    @property
    def is_paused(self) -> bool:
        """True while indexing rests."""
        return self.status is not None and self.status.ingest.state == "paused"

    @property
    def is_busy(self) -> bool:
        """True while the engine works on a backlog."""
        return self.status is not None and (is_reading(self.status) or is_embedding(self.status))

    @property
    def share(self) -> float | None:
        """How far the embedding is, 0 to 1; None while something else is shown."""
        status = self.status
        if status is None or is_reading(status) or not is_embedding(status):
            return None
        total = status.messages or 1
        return max(0.0, min(1.0, 1 - status.embedding.backlog / max(total, status.embedding.backlog)))

    @property
    def sentence(self) -> str:
        """The state in words, for tooltip and menu."""
        status = self.status
        if self.problem is not None:
            return self.problem.title
        if status is None:
            return words.tray.STARTING if self.is_starting else words.tray.STOPPED
        return serious(status) or self._at_work(status)

    @property
    def advice(self) -> str:
        """What the person can do about a problem; empty while there is none."""
        if self.problem is not None:
            return self.problem.text
        return "" if self.status is None else next((each.hint for each in _serious(self.status)), "")

    def _at_work(self, status: Status) -> str:
        count = shown.count(status.messages)
        if status.ingest.state == "paused":
            return words.tray.PAUSED
        if is_reading(status):
            state = words.tray.indexing(count, words.tray.files_left(status.ingest.files_pending))
            return _with_left(state, status.ingest.eta_s)
        if is_embedding(status):
            state = words.tray.embedding(count, shown.percent((self.share or 0) * 100))
            return _with_left(state, status.embedding.eta_s)
        return words.tray.up_to_date(count)


def is_reading(status: Status) -> bool:
    """Return whether transcripts are waiting to be read, a single changed one aside: that is everyday life."""
    return status.ingest.state in {"scanning", "indexing"} and status.ingest.files_pending > 1


def is_embedding(status: Status) -> bool:
    """Return whether a backlog is being embedded."""
    return status.embedding.state in {"loading", "embedding"} and status.embedding.backlog > 0


def serious(status: Status) -> str | None:
    """Return the first warning that means that something does not work."""
    return next((shown.one_line(each.text, 160) for each in _serious(status)), None)


def _serious(status: Status) -> Iterator[Notice]:
    harmless = {"no_history", "polling"}
    return (each for each in status.warnings if each.id not in harmless)


def _with_left(state: str, eta_s: float | None) -> str:
    return state if eta_s is None else words.tray.with_left(state, words.shared.time_left(shown.duration(eta_s)))


class PulseKeeper(QObject):
    """Keeps the pulse.

    Args:
        tasks: Threads.
        bridge: The engine's events.
    """

    changed = Signal(object)
    """The new `Pulse`."""

    def __init__(self, tasks: Tasks, bridge: Bridge) -> None:
        super().__init__()
        self.pulse = Pulse()
        self._history: History | None = None
        self._lane = tasks.lane()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._ask)
        bridge.chunks_added.connect(self._stir)
        bridge.status_changed.connect(self._stir)
        bridge.engine_state_changed.connect(self._stir)

    def engine_started(self, history: History) -> None:
        """Ask this engine from now on."""
        self._history = history
        self._change(replace(self.pulse, is_starting=False, problem=None))
        self._ask()

    def engine_gone(self, problem: Trouble | None = None, *, is_starting: bool = False) -> None:
        """There is no engine to ask."""
        self._history = None
        self._soon.stop()
        self._lane.cancel()
        self._change(replace(self.pulse, status=None, problem=problem, is_starting=is_starting))

    def connection_known(self, state: ConnectionState) -> None:
        """Claude Code's configuration was read."""
        self._change(replace(self.pulse, connection=state))

    def refresh(self) -> None:
        """Ask now."""
        self._ask()

    def _stir(self, _event: object = None) -> None:
        """Something happened: ask soon, once for everything that happens until then."""
        if self._history is not None and not self._soon.isActive():
            self._soon.start(SOON_MS)

    def _ask(self) -> None:
        history = self._history
        if history is not None:
            self._lane.run(lambda _: history.status(), self._came, self._failed)

    def _came(self, status: Status) -> None:
        self._change(replace(self.pulse, status=status))
        if self.pulse.is_busy and not self._soon.isActive():
            self._soon.start(BUSY_MS)

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self._change(replace(self.pulse, problem=trouble_of(error)))

    def _change(self, pulse: Pulse) -> None:
        if pulse != self.pulse:
            self.pulse = pulse
            self.changed.emit(pulse)
