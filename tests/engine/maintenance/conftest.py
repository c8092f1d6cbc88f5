"""A history of several sessions in a running engine, and what tests ask of its files."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.service import Engine
from engine.store.connection import open_writer
from engine.transcripts.discovery import Root
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.core.paths import Paths

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
SETTINGS = Settings(time_zone="UTC", embedding_enabled=False)


def session_id(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


@dataclass
class History:
    """Transcripts below a root and the engine's folders."""

    paths: Paths
    root: Path
    files: dict[int, Path] = field(default_factory=dict[int, "Path"])
    clock: FixedClock = field(default_factory=lambda: FixedClock(NOW.timestamp()))
    settings: Settings = SETTINGS

    def session(self, number: int, *said: str, days_ago: int, cwd: str = "/home/dev/shop") -> TranscriptBuilder:
        """Write a session that said something some days ago."""
        builder = TranscriptBuilder(session_id(number), cwd=cwd, now=NOW - timedelta(days=days_ago))
        for text in said:
            builder.prompt(f"Please look at {text} in session {number}.")
            builder.answer(f"Done with {text}. " + "The schema came first, then the callers. " * 20)
            builder.tool("Bash", {"command": f"grep -rn {text} ."}, f"src/{text}.py:1: {text}")
        self.files[number] = builder.write(self.root)
        return builder

    @contextmanager
    def engine(self) -> Generator[Engine]:
        """Give an engine that has read and archived everything."""
        engine = Engine(self.paths, self.settings, self.clock, roots=(Root(self.root, "claude"),))
        engine.start(watch=False)
        try:
            engine.run_once()
            yield engine
        finally:
            engine.stop()

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement on a connection of its own, beside the engine's, and return its rows."""
        connection = open_writer(self.paths.database)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def traces(self, text: str) -> list[str]:
        """Return the files of the data folder that hold a text, whatever its case, in any file but the archive's."""
        wanted = text.lower().encode()
        return [
            str(file.relative_to(self.paths.data))
            for file in sorted(self.paths.data.rglob("*"))
            if file.is_file() and wanted in file.read_bytes().lower()
        ]


@pytest.fixture
def history(paths: Paths, tmp_path: Path) -> History:
    """Give an empty history."""
    root = tmp_path / "projects"
    root.mkdir()
    return History(paths, root)


def found(engine: Engine, query: str) -> set[str]:
    """Return the sessions in which words are found."""
    reply = engine.api.call(
        "keyword_search", {"query": query, "limit": 100, "include_low_signal": True, "fuzzy_fallback": False}
    )
    return {hit["session_id"] for hit in reply["hits"]}
