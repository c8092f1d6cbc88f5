"""A listening Unix socket: where an engine takes connections on Linux and macOS."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import sys
from typing import TYPE_CHECKING

assert sys.platform != "win32", "Windows has `pipe.py`"  # noqa: S101 - tells the type checker, too

from engine.ipc.socket_channel import SocketChannel  # noqa: E402 - nor can this be loaded there

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

BACKLOG = 64
"""Connections that may wait to be accepted; twenty sessions opened together connect in the same moment."""
_RETRY_MS = 200
"""Pause when the system has no descriptor left for another connection."""


class SocketDoor:
    """A listening Unix socket.

    Args:
        file: Where. Its folder must exist and be closed to others (0700).
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        file.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(os.fspath(file))
            file.chmod(0o600)
            self._socket.listen(BACKLOG)
            self._socket.setblocking(False)
        except BaseException:
            self._socket.close()
            raise
        self._identity = _identity(file)
        self._woken, self._wake = socket.socketpair()
        self._closed = False

    def accept(self) -> SocketChannel | None:
        """See `Door.accept`."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.register(self._socket, select.POLLIN)
        while not self._closed:
            poll.poll()
            if self._closed:
                break
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                continue  # the client has gone away again
            except OSError as error:
                logger.warning("A connection could not be taken: %s", error.strerror)
                self._pause()
                continue
            return SocketChannel(connection)
        self._socket.close()
        self._woken.close()
        return None

    def close(self) -> None:
        """See `Door.close`."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):  # a file that is gone, or another engine's, is not ours to remove
            if _identity(self._file) == self._identity:
                self._file.unlink()
        self._wake.close()

    def _pause(self) -> None:
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.poll(_RETRY_MS)


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino
