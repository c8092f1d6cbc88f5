"""A `Channel` over a Unix socket (Linux, macOS). Imported by the shim.

The bytes on the wire are those of `multiprocessing.connection` (four bytes of length, big-endian, then the message),
but the module itself is not used: it has no deadline for a message that stops half-way, and importing it takes 15 ms
and 4.6 MB (measured with 3.11), a quarter of what the shim may have.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING

from engine.ipc.channel import FrameTooLarge

if TYPE_CHECKING:
    from pathlib import Path

assert sys.platform != "win32", "Windows has `pipe.py`"  # noqa: S101 - tells the type checker, too

_LENGTH = struct.Struct("!I")
_READ_BYTES = 256 * 1024
"""Read at once. A message is never allocated by what its header claims, only by what has come."""
_RETRY_S = 0.01
_JOIN_BYTES = 16 * 1024
"""Up to this size header and message go out in one call; above, a copy would cost more than the second call."""


class SocketChannel:
    """A `Channel` over a connected stream socket (Linux, macOS)."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(True)
        self._socket = connected
        self._send_lock = threading.Lock()
        self._input_ended = False

    def send(self, frame: bytes, deadline: float | None = None) -> None:
        """See `Channel.send`."""
        header = _LENGTH.pack(len(frame))
        with self._send_lock:
            if len(frame) <= _JOIN_BYTES:
                self._write(header + frame, deadline)
            else:
                self._write(header, deadline)
                self._write(frame, deadline)

    def receive(self, maximum: int, deadline: float | None = None) -> bytes:
        """See `Channel.receive`."""
        header = self._read(_LENGTH.size, deadline)
        if header is None:
            raise EOFError("the connection was ended")
        (size,) = _LENGTH.unpack(header)
        if size > maximum:
            raise FrameTooLarge(f"a message of {size} bytes was announced, at most {maximum} are read")
        frame = self._read(size, deadline)
        if frame is None:
            raise ConnectionError("the connection ended in the middle of a message")
        return frame

    def ready(self, deadline: float) -> bool:
        """See `Channel.ready`."""
        try:
            self._wait(select.POLLIN, deadline)
        except TimeoutError:
            return False
        return True

    def end_input(self) -> None:
        """See `Channel.end_input`."""
        self._input_ended = True
        self._shutdown(socket.SHUT_RD)

    def shutdown(self) -> None:
        """See `Channel.shutdown`."""
        self._input_ended = True
        self._shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """See `Channel.close`."""
        self.shutdown()
        with self._send_lock:  # a sender between two calls must not find the number in use by another connection
            self._socket.close()

    def _read(self, size: int, deadline: float | None) -> bytes | None:
        """Return exactly so many bytes, or none when the connection ended before the first of them."""
        chunks: list[bytes] = []
        missing = size
        while missing:
            self._wait(select.POLLIN, deadline)
            chunk = b"" if self._input_ended else self._socket.recv(min(missing, _READ_BYTES))
            if not chunk:
                if chunks:
                    raise ConnectionError("the connection ended in the middle of a message")
                return None
            chunks.append(chunk)
            missing -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _write(self, data: bytes, deadline: float | None) -> None:
        if deadline is None:
            self._socket.sendall(data)
            return
        rest = memoryview(data)
        while rest:
            self._wait(select.POLLOUT, deadline)
            rest = rest[self._socket.send(rest, socket.MSG_DONTWAIT) :]

    def _wait(self, event: int, deadline: float | None) -> None:
        if deadline is None:
            return
        poll = select.poll()
        poll.register(self._socket, event)
        left_ms = (deadline - time.monotonic()) * 1000
        if not poll.poll(max(0.0, left_ms)):
            raise TimeoutError("the other side took too long")

    def _shutdown(self, how: int) -> None:
        try:
            self._socket.shutdown(how)
        except OSError:
            # Already disconnected by the other side, or closed by the owner: what was wanted is so.
            return


def open_socket(file: Path, deadline: float) -> SocketChannel:
    """Connect to a listening socket.

    Raises:
        OSError: See `open_channel`.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        while True:
            try:
                connection.connect(os.fspath(file))
            except BlockingIOError:
                # Too many wait to be accepted, which a blocking call would wait for without an end.
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_S)
            else:
                return SocketChannel(connection)
    except BaseException:
        connection.close()
        raise
