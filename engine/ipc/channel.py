"""A connection that carries whole messages, with a deadline on every wait and a maximum on every read.

`socket_channel.py` makes it of a Unix socket, `pipe.py` of a named pipe of Windows; nobody else knows which. Imported
by the shim.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.core.paths import Paths


class FrameTooLarge(ConnectionError):
    """The other side announced a message over the maximum. The connection is of no use any more."""


class Channel(Protocol):
    """One connection that carries whole messages. Sending and receiving may happen in two threads at once.

    All methods raise `EOFError` when the other side (or our own `end_input`, `shutdown`) ended the connection between
    two messages, `TimeoutError` when the deadline passed, another `OSError` when the connection broke. After any of
    them the connection is of no further use.
    """

    def send(self, frame: bytes, deadline: float | None = None) -> None:
        """Send one message, whole and in order with those of other threads.

        Args:
            frame: The message.
            deadline: On `time.monotonic()`; none waits for as long as the other side does not read.
        """
        ...

    def receive(self, maximum: int, deadline: float | None = None) -> bytes:
        """Return the next message.

        Args:
            maximum: Bytes it may have.
            deadline: On `time.monotonic()`, for the whole message.

        Raises:
            FrameTooLarge: It is larger; nothing of it was read.
        """
        ...

    def ready(self, deadline: float) -> bool:
        """Wait until a message begins to come (or the end), and say whether one does."""
        ...

    def end_input(self) -> None:
        """Wake the thread in `receive` with `EOFError`; what was sent and will be sent still goes out."""
        ...

    def shutdown(self) -> None:
        """Wake every thread in `send` and `receive`, and let the other side see the end. May be called again."""
        ...

    def close(self) -> None:
        """Give the descriptor back. Only for the thread that receives; a sender is woken. May be called again."""
        ...


def open_channel(paths: Paths, deadline: float) -> Channel:
    """Connect to the engine of this installation; who answers has not proved anything yet.

    Raises:
        FileNotFoundError: Nobody has listened here, or the engine has closed.
        ConnectionRefusedError: A socket file is left of an engine that died.
        OSError: Anything else, too many waiting connections included.
    """
    if sys.platform == "win32":
        from engine.ipc.pipe import open_pipe  # noqa: PLC0415 - loads multiprocessing, on Windows only

        return open_pipe(paths, deadline)
    from engine.ipc.socket_channel import open_socket  # noqa: PLC0415 - cannot be loaded on Windows

    return open_socket(paths.socket_file, deadline)
