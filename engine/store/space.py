"""Leaves no trace of what was deleted and gives its space back, in steps: others write and read between any two.

Deleted words stay readable in the segments of the word index until these are merged, `vec0` gives a chunk of codes back
only when all of its 1,024 rows are gone, and free pages belong to the file until it is shortened.
"""

from __future__ import annotations

import json
from array import array
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from engine.store.connection import BUSY_TIMEOUT_MS
from engine.store.generations import generations
from engine.store.rows import number, row, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

MERGE_PAGES: Final = 1_000
"""Of the word index that one step of merging writes: some 4 MB, so that a step takes well under a second."""

VACUUM_PAGES: Final = 2_000
"""Given back in one step: 8 MB."""

WRITTEN_ANEW_BYTES: Final = 32_000_000
"""An index up to this size is written anew in one step: 0.15 s. Half-empty pages are a larger part of a small one."""

CHUNKS_A_STEP: Final = 8
"""Of 1,024 codes each that one step moves: 90 ms on a busy machine."""

SPARSE: Final = 768
"""A chunk with fewer codes is emptied into others; what fuller ones would give back is not worth the moving."""

CHECKPOINT_WAIT_MS: Final = 200
"""A step waits this long for readers of an older state; their questions take a few milliseconds."""

_TRACES: Final = "traces"
"""Key in `meta`: there since something was deleted, until nothing of it can be read any more."""


class Stage(NamedTuple):
    """One kind of step."""

    what: str
    """For people."""
    step: Callable[[apsw.Connection], bool]
    """Does one step, outside a transaction of others; False when it was the last one."""


def note_traces(connection: apsw.Connection) -> None:
    """Remember that deleted text can still be read. Inside the transaction that deletes."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (_TRACES,))


def has_traces(connection: apsw.Connection) -> bool:
    """Return whether deleted text can still be read: what clears it is at work, or was cut short."""
    return row(connection, "SELECT 1 FROM meta WHERE name = ?", (_TRACES,)) is not None


def forget_traces(connection: apsw.Connection) -> None:
    """Remember that nothing is left of what was deleted."""
    connection.execute("DELETE FROM meta WHERE name = ?", (_TRACES,))


def _begin_merging(connection: apsw.Connection) -> bool:
    # A negative number puts all segments into one, the first pages of it now.
    with overwriting(connection):
        connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (-MERGE_PAGES,))
    return False


def _merge(connection: apsw.Connection) -> bool:
    before = connection.total_changes()
    with overwriting(connection):
        connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
    # FTS5 counts the statement itself as one change.
    return connection.total_changes() - before >= 2


def compact_vectors(connection: apsw.Connection) -> bool:
    """Move the codes of a few sparse chunks together; False when there are none. A chunk that is empty goes (0.1.9)."""
    moved = 0
    with overwriting(connection), connection:
        for each in generations(connection):
            moved += _compact(connection, f"bits_{each.id}")
    return moved > 0


def _compact(connection: apsw.Connection, table: str) -> int:
    # `vec0` adds to its last chunk only, so that one is never in the way.
    filled = {
        chunk: int.from_bytes(validity).bit_count()
        for chunk, validity in rows(
            connection,
            f"""SELECT chunk_id, validity FROM {table}_chunks
                WHERE chunk_id < (SELECT max(chunk_id) FROM {table}_chunks)""",
        )
    }
    sparse = sorted(chunk for chunk, codes in filled.items() if codes < SPARSE)[:CHUNKS_A_STEP]
    for chunk in sparse:
        validity, numbers = rows(
            connection, f"SELECT validity, rowids FROM {table}_chunks WHERE chunk_id = ?", (chunk,)
        )[0]
        used = _used(validity, numbers)
        kept = rows(
            connection,
            f"SELECT rowid, bits FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(used),),
        )
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(each[0],) for each in kept])
        connection.executemany(f"INSERT INTO {table} (rowid, bits) VALUES (?, vec_bit(?))", kept)
    return len(sparse)


def _used(validity: bytes, numbers: bytes) -> list[int]:
    """Return the numbers of the places in use: a bitmap, lowest bit first, beside 64-bit numbers."""
    found = array("q", numbers)
    return [number for place, number in enumerate(found) if validity[place // 8] >> place % 8 & 1]


def _shorten(connection: apsw.Connection) -> bool:
    free = number(connection, "PRAGMA freelist_count")
    connection.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()
    return 0 < number(connection, "PRAGMA freelist_count") < free


@contextmanager
def overwriting(connection: apsw.Connection) -> Generator[None]:
    """Overwrite what is deleted meanwhile, also in pages that are not needed any more."""
    connection.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete = FAST")


def _write_anew(connection: apsw.Connection) -> bool:
    if number(connection, "PRAGMA page_count") * number(connection, "PRAGMA page_size") <= WRITTEN_ANEW_BYTES:
        # On a full disk there is no room for a second copy, and what could be given back without one is.
        with suppress(apsw.FullError):
            connection.execute("VACUUM")
    return False


STAGES: Final = (
    Stage("Merging the word index", _begin_merging),
    Stage("Merging the word index", _merge),
    Stage("Rebuilding the vectors", compact_vectors),
    Stage("Returning space to the disk", _shorten),
    Stage("Returning space to the disk", _write_anew),
)
"""In this order: what the first ones free, the last one gives back. `empty_log` follows."""


def empty_log(connection: apsw.Connection) -> bool:
    """Bring the log into the database and cut it to nothing; False while a reader needs it. Outside a transaction."""
    connection.set_busy_timeout(CHECKPOINT_WAIT_MS)
    try:
        found = row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return found is not None and not found[0]
