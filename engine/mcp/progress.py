"""How far a long call is, carried from the thread that works to the client that waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

Send = Callable[[float, float | None, str], Awaitable[None]]


class ProgressRelay:
    """Takes reports in any thread and sends the newest on the event loop, never the same or a smaller number twice.

    Args:
        send: Sends one notification. Runs on the loop this object is made on.
        cancelled: Set when nobody waits any more; reports are then dropped.
    """

    def __init__(self, send: Send, cancelled: threading.Event) -> None:
        self._send = send
        self._cancelled = cancelled
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._latest: tuple[int, int | None, str] | None = None
        self._sent = -1
        self._wake = asyncio.Event()

    def __call__(self, done: int, total: int | None, text: str) -> None:
        """Report from the working thread."""
        if self._cancelled.is_set():
            return
        with self._lock:
            self._latest = (done, total, text)
        with suppress(RuntimeError):  # the loop has closed while the call was being abandoned: nobody listens
            self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self) -> None:
        """Send reports as they come, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.flush()

    async def flush(self) -> None:
        """Send the newest report, if there is one that says more than the last."""
        with self._lock:
            latest, self._latest = self._latest, None
        if latest is None or latest[0] <= self._sent:
            return
        done, total, text = latest
        self._sent = done
        await self._send(float(done), None if total is None else float(total), text)
