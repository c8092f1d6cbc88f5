"""What waits to be read: one queue for backfill, watcher and reindex, newest transcripts first, each file once."""

from __future__ import annotations

import heapq
import threading
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class FileTask:
    """A file that may have something new."""

    order: int
    """Smaller is sooner: minus the modification time in nanoseconds."""
    root_id: int
    relative: str
    size: int = field(compare=False, default=0)
    """How many bytes of it are to be read, as far as that can be told without opening it."""
    force: bool = field(compare=False, default=False)
    """Read it from its beginning even if nothing changed."""
    stored: str | None = field(compare=False, default=None)
    """The label of its root in the archive, when it is not on disk any more."""

    @property
    def key(self) -> tuple[int, str]:
        """What makes two tasks the same file."""
        return self.root_id, self.relative


class IngestQueue:
    """A priority queue without doubles that can be waited on."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._heap: list[FileTask] = []
        self._waiting: dict[tuple[int, str], FileTask] = {}
        self._bytes = 0
        self._closed = False

    def put(self, task: FileTask) -> None:
        """Add a file; a file that waits already takes the sooner place."""
        with self._condition:
            known = self._waiting.get(task.key)
            if known is not None:
                if known.order <= task.order and (known.force or not task.force):
                    return
                self._bytes -= known.size
                task = FileTask(
                    min(known.order, task.order),
                    task.root_id,
                    task.relative,
                    task.size,
                    force=known.force or task.force,
                    stored=task.stored,
                )
            self._waiting[task.key] = task
            self._bytes += task.size
            heapq.heappush(self._heap, task)
            self._condition.notify()

    def get(self, timeout_s: float | None) -> FileTask | None:
        """Return the next file, None after the time or when the queue was closed."""
        with self._condition:
            while True:
                while self._heap:
                    task = heapq.heappop(self._heap)
                    if self._waiting.get(task.key) is task:
                        del self._waiting[task.key]
                        self._bytes -= task.size
                        return task
                if self._closed or not self._condition.wait(timeout_s):
                    return None

    @property
    def waiting(self) -> tuple[int, int]:
        """Number of files and bytes that wait."""
        with self._condition:
            return len(self._waiting), self._bytes

    def clear(self) -> None:
        """Drop everything that waits."""
        with self._condition:
            self._waiting.clear()
            self._heap.clear()
            self._bytes = 0

    def close(self) -> None:
        """Wake everybody who waits; nothing more comes out once it is empty."""
        with self._condition:
            self._closed = True
            self._waiting.clear()
            self._heap.clear()
            self._condition.notify_all()
