"""Pausing the engine: nothing is read meanwhile, also when work arrives during the pause."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.core.clock import SystemClock
from engine.core.events import ChunksAdded, Event
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.core.paths import Paths

SAMPLE = Path(__file__).parents[2] / "assets" / "sample" / "projects"


@pytest.fixture
def engine(paths: Paths, tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "projects"
    shutil.copytree(SAMPLE, root)
    settings = Settings(time_zone="UTC", embedding_enabled=False)
    engine = Engine(paths, settings, SystemClock(), roots=(Root(root, "test"),))
    yield engine
    engine.stop()


def added(engine: Engine) -> threading.Event:
    """Return an event that is set when the engine has committed something."""
    seen = threading.Event()

    def note(event: Event) -> None:
        if isinstance(event, ChunksAdded):
            seen.set()

    engine.events.subscribe(note)
    return seen


def test_what_arrives_during_a_pause_is_read_after_it(engine: Engine) -> None:
    seen = added(engine)
    engine.pause()
    engine.start()
    engine.reindex(None, full=False)
    assert engine.ingest_status().files_pending == 9
    assert (engine.ingest_status().state, seen.is_set()) == ("paused", False)
    engine.resume()
    assert seen.wait(60)


def test_a_timed_pause_ends_by_itself(engine: Engine) -> None:
    seen = added(engine)
    engine.pause(0.001)
    engine.start()
    assert seen.wait(60)
    assert engine.ingest_status().paused_until is None


def test_a_paused_engine_can_be_stopped(engine: Engine) -> None:
    engine.start()
    engine.pause(3600)
    assert engine.ingest_status().paused_until is not None
    assert engine.stop() == ()
    assert "engine-pause" not in [thread.name for thread in threading.enumerate()]
