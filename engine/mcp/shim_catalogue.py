"""Writes what the shim answers while no engine runs: the very results this engine's server gives, for each toolset.

The server is asked over a session like any other, once in each era of the protocol, and its results are kept; so the
file cannot say anything else than the engine would. As a program (`recorder.py` starts it) it writes the files it is
given, in the order of `TOOLSETS`; without any those that ship with the program, which is due after a change of what a
tool takes or of its words.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from engine import __version__
from engine.core.files import write_atomically
from engine.core.models.asking import Caller
from engine.ipc.catalogue import Catalogue, shipped_file
from engine.ipc.protocol import TOOLSETS
from engine.mcp.recorder import made_from, whole_catalogue
from engine.mcp.session import McpSessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.ipc.protocol import Toolset

_LISTS: Final = ("tools/list", "prompts/list")
_CLIENT: Final = {"name": "backscroll-catalogue", "version": "1"}


def main(argv: Sequence[str]) -> int:
    """Write the file of every toolset and return an exit code; one that says the same already is left alone.

    Args:
        argv: The files, in the order of `TOOLSETS`; none for those that ship with the program.

    Raises:
        OSError: A file cannot be written.
    """
    with ThreadPoolExecutor(1) as queries:
        sessions = McpSessions(_NoHistory(), whole_catalogue(), version=__version__, queries=queries)
        sessions.start()
        try:
            for toolset, name in zip(TOOLSETS, argv or map(shipped_file, TOOLSETS), strict=True):
                file = Path(name)
                content = json.dumps(record(sessions, toolset), ensure_ascii=False).encode("utf-8")
                if not file.is_file() or file.read_bytes() != content:
                    write_atomically(file, content)
        finally:
            sessions.stop()
    return 0


def record(sessions: McpSessions, toolset: Toolset) -> Catalogue:
    """Return what a server of this toolset answers to the requests that need no history.

    Args:
        sessions: Started, of `whole_catalogue`.
        toolset: Of the server.
    """
    initialize = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": _CLIENT}
    handshake = _ask(sessions, toolset, {"initialize": initialize, **dict.fromkeys(_LISTS)})
    envelope: dict[str, Any] = {
        "_meta": {PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION, CLIENT_CAPABILITIES_META_KEY: {}}
    }
    modern = _ask(sessions, toolset, dict.fromkeys(("server/discover", *_LISTS), envelope))
    handshake["initialize"].pop("protocolVersion")
    return Catalogue(
        version=sessions.version,
        protocolVersions=list(HANDSHAKE_PROTOCOL_VERSIONS),
        handshake=handshake,
        modern=modern,
        made_from=made_from(whole_catalogue(), toolset),
    )


def _ask(
    sessions: McpSessions, toolset: Toolset, requests: Mapping[str, dict[str, Any] | None]
) -> dict[str, dict[str, Any]]:
    wire = _Questions(requests)
    sessions.serve(wire, caller=Caller(), toolset=toolset)
    return {method: wire.results[method] for method in requests}


class _NoHistory:
    """The front door that a server needs, and that no list asks."""

    def call(self, method: str, arguments: Mapping[str, Any], **_about: object) -> dict[str, Any]:  # noqa: ARG002 - the front door's signature
        """Refuse.

        Raises:
            AssertionError: Always.
        """
        raise AssertionError(f"a catalogue is made without a history, and {method} asks for one")


class _Questions:
    """A connection whose client asks each of these once and leaves; a session answers all of them before it ends."""

    def __init__(self, requests: Mapping[str, dict[str, Any] | None]) -> None:
        self.results: dict[str, dict[str, Any]] = {}
        self._frames = deque(
            json.dumps({"jsonrpc": "2.0", "id": method, "method": method, **({"params": params} if params else {})})
            for method, params in requests.items()
        )

    def receive(self) -> bytes | None:
        """Return the next question."""
        return self._frames.popleft().encode("utf-8") if self._frames else None

    def send(self, frame: bytes) -> None:
        """Keep an answer."""
        reply = json.loads(frame)
        self.results[reply["id"]] = reply["result"]

    def close(self) -> None:
        """Do nothing: the client leaves by itself."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
