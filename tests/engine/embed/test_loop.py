from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from engine.core.models.kinds import Signal
from engine.core.vectors import NoVector, QueryVector
from engine.store import generations
from engine.store.errors import StoreFull
from tests.engine.embed.conftest import LONG, WAIT_S, FullDisk, assert_all_embedded_once
from tests.helpers.hash_worker import DIMENSION, command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.embed.conftest import Rigs

pytestmark = pytest.mark.integration


def test_every_chunk_gets_all_of_its_passages(rigs: Rigs) -> None:
    rig = rigs()
    short, long = rig.add("a short one", LONG)
    status = rig.loop.drain()
    assert (status.state, status.backlog) == ("idle", 0)
    assert rig.counts().embedded == 2
    ranges = {chunk: [span[1:] for span in rig.passages() if span[0] == chunk] for chunk in (short, long)}
    assert ranges[short] == [(0, 11)]
    assert len(ranges[long]) > 2
    assert ranges[long][-1][1] == len(LONG)
    assert rig.counts().vectors == len(rig.passages())


def test_an_empty_history_starts_no_worker(rigs: Rigs) -> None:
    rig = rigs()
    assert not rig.loop.step()
    assert not rig.client.is_running


def test_a_finished_history_starts_no_worker_either(rigs: Rigs) -> None:
    rigs().add("one")
    rigs.made[0].loop.drain()
    rigs.close()
    again = rigs()
    assert not again.loop.step()
    assert not again.client.is_running


def test_identical_texts_are_computed_once_also_in_later_batches(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("the same words", "the same words", "other words")
    rig.loop.drain()
    rig.client.close()  # whatever comes now must do without the worker
    rig.add("the same words")
    assert rig.loop.step()
    assert rig.counts() == generations.EmbeddingCounts(embedded=4, vectors=4)


def test_our_own_calls_are_never_embedded(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("found ten sessions", tool="mcp__backscroll__hybrid_search", signal=Signal.LOW)
    rig.add("something else", tool="Bash")
    rig.loop.drain()
    assert rig.counts() == generations.EmbeddingCounts(embedded=1, excluded=1, vectors=1)
    with rig.readers.connection() as connection:
        assert generations.share(connection) == (2, 1, 100.0)


def test_a_paused_loop_embeds_nothing_but_answers_questions(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("one")
    rig.loop.drain()
    rig.loop.pause()
    rig.add("two")
    assert not rig.loop.step()
    assert (rig.loop.status().state, rig.loop.status().backlog) == ("paused", 1)
    assert isinstance(rig.loop.embed_query("one", rig.current(), WAIT_S), QueryVector)
    rig.loop.resume()
    rig.loop.drain()
    assert rig.counts().embedded == 2


def test_a_question_becomes_a_vector_of_the_models_dimension(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("one")
    rig.loop.drain()
    made = rig.loop.embed_query("what was it", rig.current(), WAIT_S)
    assert isinstance(made, QueryVector)
    assert len(made.vector) == 4 * DIMENSION


def test_a_question_is_not_kept_waiting_by_a_cold_model(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("one")
    rig.loop.drain()
    rig.client.unload()
    made = rig.loop.embed_query("what was it", rig.current(), 0.0)
    assert isinstance(made, NoVector)
    assert "loading" in made.reason


def test_switched_off_means_no_worker_ever(rigs: Rigs) -> None:
    rig = rigs(enabled=False)
    rig.add("one")
    rig.loop.warm()
    assert not rig.loop.step()
    assert not rig.client.is_running
    assert rig.loop.status().state == "off"


def test_a_missing_model_is_said(rigs: Rigs) -> None:
    rig = rigs(model="nowhere")
    rig.add("one")
    assert not rig.loop.step()
    assert rig.loop.status().state == "failed"
    assert "not installed" in (rig.loop.problem or "")


def test_on_battery_embedding_waits(rigs: Rigs) -> None:
    rig = rigs(battery=True)
    rig.add("one")
    assert not rig.loop.step()
    assert (rig.loop.status().state, rig.loop.status().backlog) == ("waiting", 1)


def test_an_idle_worker_is_ended_after_its_time_and_not_before(rigs: Rigs) -> None:
    rig = rigs(idle_unload_s=600.0)
    rig.add("one")
    rig.loop.drain()
    rig.clock.advance(599)
    assert not rig.loop.step()
    assert rig.client.is_running
    rig.clock.advance(1)
    assert not rig.loop.step()
    assert not rig.client.is_running
    assert rig.rested == ["rest"]


def test_a_warmed_worker_is_there_before_anybody_asks(rigs: Rigs) -> None:
    rig = rigs()
    rig.loop.warm()
    assert rig.client.is_running


@pytest.mark.expect_log("worker died", "died over 1 texts")
def test_a_batch_that_kills_the_worker_twice_is_marked_failed_and_the_rest_goes_on(rigs: Rigs) -> None:
    rig = rigs(worker=command(deadly="poison"))
    rig.add("some poison", time_ms=9)
    rig.loop.drain()
    assert rig.counts() == generations.EmbeddingCounts(failed=1)
    rig.add("no harm")
    rig.loop.drain()
    assert rig.counts() == generations.EmbeddingCounts(embedded=1, failed=1, vectors=1)
    assert rig.loop.retry_failed() == 1
    assert rig.loop.status().backlog == 1


@pytest.mark.expect_log("worker died", "died over 1 texts")
def test_three_deaths_in_ten_minutes_leave_words_only_until_they_are_past(rigs: Rigs) -> None:
    rig = rigs(worker=command(deadly="poison"))
    rig.add("no harm")
    rig.loop.drain()
    rig.add("first poison")
    rig.loop.drain()
    second = rig.add("second poison")
    assert not any(rig.loop.step() for _ in range(2) if rig.health.problem is not None)
    assert rig.loop.step() or rig.health.problem is not None
    assert "3 times" in (rig.loop.problem or "")
    assert rig.loop.status().state == "failed"
    refused = rig.loop.embed_query("no harm", rig.current(), WAIT_S)
    assert isinstance(refused, NoVector)
    with rig.readers.connection() as connection:
        assert [each.chunk for each in generations.next_waiting(connection, 1, chunks=9, characters=999)] == second
    rig.clock.advance(601)
    assert rig.loop.problem is None
    assert isinstance(rig.loop.embed_query("no harm", rig.current(), WAIT_S), QueryVector)


def test_another_model_is_built_while_the_old_one_answers(rigs: Rigs) -> None:
    rigs().add("one", "two")
    rigs.made[0].loop.drain()
    rigs.close()
    rigs.add_model("other")
    rig = rigs(model="other")
    assert rig.current().identity.name == "hash"
    rig.loop.step()
    assert rig.current().identity.name == "hash"
    assert isinstance(rig.loop.embed_query("one", rig.current(), WAIT_S), QueryVector)
    rig.loop.drain()
    assert rig.current().identity.name == "other"
    assert rig.counts() == generations.EmbeddingCounts(embedded=2, vectors=2)


def test_progress_is_reported_with_a_rate(rigs: Rigs) -> None:
    rig = rigs()
    rig.add("one", "two")
    seen: list[int] = []
    rig.loop.drain(lambda status: seen.append(status.backlog))
    assert seen[-1] == 0


@pytest.mark.expect_log("worker died", "died over 1 texts")
def test_what_waits_behind_a_deadly_batch_is_not_blamed_for_it(rigs: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embed.loop.BATCH_CHUNKS", 1)
    rig = rigs(worker=command(deadly="poison"))
    rig.add("before", time_ms=9)
    [deadly] = rig.add("some poison", time_ms=8)
    rig.add("after", "at last", time_ms=7)
    status = rig.loop.drain()
    assert status.backlog == 0
    assert rig.counts() == generations.EmbeddingCounts(embedded=3, failed=1, vectors=3)
    assert deadly not in {span[0] for span in rig.passages()}
    assert rig.health.problem is None


@pytest.mark.expect_log("Embedding waits, the database refused")
def test_a_full_disk_loses_nothing_and_embedding_goes_on_by_itself(rigs: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embed.loop.BATCH_CHUNKS", 2)
    monkeypatch.setattr("engine.embed.loop.RETRY_S", 0.01)
    rig = rigs(writer=FullDisk)
    assert isinstance(rig.writer, FullDisk)
    chunks = rig.add(*(f"{LONG} {index}" for index in range(9)))
    rig.loop.step()
    rig.writer.full.set()
    stopping = threading.Event()
    thread = threading.Thread(target=rig.loop.run, args=(stopping,), name="test-embed")
    thread.start()
    # More refusals than a thread may have deaths.
    for _ in range(6):
        assert rig.writer.refused.acquire(timeout=WAIT_S)
    status = rig.loop.status()
    assert (status.state, status.backlog) == ("waiting", 7)
    assert "disk is full" in (status.reason or "")
    assert thread.is_alive()
    # What was computed is written when there is space, not computed again.
    pid = rig.client.pid
    rig.writer.full.clear()
    while rig.loop.status().backlog:
        assert rig.writer.written.acquire(timeout=WAIT_S)
    stopping.set()
    rig.loop.notify()
    thread.join(WAIT_S)
    assert not thread.is_alive()
    assert (rig.client.pid, rig.loop.status().reason) == (pid, None)
    assert_all_embedded_once(rig, chunks)


def test_what_the_disk_refused_is_not_computed_again(rigs: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embed.loop.BATCH_CHUNKS", 1)
    rig = rigs(writer=FullDisk)
    assert isinstance(rig.writer, FullDisk)
    rig.add("one", "two")
    rig.loop._settle_target(rigs.models / "hash")  # pyright: ignore[reportPrivateUsage] - the generation, before the disk is full
    rig.writer.full.set()
    with pytest.raises(StoreFull):
        rig.loop.step()
    rig.loop._batches._ahead = None  # pyright: ignore[reportPrivateUsage] - it would be answered in time
    rig.writer.full.clear()
    rig.client.close()  # whatever is written now was computed before
    assert rig.loop.step()
    assert rig.counts().embedded == 1


@pytest.mark.expect_log("worker died")
@pytest.mark.skipif(sys.platform == "win32", reason="no shell")
def test_a_worker_that_dies_while_the_model_loads_is_started_again(rigs: Rigs, tmp_path: Path) -> None:
    once = tmp_path / "once"
    start = " ".join(f"'{each}'" for each in command())
    rig = rigs(worker=["/bin/sh", "-c", f"if test -e '{once}'; then exec {start}; else touch '{once}'; exit 9; fi"])
    rig.add("one")
    rig.loop.drain()
    assert rig.counts().embedded == 1
