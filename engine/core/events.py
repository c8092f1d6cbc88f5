"""What the engine announces: past-tense values, published to whoever subscribed (the desktop, the embedding loop)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChunksAdded:
    """New chunks were committed."""

    chunks: int
    sessions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """Something `status` shows has changed."""


@dataclass(frozen=True, slots=True)
class EngineStateChanged:
    """The engine started, degraded or stopped."""

    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WindowRequested:
    """Another program of the person asks for the search window."""

    action: Literal["show", "toggle"]


@dataclass(frozen=True, slots=True)
class HandoverRequested:
    """The app has started and wants this engine, which has no window, to close in its favour."""


Event = ChunksAdded | StatusChanged | EngineStateChanged | WindowRequested | HandoverRequested
Subscriber = Callable[[Event], None]


class EventHub:
    """Hands each event to every subscriber, on the publishing thread. One bad subscriber does not stop the others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber and return the call that removes it."""
        with self._lock:
            self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            with self._lock:
                if subscriber in self._subscribers:
                    self._subscribers.remove(subscriber)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Call every subscriber with the event. This is a barrier: their exceptions are logged here."""
        with self._lock:
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            try:
                subscriber(event)
            except Exception:
                logger.exception("A subscriber failed on %s", type(event).__name__)
