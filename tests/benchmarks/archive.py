"""How small the archive is, what it costs the first reading, and what a prune of half the history gives back.

    python dev.py bench archive [folder with projects/] [--budget]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS` when none is given. `--budget` fails when the archive takes
more than 20 % of its sources or storing slows the first reading by more than a quarter.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from engine.archive.reader import ArchiveReader
from engine.core.clock import FixedClock, SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.store.connection import open_writer
from engine.store.rows import rows
from engine.transcripts.discovery import Root

SIZE_BUDGET = 0.20
SLOWER_BUDGET = 0.25


@dataclass(frozen=True, slots=True)
class Stored:
    """What the archive takes."""

    files: int
    source_bytes: int
    stored_bytes: int

    @property
    def share(self) -> float:
        """Of the sources."""
        return self.stored_bytes / self.source_bytes


def engine_at(home: Path, projects: Path, *, archive: bool, now: float | None = None) -> Engine:
    """Return an engine without embedding, not started."""
    paths = Paths.below(home)
    settings = Settings(embedding_enabled=False, archive_enabled=archive)
    return Engine(paths, settings, SystemClock() if now is None else FixedClock(now), roots=(Root(projects, "claude"),))


def seconds_to_search(home: Path, projects: Path, *, beside: bool) -> float:
    """Return how long the first reading takes; with `beside`, while the archive is stored from the first moment, with
    the pauses it makes while transcripts wait to be read. (The engine lets it begin after 90 seconds of reading.)"""
    engine = engine_at(home, projects, archive=True)
    engine.start(watch=False)
    try:
        engine._ingestor.scan()  # pyright: ignore[reportPrivateUsage] - labels of roots, before anything is stored
        archiver = engine._keeper.archiver  # pyright: ignore[reportPrivateUsage] - stepped by hand
        stopping = threading.Event()
        storing = threading.Thread(target=lambda: None if archiver is None else archiver.store(stopping=stopping))
        began = time.monotonic()
        if beside:
            storing.start()
        engine.run_once(until="keyword")
        took = time.monotonic() - began
        if beside:
            storing.join()
        return took
    finally:
        engine.stop()


def store(home: Path, projects: Path) -> tuple[Stored, float]:
    """Store everything and return what it takes and how long it took."""
    engine = engine_at(home, projects, archive=True)
    engine.start(watch=False)
    try:
        engine.run_once(until="keyword")
        archiver = engine._keeper.archiver  # pyright: ignore[reportPrivateUsage] - stepped by hand
        began = time.monotonic()
        if archiver is not None:
            archiver.store()
        took = time.monotonic() - began
    finally:
        engine.stop()
    reader = ArchiveReader(Paths.below(home).archive)
    sizes = [(reader.length(each.label, each.path, each.generation), size) for each, size in reader.stored()]
    return Stored(len(sizes), sum(length for length, _ in sizes), sum(size for _, size in sizes)), took


def median_age_days(database: Path, now: float) -> int:
    """Return the age in days that parts the text of the history in two halves."""
    connection = open_writer(database)
    sums = rows(
        connection,
        """SELECT s.last_ms, sum(length(x.text)) FROM chunks c JOIN texts x ON x.id = c.id
           JOIN sessions s ON s.id = c.session_id GROUP BY s.id ORDER BY s.last_ms""",
    )
    connection.close()
    half = sum(each[1] for each in sums) / 2
    for last_ms, size in sums:
        half -= size
        if half <= 0:
            return max(1, int((now - last_ms / 1000) // 86_400))
    return 1


def prune_half(home: Path, projects: Path) -> tuple[int, int, int, float]:
    """Prune half of an index; return its bytes before, what was promised, what came back, and the seconds."""
    now = time.time()
    days = median_age_days(Paths.below(home).database, now)
    engine = engine_at(home, projects, archive=False, now=now)
    engine.start(watch=False)
    try:
        before = engine.api.status().database_bytes
        promised = engine.api.keeping.prune(older_than_days=days, include_only_copies=True).bytes_freed
        began = time.monotonic()
        freed = engine.api.keeping.prune(older_than_days=days, include_only_copies=True, dry_run=False).bytes_freed
        return before, promised, freed, time.monotonic() - began
    finally:
        engine.stop()


def main() -> int:
    """Measure and print."""
    named = [each for each in sys.argv[1:] if not each.startswith("-")]
    corpus = Path(named[0] if named else os.environ.get("BACKSCROLL_CORPUS", "../shared/corpus"))
    projects = corpus / "projects"
    if not projects.is_dir():
        print(f"No transcripts in {projects}.")
        return 0
    with tempfile.TemporaryDirectory(prefix="backscroll-bench-") as folder:
        alone = min(seconds_to_search(Path(folder, f"alone{n}"), projects, beside=False) for n in range(2))
        beside = min(seconds_to_search(Path(folder, f"beside{n}"), projects, beside=True) for n in range(2))
        stored, took = store(Path(folder, "stored"), projects)
        before, promised, freed, pruning = prune_half(Path(folder, "stored"), projects)
        shutil.rmtree(folder, ignore_errors=True)
    slower = beside / alone - 1
    print(f"sources          {stored.source_bytes / 1e6:8.1f} MB in {stored.files} files")
    print(
        f"archive          {stored.stored_bytes / 1e6:8.1f} MB, {stored.share:.1%} of them (budget {SIZE_BUDGET:.0%})"
    )
    print(f"stored in        {took:8.2f} s, {stored.source_bytes / took / 1e6:.0f} MB/s")
    print(f"searchable in    {alone:8.2f} s alone, {beside:.2f} s with the archive beside it from the first moment")
    print(
        f"slower by        {slower:8.1%} (budget {SLOWER_BUDGET:.0%}; the engine waits for the reading, at most 90 s)"
    )
    print(f"index            {before / 1e6:8.1f} MB; half of it pruned in {pruning:.2f} s")
    print(f"came back        {freed / 1e6:8.1f} MB ({freed / before:.0%}), {promised / 1e6:.1f} MB were promised")
    failed = stored.share > SIZE_BUDGET or slower > SLOWER_BUDGET
    return 1 if failed and "--budget" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())
