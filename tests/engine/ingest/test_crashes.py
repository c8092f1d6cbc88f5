"""The engine is killed in the middle of a backfill: after a restart nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.helpers.corpus import ROOT
from tests.helpers.histories import CWD, RESUMED_AGAIN, differences, fork, on_disk, original, resume, sdk_fork
from tests.helpers.indexing import index
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.helpers.histories import Step

KILLS = 20

BACKFILL = """
import sys
from pathlib import Path
from engine.ingest import commits, tail
from tests.helpers.indexing import index

# Many small transactions: more moments at which a kill can matter.
commits.GROUP_MESSAGES, commits.GROUP_FILES = 12, 2
tail.READ_BYTES, tail.BATCH_BYTES = 4_096, 16_384
with index(Path(sys.argv[1]), Path(sys.argv[2])) as read:
    print("reading", flush=True)
    read.read()
print("done", flush=True)
"""


def write_history(root: Path) -> None:
    """Write sessions of some hundred lines, with copies of three kinds among them."""
    dice = random.Random(7)
    kinds = ("prompt", "answer", "tool", "sidechain", "title", "queued", "unknown", "compaction")

    def steps(count: int) -> list[Step]:
        return [(dice.choice(kinds), f"word{dice.randrange(500)} getName{dice.randrange(50)}") for _ in range(count)]

    new, old = original(steps(80)), original(steps(60), "1.0.24")
    old.session_id = RESUMED_AGAIN
    for line in old.lines:
        line["sessionId"] = RESUMED_AGAIN
        for name in ("uuid", "parentUuid", "logicalParentUuid", "leafUuid"):
            if isinstance(line.get(name), str):
                line[name] = "a" + line[name][1:]
    for session in (new, fork(new, steps(40)), sdk_fork(new, steps(40)), old, resume(old, steps(40))):
        on_disk(session).write(root)
    for number in range(12):
        builder = TranscriptBuilder(f"{number:08d}-9999-4999-8999-999999999999", cwd=CWD)
        for step in range(15):
            builder.prompt(f"question {number} {step}")
            builder.answer(f"answer {number} {step}")
        on_disk(builder).write(root)


def backfill(database: Path, root: Path) -> subprocess.Popen[str]:
    """Start a process that indexes, and return once it has begun to read."""
    child = subprocess.Popen(
        [sys.executable, "-c", BACKFILL, str(database), str(root)],
        cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "reading\n"
    return child


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9")
def test_a_backfill_that_is_killed_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    write_history(root)
    whole = backfill(tmp_path / "once.db", root)
    began = time.monotonic()
    assert whole.wait(60) == 0
    lasts = time.monotonic() - began
    whole.stdout.close()  # type: ignore[union-attr] # pyright: ignore[reportOptionalMemberAccess] - it is a pipe
    with index(tmp_path / "once.db", root) as once:
        expected = once.dump()

    interrupted = 0
    for number in range(KILLS):
        database = tmp_path / f"killed-{number}.db"
        child = backfill(database, root)
        # The moment is what is tested, so it is drawn anew each time.
        time.sleep(random.uniform(0, lasts))
        child.kill()
        interrupted += "done" not in child.communicate()[0]
        with index(database, root) as restarted:
            assert restarted.one("PRAGMA integrity_check") == "ok"
            restarted.read()
            restarted.rows("INSERT INTO search (search) VALUES ('integrity-check')")
            assert differences(expected, restarted.dump()) == ""
            assert restarted.read() == 0
    assert interrupted > KILLS // 4
