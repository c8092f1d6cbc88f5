from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from engine.embed.client import ModelRefused, WorkerClient, WorkerDied, worker_command
from engine.embed.messages import WorkerOptions
from engine.embed.pipe import PipeEnd
from engine.embed.priority import NICENESS
from tests.helpers.hash_worker import DIMENSION, command

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

WAIT_S = 60.0
LOAD_S = 240.0
"""The real worker imports torch, behind everything else that runs (more than a minute was seen beside a full load)."""

pytestmark = pytest.mark.integration


class Client(WorkerClient):
    """A client of the worker without a model, which counts deaths."""

    def __init__(self, *, delay_ms: int = 0, deadly: str = "") -> None:
        self.deaths = 0
        self.died = threading.Event()
        super().__init__(command(delay_ms, deadly), on_death=self._note)

    def _note(self) -> None:
        self.deaths += 1
        self.died.set()


@pytest.fixture
def made() -> Generator[Callable[..., Client]]:
    clients: list[Client] = []

    def make(*, delay_ms: int = 0, deadly: str = "") -> Client:
        clients.append(Client(delay_ms=delay_ms, deadly=deadly))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_no_process_runs_before_the_first_request(made: Callable[..., Client]) -> None:
    client = made()
    assert not client.is_running
    assert len(client.embed_query("hash", "hello").result(WAIT_S).texts[0].vectors) == 4 * DIMENSION
    assert client.is_running


def test_an_unloaded_worker_is_gone_and_the_next_request_starts_another(made: Callable[..., Client]) -> None:
    client = made()
    client.load("hash").result(WAIT_S)
    first = client.pid
    client.unload()
    assert not client.is_running
    client.load("hash").result(WAIT_S)
    assert client.pid != first
    assert client.deaths == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no nice values")
def test_the_worker_steps_back_behind_everything_else(made: Callable[..., Client]) -> None:
    client = made()
    client.load("hash").result(WAIT_S)
    assert client.pid is not None
    expected = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
    assert os.getpriority(os.PRIO_PROCESS, client.pid) == expected


@pytest.mark.expect_log("worker died")
def test_a_death_fails_what_was_under_way_and_the_next_request_starts_another(made: Callable[..., Client]) -> None:
    client = made(deadly="poison")
    with pytest.raises(WorkerDied):
        client.embed("hash", ["some poison"]).result(WAIT_S)
    assert client.deaths == 1
    assert client.embed("hash", ["no harm"]).result(WAIT_S).texts


@pytest.mark.expect_log("worker died")
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_worker_killed_while_idle_is_noticed(made: Callable[..., Client]) -> None:
    client = made()
    client.load("hash").result(WAIT_S)
    assert client.pid is not None
    os.kill(client.pid, signal.SIGKILL)
    assert client.died.wait(WAIT_S)
    assert client.load("hash").result(WAIT_S).identity.name == "hash"


def test_a_question_is_answered_before_the_batch_that_came_first(made: Callable[..., Client]) -> None:
    client = made(delay_ms=20)
    client.load("hash").result(WAIT_S)
    batch = client.embed("hash", [f"{'word ' * 200}{index}" for index in range(100)])
    client.embed_query("hash", "hello").result(WAIT_S)
    assert not batch.done()


def test_a_closed_client_refuses_and_leaves_no_process(made: Callable[..., Client]) -> None:
    client = made(delay_ms=50)
    client.load("hash").result(WAIT_S)
    batch = client.embed("hash", [f"{'word ' * 200}{index}" for index in range(100)])
    client.close()
    with pytest.raises(WorkerDied):
        batch.result(WAIT_S)
    with pytest.raises(WorkerDied):
        client.load("hash").result(WAIT_S)
    assert not client.is_running
    assert client.deaths == 0


def test_a_worker_that_still_starts_is_not_asked_to_stop_but_ended() -> None:
    """While it imports it listens to nothing: whoever quits would wait until the time is over."""
    waits_to_be_told = "import sys; heard = b''\nwhile b'Stop' not in heard: heard += sys.stdin.buffer.read1()"
    client = WorkerClient([sys.executable, "-c", waits_to_be_told], on_death=lambda: None)
    loading = client.load("hash")
    client.close()
    with pytest.raises(WorkerDied, match="code -9" if sys.platform != "win32" else "code 1"):
        loading.result(WAIT_S)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGSTOP")
def test_a_worker_that_reads_nothing_any_more_is_ended_by_force(
    made: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.embed.client.STOP_S", 0.1)
    client = made()
    client.load("hash").result(WAIT_S)
    assert client.pid is not None
    os.kill(client.pid, signal.SIGSTOP)
    # More than a pipe holds: this thread waits in the middle of it, and holds the pipe's lock.
    asks = threading.Thread(target=client.embed, args=("hash", ["word " * 1_000_000]))
    asks.start()
    closes = threading.Thread(target=client.close, daemon=True)
    closes.start()
    closes.join(WAIT_S)
    asks.join(WAIT_S)
    assert not closes.is_alive()
    assert not asks.is_alive()
    assert not client.is_running


@pytest.mark.expect_log("worker died")
def test_a_command_that_does_not_start_is_a_death() -> None:
    client = WorkerClient([sys.executable, "-c", "raise SystemExit(3)"], on_death=lambda: None)
    with pytest.raises(WorkerDied):
        client.load("hash").result(WAIT_S)


def test_a_pipe_closed_by_whoever_saw_its_end_is_gone_for_who_sends_too() -> None:
    reader, writer = os.pipe()
    end = PipeEnd(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))
    end.close()
    end.close()
    with pytest.raises(BrokenPipeError):
        end.send("late")


@pytest.mark.expect_log("could not be started")
def test_a_program_that_is_not_there_is_a_death(tmp_path: Path) -> None:
    deaths: list[int] = []
    client = WorkerClient([str(tmp_path / "gone")], on_death=lambda: deaths.append(1))
    with pytest.raises(WorkerDied):
        client.load("hash").result(WAIT_S)
    assert deaths == [1]
    assert not client.is_running


@pytest.mark.expect_log("not understood", "worker died")
def test_a_worker_that_speaks_otherwise_is_ended_and_counted() -> None:
    # As after an installation that was replaced while the engine ran: the answer names a class we do not have.
    program = (
        "import os, struct, time\n"
        "answer = b'cengine.embed.messages\\nSomethingNewer\\n.'\n"
        "os.write(1, struct.pack('<I', len(answer)) + answer)\n"
        "time.sleep(60)\n"
    )
    deaths: list[int] = []
    client = WorkerClient([sys.executable, "-c", program], on_death=lambda: deaths.append(1))
    with pytest.raises(WorkerDied):
        client.load("hash").result(WAIT_S)
    assert deaths == [1]


def test_what_a_library_prints_does_not_disturb_the_answers() -> None:
    program = (
        "from engine.embed import worker\n"
        "from tests.helpers.hash_worker import HashModel\n"
        "import os\n"
        "def load(folder):\n"
        "    print('loading bar')\n"
        "    os.write(1, b'native noise')\n"
        "    return HashModel(folder)\n"
        "worker.serve(load)\n"
    )
    client = WorkerClient([sys.executable, "-c", program], on_death=lambda: None)
    assert client.load("hash").result(WAIT_S).identity.name == "hash"
    client.close()


def test_the_frozen_program_is_its_own_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command(WorkerOptions(2, "float32")) == [sys.executable, "embed-worker", "2", "float32"]


@pytest.mark.slow
def test_the_real_worker_refuses_a_folder_without_a_model() -> None:
    client = WorkerClient(worker_command(WorkerOptions(1)), on_death=lambda: None)
    with pytest.raises(ModelRefused, match="cannot be loaded"):
        client.load(os.devnull).result(LOAD_S)
    client.close()
