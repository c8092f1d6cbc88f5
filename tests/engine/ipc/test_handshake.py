from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.ipc.handshake import WrongKey, admit, prove
from tests.helpers.channels import channel_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.ipc.channel import Channel

WAIT_S = 60.0
KEY = b"k" * 32


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    left, right = channel_pair()
    yield left, right
    left.close()
    right.close()


def outcome(body: Callable[[Channel, bytes, float], None], channel: Channel, key: bytes) -> list[BaseException | None]:
    """Run one side in this thread and return how it ended, hanging up where it failed, as both sides do."""
    try:
        body(channel, key, time.monotonic() + WAIT_S)
    except (EOFError, OSError) as error:
        channel.shutdown()
        return [error]
    return [None]


def both(pair: tuple[Channel, Channel], engine_key: bytes, client_key: bytes) -> list[BaseException | None]:
    ended: list[BaseException | None] = []
    thread = threading.Thread(target=lambda: ended.extend(outcome(admit, pair[0], engine_key)))
    thread.start()
    client = outcome(prove, pair[1], client_key)
    thread.join(WAIT_S)
    return ended + client


def test_two_sides_with_the_same_key_accept_each_other(pair: tuple[Channel, Channel]) -> None:
    assert both(pair, KEY, KEY) == [None, None]
    pair[0].send(b"on we go")
    assert pair[1].receive(100) == b"on we go"


def test_a_client_with_another_key_learns_nothing_but_the_end(pair: tuple[Channel, Channel]) -> None:
    engine, client = both(pair, KEY, b"x" * 32)
    assert isinstance(engine, WrongKey)
    assert isinstance(client, EOFError)


def test_a_client_does_not_trust_an_engine_that_cannot_answer(pair: tuple[Channel, Channel]) -> None:
    def impostor() -> None:
        pair[0].send(b"backscroll-ipc-1\n" + os.urandom(32))
        digest = pair[0].receive(64)[32:]
        pair[0].send(digest)  # the client's own proof, sent back

    thread = threading.Thread(target=impostor)
    thread.start()
    ended = outcome(prove, pair[1], KEY)
    thread.join(WAIT_S)
    assert isinstance(ended[0], WrongKey)


@pytest.mark.parametrize(
    "greeting", [b"", b"SSH-2.0-other\r\n", b"backscroll-ipc-2\n" + b"n" * 32, b"backscroll-ipc-1\nshort"]
)
def test_a_client_recognises_that_another_program_listens(pair: tuple[Channel, Channel], greeting: bytes) -> None:
    pair[0].send(greeting)
    assert isinstance(outcome(prove, pair[1], KEY)[0], WrongKey)


@pytest.mark.parametrize("answer", [b"", b"x" * 63, b"x" * 64])
def test_an_answer_of_any_bytes_is_refused(pair: tuple[Channel, Channel], answer: bytes) -> None:
    pair[1].send(answer)
    assert isinstance(outcome(admit, pair[0], KEY)[0], WrongKey)


def test_a_silent_side_is_given_up_at_the_deadline(pair: tuple[Channel, Channel]) -> None:
    # The client first: what the engine's side greets it with would not be silence.
    for body, channel in ((prove, pair[1]), (admit, pair[0])):
        with pytest.raises(TimeoutError):
            body(channel, KEY, time.monotonic() + 0.02)
