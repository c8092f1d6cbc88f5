"""The embedding worker and the engine, killed fifty times each while vectors are made and written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tests.engine.embed.conftest import LONG, WAIT_S, assert_all_embedded_once
from tests.helpers.hash_worker import command

if TYPE_CHECKING:
    from tests.engine.embed.conftest import Rigs

pytestmark = pytest.mark.integration

KILLS = 50


@pytest.mark.slow
@pytest.mark.expect_log("worker died", "died over")
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_worker_killed_fifty_times_in_the_middle_of_a_batch_loses_and_doubles_nothing(
    rigs: Rigs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.embed.loop.BATCH_CHUNKS", 4)
    rig = rigs(worker=command(delay_ms=20))
    chunks = rig.add(*(f"{LONG} {index}" for index in range(4 * KILLS + 40)))
    chance = random.Random(1)
    finished = threading.Event()

    def embed() -> None:
        while not finished.is_set() and rig.loop.step():
            pass

    thread = threading.Thread(target=embed, name="test-embed")
    thread.start()
    killed, left = 0, len(chunks) + 1
    while killed < KILLS and thread.is_alive():
        threading.Event().wait(0.002)
        pid = rig.client.pid
        backlog = rig.loop.status().backlog
        # Each batch dies once and succeeds the second time; ten minutes lie between, or the third death would end it.
        if pid is not None and rig.loop.is_busy and backlog < left:
            rig.clock.advance(601)
            threading.Event().wait(chance.random() * 0.02)
            os.kill(pid, signal.SIGKILL)
            killed, left = killed + 1, backlog
    finished.set()
    thread.join(60)
    assert not thread.is_alive()
    rig.loop.drain()
    assert killed == KILLS
    assert_all_embedded_once(rig, chunks)


PROGRAM = """
import sys
from pathlib import Path
from engine.core.clock import SystemClock
from engine.embed import loop
from engine.embed.client import WorkerClient
from engine.embed.health import Health
from engine.store.connection import ReaderPool
from engine.store.errors import StoreFull, known_errors
from engine.store.writer import StoreWriter
from tests.helpers.hash_worker import command

loop.BATCH_CHUNKS = 4
database, model = Path(sys.argv[1]), sys.argv[2]
writer, readers, clock = StoreWriter(database), ReaderPool(database), SystemClock()
writer.start()
health = Health(clock)
embedding = loop.EmbeddingLoop(
    writer, readers, WorkerClient(command(), on_death=health.died), health, options=loop.EmbedOptions(model=model),
    clock=clock, on_change=lambda: None, on_rest=lambda: None, on_battery=lambda: False,
)
while embedding.step():
    print("batch", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_an_engine_killed_fifty_times_while_it_writes_loses_and_doubles_nothing(rigs: Rigs) -> None:
    chunks = rigs().add(*(f"{LONG} {index}" for index in range(1_000)))
    rigs.close()
    chance = random.Random(2)
    for round_ in range(KILLS):
        engine = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rigs.tmp_path / "index.db"), str(rigs.models / "hash")],
            stdout=subprocess.PIPE,
        )
        assert engine.stdout is not None
        for _ in range(1 + round_ % 3):
            assert engine.stdout.readline() == b"batch\n"
        threading.Event().wait(chance.random() * 0.02)
        engine.kill()
        engine.stdout.close()
        assert engine.wait(WAIT_S) == -signal.SIGKILL
    rig = rigs()
    before = rig.counts()
    assert 0 < before.embedded < len(chunks)
    rig.loop.drain()
    assert_all_embedded_once(rig, chunks)
