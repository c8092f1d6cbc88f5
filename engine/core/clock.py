"""Time as an argument: the engine never asks the system clock by itself, so tests can hold it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Wall time and monotonic time, both in seconds."""

    def now(self) -> float:
        """Return seconds since 1970-01-01 UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return seconds since 1970-01-01 UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()


@dataclass(slots=True)
class FixedClock:
    """A clock that stands until it is moved. For tests and for reproducible exports."""

    seconds: float

    def now(self) -> float:
        """Return the time it stands at."""
        return self.seconds

    def monotonic(self) -> float:
        """Return the same time: nothing passes by itself."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.seconds += seconds
