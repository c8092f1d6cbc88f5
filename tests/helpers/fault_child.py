"""What a process does that is killed in the middle of it, or finds its disk full.

    python -m tests.helpers.fault_child PHASE HOME PROJECTS [BYTES]

It says `ready` when all is imported and the work begins, `done` when it is over. BYTES limits the size of each file it
writes (RLIMIT_FSIZE), as a full disk would.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from engine.core.clock import FixedClock
from engine.core.errors import EngineError
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.transcripts import TranscriptBuilder

NOW = 1_780_000_000.0
PRUNE = {"older_than_days": 30, "dry_run": False, "archive": True}


def engine_at(home: Path, projects: Path) -> Engine:
    """Return an engine over these folders at a fixed time, not started."""
    settings = Settings(time_zone="UTC", embedding_enabled=False)
    return Engine(Paths.below(home), settings, FixedClock(NOW), roots=(Root(projects, "claude"),))


def append_rounds(engine: Engine, projects: Path) -> None:
    """Let every session go on, again and again, and read what it says."""
    for number in range(12):
        for file in sorted(projects.glob("*/*.jsonl")):
            builder = TranscriptBuilder(file.stem)
            builder.lines = [{}] * (10_000 + 10 * number)
            builder.prompt(f"Round {number} goes on about plums.")
            builder.lines = builder.lines[-1:]
            with file.open("ab") as transcript:
                transcript.write(builder.data())
        engine.run_once()


def work(phase: str, home: Path, projects: Path) -> None:
    """Do one phase."""
    engine = engine_at(home, projects)
    engine.start(watch=False)
    try:
        match phase:
            case "backfill" | "migration":
                engine.run_once(until="keyword")
            case "archive":
                engine.run_once()
            case "append":
                append_rounds(engine, projects)
            case "prune":
                engine.api.call("prune", PRUNE)
            case "fix":
                engine.api.call("doctor", {"fix": True})
            case _:
                raise ValueError(phase)
    finally:
        engine.stop()


def limit_files(size: int) -> None:
    """Refuse writes beyond a size, with an error instead of a signal."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def main() -> int:
    """Run a phase from the command line."""
    phase, home, projects, *size = sys.argv[1:]
    if size:
        limit_files(int(size[0]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        work(phase, Path(home), Path(projects))
    except EngineError as error:
        sys.stdout.write(f"refused {error.code}\n")
        return 3
    sys.stdout.write("done\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
