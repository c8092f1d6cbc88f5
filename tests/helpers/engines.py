"""A real engine over a folder of transcripts, without threads: index when told, ask through its front door."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.core.paths import Paths

NOON = 1_772_625_600.0
"""2026-03-04 12:00 UTC, two days after the builder's first line."""


@contextmanager
def running_engine(
    paths: Paths, root: Path, *, settings: Settings | None = None, clock: Clock | None = None
) -> Generator[Engine]:
    """Give an engine that has read everything below the root and answers in UTC."""
    engine = Engine(
        paths,
        settings or Settings(time_zone="UTC", embedding_enabled=False),
        clock or FixedClock(NOON),
        roots=(Root(root, "test"),),
    )
    engine.start(watch=False)
    try:
        engine.run_once(until="keyword")
        yield engine
    finally:
        engine.stop()
