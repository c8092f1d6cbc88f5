"""What texts become before they are written: secrets replaced, words made ready. Also as a process of its own.

The process reads requests from its standard input until that ends, and needs nothing else: neither files nor settings.
Both ways a message is four bytes of length and JSON.
"""

from __future__ import annotations

import signal
import struct
import sys
from typing import TYPE_CHECKING, Any

import orjson

from engine.core.text import index_columns
from engine.transcripts.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

_LENGTH = struct.Struct("<I")

Answer = str | list[Any]
"""For a text without secrets what both columns hold of it; for one with secrets that, the new text, and the counts."""


def prepare(texts: Sequence[str], *, redacts: bool) -> list[Answer]:
    """Return what each text becomes, as it crosses the pipe."""
    answers: list[Answer] = []
    for text in texts:
        found = redact(text) if redacts else None
        if found is None or not found.counts:
            answers.append(index_columns(text))
        else:
            answers.append([index_columns(found.text), found.text, dict(found.counts)])
    return answers


def packed(value: object) -> bytes:
    """Return the bytes of one message.

    Raises:
        TypeError: It is no JSON (lone surrogates).
    """
    data = orjson.dumps(value)
    return _LENGTH.pack(len(data)) + data


def send(stream: IO[bytes], value: object) -> None:
    """Write one message.

    Raises:
        OSError: The other end is gone.
        TypeError: It is no JSON (lone surrogates).
    """
    stream.write(packed(value))
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message.

    Raises:
        EOFError: The other end is gone, also in the middle of a message.
        OSError: The pipe is broken.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return orjson.loads(_exactly(stream, length))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Say that the process is there, then answer until nobody asks any more."""
    send(answers, True)
    while True:
        try:
            redacts, texts = receive(requests)
            send(answers, prepare(texts, redacts=redacts))
        except (EOFError, OSError):
            return


def main() -> int:
    """Run the process and return its exit code."""
    # Ctrl+C in a terminal reaches the engine, which ends this by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
