"""The system's wish that the program ends (Ctrl+C, SIGTERM, a closed session) as a Qt signal.

Python runs its handlers between two of its own instructions, and Qt's event loop may not reach one for minutes: a byte
on a socket wakes it.
"""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal

if TYPE_CHECKING:
    from engine.cli.foreground import Told


class EndSignals(QObject):
    """Emits `told` once the process was told to end, also when that was before there was a loop to wake.

    Args:
        end: What a signal's handler sets.
    """

    told = Signal()

    def __init__(self, end: Told) -> None:
        super().__init__()
        self._end = end
        self._is_said = False
        self._ours, self._other = socket.socketpair()
        for each in (self._ours, self._other):
            each.setblocking(False)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        self._wakeup_before = signal.set_wakeup_fd(self._other.fileno(), warn_on_full_buffer=False)
        if end.is_set():
            self._other.send(b"\0")

    def close(self) -> None:
        """Put everything back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup_before)
        self._ours.close()
        self._other.close()

    def _woken(self) -> None:
        # On the way here Python has run the handler.
        self._ours.recv(64)
        if self._end.is_set() and not self._is_said:
            self._is_said = True
            self.told.emit()
