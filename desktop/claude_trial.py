"""Tries the way Claude Code takes: starts what is registered, as Claude Code does, and asks it for its tools."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from desktop import words
from engine.core.errors import EngineError

if TYPE_CHECKING:
    from pathlib import Path

    from engine.integrations.launch import ServerCommand

PATIENCE_S: Final = 20.0
"""A shim that has to start an engine waits up to 15 s (interface.md, "Shim")."""

_PROTOCOL: Final = "2025-06-18"
_ASKED: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "backscroll-test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
)
_LAST: Final = 3


class TrialFailed(EngineError):
    """What is registered does not answer as it should."""

    code = "trial_failed"


@dataclass(frozen=True, slots=True)
class Trial:
    """How it went."""

    tools: int
    took_s: float


def try_server(server: ServerCommand, folder: Path, *, patience_s: float = PATIENCE_S) -> Trial:
    """Start the registered command and wait for its tools and for one answer of the engine.

    Args:
        server: What is registered.
        folder: Where it is started.
        patience_s: How long it may take.

    Raises:
        TrialFailed: It cannot be started, ended early, refused, or took too long.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            [server.command, *server.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **dict(server.env)},
            cwd=folder,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise TrialFailed(
            words.claude.TRIAL_FAILED, words.claude.not_started(server.command, error.strerror or str(error))
        ) from error
    # A read has no time limit of its own: at its end the process is ended, which ends the read.
    limit = threading.Timer(patience_s, process.kill)
    limit.start()
    try:
        results = _talk(process)
    finally:
        limit.cancel()
        process.kill()
        process.communicate()
    if _LAST not in results:
        raise TrialFailed(words.claude.TRIAL_FAILED, words.claude.NO_ANSWER, words.claude.NO_ANSWER_HINT)
    answer = results[_LAST]
    if "error" in answer or answer.get("result", {}).get("isError"):
        raise TrialFailed(words.claude.TRIAL_FAILED, words.claude.ENGINE_REFUSED, words.claude.NO_ANSWER_HINT)
    tools = cast("list[Any]", results[2].get("result", {}).get("tools", []))
    return Trial(len(tools), time.monotonic() - began)


def _talk(process: subprocess.Popen[bytes]) -> dict[int, dict[str, Any]]:
    """Send the requests and return the answers by number, until the last one or the end."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both streams are pipes")
    results: dict[int, dict[str, Any]] = {}
    try:
        for each in _ASKED:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n")
        process.stdin.flush()
    except OSError:
        return results  # it ended before it was asked
    for line in process.stdout:
        try:
            message = cast("dict[str, Any]", json.loads(line))
        except ValueError:
            continue
        if isinstance(message.get("id"), int):
            results[message["id"]] = message
        if _LAST in results:
            break
    return results
