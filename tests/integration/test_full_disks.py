"""Disks that are full in the middle of everything that writes, and have room again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.archive.reader import ArchiveReader
from engine.core.paths import Paths
from engine.store.backup import damage_of
from engine.store.connection import open_writer
from engine.store.upkeep import VectorGaps, vector_gaps
from tests.helpers.fault_child import grow, work
from tests.helpers.fault_states import SESSIONS, Prepared, assert_sound, content, traces
from tests.helpers.transcripts import TranscriptBuilder

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="limits of POSIX"),
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Give the states before each phase."""
    return Prepared(tmp_path_factory.mktemp("full"))


def on_a_full_disk(phase: str, home: Path, projects: Path, size: int) -> dict[str, Any]:
    """Do something that finds its disk full, and goes on when there is room; return what was said."""
    command = [sys.executable, "-m", "tests.helpers.full_disk_child", phase, str(home), str(projects), str(size)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=Path(__file__).parents[2], timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def embedded_once(home: Path) -> int:
    """Return how many vectors there are; each belongs to a chunk, has its code, and is there once."""
    connection = open_writer(Paths.below(home).database)
    try:
        assert vector_gaps(connection) == VectorGaps(0, 0, 0)
        spans = connection.execute("SELECT chunk_id, start, stop FROM passages").fetchall()
        assert len(spans) == len(set(spans))
        return len(spans)
    finally:
        connection.close()


@pytest.mark.parametrize("phase", ["backfill", "append"])
def test_what_a_full_disk_refused_to_index_is_read_when_there_is_space(prepared: Prepared, phase: str) -> None:
    home, projects = prepared.begin(phase)
    if phase == "append":
        grow(projects, 0, step=1, more="Many more of them. " * 200)
    before = {file: file.read_bytes() for file in projects.rglob("*.jsonl")}

    assert on_a_full_disk(phase, home, projects, 60_000)["refused"] == "storage_failure"

    assert {file: file.read_bytes() for file in projects.rglob("*.jsonl")} == before
    after = content(home, projects)
    assert after["damson"] == prepared.expected("backfill")["damson"]
    assert after["plums"][0] == (SESSIONS if phase == "append" else 0)
    assert_sound(home, projects)


def test_what_a_full_disk_refused_to_archive_is_stored_when_there_is_space(prepared: Prepared) -> None:
    home, projects = prepared.begin("storing")
    large = TranscriptBuilder("99999999-0000-4000-8000-000000000000")
    large.prompt(random.Random(1).randbytes(90_000).hex())  # nothing that compresses to less than is allowed
    large.write(projects)
    work("backfill", home, projects)

    assert on_a_full_disk("archive", home, projects, 60_000)["refused"] == "archive"

    assert len(list(ArchiveReader(Paths.below(home).archive).stored())) == SESSIONS + 1
    content(home, projects)
    assert_sound(home, projects)


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_a_prune_that_a_full_disk_refused_goes_on_when_there_is_space(prepared: Prepared, size: int) -> None:
    home, projects = prepared.begin("prune")

    told = on_a_full_disk("prune", home, projects, size)

    assert (told["refused"], told["again"]) == ("storage_failure", None)
    assert content(home, projects) == prepared.expected("prune")
    assert traces(home, "word1x3") == []


@pytest.mark.parametrize("size", [20_000, 300_000])
def test_a_forget_that_a_full_disk_refused_goes_on_when_there_is_space(prepared: Prepared, size: int) -> None:
    home, projects = prepared.begin("forget")

    told = on_a_full_disk("forget", home, projects, size)

    assert told["refused"] == "storage_failure"
    # Once it is hidden nobody finds it to ask again; the next start takes the rest out.
    assert told["again"] in (None, "not_found")
    assert content(home, projects) == prepared.expected("forget")
    assert traces(home, "word1x3") == []


def test_a_migration_that_a_full_disk_refused_is_done_when_there_is_space(prepared: Prepared) -> None:
    home, projects = prepared.begin("migration")

    assert on_a_full_disk("migration", home, projects, 20_000)["refused"] == "storage_failure"

    assert content(home, projects) == prepared.expected("migration")
    assert_sound(home, projects)


def test_a_repair_that_a_full_disk_refused_is_done_when_there_is_space(prepared: Prepared) -> None:
    home, projects = prepared.begin("append")
    connection = open_writer(Paths.below(home).database)
    connection.execute("DELETE FROM search WHERE rowid < 100")
    connection.close()

    told = on_a_full_disk("fix", home, projects, 60_000)

    assert (told["refused"], told["again"]) == ("storage_failure", None)
    assert content(home, projects)["damson"] == prepared.expected("backfill")["damson"]
    assert_sound(home, projects)


def test_vectors_that_a_full_disk_refused_are_written_when_there_is_space(prepared: Prepared) -> None:
    home, projects = prepared.begin("append")

    told = on_a_full_disk("embed", home, projects, 60_000)

    assert "disk" in told["refused"]
    assert told["left"] > 0
    assert (told["backlog"], told["reason"]) == (0, None)
    assert embedded_once(home) >= told["left"]
    assert content(home, projects)["damson"] == prepared.expected("backfill")["damson"]
    assert damage_of(Paths.below(home).database) == ()
