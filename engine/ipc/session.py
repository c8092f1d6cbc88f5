"""One client that has been let in: its messages, and a queue of what is to be sent to it.

Whoever sends never waits for the client. What it does not read is kept up to a limit; beyond, it is cut off.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.ipc.protocol import MAX_FRAME_BYTES

if TYPE_CHECKING:
    from engine.ipc.channel import Channel
    from engine.ipc.protocol import Hello, Kind, Toolset

logger = logging.getLogger(__name__)

MAX_QUEUED_BYTES = 16 * 1024 * 1024
"""Some hundred of the largest replies. A single message may be larger when nothing waits before it."""
MAX_QUEUED_FRAMES = 4096
DRAIN_S = 2.0
"""How long a closing session goes on sending what is queued."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who is at the other end, as its `hello` says."""

    number: int
    """Of the connection, counted from 1 since the start of the engine; stands in thread names and the log."""
    kind: Kind
    version: str
    pid: int
    ppid: int
    cwd: str
    toolset: Toolset
    project_dir: str | None = None
    session_id: str | None = None
    config_dir: str | None = None
    events: bool = False

    @classmethod
    def of(cls, number: int, hello: Hello) -> Client:
        """Return the client a hello describes."""
        return cls(
            number=number,
            kind=hello["kind"],
            version=hello["version"],
            pid=hello["pid"],
            ppid=hello["ppid"],
            cwd=hello["cwd"],
            toolset=hello.get("toolset", "all"),
            project_dir=hello.get("project_dir"),
            session_id=hello.get("session_id"),
            config_dir=hello.get("config_dir"),
            events=hello.get("events", False),
        )


class Session:
    """The connection of one client. `receive` belongs to the connection's thread, all else to any thread."""

    def __init__(self, channel: Channel, client: Client) -> None:
        self.client = client
        self._channel = channel
        self._changed = threading.Condition()
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._closing = False
        self._broken = False
        self._writer: threading.Thread | None = None

    def receive(self) -> bytes | None:
        """Wait for the client's next message and return it; none when there will be no more."""
        try:
            return self._channel.receive(MAX_FRAME_BYTES)
        except EOFError:
            return None
        except OSError as error:
            logger.info("Connection %d broke: %s", self.client.number, error)
            return None

    def send(self, frame: bytes) -> None:
        """Queue a message and return at once. After the end of the session it is dropped.

        Raises:
            ValueError: It is larger than any client reads.
        """
        if len(frame) > MAX_FRAME_BYTES:
            raise ValueError(f"a message of {len(frame)} bytes, at most {MAX_FRAME_BYTES} can be sent")
        with self._changed:
            if self._broken or self._closing:
                logger.debug("Connection %d is closed, %d bytes dropped", self.client.number, len(frame))
                return
            if self._queue and (
                self._queued_bytes + len(frame) > MAX_QUEUED_BYTES or len(self._queue) >= MAX_QUEUED_FRAMES
            ):
                logger.warning(
                    "Connection %d does not read: cut off with %d messages (%d bytes) waiting",
                    self.client.number,
                    len(self._queue),
                    self._queued_bytes,
                )
                self._break()
                return
            self._queue.append(frame)
            self._queued_bytes += len(frame)
            if self._writer is None:
                name = f"engine-conn-{self.client.number}-out"
                self._writer = threading.Thread(target=self._write, name=name, daemon=True)
                self._writer.start()
            self._changed.notify_all()

    def close(self) -> None:
        """End the session: `receive` returns none, what is queued still goes out. Returns at once; may be called again.

        The connection's thread sees to it that this takes at most `DRAIN_S`.
        """
        with self._changed:
            self._closing = True
            if self._writer is None:
                self._break()
            self._changed.notify_all()
        self._channel.end_input()

    def end_input(self) -> None:
        """Let `receive` return none; replies still go out until `close`. For the server, when it stops."""
        self._channel.end_input()

    def abort(self) -> None:
        """End the session now, whatever is queued."""
        with self._changed:
            self._break()

    def finish(self) -> None:
        """Close, and return when nothing is sent any more. For the connection's thread."""
        self.close()
        with self._changed:
            writer = self._writer
        if writer is not None:
            writer.join(DRAIN_S)
            self.abort()
            writer.join()
        self._channel.close()

    def _write(self) -> None:
        """Body of the writer's thread."""
        while (frame := self._next()) is not None:
            try:
                self._channel.send(frame)
            except OSError as error:
                logger.debug("Connection %d does not take replies any more: %s", self.client.number, error)
                break
        with self._changed:
            self._break()

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._broken or self._closing)
            if self._broken or not self._queue:
                return None
            frame = self._queue.popleft()
            self._queued_bytes -= len(frame)
            return frame

    def _break(self) -> None:
        self._broken = True
        self._queue.clear()
        self._queued_bytes = 0
        self._channel.shutdown()
        self._changed.notify_all()
