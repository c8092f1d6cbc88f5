"""Looks at the tables for what does not fit together, and mends it. What mends is for the writer only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import apsw

from engine.core.text import index_parts, index_words
from engine.store import redactions
from engine.store.connection import open_reader
from engine.store.generations import generations
from engine.store.rows import number, row, rows
from engine.store.space import has_traces, note_traces
from engine.store.texts import Packer, plain
from engine.transcripts.redaction import redact
from engine.transcripts.secret_shapes import RULES_VERSION

if TYPE_CHECKING:
    from pathlib import Path

STEP_ROWS: Final = 2_000
"""Rows that one transaction mends: others get a turn in between."""


@dataclass(frozen=True, slots=True)
class VectorGaps:
    """Where chunks and vectors disagree."""

    without_chunk: int
    """Vectors of chunks that are gone."""
    missing: int
    """Chunks that count as embedded and have no vector."""
    bits: int
    """Difference between vectors and their bits."""

    @property
    def any(self) -> bool:
        """True when something has to be mended."""
        return bool(self.without_chunk or self.missing or self.bits)


def chunks_without_words(connection: apsw.Connection) -> int:
    """Return how many chunks no search by words can find."""
    return number(
        connection,
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM search_docsize d WHERE d.id = c.id)",
    )


def words_without_chunk(connection: apsw.Connection) -> int:
    """Return how many entries of the word index belong to no chunk."""
    return number(
        connection,
        "SELECT count(*) FROM search_docsize d WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = d.id)",
    )


def last_text(connection: apsw.Connection) -> int:
    """Return the last text there is: how far a look at all of them goes."""
    return number(connection, "SELECT coalesce(max(id), 0) FROM texts")


def forget_words(connection: apsw.Connection) -> None:
    """Empty the word index. `index_words_after` fills it again."""
    connection.execute("INSERT INTO search (search) VALUES ('delete-all')")


def index_words_after(connection: apsw.Connection, last: int) -> int | None:
    """Index the words of some texts that have none, and return the last text looked at; None when there are no more.

    Args:
        connection: The writer's, inside a transaction of its own: others write in between.
        last: The last text that was looked at, 0 for none.
    """
    some = rows(
        connection,
        f"""SELECT id, {plain("text")} FROM texts
            WHERE id > ? AND NOT EXISTS (SELECT 1 FROM search_docsize d WHERE d.id = texts.id) ORDER BY id LIMIT ?""",
        (last, STEP_ROWS),
    )
    connection.executemany(
        "INSERT INTO search (rowid, words, parts) VALUES (?, ?, ?)",
        [(each[0], index_words(each[1]), index_parts(each[1])) for each in some],
    )
    return some[-1][0] if some else None


def vector_gaps(connection: apsw.Connection) -> VectorGaps:
    """Return where chunks and vectors disagree."""
    bits = 0
    for each in generations(connection):
        stored = number(connection, f"SELECT count(*) FROM bits_{each.id}_rowids")
        counted = number(connection, "SELECT count(*) FROM passages WHERE generation = ?", (each.id,))
        bits += abs(stored - counted)
    return VectorGaps(
        number(
            connection,
            "SELECT count(*) FROM passages p WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = p.chunk_id)",
        ),
        number(
            connection,
            """SELECT count(*) FROM embedded e WHERE e.state = 0 AND NOT EXISTS (
                 SELECT 1 FROM passages p WHERE p.chunk_id = e.chunk_id AND p.generation = e.generation)""",
        ),
        bits,
    )


def mend_some_vectors(connection: apsw.Connection) -> bool:
    """Delete some vectors without a chunk and codes without a vector, and let some chunks without vectors wait again.

    Args:
        connection: The writer's, inside a transaction of its own: others write in between.

    Returns:
        Whether there may be more.
    """
    connection.execute(
        """DELETE FROM passages WHERE id IN (SELECT p.id FROM passages p
           WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = p.chunk_id) LIMIT ?)""",
        (STEP_ROWS,),
    )
    mended = connection.changes()
    again = rows(
        connection,
        """SELECT e.generation, e.chunk_id FROM embedded e WHERE e.state = 0 AND NOT EXISTS (
           SELECT 1 FROM passages p WHERE p.chunk_id = e.chunk_id AND p.generation = e.generation) LIMIT ?""",
        (STEP_ROWS,),
    )
    for generation in generations(connection):
        table = f"bits_{generation.id}"
        without_bits = rows(
            connection,
            f"""SELECT DISTINCT chunk_id FROM passages WHERE generation = ?
                AND id NOT IN (SELECT rowid FROM {table}_rowids) LIMIT ?""",
            (generation.id, STEP_ROWS),
        )
        again += [(generation.id, each[0]) for each in without_bits]
        connection.execute(
            f"""DELETE FROM {table} WHERE rowid IN (
                  SELECT rowid FROM {table}_rowids EXCEPT SELECT id FROM passages LIMIT ?)""",
            (STEP_ROWS,),
        )
        mended += connection.changes()
    for generation_id, chunk in again:
        connection.execute("DELETE FROM passages WHERE generation = ? AND chunk_id = ?", (generation_id, chunk))
        connection.execute("DELETE FROM embedded WHERE generation = ? AND chunk_id = ?", (generation_id, chunk))
        connection.execute(
            """INSERT OR IGNORE INTO waiting SELECT ?, id, signal, coalesce(time_ms, 0) FROM chunks WHERE id = ?""",
            (generation_id, chunk),
        )
    return bool(mended or again)


def integrity_of_words(database: Path) -> str | None:
    """Return what FTS5 finds wrong inside its index, None when it is sound. Nobody waits for it.

    On a connection of its own: one that has read the index before compares what it remembers of it (FTS5 in SQLite
    3.54 does not look again for this check) and takes every change since for damage.

    Raises:
        StorageFailure: The database cannot be opened.
    """
    connection = open_reader(database)
    try:
        found = [str(each[0]) for each in rows(connection, "PRAGMA integrity_check(search)")]
    except apsw.CorruptError as exc:
        return str(exc)
    finally:
        connection.close(force=True)
    return None if found == ["ok"] else found[0]


def checkpoint(connection: apsw.Connection) -> None:
    """Bring the log into the database and cut it to nothing. Outside a transaction."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def extension_version(connection: apsw.Connection) -> str | None:
    """Return the version of the vector extension, None when a reader has not loaded it."""
    found = row(connection, "SELECT 1 FROM pragma_function_list WHERE name = 'vec_version'")
    return None if found is None else str((row(connection, "SELECT vec_version()") or ("",))[0])


def newest_message_ms(connection: apsw.Connection) -> int | None:
    """Return the time of the newest message."""
    found = row(connection, "SELECT max(last_ms) FROM sessions")
    return None if found is None else found[0]


def sessions_to_be_deleted(connection: apsw.Connection, before_ns: int) -> tuple[int, int]:
    """Return how many transcripts on disk were last written before a time, and how many of them are not archived."""
    found = row(
        connection,
        """SELECT count(*), coalesce(sum(NOT EXISTS (SELECT 1 FROM archived a WHERE a.label = r.label
             AND a.path = f.path AND a.state = 0 AND a.length > 0)), 0)
           FROM files f JOIN roots r ON r.id = f.root_id WHERE f.gone_ms IS NULL AND f.size > 0 AND f.mtime_ns < ?""",
        (before_ns,),
    )
    return (0, 0) if found is None else (found[0], found[1])


def gone_without_copy(connection: apsw.Connection) -> int:
    """Return how many transcripts are gone from disk and were never archived: only the index still has their words."""
    return number(
        connection,
        """SELECT count(*) FROM files f JOIN roots r ON r.id = f.root_id WHERE f.gone_ms IS NOT NULL AND f.lines > 0
           AND f.session_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM archived a WHERE a.label = r.label AND a.path = f.path AND a.state = 0)""",
    )


# Redaction of what is there already ---------------------------------------------------------------------------------


def redact_after(connection: apsw.Connection, last: int) -> int | None:
    """Replace secrets in some texts, and return the last text looked at; None when there are no more.

    Vectors of such a text go, and are made again from what is left.

    Args:
        connection: The writer's, inside a transaction of its own: others write in between.
        last: The last text that was looked at, 0 for none.
    """
    some = rows(
        connection, f"SELECT id, {plain('text')} FROM texts WHERE id > ? ORDER BY id LIMIT ?", (last, STEP_ROWS)
    )
    connection.execute("PRAGMA secure_delete = ON")
    for chunk, text in some:
        found = redact(text)
        if found.text != text:
            redactions.add(connection, redactions.LATER_PASS, found.counts)
            _replace_text(connection, chunk, found.text)
            note_traces(connection)
    connection.execute("PRAGMA secure_delete = FAST")
    return some[-1][0] if some else None


def finish_redaction(connection: apsw.Connection) -> bool:
    """Replace secrets in titles and other texts beside the messages; the index then counts as free of them.

    Returns:
        Whether there were any, here or in the texts before: they can still be read until they are cleared.
    """
    connection.execute("PRAGMA secure_delete = ON")
    if _redact_titles(connection):
        note_traces(connection)
    redactions.note_redaction(connection, RULES_VERSION)
    connection.execute("PRAGMA secure_delete = FAST")
    return has_traces(connection)


def _replace_text(connection: apsw.Connection, chunk: int, text: str) -> None:
    connection.execute("UPDATE texts SET text = ? WHERE id = ?", (Packer().stored(text), chunk))
    connection.execute(
        "UPDATE search SET words = ?, parts = ? WHERE rowid = ?", (index_words(text), index_parts(text), chunk)
    )
    connection.execute("DELETE FROM passages WHERE chunk_id = ?", (chunk,))
    connection.execute(
        """INSERT OR IGNORE INTO waiting SELECT g.id, c.id, c.signal, coalesce(c.time_ms, 0)
           FROM generations g, chunks c WHERE c.id = ?""",
        (chunk,),
    )
    connection.execute(
        "DELETE FROM embedded WHERE generation IN (SELECT id FROM generations) AND chunk_id = ?", (chunk,)
    )


_TITLES: Final = {
    "sessions": ("id", ("custom_title", "ai_title", "last_prompt", "summary", "opening")),
    "file_sessions": ("file_id, session_id", ("custom_title", "ai_title", "last_prompt", "summary", "opening")),
    "summaries": ("leaf, text", ("text",)),
    "agents": ("session_id, agent", ("description",)),
}


def _redact_titles(connection: apsw.Connection) -> int:
    replaced = 0
    for table, (keys, columns) in _TITLES.items():
        names = keys.split(", ")
        where = " AND ".join(f"{name} = ?" for name in names)
        for column in columns:
            for found in rows(connection, f"SELECT {column}, {keys} FROM {table} WHERE {column} IS NOT NULL"):
                text = redact(found[0])
                if text.text != found[0]:
                    replaced += sum(text.counts.values())
                    connection.execute(
                        f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {where}", (text.text, *found[1:])
                    )
    return replaced
