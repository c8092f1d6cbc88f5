"""What a process does that finds its disk full in the middle of something, and room again a moment later.

    python -m tests.helpers.full_disk_child PHASE HOME PROJECTS BYTES

BYTES limits the size of each file it writes (RLIMIT_FSIZE), as a full disk would. It says in a line of JSON what was
refused, and ends well only when no notice is left.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.archive import archiver
from engine.core.errors import EngineError, StorageFailure
from engine.embed import loop
from engine.ingest import pipeline
from tests.helpers.fault_child import FORGOTTEN, PRUNE, embedding_engine_at, engine_at, work

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from engine.service import Engine

WAIT_S = 60.0


@contextmanager
def full(size: int) -> Generator[None]:
    """Refuse writes beyond a size meanwhile, with an error instead of a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def refusal(deed: Callable[[], object]) -> str | None:
    """Return the code of the error that a deed ends with."""
    try:
        deed()
    except EngineError as error:
        return error.code
    return None


def mend(engine: Engine) -> None:
    """Let the doctor mend everything; what it could not is an error, too."""
    findings = engine.api.call("doctor", {"fix": True})["findings"]
    words = next(each for each in findings if each["id"] == "words")
    if not words.get("fixed"):
        raise StorageFailure(words["found"])


def notices(engine: Engine) -> list[str]:
    """Return the ids of what a person is told."""
    return [each.id for each in engine.notices()]


def until(reached: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def migrating(home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Start over an older schema."""
    with full(size):
        refused = refusal(lambda: engine_at(home, projects).start(watch=False))
    engine = engine_at(home, projects)
    engine.start(watch=False)
    assert not notices(engine)
    engine.stop()
    return {"refused": refused}


def embedding(home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Let the engine's own thread embed a history."""
    loop.BATCH_CHUNKS = 16
    loop.RETRY_S = pipeline.RETRY_S = 0.05
    engine = embedding_engine_at(home, projects)
    with full(size):
        engine.start(serve=False)
        until(lambda: engine.embedding_status().reason is not None)
        refused = engine.embedding_status().reason
        left = engine.embedding_status().backlog
    until(lambda: engine.embedding_status().state == "idle" and not notices(engine))
    status = engine.embedding_status()
    engine.stop()
    return {"refused": refused, "left": left, "reason": status.reason, "backlog": status.backlog}


def by_itself(notice: str, home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Let the engine's threads read and archive until they say so, and until they have nothing more to say."""
    pipeline.RETRY_S = archiver.STEP_S = 0.05
    work("opening", home, projects)
    engine = engine_at(home, projects)
    with full(size):
        engine.start(serve=False)
        until(lambda: notice in notices(engine))
    until(lambda: not notices(engine) and not engine.ingest_status().files_pending)
    engine.stop()
    return {"refused": notice}


def when_asked(phase: str, home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Do something in a running engine, and once more when there is room."""
    pipeline.RETRY_S = archiver.STEP_S = 0.05
    engine = engine_at(home, projects)
    engine.start(serve=False)
    until(lambda: not engine.ingest_status().files_pending)
    deeds: dict[str, Callable[[], object]] = {
        "prune": lambda: engine.api.call("prune", PRUNE),
        "forget": lambda: engine.api.call("forget", {"session_id": FORGOTTEN}),
        "fix": lambda: mend(engine),
    }
    with full(size):
        refused = refusal(deeds[phase])
    again = refusal(deeds[phase])
    until(lambda: not notices(engine))
    engine.stop()
    return {"refused": refused, "again": again}


def run(phase: str, home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Do a phase."""
    match phase:
        case "migration":
            return migrating(home, projects, size)
        case "embed":
            return embedding(home, projects, size)
        case "archive":
            return by_itself("archive", home, projects, size)
        case "backfill" | "append":
            return by_itself("storage_failure", home, projects, size)
        case _:
            return when_asked(phase, home, projects, size)


def main() -> int:
    """Do a phase from the command line."""
    phase, home, projects, size = sys.argv[1:]
    told = run(phase, Path(home), Path(projects), int(size))
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
