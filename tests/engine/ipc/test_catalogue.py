from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest

from engine.ipc.catalogue import Catalogue, answer
from engine.ipc.jsonrpc import read_envelope

if TYPE_CHECKING:
    from pathlib import Path

    from engine.ipc.protocol import JsonObject

CATALOGUE = Catalogue(
    version="1.5",
    protocolVersions=["2024-11-05", "2025-06-18", "2025-11-25"],
    handshake={
        "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "backscroll", "version": "1.5"}},
        "tools/list": {"tools": [{"name": "old"}]},
    },
    modern={
        "server/discover": {"supportedVersions": ["2026-07-28"], "resultType": "complete"},
        "tools/list": {"tools": [{"name": "new"}], "resultType": "complete"},
    },
)


def envelope(version: str) -> JsonObject:
    return {"_meta": {"io.modelcontextprotocol/protocolVersion": version}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "catalogue-all.json"
    path.write_text(json.dumps(CATALOGUE), encoding="utf-8")
    return path


def ask(file: Path, method: str, params: JsonObject | None = None) -> JsonObject | None:
    message: JsonObject = {"jsonrpc": "2.0", "id": 7, "method": method}
    if params is not None:
        message["params"] = params
    line = json.dumps(message).encode()
    found = answer(file, read_envelope(line), line)
    if found is None:
        return None
    assert found["version"] == "1.5"
    reply = cast("JsonObject", json.loads(found["reply"]))
    assert reply["id"] == 7
    return reply


@pytest.mark.parametrize(
    ("requested", "negotiated"),
    [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2019-01-01", "2025-11-25"), (None, "2025-11-25")],
)
def test_initialize_is_answered_in_the_clients_revision_or_else_the_newest(
    file: Path, requested: str | None, negotiated: str
) -> None:
    reply = ask(file, "initialize", {"protocolVersion": requested})
    assert reply is not None
    assert reply["result"] == {**CATALOGUE["handshake"]["initialize"], "protocolVersion": negotiated}


def test_each_era_gets_the_lists_as_its_server_would_send_them(file: Path) -> None:
    old = ask(file, "tools/list")
    new = ask(file, "tools/list", envelope("2026-07-28"))
    assert old is not None
    assert old["result"] == CATALOGUE["handshake"]["tools/list"]
    assert new is not None
    assert new["result"] == CATALOGUE["modern"]["tools/list"]


def test_discover_is_answered_in_the_newer_era_only(file: Path) -> None:
    reply = ask(file, "server/discover", envelope("2026-07-28"))
    assert reply is not None
    assert reply["result"] == CATALOGUE["modern"]["server/discover"]
    assert ask(file, "server/discover") is None


def test_a_revision_the_engine_does_not_speak_is_refused_with_those_it_does(file: Path) -> None:
    reply = ask(file, "server/discover", envelope("2031-01-01"))
    assert reply is not None
    assert reply["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"},
    }


def test_what_only_the_engine_knows_is_not_answered(file: Path) -> None:
    assert ask(file, "tools/call", {"name": "status"}) is None
    assert ask(file, "tools/list", {"cursor": "2"}) is None
    assert ask(file, "tools/list", {"padding": "x" * 70_000}) is None


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "{",
        "[]",
        "{}",
        json.dumps({**CATALOGUE, "protocolVersions": []}),
        json.dumps({**CATALOGUE, "handshake": {"initialize": 5}}),
        json.dumps({**CATALOGUE, "modern": None}),
    ],
)
def test_a_file_that_is_missing_or_damaged_answers_nothing(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "catalogue-all.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    assert ask(file, "initialize", {}) is None
