from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.models.kinds import Kind, Signal
from engine.store import texts
from engine.store.chunks import ChunkOwner, ChunkTable
from engine.store.connection import all_rows, open_reader
from engine.store.names import NameTable
from engine.store.texts import MAGIC, PACKED_FROM, Packer
from engine.transcripts.records import ParsedBlock
from tests.helpers.history import new_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.store.connection import Connection

LONG = "the watcher waits for the queue, the queue waits for the watcher. " * 40


@pytest.fixture
def memory() -> Generator[Connection]:
    connection = apsw.Connection(":memory:")
    texts.teach(connection)
    connection.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    yield connection
    connection.close()


@given(
    st.lists(
        st.one_of(
            st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=600),
            st.text(alphabet="ab \n\x00é日", min_size=PACKED_FROM, max_size=3_000),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_text_comes_back_as_it_was(said: list[str]) -> None:
    connection = apsw.Connection(":memory:")
    texts.teach(connection)
    packer = Packer()
    connection.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    many = apsw.carray(tuple(map(packer.bytes_of, said)))
    insert = f"INSERT INTO texts SELECT rowid, {texts.FROM_BYTES} FROM carray(?)"  # noqa: S608 - SQL of the store's own
    connection.execute(insert, (many,))
    connection.executemany("INSERT INTO texts (text) VALUES (?)", [(packer.stored(text),) for text in said])
    assert [row[0] for row in all_rows(connection, "SELECT plain_text(text) FROM texts ORDER BY id")] == said * 2
    connection.close()


def test_a_long_text_is_packed_and_a_short_one_is_left(memory: Connection) -> None:
    packer = Packer()
    memory.executemany("INSERT INTO texts (text) VALUES (?)", [(packer.stored(each),) for each in ("short", LONG)])
    assert all_rows(memory, "SELECT typeof(text), length(text) < 300 FROM texts ORDER BY id") == [
        ("text", 1),
        ("blob", 1),
    ]


def test_what_packing_makes_no_shorter_stays_text() -> None:
    said = "".join(random.Random(1).choices(string.printable, k=PACKED_FROM))
    assert Packer().stored(said) == said


def test_a_damaged_frame_counts_as_a_damaged_index(memory: Connection) -> None:
    memory.execute("INSERT INTO texts (text) VALUES (?)", (MAGIC + b"\x20\x05nothing of the kind",))
    with pytest.raises(apsw.CorruptError, match="unpacked"):
        all_rows(memory, "SELECT plain_text(text) FROM texts")


def test_nothing_but_a_packed_text_is_unpacked(memory: Connection) -> None:
    assert all_rows(memory, "SELECT plain_text(1), plain_text('x'), plain_text(NULL)") == [(None, "x", None)]


def test_chunks_are_written_packed_and_read_plain(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = new_database(database)
    table = ChunkTable(db, NameTable(db))
    owner = ChunkOwner(1, 0, 0, 1, None, None, 1)
    blocks = [
        ParsedBlock(number=number, kind=Kind.TEXT, signal=Signal.HIGH, text=text)
        for number, text in enumerate(("short", LONG))
    ]
    table.add(owner, blocks, {})
    table.flush()
    reader = open_reader(database)
    assert all_rows(reader, "SELECT typeof(text), plain_text(text) FROM texts ORDER BY id") == [
        ("text", "short"),
        ("blob", LONG),
    ]
    reader.close()
    before = table.added
    table.replace(owner, blocks, {}, refresh=False)
    assert table.added == before
    db.close(force=True)
