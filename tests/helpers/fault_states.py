"""Installations before something bad happens to them, and what is asked of them after it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.archive.reader import ArchiveReader
from engine.core.paths import Paths
from engine.store.backup import damage_of
from engine.store.connection import open_writer
from engine.store.removing import STEP_MESSAGES
from tests.helpers.fault_child import FORGOTTEN, NOW, engine_at, go_on, work
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Generator

SESSIONS = 24
LARGE = 3 * STEP_MESSAGES
"""Messages more of the session that is forgotten: it goes in several steps."""


def write_history(projects: Path) -> None:
    """Write sessions, every second one old enough to be pruned."""
    for number in range(SESSIONS):
        began = datetime.fromtimestamp(NOW, UTC) - timedelta(days=90 if number % 2 else 3)
        builder = TranscriptBuilder(
            f"{number:08d}-0000-4000-8000-000000000000", cwd=f"/home/dev/p{number % 3}", now=began
        )
        for turn in range(10):
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
        self._read = folder / "read"
        self._full = folder / "full"
        self._large = folder / "large"
        self._run = folder / "run"
        home, projects = self.begin("backfill")
        work("backfill", home, projects)
        shutil.copytree(self._run, self._read)
        work("everything", home, projects)
        shutil.copytree(self._run, self._full)
        go_on(next(projects.glob(f"*/{FORGOTTEN}.jsonl")), LARGE, "A longer one about plums.")
        work("everything", home, projects)
        self._run.rename(self._large)
        self._expected: dict[str, dict[str, Any]] = {}

    def begin(self, phase: str) -> tuple[Path, Path]:
        """Make the state before a phase, always in the same place; return home and projects."""
        shutil.rmtree(self._run, ignore_errors=True)
        before = {"backfill": self._empty, "everything": self._empty, "storing": self._read, "forget": self._large}
        shutil.copytree(before.get(phase, self._full), self._run)
        home, projects = self._run / "home", self._run / "projects"
        if phase == "migration":
            downgrade(Paths.below(home).database)
        return home, projects

    def expected(self, phase: str) -> dict[str, Any]:
        """Return what is to be answered after a phase and a restart."""
        if phase not in self._expected:
            home, projects = self.begin(phase)
            work(phase, home, projects)
            self._expected[phase] = content(home, projects)
        return self._expected[phase]


def downgrade(database: Path) -> None:
    """Take a database back to the schema before the archive's tables."""
    connection = open_writer(database)
    connection.execute("DROP TABLE archived; DROP TABLE redactions; PRAGMA user_version = 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


@contextmanager
def started(phase: str, home: Path, projects: Path, *more: str) -> Generator[subprocess.Popen[str]]:
    """Start a phase in a process of its own, and give it when its work begins."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.fault_child", phase, str(home), str(projects), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child


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
