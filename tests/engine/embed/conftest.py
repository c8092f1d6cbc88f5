"""An embedding loop over a real database and a worker without a model, made as often as an engine is started."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import apsw
import pytest

from engine.core.clock import FixedClock
from engine.embed.client import WorkerClient
from engine.embed.health import Health
from engine.embed.loop import EmbeddingLoop, EmbedOptions
from engine.store import generations
from engine.store.connection import ReaderPool
from engine.store.errors import known_errors
from engine.store.writer import StoreWriter
from tests.helpers.hash_worker import LIMIT, command
from tests.helpers.history import add_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from engine.store.connection import Connection
    from engine.store.generations import EmbeddingCounts, Generation

T = TypeVar("T")

WAIT_S = 60.0
LONG = " ".join(f"word{index}" for index in range(3 * LIMIT))


@dataclass
class Rig:
    """A loop over a real database and the worker without a model."""

    writer: StoreWriter
    readers: ReaderPool
    client: WorkerClient
    health: Health
    clock: FixedClock
    loop: EmbeddingLoop
    rested: list[str]

    def add(self, *texts: str, **fields: object) -> list[int]:
        """Put chunks into the history."""
        return [
            self.writer.write(lambda connection, text=text: add_chunk(connection, text, **fields))  # pyright: ignore[reportArgumentType] - passed on
            for text in texts
        ]

    def counts(self) -> EmbeddingCounts:
        """Return how far the answering generation has come."""
        with self.readers.connection() as connection:
            return generations.answering_counts(connection)

    def current(self) -> Generation:
        """Return the answering generation."""
        with self.readers.connection() as connection:
            found = generations.answering(connection)
        assert found is not None
        return found

    def passages(self) -> list[tuple[int, int, int]]:
        """Return (chunk, start, stop) of every vector."""
        with self.readers.connection() as connection:
            return [
                (int(row[0]), int(row[1]), int(row[2]))  # pyright: ignore[reportArgumentType] - numbers of ours
                for row in connection.execute("SELECT chunk_id, start, stop FROM passages ORDER BY id")
            ]


class FullDisk(StoreWriter):
    """A writer that can be told to refuse as SQLite does on a full disk."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.full = threading.Event()
        self.refused = threading.Semaphore(0)
        self.written = threading.Semaphore(0)

    def write(self, task: Callable[[Connection], T], *, transaction: bool = True) -> T:
        """Write, or refuse and leave no trace."""

        def refusing(connection: Connection) -> T:
            with known_errors("Embedding"):
                made = task(connection)
                if self.full.is_set():
                    self.refused.release()
                    raise apsw.FullError("database or disk is full")
            return made

        made = super().write(refusing, transaction=transaction)
        self.written.release()
        return made


class Rigs:
    """Makes loops over one database, as an engine that is started again does."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp_path = tmp_path
        self.models = tmp_path / "models"
        self.made: list[Rig] = []
        self.add_model("hash")

    def add_model(self, name: str) -> Path:
        """Make a folder that passes for a model."""
        folder = self.models / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "modules.json").write_text(f'"{name}"', encoding="utf-8")
        return folder

    def __call__(
        self,
        *,
        model: str = "hash",
        worker: list[str] | None = None,
        clock: FixedClock | None = None,
        writer: type[StoreWriter] = StoreWriter,
        **options: object,
    ) -> Rig:
        started = writer(self.tmp_path / "index.db")
        started.start()
        readers = ReaderPool(self.tmp_path / "index.db")
        clock = clock or FixedClock(1_000.0)
        health = Health(clock)
        client = WorkerClient(worker or command(), on_death=health.died)
        rested: list[str] = []
        on_battery = bool(options.pop("battery", False))
        loop = EmbeddingLoop(
            started,
            readers,
            client,
            health,
            options=EmbedOptions(model=str(self.models / model), **options),  # pyright: ignore[reportArgumentType] - passed on
            clock=clock,
            on_change=lambda: None,
            on_rest=lambda: rested.append("rest"),
            on_battery=lambda: on_battery,
        )
        self.made.append(Rig(started, readers, client, health, clock, loop, rested))
        return self.made[-1]

    def close(self) -> None:
        """Stop everything."""
        for rig in self.made:
            rig.loop.close()
            rig.readers.close()
            assert rig.writer.close()
        self.made = []


@pytest.fixture
def rigs(tmp_path: Path) -> Generator[Rigs]:
    made = Rigs(tmp_path)
    yield made
    made.close()


def assert_all_embedded_once(rig: Rig, chunks: list[int]) -> None:
    """Every chunk has each of its passages once, and the bits of exactly these."""
    counted = rig.counts()
    assert (counted.embedded, counted.failed) == (len(chunks), 0)
    spans = rig.passages()
    assert len(spans) == len(set(spans)) == counted.vectors
    assert {span[0] for span in spans} == set(chunks)
    # All texts are equally long, so all have equally many passages.
    assert len({sum(1 for span in spans if span[0] == chunk) for chunk in chunks}) == 1
    with rig.readers.connection() as connection:
        bits = {row[0] for row in connection.execute(f"SELECT rowid FROM bits_{rig.current().id}")}  # noqa: S608 - a number of ours
        assert bits == {row[0] for row in connection.execute("SELECT id FROM passages")}
