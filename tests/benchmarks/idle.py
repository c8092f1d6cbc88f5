"""What a running engine costs while nothing happens: processor time, disk writes, and what it opens.

    python dev.py bench idle [seconds] [--sessions N] [--budget]

An engine in a process of its own watches N small sessions (15,000 when not said otherwise). Once it has read them,
stored them in the archive and half a minute has passed, it is left alone for the seconds (60). Also printed: how long
the first reading took. `--budget` fails at 0.1 s of processor time a minute or any write.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.ingest.watcher import BUSY_FOR_S
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.corpus import ROOT
from tests.helpers.transcripts import TranscriptBuilder

BUDGET_CPU_S = 0.1
"""Of each idle minute."""

SESSIONS = 15_000
FOLDERS = 60


def write_sessions(projects: Path, count: int) -> None:
    """Write many small sessions over some projects."""
    for number in range(count):
        builder = TranscriptBuilder(f"{number:08d}-1111-4111-8111-111111111111", cwd=f"/home/dev/p{number % FOLDERS}")
        builder.prompt(f"question number {number}")
        builder.answer(f"answer number {number}")
        builder.write(projects)


def watch(folder: Path) -> None:
    """Run an engine until the other end closes; tell when it has read everything."""
    engine = Engine(
        Paths.below(folder / "home"),
        Settings(embedding_enabled=False),
        SystemClock(),
        roots=(Root(folder / "projects", "bench"),),
    )
    began = time.monotonic()
    engine.start(watch=True, serve=False)
    try:
        expected = sum(1 for _ in (folder / "projects").rglob("*.jsonl"))
        while engine.api.coverage().messages < 2 * expected:
            time.sleep(0.05)
        print(time.monotonic() - began, flush=True)
        sys.stdin.read()
    finally:
        engine.stop()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--budget", action="store_true")
    parser.add_argument("--watch", type=Path)
    chosen = parser.parse_args()
    if chosen.watch is not None:
        watch(chosen.watch)
        return 0
    with tempfile.TemporaryDirectory(prefix="bs-") as name:
        folder = Path(name)
        write_sessions(folder / "projects", chosen.sessions)
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.idle", "--watch", str(folder)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        first_s = float(child.stdout.readline())
        process = psutil.Process(child.pid)
        time.sleep(BUSY_FOR_S + 5)
        wait_until_quiet(process)
        cpu, written = process.cpu_times(), bytes_written(process)
        time.sleep(chosen.seconds)
        after, memory = process.cpu_times(), process.memory_info().rss / 1e6
        used = (after.user + after.system) - (cpu.user + cpu.system)
        written = bytes_written(process) - written
        child.stdin.close()
        child.wait(60)
    minute = used * 60 / chosen.seconds
    print(f"{'sessions':>10}{'first reading s':>17}{'idle s':>8}{'CPU s':>8}{'a minute':>10}{'written':>9}{'MB':>6}")
    print(f"{chosen.sessions:10}{first_s:17.1f}{chosen.seconds:8}{used:8.3f}{minute:10.3f}{written:9}{memory:6.0f}")
    numbers = {"first_reading_s": round(first_s, 2), "cpu_s_per_minute": round(minute, 3), "bytes_written": written}
    print(json.dumps({"benchmark": "idle", "sessions": chosen.sessions, "seconds": chosen.seconds, **numbers}))
    return 1 if chosen.budget and (minute >= BUDGET_CPU_S or written) else 0


def wait_until_quiet(process: psutil.Process) -> None:
    """Wait until what follows the first reading (the archive) is done, too."""
    for _ in range(60):
        before, times = bytes_written(process), process.cpu_times()
        time.sleep(5)
        after = process.cpu_times()
        if bytes_written(process) == before and after.user + after.system - times.user - times.system < BUDGET_CPU_S:
            return


def bytes_written(process: psutil.Process) -> int:
    """Return what a process has sent to the disk so far; 0 where the system does not tell."""
    if not hasattr(process, "io_counters"):
        return 0
    return int(process.io_counters().write_bytes)


if __name__ == "__main__":
    raise SystemExit(main())
