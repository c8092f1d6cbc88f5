"""What a relay keeps while no engine takes it: in order, up to a limit, each with an end. Imported by the shim."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.ipc.jsonrpc import Envelope, MessageId

MAX_HELD = 256
"""Claude Code makes some calls at once, each of its subagents as many."""
MAX_HELD_BYTES = 64 * 1024 * 1024
"""Two lines of the largest size (`relay.MAX_LINE_BYTES`)."""


class Request(NamedTuple):
    """One the client waits for."""

    id: MessageId
    envelope: Envelope
    line: bytes
    """Empty for one that an engine has and that could not be asked again."""
    deadline: float
    """For being held, on `time.monotonic()`."""


class HeldRequests:
    """A queue without a lock of its own."""

    def __init__(self) -> None:
        self._queue: deque[Request] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, request: Request) -> bool:
        """Put a request at the end; false when there is no room."""
        if len(self._queue) >= MAX_HELD or self._bytes + len(request.line) > MAX_HELD_BYTES:
            return False
        self._queue.append(request)
        self._bytes += len(request.line)
        return True

    def put_back(self, request: Request) -> None:
        """Put the request that was taken last to the front again."""
        self._queue.appendleft(request)
        self._bytes += len(request.line)

    def take(self) -> Request | None:
        """Return the first request, if there is one."""
        if not self._queue:
            return None
        request = self._queue.popleft()
        self._bytes -= len(request.line)
        return request

    def remove(self, identity: MessageId) -> None:
        """Forget a request that was taken back."""
        for request in [request for request in self._queue if request.id == identity]:
            self._queue.remove(request)
            self._bytes -= len(request.line)

    def take_late(self, now: float) -> list[Request]:
        """Return those whose time is over."""
        late = [request for request in self._queue if request.deadline <= now]
        for request in late:
            self.remove(request.id)
        return late

    def take_all(self) -> list[Request]:
        """Return all of them."""
        everything = list(self._queue)
        self._queue.clear()
        self._bytes = 0
        return everything
