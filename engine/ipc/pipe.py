"""The named pipe of Windows as `Channel` and door, over `multiprocessing.connection`. Imported on Windows only.

A pipe in message mode never hands out half a message, so waiting for one with a deadline is enough. Nothing in the
system's interface wakes a thread that waits on a pipe, so each channel waits on a private pipe beside it, and the door
connects to itself.
"""

from __future__ import annotations

import logging
import threading
import time
from multiprocessing.connection import Client, Listener, Pipe, wait
from typing import TYPE_CHECKING, Any, Protocol, cast

from engine.ipc.address import pipe_name

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from engine.core.paths import Paths

logger = logging.getLogger(__name__)

BACKLOG = 64
FAMILY = "AF_PIPE"
_RETRY_S = 0.2


class ByteConnection(Protocol):
    """What both classes of connection on Windows have in common."""

    def send_bytes(self, buf: bytes, /) -> None:
        """Send one message."""
        ...

    def recv_bytes(self, maxlength: int | None = None, /) -> bytes:
        """Return the next message."""
        ...

    def close(self) -> None:
        """Give the handle back; wakes a thread in `send_bytes`."""
        ...


class PipeChannel:
    """A `Channel` over a named pipe. A message that nobody reads keeps `send` waiting until `shutdown`."""

    def __init__(self, connection: ByteConnection) -> None:
        self._connection = connection
        self._woken, self._wake = Pipe(duplex=False)
        self._send_lock = threading.Lock()

    def send(self, frame: bytes, deadline: float | None = None) -> None:  # noqa: ARG002 - see the class
        """See `Channel.send`."""
        with self._send_lock:
            self._connection.send_bytes(frame)

    def receive(self, maximum: int, deadline: float | None = None) -> bytes:
        """See `Channel.receive`."""
        ready = self._wait(deadline)
        if self._woken in ready:
            raise EOFError("the connection was ended")
        if not ready:
            raise TimeoutError("the other side took too long")
        return self._connection.recv_bytes(maximum)

    def ready(self, deadline: float) -> bool:
        """See `Channel.ready`."""
        return bool(self._wait(deadline))

    def end_input(self) -> None:
        """See `Channel.end_input`."""
        self._wake.close()

    def shutdown(self) -> None:
        """See `Channel.shutdown`."""
        self._wake.close()
        self._connection.close()

    def close(self) -> None:
        """See `Channel.close`."""
        self.shutdown()
        self._woken.close()

    def _wait(self, deadline: float | None) -> list[object]:
        left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
        return list(wait([cast("Connection[Any, Any]", self._connection), self._woken], left_s))


class PipeDoor:
    """Where an engine takes connections.

    Args:
        name: Of the pipe.
        family: Of the listener; tests on other systems give theirs.
    """

    def __init__(self, name: str, family: str = FAMILY) -> None:
        self._name = name
        self._family = family
        self._listener = Listener(name, family, backlog=BACKLOG)
        self._closed = False

    def accept(self) -> PipeChannel | None:
        """Return the next connection; none once the door is closed."""
        while not self._closed:
            try:
                connection = self._listener.accept()
            except OSError as error:
                logger.warning("A connection could not be taken: %s", error.strerror)
                time.sleep(_RETRY_S)
                continue
            if self._closed:
                connection.close()
                break
            return PipeChannel(connection)
        self._listener.close()
        return None

    def close(self) -> None:
        """Take no more connections and wake the thread in `accept`. May be called again."""
        if self._closed:
            return
        self._closed = True
        try:
            Client(self._name, self._family).close()
        except OSError:
            # Nobody is waiting in `accept`: there is nothing to wake.
            return


def open_pipe(paths: Paths, deadline: float) -> PipeChannel:
    """Connect to the engine of this installation.

    Raises:
        FileNotFoundError: No engine listens.
        OSError: All its places were taken until the deadline.
    """
    while True:
        try:
            return PipeChannel(Client(pipe_name(paths), FAMILY))
        except FileNotFoundError:
            raise
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
