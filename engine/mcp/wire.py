"""Frames of the socket to messages of the protocol and back.

The toolkit's own readers cannot be used: its JSON parser refuses lone surrogates, which a query may hold, and what it
cannot read it drops without an answer, so that the client waits for ever.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Final, Never, cast

from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

logger = logging.getLogger(__name__)

NO_MESSAGE: Final = "This is not a JSON-RPC 2.0 message."


def decode(frame: bytes) -> SessionMessage | bytes | None:
    """Return the message of a frame; the reply that refuses it; or nothing for a notification that is none."""
    try:
        value = json.loads(frame, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _refusal(None, PARSE_ERROR, "This is not JSON.")
    if not isinstance(value, dict):
        return _refusal(None, INVALID_REQUEST, NO_MESSAGE)
    members = cast("dict[str, Any]", value)
    number = members.get("id")
    if "id" in members and (isinstance(number, bool) or not isinstance(number, (int, str))):
        # The toolkit would take it for a notification. A response with a null id reports an error nobody waits for.
        return _refusal(None, INVALID_REQUEST, NO_MESSAGE) if "method" in members else None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(members, by_name=False))
    except ValidationError:
        if "id" not in members:
            logger.debug("Dropped a notification of %d bytes that is none", len(frame))
            return None
        return _refusal(number, INVALID_REQUEST, NO_MESSAGE)


def encode(message: JSONRPCMessage) -> bytes:
    """Return a message as a frame: UTF-8 on one line, whatever a client has put into its tokens."""
    fields = message.model_dump(by_alias=True, exclude_unset=True)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _refusal(number: object, code: int, text: str) -> bytes:
    reply = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
    return json.dumps(reply).encode("ascii")


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
