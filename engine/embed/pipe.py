"""Whole values over the standard streams of a child process: four bytes of length, then the pickled value.

Pickle is safe here and only here: both ends are our own program, joined by a pipe that nobody else can reach.
"""

from __future__ import annotations

import logging
import pickle
import struct
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO

logger = logging.getLogger(__name__)

_LENGTH = struct.Struct("<I")


class PipeEnd:
    """One end: read from one stream, sent to the other. Any thread may send, one may receive.

    Args:
        reader: Binary stream to read from.
        writer: Binary stream to write to.
    """

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def send(self, value: object) -> None:
        """Send a value.

        Raises:
            OSError: The other end is gone.
        """
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if self._writer.closed:
                # Whoever read the other stream saw its end first.
                raise BrokenPipeError
            self._writer.write(_LENGTH.pack(len(data)) + data)
            self._writer.flush()

    def close(self) -> None:
        """Close both streams. Idempotent."""
        with self._lock:
            for stream in (self._writer, self._reader):
                try:
                    stream.close()
                except OSError:
                    logger.debug("The other end left something unread")

    def receive(self) -> object:
        """Wait for a value.

        Raises:
            EOFError: The other end is gone, also in the middle of a value.
            OSError: The pipe is broken.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        return pickle.loads(self._exactly(length))  # noqa: S301 - see above

    def _exactly(self, count: int) -> bytes:
        data = self._reader.read(count)
        if len(data) < count:
            raise EOFError
        return data
