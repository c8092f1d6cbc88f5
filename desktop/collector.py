"""Collects cyclic garbage on the main thread only: a Qt object must not die on another one.

Python's collector runs on whatever thread allocates, and there it would destroy timers and windows of the main thread,
which Qt answers with a crash. So it is switched off, and asked to work whenever something reaches the main thread. No
timer of its own: where nothing happens, no garbage is made.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

_M_ARENA_MAX: Final = -8
"""malloc.h of glibc."""

YOUNG: Final = 5000
"""Containers made since the last look. Python itself looks after 700 (2,000 from 3.13 on), which is work for each batch
that is read."""
OLDER: Final = 10
"""Looks at one generation before the next older one, as in Python."""


class Collector:
    """Replaces Python's automatic collection until it is closed."""

    def __init__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def step(self) -> int | None:
        """Collect if it is due and return the generation. On the main thread."""
        young, middle, old = gc.get_count()
        if young < YOUNG:
            return None
        generation = 0 if middle < OLDER else 1 if old < OLDER else 2
        gc.collect(generation)
        return generation

    def close(self) -> None:
        """Let Python collect by itself again."""
        if self._was_enabled:
            gc.enable()


def spare_memory() -> None:
    """Keep glibc from giving each of our threads a heap of its own: measured 26 MB less with 15 threads.

    Before the threads start. Other systems' allocators have nothing to tell.
    """
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Collect everything and return free memory to the system. On the main thread, when work has ended."""
    gc.collect()
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
