"""What a relay must know of a JSON-RPC message: its id, its method, whether it failed. Imported by the shim.

A message is never decoded for that: a reply of many megabytes would cost several times its size. A scan over its
strings and brackets finds the keys of the outermost object and leaves the rest alone; whether that is valid JSON is for
the receiver to say.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    from engine.ipc.protocol import JsonObject, JsonValue

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNSUPPORTED_PROTOCOL_VERSION = -32022
"""Of the 2026-07-28 revision: "the request's protocol version is not supported by the server"."""
TRY_AGAIN = -32000
"""The first code of the range JSON-RPC leaves to implementations."""

MessageId: TypeAlias = int | str
MessageKind: TypeAlias = Literal["request", "notification", "reply", "invalid"]


class Envelope(NamedTuple):
    """The outside of a message."""

    kind: MessageKind
    id: MessageId | None
    method: str | None
    failed: bool
    """A reply that carries an error."""


_INVALID = Envelope("invalid", None, None, failed=False)

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STOP = re.compile(_STRING + rb"|[\"{}\[\]]", re.DOTALL)
_VALUE = re.compile(rb"\s*+:\s*+(?:(" + _STRING + rb"|-?\d++(?![\d.eE])|null)(?=\s*+[,}]))?", re.DOTALL)
_KEYS = frozenset({b'"id"', b'"method"', b'"result"', b'"error"'})
_LONGEST_KEY = max(map(len, _KEYS))
_OPEN = ord("{")
_REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":(' + _STRING + rb'|-?\d++),"(result|error)":')
"""How the MCP library writes every reply: most of them need no scan."""


def read_envelope(message: bytes) -> Envelope:
    """Return the outside of a message; kind `invalid` for what is no JSON-RPC message at all (a batch included)."""
    reply = _REPLY.match(message)
    if reply is not None:
        identity = _scalar(reply[1])
        if isinstance(identity, (int, str)):
            return Envelope("reply", identity, None, failed=reply[2] == b"error")
    found = _outermost(message)
    if found is None:
        return _INVALID
    identity, method = _scalar(found.get(b'"id"', b"")), _scalar(found.get(b'"method"', b""))
    known_id = isinstance(identity, (int, str))
    if isinstance(method, str):
        if known_id:
            return Envelope("request", cast("MessageId", identity), method, failed=False)
        return _INVALID if b'"id"' in found else Envelope("notification", None, method, failed=False)
    if b'"result"' in found or b'"error"' in found:
        # A reply to nobody (id null) reports a message the other side could not read.
        return Envelope("reply", cast("MessageId", identity) if known_id else None, None, failed=b'"error"' in found)
    return _INVALID


def guess_id(head: bytes, tail: bytes) -> MessageId | None:
    """Return the id of a message too long to be kept, where it stands at one of its two ends, as it does in practice.

    Args:
        head: The beginning of the message.
        tail: Its end.
    """
    at_end = re.search(rb'"id"\s*:\s*(' + _STRING + rb"|-?\d+)\s*\}\s*$", tail)
    at_start = re.match(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(' + _STRING + rb"|-?\d+)\s*,", head)
    for match in (at_start, at_end):
        identity = _scalar(match[1]) if match else None
        if isinstance(identity, (int, str)):
            return identity
    return None


def result_reply(identity: MessageId, result: JsonValue) -> bytes:
    """Return the reply that answers a request."""
    return _dump({"jsonrpc": "2.0", "id": identity, "result": result})


def error_reply(identity: MessageId | None, code: int, message: str, data: JsonValue = None) -> bytes:
    """Return the reply that refuses a request; without an id, one that could not be read."""
    error: JsonObject = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _dump({"jsonrpc": "2.0", "id": identity, "error": error})


def notification(method: str) -> bytes:
    """Return a notification without parameters."""
    return _dump({"jsonrpc": "2.0", "method": method})


def decode(message: bytes) -> JsonObject:
    """Return a small message as values; an empty object for what is none."""
    try:
        value = cast("JsonValue", json.loads(message))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def with_id(message: bytes, identity: MessageId) -> bytes:
    """Return a small request under another id."""
    return _dump({**decode(message), "id": identity})


def _dump(message: JsonObject) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def _scalar(token: bytes) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(token))
    except ValueError:
        return None


def _outermost(message: bytes) -> dict[bytes, bytes] | None:
    """Return those of `_KEYS` the outermost object has, each with its value if that is a text, a number or null."""
    found: dict[bytes, bytes] = {}
    depth, position, end = 0, 0, 0
    while (stop := _STOP.search(message, position)) is not None:
        start, position = stop.span()
        first = message[start]  # never the whole text, which may be nearly all of the message
        if depth == 0 and (end or first != _OPEN or message[:start].strip()):
            return None
        if first in b"{[":
            depth += 1
        elif first in b"}]":
            depth -= 1
            end = position
        elif position - start == 1:
            return None  # a quotation mark that opens nothing
        elif depth == 1 and (value := _VALUE.match(message, position)) is not None:
            key = stop[0] if position - start <= _LONGEST_KEY else b""
            if key in _KEYS:
                found[key] = value[1] or b""
            position = value.end()
    return found if end and depth == 0 and not message[end:].strip() else None
