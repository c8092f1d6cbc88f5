"""The recorded file against the shim's own reader of it, and against a live session."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from engine.arguments import OPERATIONS
from engine.ipc.catalogue import answer
from engine.ipc.jsonrpc import read_envelope
from engine.ipc.protocol import TOOLSETS
from engine.mcp.catalogue import Catalogue
from engine.mcp.session import McpSessions
from engine.mcp.shim_catalogue import record, write_catalogues
from tests.engine.mcp.fakes import FakeApi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.core.paths import Paths

ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def sessions() -> Iterator[McpSessions]:
    with ThreadPoolExecutor(1) as queries:
        started = McpSessions(FakeApi(), Catalogue(OPERATIONS), version="1.2.3", queries=queries)
        started.start()
        yield started
        assert started.stop()


def shim_says(paths: Paths, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    line = json.dumps({"jsonrpc": "2.0", "id": 4, "method": method, "params": params or {}}).encode()
    said = answer(paths.catalogue_file("all"), read_envelope(line), line)
    assert said is not None
    assert said["version"] == "1.2.3"
    return json.loads(said["reply"])["result"]


def test_every_toolset_has_its_file(paths: Paths, sessions: McpSessions) -> None:
    write_catalogues(paths, sessions)

    for toolset in TOOLSETS:
        content = json.loads(paths.catalogue_file(toolset).read_bytes())
        names = [tool["name"] for tool in content["modern"]["tools/list"]["tools"]]
        assert names == list(Catalogue(OPERATIONS).tools(toolset))
        assert content["version"] == "1.2.3"
        assert content["protocolVersions"] == list(HANDSHAKE_PROTOCOL_VERSIONS)


def test_the_shim_answers_a_client_of_the_handshake_from_it(paths: Paths, sessions: McpSessions) -> None:
    write_catalogues(paths, sessions)
    client = {"name": "test", "version": "1"}

    hello = shim_says(paths, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    assert hello["protocolVersion"] == "2025-06-18"
    assert hello["serverInfo"]["name"] == "backscroll"
    assert hello["instructions"] == Catalogue(OPERATIONS).instructions("all")
    assert len(shim_says(paths, "tools/list")["tools"]) == len(Catalogue(OPERATIONS).tools("all"))
    assert [prompt["name"] for prompt in shim_says(paths, "prompts/list")["prompts"]] == ["recall", "standup"]


def test_the_shim_answers_a_client_of_the_newer_era_from_it(paths: Paths, sessions: McpSessions) -> None:
    write_catalogues(paths, sessions)

    discovered = shim_says(paths, "server/discover", {"_meta": ENVELOPE})
    listed = shim_says(paths, "tools/list", {"_meta": ENVELOPE})

    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert discovered["instructions"] == Catalogue(OPERATIONS).instructions("all")
    assert listed["resultType"] == "complete"
    assert {tool["name"]: tool for tool in listed["tools"]}["get_context"]["_meta"] == {"anthropic/alwaysLoad": True}


def test_a_file_that_says_the_same_is_left_alone(paths: Paths, sessions: McpSessions) -> None:
    write_catalogues(paths, sessions)
    before = paths.catalogue_file("all").stat().st_ino

    write_catalogues(paths, sessions)

    assert paths.catalogue_file("all").stat().st_ino == before


def test_a_damaged_file_is_written_anew(paths: Paths, sessions: McpSessions) -> None:
    paths.catalogue_file("all").write_bytes(b"{")

    write_catalogues(paths, sessions)

    assert json.loads(paths.catalogue_file("all").read_bytes()) == record(sessions, "all")


def test_prompts_are_in_the_recorded_lists_of_their_toolset_only(sessions: McpSessions) -> None:
    assert record(sessions, "knowledge")["handshake"]["prompts/list"] == {"prompts": []}
