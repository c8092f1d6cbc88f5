"""Vectors in the database: written with the state of their chunk, found by their bits, ranked by their exact codes.

`vec0` holds the bits (48 bytes a vector of 384 dimensions) and finds candidates; the codes (int8, one scale each) stand
in an ordinary table, because `vec0` takes ten times as long to hand out a row and never gives deleted space back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.store.connection import all_rows, one_row
from engine.store.filters import ChunkFilter, Conditions, conditions
from engine.store.generations import EMBEDDED, mark, text_hash
from engine.store.texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from engine.store.packing import Floats, Packed

MAX_CANDIDATES = 4_096
"""`vec0` refuses a larger k; paging of a search by meaning ends there."""

OVERSAMPLING = 4
"""Candidates by bits for each neighbour wanted."""

MIN_CANDIDATES = 512
"""The order by bits is coarse, so even for the single nearest this many are ranked exactly: recall@10 on real
transcripts is 0.98 to 0.99 under every filter; 256 gave 0.973 to 0.983 (tests/benchmarks/retrieval)."""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage with its vector."""

    start: int
    stop: int
    vector: Packed


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """A passage near a question."""

    passage: int
    chunk: int
    start: int
    stop: int
    cosine: float
    exchange: int
    signal: int
    time_ms: int | None
    message: int


# Writing ---------------------------------------------------------------------------------------------------------


def record(
    connection: apsw.Connection, generation: int, chunks: Mapping[int, Sequence[NewPassage]], hashes: Mapping[int, int]
) -> int:
    """Write the vectors of chunks and take these out of the queue. Returns how many chunks were written. Writer only.

    A chunk that was deleted, embedded already, or says something else by now is left alone.

    Args:
        connection: Inside a transaction: vectors and state appear together or not at all.
        generation: Of the model that made them.
        chunks: All passages of each chunk.
        hashes: Of the text that was embedded, by chunk.
    """
    current = {
        row[0]: row[1]
        for row in connection.execute(
            f"""SELECT w.chunk_id, {plain("x.text")} FROM waiting w JOIN texts x ON x.id = w.chunk_id
               WHERE w.generation = ? AND w.chunk_id IN (SELECT value FROM json_each(?))""",
            (generation, json.dumps(list(chunks))),
        )
    }
    kept = [number for number in chunks if number in current and text_hash(current[number]) == hashes[number]]
    following = _next_passage(connection)
    rows: list[tuple[int | float | bytes, ...]] = []
    bits: list[tuple[int, bytes]] = []
    for number in kept:
        for passage in chunks[number]:
            vector = passage.vector
            rows.append((following, generation, number, passage.start, passage.stop, vector.scale, vector.codes))
            bits.append((following, vector.bits))
            following += 1
    connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.executemany(f"INSERT INTO bits_{int(generation)} (rowid, bits) VALUES (?, vec_bit(?))", bits)
    mark(connection, generation, kept, EMBEDDED)
    connection.executemany(
        "UPDATE embedded SET hash = ? WHERE generation = ? AND chunk_id = ?",
        [(hashes[number], generation, number) for number in kept],
    )
    return len(kept)


def copy_of(connection: apsw.Connection, generation: int, text: str, hashed: int) -> tuple[NewPassage, ...] | None:
    """Return the passages of a chunk with the same text that is embedded already, None when there is none."""
    from engine.store.packing import Packed  # noqa: PLC0415 - numpy: only for those who embed

    row = connection.execute(
        f"""SELECT e.chunk_id FROM embedded e JOIN texts x ON x.id = e.chunk_id
            WHERE e.generation = ? AND e.hash = ? AND e.state = 0 AND {plain("x.text")} = ? LIMIT 1""",
        (generation, hashed, text),
    ).fetchone()
    if row is None:
        return None
    found = connection.execute(
        f"""SELECT p.start, p.stop, b.bits, p.codes, p.scale FROM passages p CROSS JOIN bits_{int(generation)} b
            ON b.rowid = p.id WHERE p.chunk_id = ? AND p.generation = ? ORDER BY p.id""",
        (row[0], generation),
    )
    return tuple(NewPassage(start, stop, Packed(bits, codes, scale)) for start, stop, bits, codes, scale in found)


def _next_passage(connection: apsw.Connection) -> int:
    """Return a number that no passage ever had: copies in memory tell new ones by it."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
    return 1 if row is None else int(row[0]) + 1


# Reading ---------------------------------------------------------------------------------------------------------


def nearest_sql(generation: int, where: Conditions) -> str:
    """Return the SQL that finds candidates by bits among the allowed passages; `vec0` runs first in every plan."""
    allowed = f"""SELECT p.id FROM chunks c
        CROSS JOIN passages p ON p.generation = {int(generation)} AND p.chunk_id = c.id WHERE {where.sql}"""
    return f"""WITH nearest AS MATERIALIZED (
          SELECT rowid AS id FROM bits_{int(generation)} WHERE bits MATCH vec_bit(?) AND k = ? AND rowid IN ({allowed}))
        {_MATCH_COLUMNS} FROM nearest CROSS JOIN passages p ON p.id = nearest.id
        CROSS JOIN chunks c ON c.id = p.chunk_id"""


_MATCH_COLUMNS = """SELECT p.id, p.chunk_id, p.start, p.stop, p.scale, p.codes, c.exchange_id, c.signal, c.time_ms,
    c.message_id"""


def nearest(
    connection: apsw.Connection, generation: int, query: Floats, chunk_filter: ChunkFilter, wanted: int
) -> tuple[PassageMatch, ...]:
    """Return the allowed passages nearest to a question, nearest first, ranked by exact cosine.

    Args:
        connection: Any.
        generation: Whose vectors.
        query: The question's vector, of length 1, by the same model.
        chunk_filter: What may be found; it is applied before ranking.
        wanted: At most `MAX_CANDIDATES`.
    """
    from engine.store.packing import bits_of  # noqa: PLC0415 - numpy: a search by words does without

    where = conditions(chunk_filter)
    rows = all_rows(
        connection, nearest_sql(generation, where), (bits_of(query).tobytes(), candidates_for(wanted), *where.values)
    )
    return _ranked(rows, query)[:wanted]


def candidates_for(wanted: int) -> int:
    """Return how many candidates by bits make sure of so many neighbours."""
    return min(MAX_CANDIDATES, max(MIN_CANDIDATES, OVERSAMPLING * wanted))


def among(
    connection: apsw.Connection, query: Floats, passages: Sequence[int], chunk_filter: ChunkFilter
) -> tuple[PassageMatch, ...]:
    """Return those of the named passages that are allowed, nearest first."""
    where = conditions(chunk_filter)
    rows = all_rows(
        connection,
        f"""{_MATCH_COLUMNS} FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value
            CROSS JOIN chunks c ON c.id = p.chunk_id WHERE {where.sql}""",
        (json.dumps(list(passages)), *where.values),
    )
    return _ranked(rows, query)


def allowed_among(connection: apsw.Connection, chunks: Iterable[int], chunk_filter: ChunkFilter) -> set[int]:
    """Return those of the named chunks that a filter lets through."""
    where = conditions(chunk_filter)
    return {
        row[0]
        for row in connection.execute(
            f"SELECT c.id FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value WHERE {where.sql}",
            (json.dumps(list(set(chunks))), *where.values),
        )
    }


def chunks_of_passages(connection: apsw.Connection, generation: int) -> tuple[str, str]:
    """Return the numbers of all passages and those of their chunks, each as one text with commas between.

    Made of an index alone, and a tenth of a second a million; as rows they would take three times as long.
    """
    row = one_row(
        connection,
        """SELECT coalesce(group_concat(id), ''), coalesce(group_concat(chunk_id), '')
           FROM (SELECT id, chunk_id FROM passages WHERE generation = ?)""",
        (generation,),
    )
    return row[0], row[1]


def allowed_passages(connection: apsw.Connection, generation: int, chunk_filter: ChunkFilter) -> list[int]:
    """Return the numbers of every passage that a filter lets through."""
    where = conditions(chunk_filter)
    return [
        row[0]
        for row in connection.execute(
            f"""SELECT p.id FROM chunks c
                CROSS JOIN passages p ON p.generation = ? AND p.chunk_id = c.id WHERE {where.sql}""",
            (generation, *where.values),
        )
    ]


def of_exchanges(
    connection: apsw.Connection, generation: int, query: Floats, exchanges: Iterable[int], chunk_filter: ChunkFilter
) -> tuple[PassageMatch, ...]:
    """Return every allowed passage of some exchanges with its exact cosine, nearest first."""
    where = conditions(chunk_filter)
    rows = all_rows(
        connection,
        f"""{_MATCH_COLUMNS} FROM json_each(?) j CROSS JOIN chunks c ON c.exchange_id = j.value
            CROSS JOIN passages p ON p.generation = ? AND p.chunk_id = c.id WHERE {where.sql}""",
        (json.dumps(list(exchanges)), generation, *where.values),
    )
    return _ranked(rows, query)


def vectors_ever(connection: apsw.Connection) -> int:
    """Return how many vectors were ever written: at least as many as there are, told without counting."""
    return _next_passage(connection) - 1


def _ranked(rows: Sequence[tuple[Any, ...]], query: Floats) -> tuple[PassageMatch, ...]:
    from engine.store.packing import cosines  # noqa: PLC0415 - numpy: a search by words does without

    exact = cosines(query, [row[5] for row in rows], [row[4] for row in rows])
    matches = [
        PassageMatch(row[0], row[1], row[2], row[3], float(cosine), row[6], row[7], row[8], row[9])
        for row, cosine in zip(rows, exact, strict=True)
    ]
    matches.sort(key=lambda match: (-match.cosine, match.passage))
    return tuple(matches)
