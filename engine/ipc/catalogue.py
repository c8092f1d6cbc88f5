"""What the shim answers about tools and prompts while no engine runs. Imported by the shim.

The engine writes one file for each toolset, `Paths.catalogue_file(toolset)`; clients give a server about five seconds
to say what it offers, and never come back to one that did not. Until an engine has run here for the first time, the
files that ship with the program stand in (`shipped_file`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from engine.ipc.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION, decode, error_reply, result_reply

if TYPE_CHECKING:
    from engine.ipc.jsonrpc import Envelope
    from engine.ipc.protocol import JsonObject, JsonValue, Toolset

ENVELOPE_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `params._meta` of every request of the newer era, and of no other (mcp 2.3, `server/runner.py`)."""


class Catalogue(TypedDict):
    """The file's content: results as the engine's own server would send them, by method, for both eras of the protocol.

    The eras have a table each because their results differ: since 2026-07-28 every result carries `resultType`, the
    lists `ttlMs` and `cacheScope`, and `_meta` the server's identity. Whatever method stands in a table is answered
    from it.
    """

    version: str
    """Of the engine that wrote the file."""
    protocolVersions: list[str]
    """Revisions reachable through `initialize`, oldest first: `mcp_types.version.HANDSHAKE_PROTOCOL_VERSIONS`."""
    handshake: dict[str, JsonObject]
    """`initialize` (its result without `protocolVersion`), `tools/list`, `prompts/list`."""
    modern: dict[str, JsonObject]
    """`server/discover` (with `supportedVersions`), `tools/list`, `prompts/list`."""
    made_from: NotRequired[str]
    """By which an engine knows whether the file is its own (`engine/mcp/recorder.py`)."""


class Answer(TypedDict):
    """A reply made from the file."""

    reply: bytes
    version: str
    """Of the engine that wrote the file."""


def shipped_file(toolset: Toolset) -> Path:
    """Return the file of a toolset that ships with the program (`python -m engine.mcp.shim_catalogue` writes them)."""
    return Path(__file__).with_name(f"catalogue-{toolset}.json")


def is_modern(request: JsonObject) -> bool:
    """Say whether a request is of the newer era, as the engine's server decides it."""
    return request.get("method") != "initialize" and ENVELOPE_KEY in _meta(request)


def answer(file: Path, envelope: Envelope, line: bytes) -> Answer | None:
    """Return the reply to a request, or none where only the engine knows (or no file was written yet)."""
    if envelope.id is None or envelope.method is None or len(line) > _MAX_REQUEST_BYTES:
        return None
    catalogue = _load(file)
    request = decode(line)
    if catalogue is None or "cursor" in _params(request):
        return None
    if is_modern(request):
        result = catalogue["modern"].get(envelope.method)
        supported = catalogue["modern"].get("server/discover", {}).get("supportedVersions")
        requested = _meta(request)[ENVELOPE_KEY]
        if result is not None and isinstance(supported, list) and requested not in supported:
            refusal: JsonObject = {"supported": supported, "requested": requested}
            return Answer(
                reply=error_reply(envelope.id, UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", refusal),
                version=catalogue["version"],
            )
    else:
        result = catalogue["handshake"].get(envelope.method)
        if result is not None and envelope.method == "initialize":
            offered = catalogue["protocolVersions"]
            requested = _params(request).get("protocolVersion")
            # As mcp 2.3 negotiates: the client's own revision where it is known, else the newest of that era.
            result = {**result, "protocolVersion": requested if requested in offered else offered[-1]}
    if result is None:
        return None
    return Answer(reply=result_reply(envelope.id, result), version=catalogue["version"])


_MAX_REQUEST_BYTES = 64 * 1024
"""A request for a list has some hundred bytes. What is larger is none, and is not decoded here."""


def _load(file: Path) -> Catalogue | None:
    try:
        content = cast("JsonValue", json.loads(file.read_bytes()))
    except (OSError, ValueError):
        return None
    match content:
        case {
            "version": str(),
            "protocolVersions": [*versions],
            "handshake": dict() as handshake,
            "modern": dict() as modern,
        } if versions and all(isinstance(result, dict) for result in (*handshake.values(), *modern.values())):
            return cast("Catalogue", cast("object", content))
        case _:
            return None


def _params(request: JsonObject) -> JsonObject:
    params = request.get("params")
    return params if isinstance(params, dict) else {}


def _meta(request: JsonObject) -> JsonObject:
    meta = _params(request).get("_meta")
    return meta if isinstance(meta, dict) else {}
