"""Clearing what deleting leaves: in steps, told truly, and finished by the next start when it was cut short."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import Cancelled
from engine.core.settings import Settings
from engine.maintenance import clearing
from engine.maintenance.backup import Backups
from engine.store import space, upkeep
from engine.store.connection import open_reader
from tests.engine.maintenance.conftest import SETTINGS, History, found, session_id
from tests.engine.maintenance.test_prune import APPLY, PRUNE, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.service import Engine

MARKER = "xylocarpmarker"
KEY = "gh" + "p_" + "a1B2c3D4e5F6" * 3


def write_history(history: History, sessions: int = 12) -> None:
    for number in range(sessions):
        old = number % 2 == 1
        history.session(number, MARKER if old else "medlar", f"word{number}", days_ago=200 if old else 10)


def working_meanwhile(history: History, engine: Engine) -> Callable[[int, int | None, str], None]:
    """Return a progress that reads a new session and searches at each step: nobody holds the writer."""
    numbers = iter(range(100, 200))

    def told(_done: int, _all: int | None, _what: str) -> None:
        number = next(numbers)
        history.session(number, f"meanwhile{number}", days_ago=1)
        engine.run_once(until="keyword")
        assert session_id(number) in {
            hit["session_id"] for hit in engine.api.call("keyword_search", {"query": f"meanwhile{number}"})["hits"]
        } or _what.startswith(("Rebuilding the word", "Search by words"))

    return told


def test_others_read_and_search_between_the_steps_of_a_prune(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        history.sql(VECTORS)
        engine.api.call("prune", APPLY, progress=working_meanwhile(history, engine))

        assert found(engine, MARKER) == set()
        assert len(found(engine, "meanwhile100")) == 1
        # The sessions read meanwhile are on disk and say nothing of it.
        assert history.traces(MARKER) == []


def test_others_read_between_the_steps_of_mending_the_word_index(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "STEP_ROWS", 10)
    write_history(history)
    with history.engine() as engine:
        history.sql("DELETE FROM search WHERE rowid % 2 = 0")
        engine.api.call("doctor", {"fix": True}, progress=working_meanwhile(history, engine))

        assert severity(engine, "words") == "ok"
        assert found(engine, "medlar") == {session_id(number) for number in range(0, 12, 2)}


def test_others_read_between_the_steps_of_replacing_secrets(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "STEP_ROWS", 10)
    for number in range(6):
        history.session(number, f"{KEY} and", days_ago=10)
    history.settings = Settings(time_zone="UTC", embedding_enabled=False, privacy_redact=False)
    with history.engine():
        assert history.traces(KEY)
    history.settings = SETTINGS
    with history.engine() as engine:
        engine.api.call("doctor", {"fix": True}, progress=working_meanwhile(history, engine))

        assert history.traces(KEY) == []
        assert severity(engine, "secrets") == "ok"


@pytest.mark.parametrize("where", ["Merging the word index", "Returning space to the disk"])
def test_a_prune_that_was_cut_short_is_finished_by_the_next_start(history: History, where: str) -> None:
    write_history(history)
    cancelled = threading.Event()

    def told(_done: int, _all: int | None, what: str) -> None:
        if what == where:
            cancelled.set()

    with history.engine() as engine:
        engine.api.call("doctor", {"fix": True})
        with pytest.raises(Cancelled):
            engine.api.call("prune", APPLY, progress=told, cancelled=cancelled)
        assert history.sql("SELECT count(*) FROM meta WHERE name = 'traces'") == [(1,)]
    with history.engine() as engine:
        assert history.traces(MARKER) == []
        assert history.sql("SELECT count(*) FROM meta WHERE name = 'traces'") == [(0,)]
        assert found(engine, "medlar")


def test_what_a_killed_process_left_is_removed_at_the_next_start(history: History) -> None:
    write_history(history)
    with history.engine():
        pass
    data = history.paths.data
    archived = next(history.paths.archive.rglob("*.zst")).parent
    left = [
        archived / ".abc.joining",
        archived.parent / ".root.json.abc.new",
        data / ".removed.json.abc.new",
        data / "backups" / ".index-20260101-000000-fix.db.new",
        data / "backups" / ".index-20260101-000000-fix.db.new-journal",
        data / ".reading-abc" / "x.jsonl",
    ]
    for file in left:
        file.parent.mkdir(exist_ok=True)
        file.write_text(MARKER, encoding="utf-8")
    with history.engine():
        assert [file for file in left if file.exists()] == []
        assert not (data / ".reading-abc").exists()


def test_a_log_that_another_program_reads_is_told_and_emptied_at_the_next_start(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearing, "LOG_TRIES", 1)
    monkeypatch.setattr(space, "CHECKPOINT_WAIT_MS", 1)
    write_history(history)
    with history.engine() as engine:
        reader = open_reader(history.paths.database)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM chunks").fetchall()
        done = engine.api.call("prune", APPLY)
        reader.close()
        assert "its log still holds" in done["note"]
    with history.engine():
        assert history.traces(MARKER) == []


@pytest.mark.parametrize("backups", [0, 1, 2])
@pytest.mark.parametrize("vectors", [False, True])
def test_what_is_promised_to_come_back_comes_back(history: History, backups: int, vectors: bool) -> None:  # noqa: FBT001 - a case
    write_history(history, 60)
    with history.engine() as engine:
        for _ in range(backups):
            history.clock.advance(1)
            Backups(history.paths.database, history.clock).make("fix")
        if vectors:
            history.sql(VECTORS)
        before = size(history)
        promised: Any = engine.api.call("prune", {**PRUNE, "archive": True})["bytes_freed"]
        told: Any = engine.api.call("prune", {**APPLY, "archive": True})["bytes_freed"]

        assert told == pytest.approx(before - size(history), rel=0.02, abs=40_000)
        assert promised == pytest.approx(told, rel=0.15)


def size(history: History) -> int:
    """Return what the data folder takes."""
    return sum(file.stat().st_size for file in history.paths.data.rglob("*") if file.is_file())


def severity(engine: Engine, finding: str) -> str:
    return {each["id"]: each["severity"] for each in engine.api.call("doctor", {})["findings"]}[finding]
