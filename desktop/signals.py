"""The system's wish that the program ends (Ctrl+C, SIGTERM, a closed session) as a Qt signal.

Python runs its handlers between two of its own instructions, and Qt's event loop may not reach one for minutes: a byte
on a socket wakes it.
"""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from engine.cli.foreground import END_SIGNALS

if TYPE_CHECKING:
    from types import FrameType


class EndSignals(QObject):
    """Emits `told` at the first signal to end; the second ends the process as usual."""

    told = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._heard = False
        numbers = [signal.Signals[name] for name in END_SIGNALS if name in signal.Signals.__members__]
        # What is ignored stays so (`nohup`); what was set without Python (None) could not be put back.
        before = {number: signal.getsignal(number) for number in numbers}
        self._before = {
            number: handler
            for number, handler in before.items()
            if handler is not signal.SIG_IGN and handler is not None
        }
        self._ours, self._other = socket.socketpair()
        for each in (self._ours, self._other):
            each.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._other.fileno(), warn_on_full_buffer=False)
        for number in self._before:
            signal.signal(number, self._handle)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)

    def close(self) -> None:
        """Put everything back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup_before)
        self._restore()
        self._ours.close()
        self._other.close()

    def _restore(self) -> None:
        """Put the handlers back, once: what others set after that is theirs."""
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        # No more than this: it runs between any two steps of the main thread, which may hold a lock that those who
        # are told want as well.
        self._restore()
        self._heard = True

    def _woken(self) -> None:
        # On the way here Python has run the handler.
        self._ours.recv(64)
        if self._heard:
            self._heard = False
            self.told.emit()
