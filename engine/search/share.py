"""Remembers how much of the history is embedded: counting a million rows takes longer than most searches."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.store import generations

if TYPE_CHECKING:
    from engine.core.clock import Clock
    from engine.store.connection import Connection

LARGE = 100_000
"""Chunks from which on counting takes 10 ms and more."""

FRESH_S = 5.0
"""How old the count of a large history may be while it grows."""


@dataclass(frozen=True, slots=True)
class _Counted:
    share: tuple[int, int, float]
    version: int
    """Of the database as its connection saw it."""
    at_s: float


class ShareMemory:
    """Counts again when the database has changed; of a large one at most every five seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._by_connection: WeakKeyDictionary[Connection, _Counted] = WeakKeyDictionary()
        self._last: _Counted | None = None

    def share(self, connection: Connection) -> tuple[int, int, float]:
        """Return (chunks, embedded chunks, percent of those that can be), of the answering generation."""
        # Other connections' commits change it: the number means something for this connection only.
        version = int(connection.pragma("data_version"))
        now_s = self._clock.monotonic()
        with self._lock:
            known, last = self._by_connection.get(connection), self._last
        if known is not None and known.version == version:
            return known.share
        if last is not None and last.share[0] >= LARGE and now_s - last.at_s < FRESH_S:
            return last.share
        counted = _Counted(generations.share(connection), version, now_s)
        with self._lock:
            self._by_connection[connection] = self._last = counted
        return counted.share
