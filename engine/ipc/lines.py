"""Newline-delimited messages on descriptors, with an end to what one line may cost. Imported by the shim."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_BYTES = 64 * 1024
"""What a pipe holds on Linux."""
_KEPT_BYTES = 4 * 1024
"""Of each end of a line that is too long."""


class TooLong(NamedTuple):
    """A line that was read past and not kept."""

    size_bytes: int
    head: bytes
    tail: bytes


def read_lines(descriptor: int, maximum: int) -> Iterator[bytes | TooLong]:
    """Yield each line without the white space around it, until the other side closes.

    What follows the last newline counts as a line too.

    Args:
        descriptor: Read in blocking calls.
        maximum: Bytes a line may have; at most this, and once more as much while it is put together, is held.

    Raises:
        OSError: The descriptor cannot be read.
    """
    line = _Line(maximum)
    while chunk := os.read(descriptor, _READ_BYTES):
        *ends, rest = chunk.split(b"\n")
        for part in ends:
            line.add(part)
            # Given no name here: under one it would be kept until the next line comes.
            yield line.take()
        line.add(rest)
    if line.size_bytes:
        yield line.take()


class LineWriter:
    """Writes whole lines, of several threads one after the other.

    Args:
        descriptor: Written in blocking calls.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def write(self, message: bytes) -> None:
        """Write a message and its newline.

        Raises:
            OSError: Nobody reads any more.
        """
        # A large message is not copied for the sake of its newline.
        parts = (message + b"\n",) if len(message) < _READ_BYTES else (message, b"\n")
        with self._lock:
            for part in parts:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]


class _Line:
    """One line while it comes in."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._parts: list[bytes] = []
        self.size_bytes = 0
        self._head = b""
        self._tail = b""

    def add(self, part: bytes) -> None:
        self.size_bytes += len(part)
        if self.size_bytes <= self._maximum:
            self._parts.append(part)
            return
        if self._parts:
            self._head = b"".join(self._parts)[:_KEPT_BYTES]
            self._tail = b"".join(self._parts)[-_KEPT_BYTES:]
            self._parts.clear()
        self._head = (self._head + part)[:_KEPT_BYTES]
        self._tail = (self._tail + part)[-_KEPT_BYTES:]

    def take(self) -> bytes | TooLong:
        """Return the line and begin the next."""
        line = (
            TooLong(self.size_bytes, self._head, self._tail)
            if self.size_bytes > self._maximum
            else b"".join(self._parts).strip()
        )
        self._parts, self.size_bytes, self._head, self._tail = [], 0, b"", b""
        return line
