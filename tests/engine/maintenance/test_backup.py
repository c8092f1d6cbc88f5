from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw
import pytest

from engine.core.clock import FixedClock
from engine.core.errors import EngineNotRunning
from engine.maintenance.backup import KEPT, Backups
from engine.service import open_reader
from engine.store.backup import damage_of
from engine.store.connection import open_writer
from tests.engine.maintenance.conftest import SETTINGS, History, found, session_id

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_index_is_copied_before_a_migration(history: History) -> None:
    history.session(1, "quince", days_ago=3)
    with history.engine():
        pass
    history.sql("DROP TABLE archived; DROP TABLE redactions; PRAGMA user_version = 2")

    with history.engine() as engine:
        assert found(engine, "quince") == {session_id(1)}

    (copy,) = Backups(history.paths.database, history.clock).all()
    assert copy.name.endswith("-migration.db")
    assert copy.stat().st_mode & 0o077 == 0
    assert damage_of(copy) == ()
    kept = open_writer(copy)
    assert kept.pragma("user_version") == 2
    assert kept.execute("SELECT count(*) FROM messages").fetchall() == [(4,)]
    kept.close()


def test_a_start_without_a_migration_copies_nothing(history: History) -> None:
    for _ in range(2):
        with history.engine():
            pass

    assert Backups(history.paths.database, history.clock).all() == ()


def test_damage_is_told_a_finding_each(tmp_path: Path) -> None:
    file = tmp_path / "damaged.db"
    made = apsw.Connection(str(file))
    made.execute("PRAGMA page_size = 4096; CREATE TABLE t (x)")
    made.executemany("INSERT INTO t VALUES (?)", [("x" * 3_000,)] * 50)
    made.close()
    with file.open("r+b") as pages:
        for page in (20, 30, 40):
            pages.seek(page * 4096)
            pages.write(bytes(4096))

    found_wrong = damage_of(file)

    assert len(found_wrong) >= 3
    assert all("\n" not in each and "***" not in each for each in found_wrong)


def test_a_copy_can_be_asked_for_and_says_where_it_is(history: History) -> None:
    history.session(1, "quince", days_ago=3)
    with history.engine() as engine:
        reply = engine.api.call("backup", {})

    (copy,) = Backups(history.paths.database, history.clock).all()
    assert reply == {"file": str(copy), "bytes": copy.stat().st_size, "kept": 1}
    assert damage_of(copy) == ()
    kept = open_writer(copy)
    assert kept.execute("SELECT count(*) FROM messages").fetchall() == [(4,)]
    kept.close()


def test_without_an_engine_no_copy_is_made(history: History) -> None:
    with history.engine():
        pass
    with open_reader(history.paths, SETTINGS, history.clock) as api, pytest.raises(EngineNotRunning):
        api.keeping.backup()


def test_the_last_copies_are_kept(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "index.db")
    connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    clock = FixedClock(1_780_000_000)
    backups = Backups(tmp_path / "index.db", clock)
    made: list[Path] = []
    for _ in range(KEPT + 2):
        clock.advance(1)
        made.append(backups.make("fix"))
    connection.close()

    assert backups.all() == tuple(made[-KEPT:])


@pytest.mark.expect_log("moved aside")
def test_nothing_is_moved_over_what_was_moved_before(tmp_path: Path) -> None:
    backups = Backups(tmp_path / "index.db", FixedClock(1_780_000_000))
    for content in (b"one", b"two"):
        (tmp_path / "index.db").write_bytes(content)
        backups.quarantine()

    assert [(folder / "index.db").read_bytes() for folder in backups.quarantined()] == [b"one", b"two"]
