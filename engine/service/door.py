"""What lets other programs in: the local socket, the MCP sessions behind it, and the threads that answer them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from engine import __version__
from engine.core.events import HandoverRequested, WindowRequested
from engine.core.models.asking import Caller
from engine.ipc.server import IpcServer
from engine.mcp.late import LateSessions
from engine.mcp.recorder import CatalogueRecorder

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from engine.api import EngineApi
    from engine.core.events import EventHub
    from engine.core.paths import Paths
    from engine.ipc.calls import Progress
    from engine.ipc.protocol import JsonObject, JsonValue
    from engine.ipc.session import Client, Session
    from engine.mcp.session import McpSessions

QUERY_THREADS = 4
"""Searches at a time: SQLite answers in milliseconds, more threads only wait for the two cores."""

REQUESTS = frozenset({"show_window", "toggle_window", "hand_over"})
"""What programs of ours ask of the process instead of the history. The reply says whether it has a window."""


class Door:
    """Serves the programs that connect.

    Args:
        paths: Where the socket and the shim's catalogue files lie.
        api: What answers.
        events: Told what is asked of the process.
        has_window: The process has a window: it is shown when asked for, and gives way to nobody.
        state: The engine's state, for whoever connects.
        on_session: Called before an MCP session is served: a question is likely soon.
    """

    def __init__(
        self,
        paths: Paths,
        api: EngineApi,
        events: EventHub,
        *,
        has_window: bool,
        state: Callable[[], str],
        on_session: Callable[[], None],
    ) -> None:
        self._api = api
        self._events = events
        self._has_window = has_window
        self._on_session = on_session
        self._queries = ThreadPoolExecutor(QUERY_THREADS, thread_name_prefix="engine-query")
        self._sessions = LateSessions(self._make_sessions)
        self._recorder = CatalogueRecorder(paths)
        self._server = IpcServer(
            paths, version=__version__, on_session=self._serve_session, on_call=self._answer, state=state
        )

    def open(self) -> None:
        """Let programs in."""
        self._recorder.start()
        self._server.start()

    def close(self) -> list[str]:
        """Let nobody in any more and end what is served. Returns the names of what did not end in time."""
        late = list(self._server.stop())
        if not self._sessions.stop():
            late.append("engine-loop")
        if not self._recorder.stop():
            late.append("engine-catalogue")
        self._queries.shutdown(wait=True, cancel_futures=True)
        return late

    def clients(self) -> int:
        """Return how many shims and programs are connected."""
        return len(self._server.clients())

    def _make_sessions(self) -> McpSessions:
        from engine.mcp.catalogue import Catalogue  # noqa: PLC0415 - `import mcp` takes 0.7 s and 54 MB
        from engine.mcp.session import McpSessions  # noqa: PLC0415 - as above

        return McpSessions(self._api, Catalogue(self._api.methods), version=__version__, queries=self._queries)

    def _serve_session(self, session: Session) -> None:
        self._on_session()
        self._sessions.serve(session, caller=_caller(session.client, is_model=True), toolset=session.client.toolset)

    def _answer(
        self, client: Client, method: str, arguments: JsonObject, progress: Progress, cancelled: threading.Event
    ) -> JsonValue:
        if method in REQUESTS:
            return self._request(method)
        return self._api.ask(
            method,
            arguments,
            caller=_caller(client, is_model=False),
            progress=progress,
            cancelled=cancelled,
        )

    def _request(self, method: str) -> JsonObject:
        """Pass on what another program of the person wants of this process, and say whether there is a window."""
        if method == "hand_over":
            if not self._has_window:
                self._events.publish(HandoverRequested())
        elif self._has_window:
            self._events.publish(WindowRequested("show" if method == "show_window" else "toggle"))
        return {"window": self._has_window, "pid": os.getpid()}


def _caller(client: Client, *, is_model: bool) -> Caller:
    return Caller(cwd=client.cwd, project_dir=client.project_dir, session_id=client.session_id, is_model=is_model)
