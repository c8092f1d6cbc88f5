"""Databases of every earlier version become the present one; a step that fails leaves the version before it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from engine.store.connection import open_writer
from engine.store.errors import StoreTooNew
from engine.store.migrations import MIGRATIONS, Migration, migrate, pending, schema_version
from engine.store.rows import number, rows
from engine.store.writer import StoreWriter

if TYPE_CHECKING:
    from pathlib import Path


def tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in rows(connection, "SELECT name, sql FROM sqlite_schema ORDER BY name")]


def first_steps(path: Path, version: int) -> None:
    """Make a database as the program of an earlier version left it, with something in it."""
    with closing(open_writer(path)) as connection:
        migrate(connection, tuple(step for step in MIGRATIONS if step.version <= version))
        connection.execute("INSERT INTO meta VALUES ('kept', 'from before')")


@pytest.mark.parametrize("version", [step.version for step in MIGRATIONS])
def test_a_database_of_each_version_becomes_like_a_new_one(tmp_path: Path, version: int) -> None:
    first_steps(tmp_path / "old.db", version)
    with closing(open_writer(tmp_path / "old.db")) as old, closing(open_writer(tmp_path / "new.db")) as new:
        assert migrate(old) == tuple(step.name for step in MIGRATIONS if step.version > version)
        assert migrate(new) == tuple(step.name for step in MIGRATIONS)
        assert tables(old) == tables(new)
        assert schema_version(old) == schema_version(new) == MIGRATIONS[-1].version
        assert rows(old, "SELECT value FROM meta WHERE name = 'kept'") == [("from before",)]
        assert rows(old, "PRAGMA integrity_check") == [("ok",)]
        assert migrate(old) == ()


def test_versions_are_numbered_one_after_another() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    def half(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE half (a)")
        raise apsw.SQLError("no such thing")

    newest = MIGRATIONS[-1].version
    good = Migration(newest + 1, "good", lambda connection: connection.execute("CREATE TABLE good (a)") and None)
    bad = Migration(newest + 2, "bad", half)
    with closing(open_writer(tmp_path / "index.db")) as connection:
        migrate(connection)
        with pytest.raises(apsw.SQLError):
            migrate(connection, (*MIGRATIONS, good, bad))
        assert schema_version(connection) == newest + 1
        assert number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'good'") == 1
        assert number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0
        assert [step.name for step in pending(connection, (*MIGRATIONS, good, bad))] == ["bad"]


def test_a_database_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(open_writer(path)) as connection:
        migrate(connection)
        connection.execute("PRAGMA user_version = 999")
    writer = StoreWriter(path)
    with pytest.raises(StoreTooNew) as refused:
        writer.start()
    assert "schema version 999" in refused.value.message
    assert writer.close()
    with closing(open_writer(path)) as connection:
        assert schema_version(connection) == 999


def test_a_writer_says_what_it_changed_and_warns_before(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    first_steps(path, 1)
    warned: list[str] = []
    writer = StoreWriter(path, before_migration=lambda: warned.append("back up"))
    assert writer.start() == tuple(step.name for step in MIGRATIONS[1:])
    assert writer.close()
    again = StoreWriter(path, before_migration=lambda: warned.append("again"))
    assert again.start() == ()
    assert again.close()
    assert warned == ["back up"]
