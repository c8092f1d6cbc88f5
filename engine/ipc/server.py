"""The engine's side of the local socket: takes connections, proves who they are, and hands them to whoever answers.

Each connection has a thread. Until it has proved to hold the key it may send 64 bytes and stay two seconds; silent ones
are closed, the oldest first, when there are too many, so that they keep nobody out. What goes wrong on one connection
ends that connection and nothing else.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

from engine.ipc.calls import CallServer
from engine.ipc.handshake import HANDSHAKE_S, admit
from engine.ipc.listener import ensure_key, open_door
from engine.ipc.protocol import MAX_HELLO_BYTES, PROTOCOL, Event, ProtocolError, Refused, Welcome, encode, parse_hello
from engine.ipc.session import Client, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.paths import Paths
    from engine.ipc.calls import CallHandler
    from engine.ipc.channel import Channel
    from engine.ipc.listener import Door
    from engine.ipc.protocol import Hello, JsonValue

logger = logging.getLogger(__name__)

MAX_WAITING = 64
"""Connections that have not proved anything yet."""
MAX_SESSIONS = 64
"""Clients at a time. Each open session of Claude Code is one."""
STOP_S = 5.0
"""How long `stop` waits for what is being answered, before it cuts the connections."""
_CUT_S = 1.0
"""And after that, before it names the threads that are late."""


class IpcServer:
    """Serves one installation's socket.

    Args:
        paths: The installation. The caller holds its engine's lock.
        version: Of the engine, told to every client.
        on_session: Serves one session of kind `mcp`: called in the connection's thread, the connection is closed when
            it returns.
        on_call: Answers one call of an `api` client.
        state: The engine's state in one word, told to every new client.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        version: str,
        on_session: Callable[[Session], None],
        on_call: CallHandler,
        state: Callable[[], str],
    ) -> None:
        self._paths = paths
        self._version = version
        self._on_session = on_session
        self._on_call = on_call
        self._state = state
        self._lock = threading.Lock()
        self._stopping = False
        self._door: Door | None = None
        self._accepting: threading.Thread | None = None
        self._count = 0
        self._threads: set[threading.Thread] = set()
        self._waiting: dict[int, Channel] = {}
        self._sessions: dict[int, Session] = {}

    def start(self) -> None:
        """Open the door. Does nothing when it is open.

        Raises:
            OSError: The socket or the key cannot be made.
        """
        if self._door is not None:
            return
        key = ensure_key(self._paths)
        self._door = door = open_door(self._paths)
        self._stopping = False
        self._accepting = threading.Thread(target=self._accept, args=(door, key), name="engine-accept", daemon=True)
        self._accepting.start()

    def stop(self, timeout_s: float = STOP_S) -> tuple[str, ...]:
        """Close the door, let every client have the replies that are on their way, and end all connections.

        Handlers see `receive` return none, callers of the API an `engine_stopping` error.

        Returns:
            The names of the threads that did not end in time; they hold nothing but their own connection.
        """
        if self._door is None or self._accepting is None:
            return ()
        deadline = time.monotonic() + timeout_s
        with self._lock:
            self._stopping = True
            sessions = list(self._sessions.values())
            for channel in self._waiting.values():
                channel.shutdown()
        self._door.close()
        for session in sessions:
            session.end_input()
        with self._lock:
            threads = [self._accepting, *self._threads]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for session in sessions:
            session.abort()
        deadline = time.monotonic() + _CUT_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._door = self._accepting = None
        late = tuple(sorted(thread.name for thread in threads if thread.is_alive()))
        if late:
            logger.warning("The local socket is closed, but these threads have not ended: %s", ", ".join(late))
        return late

    def clients(self) -> tuple[Client, ...]:
        """Return who is connected, in the order of their connecting."""
        with self._lock:
            return tuple(session.client for session in self._sessions.values())

    def publish(self, name: str, value: JsonValue) -> None:
        """Send an event to every `api` client that asked for events."""
        with self._lock:
            sessions = [session for session in self._sessions.values() if session.client.events]
        frame = encode(Event(type="event", name=name, value=value))
        for session in sessions:
            session.send(frame)

    def _accept(self, door: Door, key: bytes) -> None:
        """Body of `engine-accept`."""
        while (channel := door.accept()) is not None:
            with self._lock:
                self._count += 1
                number = self._count
                if self._stopping:
                    channel.close()
                    continue
                if len(self._waiting) >= MAX_WAITING:
                    # Dictionaries keep their order: the first is the oldest. Its thread closes it.
                    self._waiting.pop(next(iter(self._waiting))).shutdown()
                self._waiting[number] = channel
            self._begin(number, channel, key)

    def _begin(self, number: int, channel: Channel, key: bytes) -> None:
        thread = threading.Thread(
            target=self._serve, args=(number, channel, key), name=f"engine-conn-{number}", daemon=True
        )
        with self._lock:
            self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            logger.exception("No thread for connection %d", number)
            with self._lock:
                self._threads.discard(thread)
                self._waiting.pop(number, None)
            channel.close()

    def _serve(self, number: int, channel: Channel, key: bytes) -> None:
        """Body of `engine-conn-N`."""
        try:
            session = self._let_in(number, channel, key)
            if session is not None:
                self._attend(session)
        except Exception:
            logger.exception("Connection %d could not be let in", number)
        finally:
            with self._lock:
                self._waiting.pop(number, None)
                self._sessions.pop(number, None)
            channel.close()
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _let_in(self, number: int, channel: Channel, key: bytes) -> Session | None:
        """Return the session of a client that is welcome."""
        deadline = time.monotonic() + HANDSHAKE_S
        try:
            admit(channel, key, deadline)
            hello = parse_hello(channel.receive(MAX_HELLO_BYTES, deadline))
            session = Session(channel, Client.of(number, hello))
            refused = self._register(number, session, hello)
            if refused is not None:
                logger.info("Connection %d refused: %s", number, refused["code"])
                channel.send(encode(refused), deadline)
                return None
            welcome = Welcome(type="welcome", version=self._version, pid=os.getpid(), state=self._state())
            channel.send(encode(welcome), deadline)
        except (EOFError, OSError) as error:
            logger.debug("Connection %d did not get in: %s", number, error)
            return None
        return session

    def _register(self, number: int, session: Session, hello: Hello) -> Refused | None:
        if hello["protocol"] != PROTOCOL:
            return Refused(
                type="refused",
                code="other_version",
                message=f"Backscroll {self._version} is running and this client belongs to version {hello['version']}.",
                hint="Restart the Claude Code session, or the command, so that both are the same version.",
            )
        with self._lock:
            self._waiting.pop(number, None)
            if self._stopping:
                return Refused(
                    type="refused",
                    code="engine_stopping",
                    message="Backscroll is stopping or restarting.",
                    hint="Try again in a moment.",
                )
            if len(self._sessions) >= MAX_SESSIONS:
                return Refused(
                    type="refused",
                    code="too_many_clients",
                    message=f"{MAX_SESSIONS} clients are connected to Backscroll already.",
                    hint="Close Claude Code sessions that are no longer needed.",
                )
            self._sessions[number] = session
        return None

    def _attend(self, session: Session) -> None:
        """Hand the session to its handler; the connection ends with it, however it ends."""
        client = session.client
        logger.info("Connection %d: %s client %s, pid %d", client.number, client.kind, client.version, client.pid)
        try:
            if client.kind == "mcp":
                self._on_session(session)
            else:
                CallServer(session, self._on_call).run()
        except ProtocolError as error:
            logger.info("Connection %d dropped: %s", client.number, error)
        except Exception:
            logger.exception("Connection %d failed", client.number)
        finally:
            session.finish()
            logger.info("Connection %d ended", client.number)
