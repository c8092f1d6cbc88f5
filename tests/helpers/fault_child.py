"""What a process does that is killed in the middle of it, or may not write.

    python -m tests.helpers.fault_child PHASE HOME PROJECTS

It says `ready` when the engine has started and the work begins, `done` when it is over.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.archive.archiver import Archiver
from engine.core.clock import FixedClock
from engine.core.errors import EngineAlreadyRunning, EngineError
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.store.writer import StoreWriter
from engine.transcripts.discovery import Root
from tests.helpers import hash_worker
from tests.helpers.transcripts import TranscriptBuilder

NOW = 1_780_000_000.0
if TYPE_CHECKING:
    from collections.abc import Callable

LATE = 4_000_000_000.0
"""A time by which every file written in a test has long been quiet."""
FORGOTTEN = "00000001-0000-4000-8000-000000000000"
PRUNE = {"older_than_days": 30, "dry_run": False, "archive": True}


def engine_at(home: Path, projects: Path) -> Engine:
    """Return an engine over these folders at a fixed time, not started."""
    settings = Settings(time_zone="UTC", embedding_enabled=False)
    return Engine(Paths.below(home), settings, FixedClock(NOW), roots=(Root(projects, "claude"),))


def embedding_engine_at(home: Path, projects: Path) -> Engine:
    """Return an engine that embeds as well, with hashed words instead of a model."""
    model = home / "hash"
    model.mkdir(parents=True, exist_ok=True)
    (model / "modules.json").write_text("[]", encoding="utf-8")
    settings = Settings(time_zone="UTC", embedding_model=str(model), embedding_on_battery=True)
    roots = (Root(projects, "claude"),)
    return Engine(Paths.below(home), settings, FixedClock(NOW), roots=roots, worker=hash_worker.command())


def go_on(transcript: Path, messages: int, text: str, *, first: int = 10_000) -> None:
    """Let a session go on.

    Args:
        transcript: Its file.
        messages: How many it says.
        text: What it says.
        first: Number of the first line, for ids that no other line has.
    """
    builder = TranscriptBuilder(transcript.stem)
    builder.lines = [{}] * first
    for _ in range(messages):
        builder.prompt(text)
    builder.lines = builder.lines[first:]
    with transcript.open("ab") as file:
        file.write(builder.data())


def grow(projects: Path, number: int, *, step: int, more: str = "") -> None:
    """Let sessions go on, one in so many each time."""
    for file in sorted(projects.glob("*/*.jsonl"))[number % step :: step]:
        go_on(file, 1, f"Round {number} goes on about plums. {more}", first=10_000 + 10 * number)


def append_rounds(engine: Engine, projects: Path) -> None:
    """Let sessions go on, again and again, and read what they say."""
    for number in range(9):
        grow(projects, number, step=3)
        engine.run_once()


def store_rounds(home: Path, projects: Path) -> None:
    """Archive everything, and let it grow and be joined, again and again."""
    paths = Paths.below(home)
    writer = StoreWriter(paths.database)
    writer.start()
    archiver = Archiver(
        paths.archive,
        writer,
        lambda: (Root(projects, "claude"),),
        clock=FixedClock(LATE),
        is_excluded=None,
        is_pruned=lambda _session, _mtime: False,
        is_reading=lambda: False,
    )
    for number in range(6):
        archiver.store()
        grow(projects, number, step=6, more="Many more of them. " * 400)
    writer.close()


def work(phase: str, home: Path, projects: Path, begun: Callable[[], None] = lambda: None) -> None:
    """Do one phase.

    Args:
        phase: Which.
        home: Of the installation.
        projects: The transcripts.
        begun: Called when what the phase is about begins: behind the start of the engine, where it is not that.
    """
    if phase == "storing":
        begun()
        store_rounds(home, projects)
        return
    engine = engine_at(home, projects)
    if phase == "migration":
        begun()
    engine.start(watch=False)
    if phase != "migration":
        begun()
    try:
        match phase:
            case "opening":
                pass
            case "backfill" | "migration":
                engine.run_once(until="keyword")
            case "everything":
                engine.run_once()
            case "append":
                append_rounds(engine, projects)
            case "prune":
                engine.api.call("prune", PRUNE)
            case "forget":
                engine.api.call("forget", {"session_id": FORGOTTEN})
            case _:
                raise ValueError(phase)
    finally:
        engine.stop()


def own(home: Path, projects: Path) -> None:
    """Start an engine for each line that is read, stop it at the next, and say each time how it went."""
    for _ in sys.stdin:
        engine = engine_at(home, projects)
        try:
            engine.start(watch=False)
            said = "owns"
        except EngineAlreadyRunning:
            said = "refused"
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()
        sys.stdin.readline()
        engine.stop()
        sys.stdout.write("stopped\n")
        sys.stdout.flush()


def ready() -> None:
    """Say that the work begins."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def main() -> int:
    """Run a phase from the command line."""
    phase, home, projects = sys.argv[1:]
    if phase == "owning":
        ready()
        own(Path(home), Path(projects))
        return 0
    try:
        work(phase, Path(home), Path(projects), ready)
    except EngineError as error:
        sys.stdout.write(f"refused {error.code}\n")
        return 3
    sys.stdout.write("done\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
