"""How two ends prove to each other that they hold the same key, and introduce themselves. Imported by the shim.

Three messages, HMAC-SHA-256, a fresh random number from each side, and the role in each digest so that neither answer
can be sent back as the other's. `multiprocessing.connection` has a challenge too, but runs it inside `accept`, where
one silent client keeps all others waiting.
"""

from __future__ import annotations

import hmac
import os
from typing import TYPE_CHECKING

from engine.ipc.address import read_key
from engine.ipc.channel import open_channel
from engine.ipc.protocol import MAX_HELLO_BYTES, encode, parse_reply_to_hello

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.ipc.channel import Channel
    from engine.ipc.protocol import Hello, Refused, Welcome

HANDSHAKE_S = 2.0
"""For the whole of it, both sides. It takes a millisecond; a client that waits longer than this has another trouble."""

_GREETING = b"backscroll-ipc-1\n"
_NONCE_BYTES = 32
_DIGEST_BYTES = 32


class WrongKey(ConnectionError):
    """The other side does not hold our key: another installation's, or none of ours at all."""


class EngineRefused(ConnectionError):
    """The engine is there, knows us and does not take this connection."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused["message"])
        self.refused = refused


def admit(channel: Channel, key: bytes, deadline: float) -> None:
    """Run the engine's side of the challenge.

    Raises:
        WrongKey: The client answered wrongly. It is told nothing.
        EOFError: It went away.
        OSError: It took too long, or sent more than an answer may have.
    """
    ours = os.urandom(_NONCE_BYTES)
    channel.send(_GREETING + ours, deadline)
    answer = channel.receive(_NONCE_BYTES + _DIGEST_BYTES, deadline)
    theirs, digest = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
    if not hmac.compare_digest(digest, _digest(key, b"client", ours, theirs)):
        raise WrongKey("the client does not hold this installation's key")
    channel.send(_digest(key, b"engine", ours, theirs), deadline)


def prove(channel: Channel, key: bytes, deadline: float) -> None:
    """Run the client's side of the challenge.

    Raises:
        WrongKey: Who listens there is not the engine of this installation.
        EOFError: It closed the connection: it is stopping, it has too many, or it holds another key.
        OSError: It took too long, or sent more than it may.
    """
    greeting = channel.receive(len(_GREETING) + _NONCE_BYTES, deadline)
    theirs = greeting[len(_GREETING) :]
    if not greeting.startswith(_GREETING) or len(theirs) != _NONCE_BYTES:
        raise WrongKey("who listens here is not Backscroll, or another generation of it")
    ours = os.urandom(_NONCE_BYTES)
    channel.send(ours + _digest(key, b"client", theirs, ours), deadline)
    if not hmac.compare_digest(channel.receive(_DIGEST_BYTES, deadline), _digest(key, b"engine", theirs, ours)):
        raise WrongKey("the engine does not hold this installation's key")


def enter(paths: Paths, hello: Hello, deadline: float) -> tuple[Channel, Welcome]:
    """Connect, prove, introduce ourselves, and return the connection the engine has welcomed.

    Raises:
        EngineRefused: The engine says why it does not want this client.
        EOFError: The connection was closed on the way.
        OSError: No engine, the wrong one, or one that does not answer in time.
    """
    key = read_key(paths)
    channel = open_channel(paths, deadline)
    try:
        prove(channel, key, deadline)
        return channel, _introduce(channel, hello, deadline)
    except BaseException:
        channel.close()
        raise


def _introduce(channel: Channel, hello: Hello, deadline: float) -> Welcome:
    channel.send(encode(hello), deadline)
    reply = parse_reply_to_hello(channel.receive(MAX_HELLO_BYTES, deadline))
    if reply["type"] == "refused":
        raise EngineRefused(reply)
    return reply


def _digest(key: bytes, role: bytes, of_engine: bytes, of_client: bytes) -> bytes:
    return hmac.digest(key, role + of_engine + of_client, "sha256")
