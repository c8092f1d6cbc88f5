"""Puts chunks straight into a database's tables, for tests of what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind, Role, Signal
from engine.core.text import index_parts, index_words
from engine.core.vectors import ModelIdentity
from engine.core.when import TimeSpan
from engine.store.codes import KINDS, ROLES, SIGNALS
from engine.store.connection import all_rows, open_writer
from engine.store.filters import ChunkFilter
from engine.store.generations import text_hash
from engine.store.migrations import migrate
from engine.store.packing import pack
from engine.store.vectors import NewPassage, record

if TYPE_CHECKING:
    from pathlib import Path

    from engine.store.connection import Connection
    from engine.store.packing import Floats

MODEL = ModelIdentity("hash", "1", 64, "mean")
EVERYTHING = ChunkFilter(span=TimeSpan(), low_signal=True, sidechains=True)


def new_database(path: Path) -> Connection:
    """Return the writing connection of a fresh database."""
    connection = open_writer(path)
    migrate(connection)
    return connection


def add_chunk(
    connection: Connection,
    text: str,
    *,
    signal: Signal = Signal.HIGH,
    role: Role = Role.ASSISTANT,
    kind: Kind = Kind.TEXT,
    time_ms: int | None = 1_000,
    folder: int | None = None,
    session: int = 1,
    exchange: int | None = None,
    sidechain: bool = False,
    tool: str | None = None,
) -> int:
    """Add a chunk in a message of its own and return its number."""
    number = int(all_rows(connection, "SELECT coalesce(max(id), 0) + 1 FROM chunks")[0][0])
    if tool is not None:
        connection.execute("INSERT OR IGNORE INTO tools (name) VALUES (?)", (tool,))
    connection.execute(
        """INSERT INTO chunks (id, message_id, block, kind, signal, role, sidechain, failed, tool_id, session_id,
             folder_id, time_ms, exchange_id, cut)
           VALUES (?, ?, 0, ?, ?, ?, ?, 0, (SELECT id FROM tools WHERE name = ?), ?, ?, ?, ?, 0)""",
        (
            number, number, KINDS[kind], SIGNALS[signal], ROLES[role], int(sidechain), tool, session, folder, time_ms,
            exchange or number,
        ),
    )  # fmt: skip
    connection.execute("INSERT INTO texts VALUES (?, ?)", (number, text))
    connection.execute(
        "INSERT INTO search (rowid, words, parts) VALUES (?, ?, ?)", (number, index_words(text), index_parts(text))
    )
    return number


def add_vector(connection: Connection, generation: int, chunk: int, vector: Floats) -> None:
    """Embed a waiting chunk with one passage over all of it."""
    text = str(all_rows(connection, "SELECT text FROM texts WHERE id = ?", (chunk,))[0][0])
    passage = NewPassage(0, len(text), pack(vector.reshape(1, -1))[0])
    record(connection, generation, {chunk: [passage]}, {chunk: text_hash(text)})
