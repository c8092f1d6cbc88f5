"""What a relay owes: requests an engine has and has not answered, and how a session began. Imported by the shim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.ipc.jsonrpc import decode

if TYPE_CHECKING:
    from engine.ipc.held import Request
    from engine.ipc.jsonrpc import MessageId

OPENING = "initialize"
OPENED = "notifications/initialized"
CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"
"""The one request that has no reply of its own: it stays open for as long as the client listens."""
REPEATABLE = frozenset({OPENING, "ping", "server/discover", "tools/list", "prompts/list"})
"""Requests without effect: asked again by us when the engine goes while it answers them."""


class Owed:
    """The open ends of one session. Without a lock of its own."""

    def __init__(self) -> None:
        self.opening: bytes | None = None
        """The client's `initialize`, once it has been answered with a result."""
        self.opened: bytes | None = None
        """The client's `notifications/initialized`."""
        self._asked: dict[MessageId, Request] = {}
        """What the engine has been asked and not yet answered."""
        self._by_engine: set[MessageId] = set()
        """What it has asked itself."""

    def asked(self, request: Request) -> None:
        """Note that the engine is given a request."""
        keep = request.envelope.method in REPEATABLE
        self._asked[request.id] = request if keep else request._replace(line=b"")

    def find(self, identity: MessageId) -> Request | None:
        """Return what the engine was asked under an id; None when it was taken back or answered by us."""
        return self._asked.get(identity)

    def settle(self, identity: MessageId) -> Request | None:
        """Take a request out, because it was answered or the engine did not take it."""
        return self._asked.pop(identity, None)

    def awaited(self) -> list[Request]:
        """Return what the client waits for."""
        return [request for request in self._asked.values() if request.envelope.method != LISTEN]

    def asked_by_engine(self, identity: MessageId) -> None:
        """Note that the engine asks the client something."""
        self._by_engine.add(identity)

    def is_reply_to_engine(self, identity: MessageId | None) -> bool:
        """Return, once for each, whether this engine asked it: what one of before had asked means nothing to it."""
        if identity is None or identity not in self._by_engine:
            return False
        self._by_engine.discard(identity)
        return True

    def end(self) -> list[Request]:
        """Return what an engine that has gone leaves open, and forget it."""
        left = list(self._asked.values())
        self._asked.clear()
        self._by_engine.clear()
        return left


def cancelled_id(cancellation: bytes) -> MessageId | None:
    """Return the id a cancellation names; None when it names none."""
    params = decode(cancellation).get("params")
    identity = params.get("requestId") if isinstance(params, dict) else None
    return identity if isinstance(identity, (int, str)) else None
