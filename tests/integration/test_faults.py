"""Processes that are killed, and disks that are full, in the middle of everything that writes.

The table of all faults, with the test that proves each, is in docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from engine.archive.reader import ArchiveReader
from engine.core.errors import EngineAlreadyRunning
from engine.core.paths import Paths
from engine.store.backup import damage_of
from engine.store.connection import open_writer
from tests.helpers.fault_child import NOW, PRUNE, engine_at, work
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PHASES = ("backfill", "archive", "append", "prune", "migration")
KILLS = 10
"""In each phase: 50 together."""
SESSIONS = 24
CLIENTS = 28


def write_history(projects: Path) -> None:
    """Write sessions, every second one old enough to be pruned."""
    for number in range(SESSIONS):
        began = datetime.fromtimestamp(NOW, UTC) - timedelta(days=90 if number % 2 else 3)
        builder = TranscriptBuilder(
            f"{number:08d}-0000-4000-8000-000000000000", cwd=f"/home/dev/p{number % 3}", now=began
        )
        for turn in range(12):
            builder.prompt(f"Turn {turn} of {number}: what about the damson?")
            builder.answer(f"The damson of {turn} is ripe. " + f"Word{number}x{turn} and more. " * 40)
        builder.write(projects)


def content(home: Path, projects: Path) -> dict[str, Any]:
    """Return everything an installation answers after it was started once more and read on."""
    engine = engine_at(home, projects)
    engine.start(watch=False)
    try:
        engine.run_once()
        sessions = engine.api.call("list_sessions", {"limit": 100})["sessions"]
        told: dict[str, Any] = {row["session_id"]: {**row, "archived": None} for row in sessions}
        for query in ("damson", "plums", "word2x3"):
            reply = engine.api.call("keyword_search", {"query": query, "limit": 500})
            told[query] = (reply["total"], sorted(hit["chunk_id"] for hit in reply["hits"]))
        told["usage"] = engine.api.call("get_usage", {"by": "day"})["totals"]
        return told
    finally:
        engine.stop()


def assert_sound(home: Path, projects: Path) -> None:
    """Fail when database or archive are damaged, or the archive lacks a byte of what is on disk."""
    paths = Paths.below(home)
    assert damage_of(paths.database) == ()
    archive = ArchiveReader(paths.archive)
    for stored, _ in archive.stored():
        assert archive.verify(stored.label, stored.path, stored.generation) is None
        kept = b"".join(archive.pieces(stored.label, stored.path, stored.generation))
        assert (projects / stored.path).read_bytes() == kept
    assert not list(paths.archive.rglob("*.damaged"))
    assert not [file for file in paths.data.rglob(".*") if file.suffix in (".joining", ".new")]
    assert not list(paths.data.glob(".reading-*"))


class Prepared:
    """Where each phase begins, and what an installation answers that went through it undisturbed."""

    def __init__(self, folder: Path) -> None:
        self._empty = folder / "empty"
        write_history(self._empty / "projects")
        self._full = folder / "full"
        self._run = folder / "run"
        work("archive", *self.begin("archive"))
        self._run.rename(self._full)
        self._expected: dict[str, dict[str, Any]] = {}
        self._seconds: dict[str, float] = {}

    def begin(self, phase: str) -> tuple[Path, Path]:
        """Make the state before a phase, always in the same place; return home and projects."""
        shutil.rmtree(self._run, ignore_errors=True)
        shutil.copytree(self._empty if phase in ("backfill", "archive") else self._full, self._run)
        home, projects = self._run / "home", self._run / "projects"
        if phase == "migration":
            downgrade(Paths.below(home).database)
        return home, projects

    def expected(self, phase: str) -> dict[str, Any]:
        """Return what is to be answered after a phase and a restart."""
        if phase not in self._expected:
            home, projects = self.begin(phase)
            with started(phase, home, projects) as child:
                began = time.monotonic()
                assert child.stdout is not None
                assert child.stdout.readline() == "done\n"
            self._seconds[phase] = time.monotonic() - began
            self._expected[phase] = content(home, projects)
        return self._expected[phase]

    def seconds(self, phase: str) -> float:
        """Return how long a phase takes undisturbed."""
        self.expected(phase)
        return self._seconds[phase]


def downgrade(database: Path) -> None:
    """Take a database back to the schema before the archive's tables."""
    connection = open_writer(database)
    connection.execute("DROP TABLE archived; DROP TABLE redactions; PRAGMA user_version = 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Give the states before each phase."""
    return Prepared(tmp_path_factory.mktemp("faults"))


@contextmanager
def started(phase: str, home: Path, projects: Path, *more: str) -> Generator[subprocess.Popen[str]]:
    """Start a phase in a process of its own, and give it when its work begins."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.fault_child", phase, str(home), str(projects), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
@pytest.mark.parametrize("phase", PHASES)
def test_a_kill_at_any_moment_loses_and_doubles_nothing(prepared: Prepared, phase: str) -> None:
    expected = prepared.expected(phase)
    chance = random.Random(phase)
    killed = 0
    for _ in range(KILLS):
        home, projects = prepared.begin(phase)
        with started(phase, home, projects) as child:
            threading.Event().wait(chance.random() * 0.8 * prepared.seconds(phase))
            child.send_signal(signal.SIGKILL)
            killed += child.wait(10) == -signal.SIGKILL
        if phase == "append":
            finish_lines(projects)
        if phase == "prune":
            work("prune", home, projects)

        after = content(home, projects)

        if phase == "append":
            after_append(after, expected)
        else:
            assert after == expected
        if phase == "prune":
            assert damage_of(Paths.below(home).database) == ()
            assert traces(home, "word1x3") == []
        else:
            assert_sound(home, projects)
    assert killed, "every child had ended before it could be killed"


def traces(home: Path, text: str) -> list[str]:
    """Return the files of an installation that hold a text, whatever its case."""
    files = (file for file in home.rglob("*") if file.is_file())
    return [str(file.relative_to(home)) for file in files if text.encode() in file.read_bytes().lower()]


def finish_lines(projects: Path) -> None:
    """End the line that the killed process was writing, as Claude Code would."""
    for file in projects.rglob("*.jsonl"):
        data = file.read_bytes()
        if not data.endswith(b"\n"):
            file.write_bytes(data[: data.rfind(b"\n") + 1])


def after_append(after: dict[str, Any], expected: dict[str, Any]) -> None:
    """Fail unless everything from before the appends is there once, and of the appends what reached the disk."""
    assert after["damson"] == expected["damson"]
    assert len(set(after["plums"][1])) == len(after["plums"][1])
    assert set(after["plums"][1]) <= set(expected["plums"][1])


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="limits of POSIX")
@pytest.mark.parametrize("phase", ["backfill", "archive", "append", "prune", "migration", "fix"])
def test_a_full_disk_is_said_and_everything_goes_on_when_there_is_space(prepared: Prepared, phase: str) -> None:
    begun = "append" if phase == "fix" else phase
    home, projects = prepared.begin(begun)
    if phase == "fix":
        connection = open_writer(Paths.below(home).database)
        connection.execute("DELETE FROM search WHERE rowid < 100")
        connection.close()
    before = {file: file.read_bytes() for file in projects.rglob("*.jsonl")}
    size = 40_000 if phase in ("backfill", "migration") else 1_000 if phase == "archive" else 60_000
    with started(phase, home, projects, str(size)) as limited:
        out, err = limited.communicate(timeout=60)

    assert limited.returncode in (0, 3), err
    assert "Traceback" not in err
    if phase in ("backfill", "prune"):
        assert out.startswith("refused ")
    if phase != "append":
        assert {file: file.read_bytes() for file in projects.rglob("*.jsonl")} == before
    if phase == "append":
        finish_lines(projects)
        after_append(content(home, projects), prepared.expected("append"))
        return
    if phase in ("prune", "fix"):
        work(phase, home, projects)
    after = content(home, projects)
    assert after["damson"] == prepared.expected("prune" if phase == "prune" else "backfill")["damson"]


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
    projects = tmp_path / "projects"
    projects.mkdir()
    for _ in range(20):
        engines = [engine_at(tmp_path / "home", projects) for _ in range(2)]
        together = threading.Barrier(2)
        outcomes: list[str] = []

        def run(engine: Any, together: threading.Barrier = together, outcomes: list[str] = outcomes) -> None:
            together.wait()
            try:
                engine.start(watch=False)
                outcomes.append("owns")
            except EngineAlreadyRunning:
                outcomes.append("refused")

        threads = [threading.Thread(target=run, args=(engine,)) for engine in engines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for engine in engines:
            engine.stop()
        assert sorted(outcomes) == ["owns", "refused"]


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_the_lock_of_a_killed_engine_is_free(prepared: Prepared) -> None:
    home, projects = prepared.begin("append")
    with started("append", home, projects) as child:
        threading.Event().wait(0.3)
        child.kill()
        child.wait(10)

    engine = engine_at(home, projects)
    engine.start(watch=False)
    engine.stop()


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


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_shims_killed_at_any_moment_leave_nothing_behind(paths: Paths, tmp_path: Path) -> None:
    """50 of them, from before their first byte to the middle of a call; the engine serves the next one."""
    projects = tmp_path / "projects"
    write_history(projects)
    engine = engine_at(paths.home or tmp_path, projects)
    engine.start(watch=False, serve=True)
    asked = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).encode() + b"\n"
        for number, (method, parameters) in enumerate(
            [
                (
                    "initialize",
                    {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
                ),
                *[("tools/call", {"name": "keyword_search", "arguments": {"query": "damson", "limit": 100}})] * 20,
            ]
        )
    )
    environment = {**os.environ, "BACKSCROLL_HOME": str(paths.home), "PYTHONPATH": str(Path(__file__).parents[2])}
    chance = random.Random(1)
    try:
        engine.run_once(until="keyword")
        for _ in range(50):
            with subprocess.Popen(
                [sys.executable, "-P", "-m", "engine.shim"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env=environment,
            ) as shim:
                assert shim.stdin is not None
                shim.stdin.write(asked)
                shim.stdin.flush()
                threading.Event().wait(chance.random() * 0.4)
                shim.kill()
                shim.wait(5)
        deadline = time.monotonic() + 5
        while engine.clients() and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert engine.clients() == 0
        assert engine.api.call("keyword_search", {"query": "damson"})["total"]
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
