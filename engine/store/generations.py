"""Which model embedded what: generations of vectors, the chunks that wait for theirs, and how many have them.

One generation answers questions. Another model builds the next one beside it, and takes over when it is complete.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.models.kinds import Signal
from engine.core.vectors import ModelIdentity
from engine.store.codes import SIGNALS
from engine.store.connection import one_row
from engine.store.texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

EMBEDDED, FAILED, EXCLUDED = 0, 1, 2
"""States of a chunk in a generation: has all its vectors; could not be embedded; never will be (our own calls)."""

SCHEMA = """
CREATE TABLE generations (           -- vectors of one model
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    pooling TEXT NOT NULL,
    folder TEXT NOT NULL,            -- where the model was loaded from
    precision TEXT NOT NULL,         -- float32 or bfloat16: noted, no reason to begin anew (cosine > 0.996)
    answers INTEGER NOT NULL,        -- 1: questions are asked of this one
    removed INTEGER NOT NULL DEFAULT 0 -- vectors deleted since it began: copies in memory look again
);

CREATE TABLE waiting (               -- chunks that have no vectors yet
    generation INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL,
    signal INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    PRIMARY KEY (generation, chunk_id)
) WITHOUT ROWID;
CREATE INDEX waiting_order ON waiting (generation, signal, time_ms DESC);

CREATE TABLE embedded (              -- chunks that are done, one way or the other
    generation INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL,
    state INTEGER NOT NULL,
    hash INTEGER NOT NULL,           -- of the text: identical texts share the computation
    PRIMARY KEY (generation, chunk_id)
) WITHOUT ROWID;
CREATE INDEX embedded_hash ON embedded (generation, hash) WHERE state = 0;

CREATE TABLE passages (              -- one vector; its bits stand in bits_<generation> under the same number
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL,
    start INTEGER NOT NULL,          -- in the chunk's text, code points
    stop INTEGER NOT NULL,
    scale REAL NOT NULL,
    codes BLOB NOT NULL
);
CREATE INDEX passages_chunk ON passages (generation, chunk_id);

CREATE TRIGGER chunk_waits AFTER INSERT ON chunks BEGIN
    INSERT INTO waiting SELECT id, new.id, new.signal, coalesce(new.time_ms, 0) FROM generations;
END;
CREATE TRIGGER chunk_forgotten AFTER DELETE ON chunks BEGIN
    DELETE FROM waiting WHERE generation IN (SELECT id FROM generations) AND chunk_id = old.id;
    DELETE FROM embedded WHERE generation IN (SELECT id FROM generations) AND chunk_id = old.id;
    DELETE FROM passages WHERE generation IN (SELECT id FROM generations) AND chunk_id = old.id;
END;
"""


@dataclass(frozen=True, slots=True)
class Generation:
    """The vectors of one model."""

    id: int
    identity: ModelIdentity
    folder: str
    precision: str
    answers: bool
    removed: int


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """A chunk that has no vectors yet."""

    chunk: int
    text: str
    tool: str | None


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """How far a generation has come."""

    embedded: int = 0
    failed: int = 0
    excluded: int = 0
    vectors: int = 0


def generations(connection: apsw.Connection) -> tuple[Generation, ...]:
    """Return the generations, the answering one first: its new chunks are embedded before another one is built."""
    return tuple(
        Generation(row[0], ModelIdentity(row[1], row[2], row[3], row[4]), row[5], row[6], bool(row[7]), row[8])
        for row in connection.execute(
            """SELECT id, name, revision, dimension, pooling, folder, precision, answers, removed FROM generations
               ORDER BY answers DESC, id DESC"""
        )
    )


def answering(connection: apsw.Connection) -> Generation | None:
    """Return the generation that questions are asked of, None before the first model was loaded."""
    return next((each for each in generations(connection) if each.answers), None)


def open_generation(connection: apsw.Connection, identity: ModelIdentity, folder: str, precision: str) -> Generation:
    """Return a model's generation; a new one makes every chunk wait. Writer only, inside a transaction.

    The first generation answers at once. A further one replaces any other that is still being built.
    """
    known = generations(connection)
    for each in known:
        if each.identity == identity:
            connection.execute(
                "UPDATE generations SET folder = ?, precision = ? WHERE id = ?", (folder, precision, each.id)
            )
            return next(found for found in generations(connection) if found.id == each.id)
    for each in known:
        if not each.answers:
            drop_generation(connection, each.id)
    connection.execute(
        """INSERT INTO generations (name, revision, dimension, pooling, folder, precision, answers)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (
            identity.name, identity.revision, identity.dimension, identity.pooling, folder, precision,
            int(not any(each.answers for each in known)),
        ),
    )  # fmt: skip
    number = connection.last_insert_rowid()
    connection.execute(f"CREATE VIRTUAL TABLE bits_{number} USING vec0(bits bit[{identity.dimension}])")
    connection.execute(
        f"""CREATE TRIGGER passage_forgotten_{number} AFTER DELETE ON passages WHEN old.generation = {number} BEGIN
              DELETE FROM bits_{number} WHERE rowid = old.id;
              UPDATE generations SET removed = removed + 1 WHERE id = {number};
            END"""
    )
    connection.execute("INSERT INTO waiting SELECT ?, id, signal, coalesce(time_ms, 0) FROM chunks", (number,))
    return next(each for each in generations(connection) if each.id == number)


def drop_generation(connection: apsw.Connection, number: int) -> None:
    """Remove a generation with everything in it. Writer only."""
    connection.execute(f"DROP TRIGGER IF EXISTS passage_forgotten_{int(number)}")
    connection.execute(f"DROP TABLE IF EXISTS bits_{int(number)}")
    for table in ("passages", "embedded", "waiting"):
        connection.execute(f"DELETE FROM {table} WHERE generation = ?", (number,))
    connection.execute("DELETE FROM generations WHERE id = ?", (number,))


def switch_to(connection: apsw.Connection, number: int) -> None:
    """Let a generation answer and drop the others. Writer only."""
    connection.execute("UPDATE generations SET answers = (id = ?)", (number,))
    for each in generations(connection):
        if not each.answers:
            drop_generation(connection, each.id)


def next_waiting(
    connection: apsw.Connection, generation: int, *, chunks: int, characters: int
) -> tuple[WaitingChunk, ...]:
    """Return the next chunks to embed: highest signal first, newest first, low signal when nothing else waits.

    Args:
        connection: Any.
        generation: Of whose model.
        chunks: At most so many, at least one.
        characters: Together at most so long, unless the first alone is longer.
    """
    found: list[WaitingChunk] = []
    length = 0
    for number, text, tool in connection.execute(
        f"""SELECT w.chunk_id, {plain("x.text")}, t.name
           FROM (SELECT chunk_id, signal, time_ms FROM waiting WHERE generation = ?
                 ORDER BY signal, time_ms DESC LIMIT ?) w
           CROSS JOIN chunks c ON c.id = w.chunk_id JOIN texts x ON x.id = c.id LEFT JOIN tools t ON t.id = c.tool_id
           ORDER BY w.signal, w.time_ms DESC""",
        (generation, chunks),
    ):
        length += len(text)
        if found and length > characters:
            break
        found.append(WaitingChunk(number, text, tool))
    return tuple(found)


def next_batches(
    connection: apsw.Connection, generation: int, *, chunks: int, characters: int
) -> tuple[tuple[WaitingChunk, ...], tuple[WaitingChunk, ...]]:
    """Return the next batch and the one that comes after it, each within the limits of `next_waiting`."""
    both = next_waiting(connection, generation, chunks=2 * chunks, characters=2 * characters)
    length = 0
    for index, each in enumerate(both):
        length += len(each.text)
        if index and (index == chunks or length > characters):
            return both[:index], both[index:][:chunks]
    return both, ()


def waiting_count(connection: apsw.Connection, generation: int, *, up_to: Signal | None = None) -> int:
    """Return how many chunks have no vectors yet; with `up_to`, of that signal and higher ones."""
    last = SIGNALS[Signal.LOW if up_to is None else up_to]
    row = one_row(connection, "SELECT count(*) FROM waiting WHERE generation = ? AND signal <= ?", (generation, last))
    return int(row[0])


def left(connection: apsw.Connection) -> int:
    """Return how many chunks have no vectors yet, of all generations; all chunks before the first model was loaded."""
    known = generations(connection)
    if not known:
        return share(connection)[0]
    return sum(waiting_count(connection, each.id) for each in known)


def mark(connection: apsw.Connection, generation: int, chunks: Iterable[int], state: int) -> None:
    """Take chunks out of the queue without vectors: failed, or never to be embedded. Writer only."""
    listed = json.dumps(list(chunks))
    connection.execute(
        """INSERT OR REPLACE INTO embedded (generation, chunk_id, state, hash)
           SELECT generation, chunk_id, ?, 0 FROM waiting
           WHERE generation = ? AND chunk_id IN (SELECT value FROM json_each(?))""",
        (state, generation, listed),
    )
    connection.execute(
        "DELETE FROM waiting WHERE generation = ? AND chunk_id IN (SELECT value FROM json_each(?))",
        (generation, listed),
    )


def retry_failed(connection: apsw.Connection) -> int:
    """Let failed chunks wait again and return how many there are. Writer only."""
    connection.execute(
        """INSERT OR IGNORE INTO waiting SELECT e.generation, c.id, c.signal, coalesce(c.time_ms, 0)
           FROM embedded e JOIN chunks c ON c.id = e.chunk_id WHERE e.state = ?""",
        (FAILED,),
    )
    connection.execute("DELETE FROM embedded WHERE state = ?", (FAILED,))
    return connection.changes()


def embedding_counts(connection: apsw.Connection, generation: int) -> EmbeddingCounts:
    """Return how far a generation has come."""
    states = dict(
        connection.execute("SELECT state, count(*) FROM embedded WHERE generation = ? GROUP BY state", (generation,))
    )
    vectors = one_row(connection, "SELECT count(*) FROM passages WHERE generation = ?", (generation,))[0]
    return EmbeddingCounts(states.get(EMBEDDED, 0), states.get(FAILED, 0), states.get(EXCLUDED, 0), int(vectors))


def answering_counts(connection: apsw.Connection) -> EmbeddingCounts:
    """Return how far the answering generation has come; nothing before the first model was loaded."""
    current = answering(connection)
    return EmbeddingCounts() if current is None else embedding_counts(connection, current.id)


def share(connection: apsw.Connection) -> tuple[int, int, float]:
    """Return (chunks, embedded chunks, percent of those that can be), of the answering generation."""
    chunks = int(one_row(connection, "SELECT count(*) FROM chunks")[0])
    current = answering(connection)
    if current is None:
        return chunks, 0, 0.0 if chunks else 100.0
    # One pass without sorting: every search shows this share, and a million rows take 40 ms.
    embedded, excluded = one_row(
        connection,
        f"""SELECT coalesce(sum(state = {EMBEDDED}), 0), coalesce(sum(state = {EXCLUDED}), 0) FROM embedded
            WHERE generation = ?""",
        (current.id,),
    )
    return chunks, int(embedded), percent(chunks - int(excluded), int(embedded))


def percent(chunks: int, embedded: int) -> float:
    """Return a share for people: never 100 before the last chunk."""
    if embedded >= chunks:
        return 100.0
    return min(99.9, round(100 * embedded / chunks, 1))


def text_hash(text: str) -> int:
    """Return the 63 bits by which identical texts are found."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
