from __future__ import annotations

import contextlib
import multiprocessing.connection
import os
import socket
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.ipc.channel import FrameTooLarge, open_channel
from engine.ipc.pipe import PipeChannel, PipeDoor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.core.paths import Paths
    from engine.ipc.channel import Channel

WAIT_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets; the pipe's own tests run everywhere")


def soon(seconds: float = WAIT_S) -> float:
    return time.monotonic() + seconds


def socket_pair() -> tuple[Channel, Channel]:
    from engine.ipc.socket_channel import SocketChannel

    left, right = socket.socketpair()
    return SocketChannel(left), SocketChannel(right)


def pipe_pair() -> tuple[Channel, Channel]:
    left, right = multiprocessing.connection.Pipe()
    return PipeChannel(left), PipeChannel(right)


@pytest.fixture(params=[socket_pair, pipe_pair], ids=["socket", "pipe"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Channel, Channel]]:
    channels: tuple[Channel, Channel] = request.param()
    yield channels
    for channel in channels:
        channel.close()


@pytest.fixture
def raw() -> Iterator[tuple[socket.socket, Channel]]:
    """A socket to write any bytes into, and the channel that reads them."""
    from engine.ipc.socket_channel import SocketChannel

    left, right = socket.socketpair()
    channel = SocketChannel(right)
    yield left, channel
    left.close()
    channel.close()


def in_thread(body: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            body()
        except (EOFError, OSError) as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


@pytest.mark.parametrize("size", [0, 1, 16 * 1024, 16 * 1024 + 1, 3_000_000])
def test_a_message_arrives_whole_whatever_its_size(pair: tuple[Channel, Channel], size: int) -> None:
    left, right = pair
    message = os.urandom(size)
    thread, raised = in_thread(lambda: left.send(message))
    assert right.receive(size) == message
    thread.join(WAIT_S)
    assert not raised


def test_messages_of_several_threads_are_not_mixed(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    messages = [bytes([letter]) * 50_000 for letter in b"abcdef"]
    threads = [in_thread(lambda message=message: left.send(message))[0] for message in messages]
    assert sorted(right.receive(50_000) for _ in messages) == messages
    for thread in threads:
        thread.join(WAIT_S)


def test_a_message_over_the_maximum_is_refused_before_it_is_read(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    thread, _ = in_thread(lambda: left.send(b"x" * 1001))
    with pytest.raises(OSError, match=r"bad message length|1001 bytes was announced"):
        right.receive(1000)
    right.shutdown()
    left.shutdown()
    thread.join(WAIT_S)


def test_an_announcement_of_gigabytes_allocates_nothing(raw: tuple[socket.socket, Channel]) -> None:
    sender, channel = raw
    sender.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(FrameTooLarge):
        channel.receive(64 * 1024 * 1024)


def test_silence_ends_at_the_deadline(pair: tuple[Channel, Channel]) -> None:
    with pytest.raises(TimeoutError):
        pair[0].receive(10, soon(0.02))


@pytest.mark.parametrize("part", [b"\0\0", struct.pack("!I", 100), struct.pack("!I", 100) + b"half of it"])
def test_a_message_that_stops_half_way_ends_at_the_deadline(raw: tuple[socket.socket, Channel], part: bytes) -> None:
    sender, channel = raw
    sender.sendall(part)
    with pytest.raises(TimeoutError):
        channel.receive(1000, soon(0.05))


def test_a_connection_that_ends_between_messages_is_told_from_one_that_ends_inside(
    raw: tuple[socket.socket, Channel],
) -> None:
    sender, channel = raw
    sender.sendall(struct.pack("!I", 3) + b"one" + struct.pack("!I", 100) + b"half")
    sender.close()
    assert channel.receive(100) == b"one"
    with pytest.raises(ConnectionError, match="in the middle"):
        channel.receive(100)


def test_the_end_of_the_other_side_is_the_end_of_the_file(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    left.close()
    with pytest.raises(EOFError):
        right.receive(10, soon())


def test_a_reader_is_woken_and_can_still_be_answered(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    thread, raised = in_thread(lambda: left.receive(10))
    left.end_input()
    thread.join(WAIT_S)
    assert [type(error) for error in raised] == [EOFError]
    left.send(b"reply")
    assert right.receive(10, soon()) == b"reply"


def test_shutting_down_wakes_a_sender_that_nobody_reads(raw: tuple[socket.socket, Channel]) -> None:
    _, channel = raw
    thread, raised = in_thread(lambda: channel.send(b"x" * 10_000_000))
    channel.shutdown()
    thread.join(WAIT_S)
    assert not thread.is_alive()
    assert len(raised) == 1


def test_a_sender_that_nobody_reads_gives_up_at_its_deadline(raw: tuple[socket.socket, Channel]) -> None:
    _, channel = raw
    with pytest.raises(TimeoutError):
        channel.send(b"x" * 10_000_000, soon(0.05))


def test_a_large_message_goes_through_with_a_deadline(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    message = os.urandom(2_000_000)
    thread, raised = in_thread(lambda: left.send(message, soon()))
    assert right.receive(2_000_000, soon()) == message
    thread.join(WAIT_S)
    assert not raised


def test_waiting_for_a_message_takes_nothing_from_it(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    assert not right.ready(soon(0.01))
    left.send(b"one")
    assert right.ready(soon())
    assert right.receive(10, soon()) == b"one"


def test_shutting_down_and_closing_may_be_repeated(pair: tuple[Channel, Channel]) -> None:
    for channel in pair:
        for end in (channel.end_input, channel.shutdown, channel.close, channel.close, channel.shutdown):
            end()
        with pytest.raises(OSError, match=r"."):
            channel.send(b"late")


def test_the_wire_is_that_of_the_standard_library() -> None:
    from engine.ipc.socket_channel import SocketChannel

    left, right = socket.socketpair()
    with (
        multiprocessing.connection.Connection(left.detach()) as theirs,
        contextlib.closing(SocketChannel(right)) as ours,
    ):
        for message in (b"", b"short", os.urandom(100_000)):
            thread, _ = in_thread(lambda message=message: theirs.send_bytes(message))
            assert ours.receive(100_000, soon()) == message
            thread.join(WAIT_S)
            thread, _ = in_thread(lambda message=message: ours.send(message))
            assert theirs.recv_bytes(100_000) == message
            thread.join(WAIT_S)


def test_nobody_listening_is_told_from_a_file_that_was_left_behind(paths: Paths) -> None:
    with pytest.raises(FileNotFoundError):
        open_channel(paths, soon())
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(paths.socket_file))
    with pytest.raises(ConnectionRefusedError):
        open_channel(paths, soon())


def test_the_door_of_a_pipe_takes_connections_until_it_is_closed(short_tmp: Path) -> None:
    # With the family of this system in place of Windows' pipes; all else is the same code.
    name = str(short_tmp / "pipe")
    door = PipeDoor(name, "AF_UNIX")
    taken: list[PipeChannel | None] = []
    both = threading.Event()

    def accept() -> None:
        taken.append(door.accept())
        both.set()
        taken.append(door.accept())

    thread = threading.Thread(target=accept)
    thread.start()
    with multiprocessing.connection.Client(name, "AF_UNIX") as client:
        assert both.wait(WAIT_S)
        channel = taken[0]
        assert channel is not None
        channel.send(b"welcome")
        assert client.recv_bytes() == b"welcome"
        door.close()
        door.close()
        thread.join(WAIT_S)
        assert taken[1:] == [None]
        channel.close()
