"""MCP sessions that load the toolkit when the first client comes: it holds 54 MB, and most engines idle without one."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.models.asking import Caller
    from engine.ipc.protocol import Toolset
    from engine.mcp.session import McpSessions, Wire

logger = logging.getLogger(__name__)


class LateSessions:
    """Serves MCP sessions, from the first one on.

    Args:
        make: Loads the toolkit and returns what serves, not started. Called once, on a connection's thread.
    """

    def __init__(self, make: Callable[[], McpSessions]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._sessions: McpSessions | None = None
        self._has_ended = False

    def serve(self, wire: Wire, *, caller: Caller, toolset: Toolset) -> None:
        """Serve one session until its connection ends; blocks in the connection's thread. Raises nothing.

        Args:
            wire: The connection.
            caller: Who is at its other end.
            toolset: What it shows.
        """
        sessions = self._loaded()
        if sessions is None:
            logger.info("An MCP session came after the end of the engine")
            return
        sessions.serve(wire, caller=caller, toolset=toolset)

    def stop(self, timeout_s: float = 5.0) -> bool:
        """End what serves. The socket is stopped before, so that sessions have ended.

        Returns:
            False when it did not end in time.
        """
        with self._lock:
            self._has_ended = True
            sessions = self._sessions
        return sessions is None or sessions.stop(timeout_s)

    def _loaded(self) -> McpSessions | None:
        # Clients that come together wait for the one that loads.
        with self._lock:
            if self._has_ended:
                return None
            if self._sessions is None:
                sessions = self._make()
                sessions.start()
                self._sessions = sessions
            return self._sessions
