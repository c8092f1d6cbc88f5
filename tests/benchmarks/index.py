"""How fast a history becomes searchable by its words, beside what the two libraries under it could do at best.

    python dev.py bench index [folder with projects/] [--rounds N] [--budget]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS` when none is given. Each round runs, one after the other and
each in a process of its own: the bare limit (every line through orjson, the same texts into a bare FTS5 table), the
reading alone (parse, identity, rows, words, usage), and the whole engine (the same with redaction and the archive). CPU
seconds and memory count the second process, too. The best round counts: others may be using the machine. `--budget`
fails when the reading is slower than 80 MB/s and than half the bare limit of the same round, or the engine takes 200 MB
or more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import orjson
import psutil

from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.ingest.second_process import if_it_pays
from engine.service import Engine
from engine.transcripts.blocks import content_blocks
from engine.transcripts.discovery import Root
from engine.transcripts.fields import object_field
from tests.helpers.corpus import ROOT
from tests.helpers.indexing import index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.transcripts.lines import Record

MB = 1_000_000
BUDGET_MB_S = 80
BUDGET_MEMORY_MB = 200
BUDGET_SHARE = 0.5
"""Of the bare limit of the same round: that is what the target of 80 MB/s is of the 160 MB/s of a bare prototype."""

GROUP = 2_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    mb_s: float
    cpu_s: float
    memory_mb: float
    """At most, of the whole process."""


def transcripts(projects: Path) -> list[Path]:
    """Return the files that are read."""
    return sorted(projects.rglob("*.jsonl"))


def size_mb(projects: Path) -> float:
    """Return how much there is to read."""
    return sum(file.stat().st_size for file in transcripts(projects)) / MB


def texts(line: bytes) -> Iterator[str]:
    """Yield the texts of a line, as a bare prototype would take them."""
    record: Record = orjson.loads(line)
    for block in content_blocks(object_field(record, "message").get("content")):
        for name in ("text", "thinking", "content"):
            if isinstance(block.get(name), str):
                yield block[name][:4_000]
        if block.get("type") == "tool_use":
            yield orjson.dumps(block.get("input")).decode()[:4_000]


def bare(projects: Path, folder: Path) -> None:
    """Parse every line and put its texts into a bare table: no identity, no filters, no positions, no second column."""
    connection = apsw.Connection(str(folder / "bare.db"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1)")
    waiting: list[tuple[str]] = []
    for file in transcripts(projects):
        with file.open("rb") as lines:
            for line in lines:
                waiting += [(text,) for text in texts(line)]
        if len(waiting) >= GROUP:
            with connection:
                connection.executemany("INSERT INTO search (words) VALUES (?)", waiting)
            waiting.clear()
    with connection:
        connection.executemany("INSERT INTO search (words) VALUES (?)", waiting)
    connection.close()


def reading(projects: Path, folder: Path) -> None:
    """Read everything as the engine does, without redaction and archive."""
    with index(folder / "index.db", projects, assistant=if_it_pays()) as read:
        read.read()


def engine(projects: Path, folder: Path) -> None:
    """Read everything with a whole engine."""
    paths = Paths.below(folder)
    running = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(Root(projects, "bench"),))
    running.start(watch=False)
    running.run_once(until="keyword")
    running.stop()


RUNS: dict[str, Callable[[Path, Path], None]] = {"bare": bare, "reading": reading, "engine": engine}


def run(name: str, projects: Path) -> Measured:
    """Do one run in this process."""
    with tempfile.TemporaryDirectory() as folder:
        cpu, wall = sum(os.times()[:4]), time.monotonic()
        RUNS[name](projects, Path(folder))
        wall, cpu = time.monotonic() - wall, sum(os.times()[:4]) - cpu
    return Measured(size_mb(projects) / wall, cpu, peak_memory_mb())


def peak_memory_mb() -> float:
    """Return the most memory this process and the largest of those it started have held."""
    if os.name == "nt":
        return float(psutil.Process().memory_info().peak_wset) / MB
    import resource  # POSIX only

    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak * (1 if sys.platform == "darwin" else 1024) / MB


def in_a_process(name: str, projects: Path) -> Measured:
    """Do one run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.index", str(projects), "--run", name],
        cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True,
    )  # fmt: skip
    return Measured(**json.loads(done.stdout))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("BACKSCROLL_CORPUS", ROOT.parent / "shared" / "corpus"))
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", action="store_true")
    parser.add_argument("--run", choices=RUNS)
    chosen = parser.parse_args()
    if chosen.run is not None:
        print(json.dumps(asdict(run(chosen.run, chosen.folder))))
        return 0
    projects = chosen.folder / "projects"
    if not transcripts(projects):
        print(f"There are no transcripts below {projects}. Name a folder that holds `projects/`.")
        return 2
    print(f"{len(transcripts(projects))} files, {size_mb(projects):.1f} MB\n")
    print(f"{'':10}{'MB/s':>8}{'CPU s':>8}{'of bare':>9}{'MB':>7}")
    rounds: list[dict[str, Measured]] = []
    for _ in range(chosen.rounds):
        rounds.append({name: in_a_process(name, projects) for name in RUNS})
        for name, found in rounds[-1].items():
            share = found.mb_s / rounds[-1]["bare"].mb_s
            print(f"{name:10}{found.mb_s:8.1f}{found.cpu_s:8.2f}{share:9.0%}{found.memory_mb:7.0f}")
        print()
    best = max(each["reading"].mb_s for each in rounds)
    share = max(each["reading"].mb_s / each["bare"].mb_s for each in rounds)
    memory = max(each["engine"].memory_mb for each in rounds)
    missed = [
        name
        for name, is_missed in (
            ("speed", best < BUDGET_MB_S and share < BUDGET_SHARE),
            ("memory", memory >= BUDGET_MEMORY_MB),
        )
        if is_missed
    ]
    print(
        json.dumps(
            {
                "benchmark": "index",
                "rounds": [{n: asdict(m) for n, m in each.items()} for each in rounds],
                "missed": missed,
            }
        )
    )
    return 1 if chosen.budget and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
