"""Two ends of one connection, in one process."""

from __future__ import annotations

import multiprocessing.connection
import socket
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.ipc.channel import Channel


def channel_pair() -> tuple[Channel, Channel]:
    """Return both ends of a connection as this system makes them."""
    if sys.platform == "win32":
        from engine.ipc.pipe import PipeChannel

        one, other = multiprocessing.connection.Pipe()
        return PipeChannel(one), PipeChannel(other)
    from engine.ipc.socket_channel import SocketChannel

    left, right = socket.socketpair()
    return SocketChannel(left), SocketChannel(right)
