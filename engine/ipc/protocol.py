"""The frames of the local socket: JSON objects tagged by `type`, the same file at both ends. Imported by the shim.

After the challenge (`handshake.py`) a client says `hello` and hears `welcome` or `refused`. Then:

- kind `mcp`: every frame is one JSON-RPC message of Claude Code's protocol, raw, without a newline, either way;
- kind `api`: `call` and `cancel` from the client; `progress`, then one `result` or `error` for each call, from the
  engine; `event` for a client that asked for events.
"""

from __future__ import annotations

import json
from typing import Literal, NotRequired, TypeAlias, TypedDict, cast

PROTOCOL = 1
"""Raised when an older shim or command line could not talk to a newer engine any more."""

MAX_HELLO_BYTES = 64 * 1024
"""A hello holds a few paths (at most 4,096 bytes each on Linux)."""
MAX_FRAME_BYTES = 64 * 1024 * 1024
"""Replies to Claude Code end at 45,000 characters; a session exported over the API is the largest thing that travels.
The shim refuses lines over half of this (`engine.shim.MAX_LINE_BYTES`)."""

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]
Kind = Literal["mcp", "api"]
Toolset = Literal["transcripts", "knowledge", "recall", "all"]

TOOLSETS: tuple[Toolset, ...] = ("transcripts", "knowledge", "recall", "all")


class Hello(TypedDict):
    """Who is asking. The first frame of every connection, sent again after an engine restart."""

    type: Literal["hello"]
    protocol: int
    kind: Kind
    version: str
    pid: int
    ppid: int
    cwd: str
    """Empty when the folder no longer exists."""
    project_dir: NotRequired[str]
    """`CLAUDE_PROJECT_DIR`."""
    session_id: NotRequired[str]
    """`CLAUDE_CODE_SESSION_ID`; may be stale after `--resume` or `/clear`."""
    config_dir: NotRequired[str]
    """`CLAUDE_CONFIG_DIR`, which an engine started at login cannot know otherwise."""
    toolset: NotRequired[Toolset]
    events: NotRequired[bool]
    """Whether an `api` client reads events between its calls. One that does not would be cut off as a slow reader."""


class Welcome(TypedDict):
    """The engine takes the connection."""

    type: Literal["welcome"]
    version: str
    pid: int
    state: str


class Refused(TypedDict):
    """The engine does not take the connection, and closes it."""

    type: Literal["refused"]
    code: str
    message: str
    hint: str


class Call(TypedDict):
    """One use of the front door."""

    type: Literal["call"]
    id: int
    method: str
    arguments: JsonObject


class Cancel(TypedDict):
    """The caller took the question back. The call still gets its one `error` or `result`."""

    type: Literal["cancel"]
    id: int


class Progress(TypedDict):
    """How far a long call is."""

    type: Literal["progress"]
    id: int
    done: float
    total: float | None
    text: str


class Result(TypedDict):
    """What a call answered."""

    type: Literal["result"]
    id: int
    value: JsonValue


class Failure(TypedDict):
    """Why a call has no answer: an `EngineError` on its way to the person."""

    type: Literal["error"]
    id: int
    code: str
    title: str
    message: str
    hint: str
    candidates: list[str]


class Event(TypedDict):
    """Something that changed in the engine."""

    type: Literal["event"]
    name: str
    value: JsonValue


ClientFrame: TypeAlias = Call | Cancel
ServerFrame: TypeAlias = Progress | Result | Failure | Event


class ProtocolError(ConnectionError):
    """A frame this version does not understand. The connection is dropped."""


def encode(frame: Hello | Welcome | Refused | ClientFrame | ServerFrame) -> bytes:
    """Return the frame's bytes: ASCII, so that a lone surrogate in a path or a query survives."""
    return json.dumps(frame, separators=(",", ":")).encode("ascii")


def parse_hello(data: bytes) -> Hello:
    """Read a client's first frame.

    Raises:
        ProtocolError: It is no hello.
    """
    fields = _read(data, "hello")
    kind = _text(fields, "kind")
    toolset = fields.get("toolset", "all")
    if kind not in {"mcp", "api"} or toolset not in TOOLSETS:
        raise ProtocolError("hello of an unknown kind")
    hello = Hello(
        type="hello",
        protocol=_whole(fields, "protocol"),
        kind=cast("Kind", kind),
        version=_text(fields, "version"),
        pid=_whole(fields, "pid"),
        ppid=_whole(fields, "ppid"),
        cwd=_text(fields, "cwd"),
        toolset=toolset,
        events=fields.get("events") is True,
    )
    if "project_dir" in fields:
        hello["project_dir"] = _text(fields, "project_dir")
    if "session_id" in fields:
        hello["session_id"] = _text(fields, "session_id")
    if "config_dir" in fields:
        hello["config_dir"] = _text(fields, "config_dir")
    return hello


def parse_reply_to_hello(data: bytes) -> Welcome | Refused:
    """Read the engine's first frame.

    Raises:
        ProtocolError: It is neither a welcome nor a refusal.
    """
    fields = _read(data, "welcome", "refused")
    if fields["type"] == "welcome":
        return Welcome(
            type="welcome",
            version=_text(fields, "version"),
            pid=_whole(fields, "pid"),
            state=_text(fields, "state"),
        )
    return Refused(
        type="refused", code=_text(fields, "code"), message=_text(fields, "message"), hint=_text(fields, "hint")
    )


def parse_client_frame(data: bytes) -> ClientFrame:
    """Read what an `api` client sends after its hello.

    Raises:
        ProtocolError: It is no call and no cancel.
    """
    fields = _read(data, "call", "cancel")
    if fields["type"] == "cancel":
        return Cancel(type="cancel", id=_whole(fields, "id"))
    arguments = fields.get("arguments")
    if not isinstance(arguments, dict):
        raise ProtocolError("a call without arguments")
    return Call(type="call", id=_whole(fields, "id"), method=_text(fields, "method"), arguments=arguments)


def parse_server_frame(data: bytes) -> ServerFrame:
    """Read what the engine sends to an `api` client after its welcome.

    Raises:
        ProtocolError: It is none of the four.
    """
    fields = _read(data, "progress", "result", "error", "event")
    match fields["type"]:
        case "event":
            return Event(type="event", name=_text(fields, "name"), value=fields.get("value"))
        case "result":
            return Result(type="result", id=_whole(fields, "id"), value=fields.get("value"))
        case "progress":
            total = fields.get("total")
            return Progress(
                type="progress",
                id=_whole(fields, "id"),
                done=_number(fields.get("done")),
                total=None if total is None else _number(total),
                text=_text(fields, "text"),
            )
        case _:
            candidates = fields.get("candidates")
            return Failure(
                type="error",
                id=_whole(fields, "id"),
                code=_text(fields, "code"),
                title=_text(fields, "title"),
                message=_text(fields, "message"),
                hint=_text(fields, "hint"),
                candidates=[str(candidate) for candidate in candidates] if isinstance(candidates, list) else [],
            )


def _read(data: bytes, *types: str) -> JsonObject:
    try:
        value = cast("JsonValue", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame that is no JSON") from error
    if not isinstance(value, dict) or value.get("type") not in types:
        raise ProtocolError(f"a frame that is none of {', '.join(types)}")
    return value


def _text(fields: JsonObject, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise ProtocolError(f"{name} is no text")
    return value


def _whole(fields: JsonObject, name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ProtocolError(f"{name} is no whole number")
    return value


def _number(value: JsonValue) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ProtocolError("progress without a number")
    return value
