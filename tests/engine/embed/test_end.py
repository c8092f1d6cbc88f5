from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from engine.core.clock import SystemClock
from engine.embed.client import WorkerClient
from engine.embed.health import Health
from engine.embed.loop import EmbeddingLoop, EmbedOptions
from engine.store.connection import ReaderPool
from engine.store.writer import StoreWriter
from tests.helpers.history import add_chunk

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from engine.embed.messages import Loaded

WAIT_S = 60.0

pytestmark = pytest.mark.integration


class Client(WorkerClient):
    """A client that says when it was asked to load a model, which its worker never does."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.loads = 0
        reads = "import sys; sys.stdin.buffer.read()"
        super().__init__([sys.executable, "-c", reads], on_death=lambda: None)

    def load(self, model: str) -> Future[Loaded]:
        self.loads += 1
        loading = super().load(model)
        self.asked.set()
        return loading


def test_an_end_while_the_model_loads_asks_for_it_no_more(tmp_path: Path) -> None:
    """A closed client refuses at once: asked again each time, it held the end of the engine for ten seconds."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "modules.json").write_text("{}", encoding="utf-8")
    writer = StoreWriter(tmp_path / "index.db")
    writer.start()
    readers = ReaderPool(tmp_path / "index.db")
    writer.write(lambda connection: add_chunk(connection, "one"))
    client = Client()
    loop = EmbeddingLoop(
        writer,
        readers,
        client,
        Health(SystemClock()),
        options=EmbedOptions(model=str(model)),
        clock=SystemClock(),
        on_change=lambda: None,
        on_rest=lambda: None,
        on_battery=lambda: False,
    )
    thread = threading.Thread(target=loop.run, args=(threading.Event(),), daemon=True)
    thread.start()
    try:
        assert client.asked.wait(WAIT_S)
        loop.close()
        thread.join(WAIT_S)
        assert not thread.is_alive()
        assert client.loads == 1
    finally:
        loop.close()
        readers.close()
        assert writer.close()
