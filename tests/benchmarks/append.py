"""How long after it is written a line can be found: fifty appends to a transcript that a running engine watches.

    python dev.py bench append [appends] [--budget]

Each append is timed from before the write until a keyword search finds it. The first one after a pause of half a minute
is told apart: until then the engine looks for changes less often. `--budget` fails when the 95th percentile is a second
or more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from pathlib import Path

from engine.core.clock import SystemClock
from engine.core.models.asking import SearchRequest
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.ingest.watcher import BUSY_FOR_S
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.transcripts import TranscriptBuilder

BUDGET_MS = 1_000
PAUSE_S = 0.3
"""Between two appends: Claude Code writes a few lines a second."""

LONGEST_S = 10.0


def found_after_ms(engine: Engine, builder: TranscriptBuilder, file: Path, word: str) -> float:
    """Append a prompt with a word and return after how many milliseconds a search finds it."""
    builder.prompt(f"please look at {word}")
    line = builder.data().split(b"\n")[-2] + b"\n"
    request = SearchRequest(query=f'"{word}"', mode="keyword", fuzzy_fallback=False)
    began = time.monotonic()
    with file.open("ab") as appended:
        appended.write(line)
    while not engine.api.search(request).hits:
        if time.monotonic() - began > LONGEST_S:
            raise TimeoutError(word)
        time.sleep(0.005)
    return (time.monotonic() - began) * 1000


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("appends", nargs="?", type=int, default=50)
    parser.add_argument("--budget", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bs-") as folder:
        projects = Path(folder) / "projects"
        builder = TranscriptBuilder("11111111-1111-4111-8111-111111111111")
        builder.prompt("the beginning")
        file = builder.write(projects)
        engine = Engine(
            Paths.below(Path(folder) / "home"),
            Settings(embedding_enabled=False),
            SystemClock(),
            roots=(Root(projects, "bench"),),
        )
        engine.start(watch=True, serve=False)
        try:
            found_after_ms(engine, builder, file, "warmup")
            waiting = threading.Event()
            times: list[float] = []
            for number in range(chosen.appends):
                waiting.wait(PAUSE_S)
                times.append(found_after_ms(engine, builder, file, f"append{number}th"))
            waiting.wait(BUSY_FOR_S + 2)
            first = found_after_ms(engine, builder, file, "afterwards")
        finally:
            engine.stop()
    times.sort()
    p50, p95 = statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.95))]
    print(f"{'appends':>10}{'p50 ms':>10}{'p95 ms':>10}{'max ms':>10}{'first after idle ms':>22}")
    print(f"{len(times):10}{p50:10.0f}{p95:10.0f}{times[-1]:10.0f}{first:22.0f}")
    numbers = {"p50_ms": round(p50), "p95_ms": round(p95), "max_ms": round(times[-1]), "after_idle_ms": round(first)}
    print(json.dumps({"benchmark": "append", "appends": len(times), **numbers}))
    return 1 if chosen.budget and p95 >= BUDGET_MS else 0


if __name__ == "__main__":
    raise SystemExit(main())
