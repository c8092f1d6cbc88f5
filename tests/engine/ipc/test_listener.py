from __future__ import annotations

import os
import queue
import socket
import stat
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.ipc.address import KEY_BYTES
from engine.ipc.channel import open_channel
from engine.ipc.listener import ensure_key, open_door

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.ipc.channel import Channel
    from engine.ipc.listener import Door

WAIT_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of files and Unix sockets")


class Porter:
    """Takes every connection of a door, in a thread."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._taken: queue.Queue[Channel | None] = queue.Queue()
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def let_in(self, paths: Paths) -> None:
        """Connect from outside and wait until the door has taken that."""
        open_channel(paths, time.monotonic() + WAIT_S).close()
        channel = self._taken.get(timeout=WAIT_S)
        assert channel is not None
        channel.close()

    def close(self) -> None:
        self._door.close()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        assert self._taken.get_nowait() is None

    def _accept(self) -> None:
        while (channel := self._door.accept()) is not None:
            self._taken.put(channel)
        self._taken.put(None)


def test_the_key_is_made_once_and_only_its_owner_may_read_it(paths: Paths) -> None:
    key = ensure_key(paths)
    assert len(key) == KEY_BYTES
    assert stat.S_IMODE(paths.key_file.stat().st_mode) == 0o600
    assert ensure_key(paths) == key


def test_a_key_that_others_could_have_read_is_replaced(paths: Paths) -> None:
    key = ensure_key(paths)
    paths.key_file.chmod(0o640)
    assert ensure_key(paths) != key
    assert stat.S_IMODE(paths.key_file.stat().st_mode) == 0o600


def test_a_damaged_key_is_replaced(paths: Paths) -> None:
    paths.key_file.write_bytes(b"short")
    assert len(ensure_key(paths)) == KEY_BYTES


def test_a_door_takes_connections_and_is_closed_to_other_users(paths: Paths) -> None:
    porter = Porter(open_door(paths))
    assert stat.S_IMODE(paths.socket_file.stat().st_mode) == 0o600
    porter.let_in(paths)
    porter.let_in(paths)
    porter.close()
    assert not paths.socket_file.exists()


def test_a_socket_file_left_by_an_engine_that_died_is_replaced(paths: Paths) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(paths.socket_file))
    porter = Porter(open_door(paths))
    porter.let_in(paths)
    porter.close()
    assert not paths.socket_file.exists()


def test_a_closing_door_leaves_the_socket_file_of_the_next_engine_alone(paths: Paths) -> None:
    first = Porter(open_door(paths))
    second = Porter(open_door(paths))
    first.close()
    second.let_in(paths)
    second.close()
    assert not paths.socket_file.exists()


def test_closing_a_door_may_be_repeated(paths: Paths) -> None:
    door = open_door(paths)
    door.close()
    Porter(door).close()
    assert not paths.socket_file.exists()
