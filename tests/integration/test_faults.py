"""A bad day: no leave to write, two starts, a clock that jumps, everybody at once.

The table of all faults, with the test that proves each, is in docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from engine.core.paths import Paths
from tests.helpers.fault_child import NOW, PRUNE, engine_at, work
from tests.helpers.fault_states import Prepared, content, write_history
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CLIENTS = 28


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Give the states before each phase."""
    return Prepared(tmp_path_factory.mktemp("faults"))


@pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces are Linux's")
def test_a_read_only_data_folder_is_a_sentence_and_loses_nothing(prepared: Prepared) -> None:
    home, projects = prepared.begin("append")
    data = Paths.below(home).data
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no mount namespaces")
    command = (
        f"mount --bind {data} {data} && mount -o remount,ro,bind {data} && "
        f"exec {sys.executable} -m tests.helpers.fault_child backfill {home} {projects}"
    )
    done = subprocess.run(
        [*inside, command],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
    )

    assert "refused store_read_only" in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
    assert content(home, projects)["damson"] == prepared.expected("backfill")["damson"]


def test_of_two_starts_at_once_exactly_one_owns_the_folder(tmp_path: Path) -> None:
    """Two processes, 20 times."""
    projects = tmp_path / "projects"
    projects.mkdir()
    command = [sys.executable, "-m", "tests.helpers.fault_child", "owning", str(tmp_path / "home"), str(projects)]
    with contextlib.ExitStack() as running:
        both = [
            running.enter_context(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                    cwd=Path(__file__).parents[2],
                )
            )
            for _ in range(2)
        ]
        assert told(both) == ["ready", "ready"]
        for _ in range(20):
            assert sorted(asked(both, "start")) == ["owns", "refused"]
            assert asked(both, "stop") == ["stopped", "stopped"]
        for each in both:
            assert each.stdin is not None
            each.stdin.close()
            assert each.wait(10) == 0


def asked(processes: Sequence[subprocess.Popen[str]], what: str) -> list[str]:
    """Ask all at once and return what each says."""
    for each in processes:
        assert each.stdin is not None
        each.stdin.write(f"{what}\n")
        each.stdin.flush()
    return told(processes)


def told(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Return the next line of each."""
    return [each.stdout.readline().rstrip() for each in processes if each.stdout is not None]


@pytest.fixture
def jumping(tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """Give a started engine over one session, and its projects."""
    projects = tmp_path / "projects"
    builder = TranscriptBuilder("00000001-0000-4000-8000-000000000000")
    builder.prompt("What about the damson?")
    builder.write(projects)
    engine = engine_at(tmp_path / "home", projects)
    engine.start(watch=False)
    yield engine, projects
    engine.stop()


@pytest.mark.parametrize("jump", [-400 * 86_400, -NOW + 1, 86_400, 20 * 365 * 86_400])
def test_a_clock_that_jumps_loses_nothing(jumping: tuple[Any, Path], jump: float) -> None:
    engine, projects = jumping
    engine.run_once()
    engine._clock.advance(jump)
    for number in range(2):
        builder = TranscriptBuilder(f"0000000{number + 2}-0000-4000-8000-000000000000")
        builder.prompt("What about the damson now?")
        builder.write(projects)
        engine.run_once()

    assert engine.api.call("keyword_search", {"query": "damson"})["total"] == 3
    assert len(list(engine.paths.archive.rglob("*.zst"))) == 3
    assert engine.api.call("status", {})["sessions"] == 3


def test_many_clients_at_once_are_all_answered(paths: Paths, tmp_path: Path) -> None:
    """28 sessions of Claude Code with a shim each ask at the same time; one person was seen with as many."""
    projects = tmp_path / "projects"
    write_history(projects)
    engine = engine_at(paths.home or tmp_path, projects)
    engine.start(watch=False, serve=True)
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "engine.shim"],
        env={**os.environ, "BACKSCROLL_HOME": str(paths.home), "PYTHONPATH": str(Path(__file__).parents[2])},
    )

    async def session() -> int:
        async with Client(server, mode="legacy") as client:
            reply = await client.call_tool("keyword_search", {"query": "damson", "limit": 3})
            content: Any = reply.structured_content
            return int(content["total"])

    async def everybody() -> list[int]:
        return await asyncio.wait_for(asyncio.gather(*(session() for _ in range(CLIENTS))), 60)

    try:
        engine.run_once(until="keyword")
        totals = asyncio.run(everybody())
        assert totals == [totals[0]] * CLIENTS
        assert totals[0] > 0
    finally:
        assert engine.stop() == ()


def test_pruning_twice_is_pruning_once(prepared: Prepared) -> None:
    home, projects = prepared.begin("prune")
    work("prune", home, projects)
    engine = engine_at(home, projects)
    engine.start(watch=False)
    try:
        assert engine.api.call("prune", PRUNE)["sessions"] == 0
    finally:
        engine.stop()
