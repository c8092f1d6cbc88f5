"""Processes that are killed in the middle of everything that writes, fifty times each.

The engine and its worker while vectors are written: tests/engine/embed/test_kills.py.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.core.errors import EngineAlreadyRunning
from engine.core.paths import Paths
from engine.maintenance.removals import FILE_NAME, Removals
from engine.service import EngineState
from engine.store.backup import damage_of
from tests.helpers.fault_child import FORGOTTEN, engine_at, work
from tests.helpers.fault_forks import CAN_FORK, forks
from tests.helpers.fault_states import (
    Prepared,
    after_append,
    assert_sound,
    content,
    finish_lines,
    started,
    traces,
    write_history,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.helpers.fault_forks import Forks

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.timeout(900),  # fifty of each take a minute alone, and minutes beside a full load
    pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's"),
]

PHASES = ("backfill", "storing", "append", "prune", "migration")
KILLS = 50 if CAN_FORK else 10
"""In each phase; fewer where each has to start a Python of its own, for half a second."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Give the states before each phase."""
    return Prepared(tmp_path_factory.mktemp("kills"))


@pytest.fixture
def killer() -> Iterator[Forks]:
    """Give what runs phases and kills them."""
    with forks() as made:
        yield made


@pytest.mark.parametrize("phase", PHASES)
def test_a_kill_at_any_moment_loses_and_doubles_nothing(prepared: Prepared, killer: Forks, phase: str) -> None:
    expected = prepared.expected(phase)
    undisturbed = killer.run(phase, *prepared.begin(phase))
    assert undisturbed.code == 0
    seconds = undisturbed.seconds
    chance = random.Random(phase)
    killed = 0
    for _ in range(4 * KILLS):
        home, projects = prepared.begin(phase)
        ended = killer.run(phase, home, projects, kill_after=chance.random() * seconds)
        if ended.code == 0:
            # It was faster than the first one: later moments are of no use.
            seconds = max(0.9 * seconds, 0.01)
            continue
        assert ended.code == -signal.SIGKILL
        killed += 1
        if phase == "prune":
            work(phase, home, projects)

        finish_lines(projects)
        after = content(home, projects)

        if phase in ("append", "storing"):
            after_append(after, expected)
        else:
            assert after == expected
        if phase == "prune":
            assert damage_of(Paths.below(home).database) == ()
            assert traces(home, "word1x3") == []
        else:
            assert_sound(home, projects)
        if killed == KILLS:
            break
    assert killed == KILLS


def test_a_forget_that_is_killed_at_any_moment_is_finished_or_was_not_begun(prepared: Prepared, killer: Forks) -> None:
    gone = prepared.expected("forget")
    there = content(*prepared.begin("forget"))
    seconds = killer.run("forget", *prepared.begin("forget")).seconds
    chance = random.Random(3)
    killed = finished = 0
    for _ in range(4 * KILLS):
        home, projects = prepared.begin("forget")
        ended = killer.run("forget", home, projects, kill_after=chance.random() * seconds)
        if ended.code == 0:
            seconds = max(0.9 * seconds, 0.01)
            continue
        assert ended.code == -signal.SIGKILL
        killed += 1
        if not finished:
            # It may be slower than the first one: go on to later moments until one comes after the beginning.
            seconds *= 1.1

        after = content(home, projects)

        if Removals(Paths.below(home).data / FILE_NAME).any_forgotten:
            finished += 1
            assert after == gone
            assert traces(home, "word1x3") == []
            assert list(Paths.below(home).archive.rglob(f"*{FORGOTTEN}*")) == []
            assert damage_of(Paths.below(home).database) == ()
        else:
            assert after == there
        if killed >= KILLS and finished:
            break
    assert killed >= KILLS
    assert finished


def test_the_lock_of_a_killed_engine_is_free(prepared: Prepared) -> None:
    home, projects = prepared.begin("append")
    with started("owning", home, projects) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("start\n")
        child.stdin.flush()
        assert child.stdout.readline() == "owns\n"
        child.kill()
        assert child.wait(60) == -signal.SIGKILL

    engine = engine_at(home, projects)
    engine.start(watch=False)
    try:
        assert engine.state is EngineState.RUNNING
        with pytest.raises(EngineAlreadyRunning):
            engine_at(home, projects).start(watch=False)
    finally:
        engine.stop()
    assert engine.state is EngineState.STOPPED


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
                shim.wait(60)
        deadline = time.monotonic() + 60
        while engine.clients() and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert engine.clients() == 0
        assert engine.api.call("keyword_search", {"query": "damson"})["total"]
    finally:
        assert engine.stop() == ()
