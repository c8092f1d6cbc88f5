from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from engine.store import backup, space
from engine.store.connection import open_reader, open_writer
from engine.store.migrations import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.store.connection import Connection

MARKER = "xylocarpmarker"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[tuple[Path, Connection]]:
    """Give a database with the writer's connection."""
    path = tmp_path / "index.db"
    connection = open_writer(path)
    migrate(connection)
    yield path, connection
    connection.close(force=True)


def add(connection: Connection, number: int, text: str) -> None:
    connection.execute("INSERT INTO texts (id, text) VALUES (?, ?)", (number, text))
    connection.execute("INSERT INTO search (rowid, words, parts) VALUES (?, ?, ?)", (number, text, ""))


def run_all(connection: Connection) -> list[str]:
    """Do all steps and return their names."""
    done: list[str] = []
    for stage in space.STAGES:
        going = True
        while going:
            done.append(stage.what)
            going = stage.step(connection)
    return done


def test_nothing_is_left_of_deleted_text_even_when_others_write_between_any_two_steps(
    database: tuple[Path, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "MERGE_PAGES", 1)
    monkeypatch.setattr(space, "VACUUM_PAGES", 3)
    monkeypatch.setattr(space, "WRITTEN_ANEW_BYTES", 0)
    path, connection = database
    chance = random.Random(1)
    for number in range(1, 1_200):
        words = " ".join(f"word{chance.randrange(9_000)}" for _ in range(60))
        add(connection, number, f"{MARKER if number % 3 == 0 else 'plain'} {words}")
    connection.execute("BEGIN")
    connection.execute("DELETE FROM texts WHERE id % 3 = 0")
    connection.execute("DELETE FROM search WHERE rowid % 3 = 0")
    space.note_traces(connection)
    connection.execute("COMMIT")
    assert space.empty_log(connection)
    before = path.stat().st_size
    assert MARKER.encode() in path.read_bytes()

    steps = 0
    for stage in space.STAGES:
        while stage.step(connection):
            steps += 1
            if steps % 5 == 0:
                add(connection, 10_000 + steps, f"said meanwhile {steps}")
    assert space.empty_log(connection)

    assert steps > 20
    assert MARKER.encode() not in path.read_bytes()
    assert path.stat().st_size < 0.85 * before
    meanwhile = connection.execute("SELECT count(*) FROM search WHERE search MATCH 'meanwhile'").fetchall()
    assert meanwhile == [(steps // 5,)]
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_large_index_is_shortened_in_steps_and_a_small_one_written_anew(
    database: tuple[Path, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "VACUUM_PAGES", 10)
    _, connection = database
    for number in range(1, 400):
        add(connection, number, f"word{number} " * 200)
    connection.execute("DELETE FROM texts")
    monkeypatch.setattr(space, "WRITTEN_ANEW_BYTES", 0)
    assert run_all(connection).count("Returning space to the disk") > 5
    assert connection.execute("PRAGMA freelist_count").fetchall() == [(0,)]


def test_the_log_is_emptied_when_the_last_reader_of_an_older_state_is_done(
    database: tuple[Path, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "CHECKPOINT_WAIT_MS", 1)
    path, connection = database
    reader = open_reader(path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM texts").fetchall() == [(0,)]
    add(connection, 1, MARKER)

    assert not space.empty_log(connection)
    reader.execute("COMMIT")

    assert space.empty_log(connection)
    assert path.with_name("index.db-wal").stat().st_size == 0
    reader.close()


def test_a_copy_is_of_one_state_and_ends_also_while_others_write_all_the_time(
    database: tuple[Path, Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "STEP_PAGES", 5)
    path, connection = database
    for number in range(1, 200):
        add(connection, number, f"word{number} " * 300)
    steps = 0

    def write() -> None:
        nonlocal steps
        steps += 1
        assert steps < 2_000, "it begins again and again"
        add(connection, 1_000 + steps, "more " * 500)

    backup.copy_database(path, tmp_path / "copy.db", write)

    assert steps > 20
    copy = open_writer(tmp_path / "copy.db")
    assert copy.execute("SELECT count(*), max(id) FROM texts").fetchall() == [(199, 199)]
    assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    copy.close()
