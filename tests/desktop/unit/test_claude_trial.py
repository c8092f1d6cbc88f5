"""The test of Claude Code's way, over small programs that stand for the shim."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from desktop.claude_trial import TrialFailed, try_server
from engine.integrations.launch import ServerCommand

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = """
import json, os, sys
print("not JSON", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        results = {"tools/list": {"tools": [1, 2, 3]}, "tools/call": {"isError": os.environ.get("REFUSES") == "1"}}
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": results.get(asked["method"], {})}
        print(json.dumps(reply), flush=True)
"""


def server(program: str, *env: tuple[str, str]) -> ServerCommand:
    return ServerCommand(sys.executable, ("-c", program), env)


def test_what_answers_is_told_with_its_tools(tmp_path: Path) -> None:
    assert try_server(server(ANSWERS), tmp_path).tools == 3


def test_an_engine_that_refuses_is_told_from_a_shim_that_is_silent(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match="the engine did not answer"):
        try_server(server(ANSWERS, ("REFUSES", "1")), tmp_path)
    with pytest.raises(TrialFailed, match="gave no answer"):
        try_server(server("print('bye')"), tmp_path)


def test_what_hangs_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match="gave no answer"):
        try_server(server("import time; time.sleep(600)"), tmp_path, patience_s=0.2)


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match="backscroll-mcp: No such file"):
        try_server(ServerCommand(str(tmp_path / "backscroll-mcp")), tmp_path)
