"""Where the engine takes connections: the socket file (or pipe) and the key, both for this user alone."""

from __future__ import annotations

import logging
import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol

from engine.core.files import write_atomically
from engine.ipc.address import KEY_BYTES, NoKey, pipe_name, read_key

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.ipc.channel import Channel

logger = logging.getLogger(__name__)


class Door(Protocol):
    """Takes connections for one engine."""

    def accept(self) -> Channel | None:
        """Wait for the next connection and return it; none once the door is closed."""
        ...

    def close(self) -> None:
        """Take no more connections and wake the thread in `accept`. May be called again."""
        ...


def open_door(paths: Paths) -> Door:
    """Listen. Only the holder of the engine's lock may call this: a socket file that is there is taken for stale.

    Raises:
        OSError: The place cannot be made, or (Windows) another process listens there.
    """
    if sys.platform == "win32":
        from engine.ipc.pipe import PipeDoor  # noqa: PLC0415 - loads multiprocessing, on Windows only

        return PipeDoor(pipe_name(paths))
    from engine.ipc.socket_door import SocketDoor  # noqa: PLC0415 - cannot be loaded on Windows

    return SocketDoor(paths.socket_file)


def ensure_key(paths: Paths) -> bytes:
    """Return the key of the challenge, after making one where there is none, or where others could have read it.

    Only the holder of the engine's lock may call this.

    Raises:
        OSError: The key cannot be read or written.
    """
    try:
        key = read_key(paths)
        if os.name != "posix" or not stat.S_IMODE(paths.key_file.stat().st_mode) & 0o077:
            return key
    except NoKey:
        logger.info("Making a new key for the local socket")
    paths.key_file.unlink(missing_ok=True)
    key = os.urandom(KEY_BYTES)
    write_atomically(paths.key_file, key, mode=0o600)
    return key
