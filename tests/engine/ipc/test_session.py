from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.ipc import session as session_module
from engine.ipc.protocol import MAX_FRAME_BYTES
from engine.ipc.session import Client, Session
from tests.helpers.channels import channel_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.ipc.channel import Channel

WAIT_S = 60.0
CLIENT = Client(number=3, kind="mcp", version="1", pid=1, ppid=1, cwd="/", toolset="all")


@pytest.fixture
def ends() -> Iterator[tuple[Session, Channel]]:
    ours, theirs = channel_pair()
    session = Session(ours, CLIENT)
    yield session, theirs
    session.abort()
    session.finish()
    theirs.close()


def receive(channel: Channel) -> bytes:
    return channel.receive(MAX_FRAME_BYTES, time.monotonic() + WAIT_S)


def read_to_the_end(channel: Channel) -> None:
    while True:
        receive(channel)


def test_messages_go_both_ways_in_order(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    for number in range(100):
        session.send(b"%d" % number)
    assert [receive(client) for _ in range(100)] == [b"%d" % number for number in range(100)]
    client.send(b"question")
    assert session.receive() == b"question"


def test_a_client_that_goes_is_the_end_of_its_messages(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    client.close()
    assert session.receive() is None


def test_closing_sends_what_is_queued_and_ends_the_reading(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    reply = b"x" * 1_000_000  # more than the socket holds: it is still queued when the session closes
    session.send(reply)
    session.close()
    session.close()
    assert session.receive() is None
    assert receive(client) == reply
    with pytest.raises(EOFError):
        receive(client)


def test_what_is_sent_after_the_end_is_dropped(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    session.close()
    session.send(b"late")
    with pytest.raises(EOFError):
        receive(client)


@pytest.mark.expect_log("does not read: cut off")
@pytest.mark.parametrize(("count", "size"), [(60, 1_000_000), (9000, 100)])
def test_sending_never_waits_and_a_client_that_does_not_read_is_cut_off(
    ends: tuple[Session, Channel], count: int, size: int
) -> None:
    session, client = ends
    for _ in range(count):
        session.send(b"x" * size)
    assert session.receive() is None
    with pytest.raises((EOFError, OSError)):
        read_to_the_end(client)


def test_one_large_message_is_sent_although_it_is_over_the_limit_of_the_queue(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    message = b"x" * (session_module.MAX_QUEUED_BYTES + 1)
    session.send(message)
    assert receive(client) == message


def test_a_message_no_client_would_read_is_a_mistake_of_the_sender(ends: tuple[Session, Channel]) -> None:
    with pytest.raises(ValueError, match="at most"):
        ends[0].send(bytes(MAX_FRAME_BYTES + 1))


def test_finishing_a_session_nobody_reads_is_bounded(
    ends: tuple[Session, Channel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "DRAIN_S", 0.05)
    session, _ = ends
    session.send(b"x" * 5_000_000)
    thread = threading.Thread(target=session.finish)
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive()


def test_ending_the_input_lets_the_last_replies_out(ends: tuple[Session, Channel]) -> None:
    session, client = ends
    session.end_input()
    assert session.receive() is None
    session.send(b"last")
    assert receive(client) == b"last"
