"""The MCP toolkit comes with the first client, once, and not into an engine that idles."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from engine.core.models.asking import Caller
from engine.mcp.late import LateSessions

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.mcp.session import McpSessions

IDLE = """
import sys
from pathlib import Path
from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
engine = Engine(Paths.below(Path(sys.argv[1])), Settings(embedding_enabled=False), SystemClock(), roots=())
engine.start()
engine.api.status()
engine.stop()
heavy = {'mcp', 'mcp_types', 'pydantic', 'starlette', 'torch', 'sentence_transformers', 'transformers', 'rich', 'typer'}
print(sorted(heavy & set(sys.modules)))
"""


def test_a_started_engine_without_a_client_has_loaded_nothing_heavy(paths: Paths) -> None:
    assert paths.home is not None
    done = subprocess.run(
        [sys.executable, "-c", IDLE, str(paths.home)], capture_output=True, encoding="utf-8", timeout=60, check=True
    )

    assert done.stdout.strip() == "[]"


class Recorded:
    """Stands for what serves, and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def serve(self, _wire: Any, *, caller: Caller, toolset: str) -> None:  # noqa: ARG002 - the signature of what it stands for
        self.calls.append(f"serve {toolset}")

    def stop(self, _timeout_s: float) -> bool:
        self.calls.append("stop")
        return False


@pytest.fixture
def made() -> list[Recorded]:
    return []


@pytest.fixture
def late(made: list[Recorded]) -> LateSessions:
    def make() -> McpSessions:
        made.append(Recorded())
        return cast("McpSessions", made[-1])

    return LateSessions(make)


def serve(late: LateSessions) -> None:
    late.serve(cast("Any", None), caller=Caller(), toolset="recall")


def test_the_first_session_loads_and_starts_what_serves_the_others_too(
    late: LateSessions, made: list[Recorded]
) -> None:
    assert made == []

    serve(late)
    serve(late)

    assert [each.calls for each in made] == [["start", "serve recall", "serve recall"]]


def test_sessions_that_come_together_load_it_once(late: LateSessions, made: list[Recorded]) -> None:
    threads = [threading.Thread(target=serve, args=(late,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(made) == 1
    assert made[0].calls.count("serve recall") == 8


def test_what_never_served_ends_at_once_and_loads_nothing_afterwards(late: LateSessions, made: list[Recorded]) -> None:
    assert late.stop()

    serve(late)

    assert made == []


def test_whether_it_ended_in_time_is_passed_on(late: LateSessions) -> None:
    serve(late)

    assert not late.stop()
