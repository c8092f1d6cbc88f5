"""Computes side by side: one thread for each core the worker may use, each with one piece of work at a time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Finish = Callable[[], None]
    """What the owner's thread does with what a lane has made."""
    Done = Future[Finish]


class Lanes:
    """A fixed number of threads. Their owner, one thread, gives out work and takes what comes of it.

    Args:
        count: How many.
        on_done: Called on a lane's thread when its work is over, well or badly; hands it to the owner.
    """

    def __init__(self, count: int, on_done: Callable[[Done], None]) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="embed-lane")
        self._on_done = on_done
        self._free = count

    @property
    def has_free(self) -> bool:
        """True while a lane has nothing to do."""
        return self._free > 0

    def start(self, work: Callable[[], Finish]) -> None:
        """Give work to a free lane."""
        self._free -= 1
        self._pool.submit(work).add_done_callback(self._on_done)

    def finish(self, done: Done) -> None:
        """Let a lane be free again and do what its work came to. What was raised in the lane is raised here."""
        self._free += 1
        done.result()()

    def close(self) -> None:
        """Start nothing more; what is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
