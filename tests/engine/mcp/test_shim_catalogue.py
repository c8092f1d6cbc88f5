"""The recorded files against the shim's own reader of them, and against what a live engine shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from engine import __version__
from engine.ipc.catalogue import answer, shipped_file
from engine.ipc.jsonrpc import read_envelope
from engine.ipc.protocol import TOOLSETS
from engine.mcp.recorder import whole_catalogue
from engine.mcp.shim_catalogue import main

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.ipc.protocol import Toolset

ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def write(paths: Paths) -> None:
    assert main([str(paths.catalogue_file(toolset)) for toolset in TOOLSETS]) == 0


@pytest.fixture
def written(paths: Paths) -> Paths:
    write(paths)
    return paths


def shim_says(paths: Paths, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    line = json.dumps({"jsonrpc": "2.0", "id": 4, "method": method, "params": params or {}}).encode()
    said = answer(paths.catalogue_file("all"), read_envelope(line), line)
    assert said is not None
    assert said["version"] == __version__
    return json.loads(said["reply"])["result"]


def test_every_toolset_has_its_file(written: Paths) -> None:
    for toolset in TOOLSETS:
        content = json.loads(written.catalogue_file(toolset).read_bytes())
        names = [tool["name"] for tool in content["modern"]["tools/list"]["tools"]]
        assert names == list(whole_catalogue().tools(toolset))
        assert content["version"] == __version__
        assert content["protocolVersions"] == list(HANDSHAKE_PROTOCOL_VERSIONS)


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_the_files_that_ship_say_what_this_engine_says(written: Paths, toolset: Toolset) -> None:
    shipped = json.loads(shipped_file(toolset).read_bytes())

    assert shipped == json.loads(written.catalogue_file(toolset).read_bytes()), (
        "a tool or its words changed: run `python -m engine.mcp.shim_catalogue` and commit what it writes"
    )


def test_the_shim_answers_a_client_of_the_handshake_from_it(written: Paths) -> None:
    client = {"name": "test", "version": "1"}

    hello = shim_says(
        written, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    )

    assert hello["protocolVersion"] == "2025-06-18"
    assert hello["serverInfo"]["name"] == "backscroll"
    assert hello["instructions"] == whole_catalogue().instructions("all")
    assert len(shim_says(written, "tools/list")["tools"]) == len(whole_catalogue().tools("all"))
    prompts = [prompt["name"] for prompt in shim_says(written, "prompts/list")["prompts"]]
    assert prompts == ["recall", "standup", "decide"]


def test_the_shim_answers_a_client_of_the_newer_era_from_it(written: Paths) -> None:
    discovered = shim_says(written, "server/discover", {"_meta": ENVELOPE})
    listed = shim_says(written, "tools/list", {"_meta": ENVELOPE})

    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert discovered["instructions"] == whole_catalogue().instructions("all")
    assert listed["resultType"] == "complete"
    assert {tool["name"]: tool for tool in listed["tools"]}["get_context"]["_meta"] == {"anthropic/alwaysLoad": True}


def test_a_file_that_says_the_same_is_left_alone(written: Paths) -> None:
    before = written.catalogue_file("all").stat().st_ino

    write(written)

    assert written.catalogue_file("all").stat().st_ino == before


def test_a_damaged_file_is_written_anew(written: Paths) -> None:
    sound = written.catalogue_file("all").read_bytes()
    written.catalogue_file("all").write_bytes(b"{")

    write(written)

    assert written.catalogue_file("all").read_bytes() == sound


def test_prompts_are_in_the_recorded_lists_of_their_toolset_only(written: Paths) -> None:
    content = json.loads(written.catalogue_file("knowledge").read_bytes())

    assert [each["name"] for each in content["handshake"]["prompts/list"]["prompts"]] == ["decide"]
