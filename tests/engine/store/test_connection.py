"""How the database is opened, and connections that are lent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from engine.core.errors import Cancelled, StorageFailure
from engine.store.connection import ReaderPool
from engine.store.errors import (
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreFull,
    StoreMissing,
    StoreReadOnly,
    known_errors,
)
from engine.store.rows import number
from engine.store.writer import StoreWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def writer(path: Path) -> Iterator[StoreWriter]:
    opened = StoreWriter(path)
    opened.start()
    yield opened
    assert opened.close()


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 1), ("auto_vacuum", 2), ("foreign_keys", 0), ("secure_delete", 2)],
)
def test_the_database_is_opened_as_the_comments_say(writer: StoreWriter, pragma: str, value: object) -> None:
    assert writer.write(lambda connection: connection.pragma(pragma), transaction=False) == value


def test_a_reader_cannot_write(path: Path, writer: StoreWriter) -> None:
    assert writer.write(lambda connection: number(connection, "SELECT count(*) FROM meta")) >= 0
    readers = ReaderPool(path)
    with pytest.raises(StoreReadOnly), readers.connection() as connection:
        connection.execute("INSERT INTO meta VALUES ('x', 1)")
    readers.close()


def test_a_question_sees_one_state_of_the_database_to_its_end(path: Path, writer: StoreWriter) -> None:
    readers = ReaderPool(path)
    with readers.connection() as connection:
        before = number(connection, "SELECT count(*) FROM meta")
        writer.write(lambda other: other.execute("INSERT INTO meta VALUES ('x', 1)"))
        assert number(connection, "SELECT count(*) FROM meta") == before
    with readers.connection() as connection:
        assert number(connection, "SELECT count(*) FROM meta") == before + 1
    readers.close()


@pytest.mark.usefixtures("writer")
def test_connections_are_lent_again_unless_a_question_failed(path: Path) -> None:
    readers = ReaderPool(path)
    with readers.connection() as first:
        pass
    with readers.connection() as second:
        assert second is first
        with readers.connection() as third:
            assert third is not second
    with pytest.raises(KeyError), readers.connection() as failing:
        raise KeyError("a bug")
    with readers.connection() as after:
        assert after is not failing
    readers.close()
    with pytest.raises(StoreClosed), readers.connection():
        pass


@pytest.mark.usefixtures("writer")
def test_a_connection_that_comes_back_after_closing_is_closed(path: Path) -> None:
    readers = ReaderPool(path)
    with readers.connection() as connection:
        readers.close()
    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")


@pytest.mark.usefixtures("writer")
def test_a_replaced_database_is_opened_anew(path: Path) -> None:
    readers = ReaderPool(path)
    with readers.connection() as lent:
        readers.renew()
    with readers.connection() as fresh:
        assert fresh is not lent
    readers.close()


def test_before_anything_is_indexed_a_reader_says_what_to_do(path: Path) -> None:
    with pytest.raises(StoreMissing) as missing, ReaderPool(path).connection():
        pass
    assert "backscroll serve" in missing.value.hint


@pytest.mark.parametrize(
    ("raised", "known"),
    [
        (apsw.FullError("full"), StoreFull),
        (apsw.CorruptError("corrupt"), StoreDamaged),
        (apsw.NotADBError("no database"), StoreDamaged),
        (apsw.ReadOnlyError("read-only"), StoreReadOnly),
        (apsw.CantOpenError("cannot open"), StoreReadOnly),
        (apsw.IOError("disk I/O error"), StorageFailure),
        (apsw.BusyError("busy"), StoreBusy),
        (apsw.InterruptError("interrupted"), Cancelled),
    ],
)
def test_what_the_environment_refused_is_said_in_words(raised: Exception, known: type[Exception]) -> None:
    with pytest.raises(known) as told, known_errors("Indexing"):
        raise raised
    assert told.value.__cause__ is raised


def test_everything_else_stays_a_bug() -> None:
    with pytest.raises(apsw.ConstraintError), known_errors("Indexing"):
        raise apsw.ConstraintError("UNIQUE")
