"""An engine with nothing behind its socket: the real server, and answers that say which engine gave them.

Also a program: `python fake_engine.py` serves the installation `BACKSCROLL_HOME` names until its first client has gone.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import TYPE_CHECKING, Self, cast

from engine.core.paths import Paths
from engine.ipc.jsonrpc import decode, error_reply, read_envelope, result_reply
from engine.ipc.server import IpcServer

if TYPE_CHECKING:
    from types import TracebackType

    from engine.ipc.protocol import JsonObject, JsonValue
    from engine.ipc.session import Client, Session

WAIT_S = 60.0
"""For anything a test waits for."""


class FakeEngine:
    """Serves MCP sessions. Every message it gets is kept, every request is answered unless its method is withheld.

    Args:
        paths: The installation; only one fake at a time serves it.
        version: What it calls itself, in its welcome and in every answer.
    """

    def __init__(self, paths: Paths, version: str = "1.0") -> None:
        paths.ensure()
        self.version = version
        self.received: queue.Queue[JsonObject] = queue.Queue()
        self.sessions: queue.Queue[Session] = queue.Queue()
        self.withheld: set[str] = set()
        self.last_gone = threading.Event()
        self.may_leave = threading.Event()
        """Clear it, and a session whose input has ended goes on being able to send."""
        self.may_leave.set()
        self.server = IpcServer(paths, version=version, on_session=self._attend, on_call=_refuse, state=lambda: "ready")

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        late = self.server.stop()
        assert not late, late

    def next_session(self) -> Session:
        """Wait for the next client to come in."""
        return self.sessions.get(timeout=WAIT_S)

    def next_message(self, method: str) -> JsonObject:
        """Wait for the next message of a method; those before it are let go."""
        while True:
            message = self.received.get(timeout=WAIT_S)
            if message.get("method") == method:
                return message

    def _attend(self, session: Session) -> None:
        self.sessions.put(session)
        while (frame := session.receive()) is not None:
            message = decode(frame)
            self.received.put(message)
            envelope = read_envelope(frame)
            if envelope.id is not None and envelope.method is not None and envelope.method not in self.withheld:
                session.send(self._answer(session.client, envelope.id, envelope.method, message))
        self.may_leave.wait()
        self.last_gone.set()

    def _answer(self, client: Client, identity: int | str, method: str, message: JsonObject) -> bytes:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        results: dict[str, JsonObject] = {
            "initialize": {
                "protocolVersion": params.get("protocolVersion"),
                "capabilities": {},
                "serverInfo": {"name": "fake", "version": self.version},
            },
            "server/discover": {"supportedVersions": ["2026-07-28"], "version": self.version},
            "tools/list": {"tools": [], "version": self.version},
            "tools/call": {"echo": params.get("arguments"), "version": self.version, "pid": os.getpid()},
            "who": {
                "cwd": client.cwd,
                "project_dir": client.project_dir,
                "session_id": client.session_id,
                "toolset": client.toolset,
                "pid": client.pid,
                "ppid": client.ppid,
            },
        }
        if method not in results:
            return error_reply(identity, -32601, "Method not found")
        return result_reply(identity, results[method])


def _refuse(*_call: object, **_named: object) -> JsonValue:
    raise AssertionError("no test calls the fake engine by name")


def main() -> int:
    """Serve until the first client has gone."""
    with FakeEngine(Paths.resolve(), "started") as engine:
        engine.last_gone.wait()
    return 0


def params_of(message: JsonObject) -> JsonObject:
    """Return a message's parameters."""
    return cast("JsonObject", message["params"])


if __name__ == "__main__":
    sys.exit(main())
