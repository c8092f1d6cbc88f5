"""The table of what the archive holds: for counting, and to know how far each file was stored without opening it.

The archive files themselves are the truth; rows are made anew from them where they are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

KEPT, EXCLUDED, PRUNED = 0, 1, 2
"""States of a source: stored; of a project that is left out; taken out on request, until it grows."""

SCHEMA = """
CREATE TABLE archived (
    label TEXT NOT NULL,             -- of the root
    path TEXT NOT NULL,              -- of the source, below its root
    generation INTEGER NOT NULL,     -- grows when the source was rewritten
    state INTEGER NOT NULL,          -- kept, excluded, pruned
    length INTEGER NOT NULL,         -- source bytes that are safely on the disk
    stored INTEGER NOT NULL,         -- bytes of the archive file
    frames INTEGER NOT NULL,
    last_position INTEGER NOT NULL,  -- of the last frame in the archive file
    joined INTEGER NOT NULL,         -- source bytes before which small frames were put together
    inode INTEGER NOT NULL,          -- the source as last looked at
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    PRIMARY KEY (label, path, generation)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """One generation of one source."""

    label: str
    path: str
    generation: int = 0
    state: int = KEPT
    length: int = 0
    stored: int = 0
    frames: int = 0
    last_position: int = 0
    joined: int = 0
    inode: int = 0
    size: int = 0
    mtime_ns: int = 0


_COLUMNS = "label, path, generation, state, length, stored, frames, last_position, joined, inode, size, mtime_ns"


def newest_rows(connection: apsw.Connection) -> dict[tuple[str, str], ArchivedRow]:
    """Return the newest generation of every source, by label and path."""
    rows = (
        ArchivedRow(*row)
        for row in connection.execute(f"SELECT {_COLUMNS} FROM archived ORDER BY label, path, generation")
    )
    return {(row.label, row.path): row for row in rows}


def all_rows(connection: apsw.Connection) -> tuple[ArchivedRow, ...]:
    """Return every generation of every source."""
    return tuple(ArchivedRow(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM archived"))


def put_rows(connection: apsw.Connection, rows: Iterable[ArchivedRow]) -> None:
    """Write rows, replacing older ones of the same generation."""
    connection.executemany(
        f"INSERT OR REPLACE INTO archived ({_COLUMNS}) VALUES ({', '.join('?' * 12)})",
        [
            (
                row.label, row.path, row.generation, row.state, row.length, row.stored, row.frames, row.last_position,
                row.joined, row.inode, row.size, row.mtime_ns,
            )
            for row in rows
        ],
    )  # fmt: skip


def delete_rows(connection: apsw.Connection, rows: Iterable[ArchivedRow]) -> None:
    """Forget rows whose archive file is not there any more."""
    connection.executemany(
        "DELETE FROM archived WHERE label = ? AND path = ? AND generation = ?",
        [(row.label, row.path, row.generation) for row in rows],
    )


def behind(connection: apsw.Connection) -> tuple[tuple[str, str], ...]:
    """Return (label, path) of the transcripts that were read in another state than they were stored in."""
    return tuple(
        (row[0], row[1])
        for row in connection.execute(
            """SELECT r.label, f.path FROM files f JOIN roots r ON r.id = f.root_id
               LEFT JOIN archived a ON a.label = r.label AND a.path = f.path
                 AND a.generation = (SELECT max(generation) FROM archived n WHERE n.label = r.label AND n.path = f.path)
               WHERE f.gone_ms IS NULL AND f.size > 0
                 AND (a.path IS NULL OR (a.state = 0 AND (a.size <> f.size OR a.mtime_ns <> f.mtime_ns)))"""
        )
    )


@dataclass(frozen=True, slots=True)
class ArchiveSums:
    """The archive in numbers."""

    files: int
    source_bytes: int
    stored_bytes: int


def sums(connection: apsw.Connection) -> ArchiveSums:
    """Return how much is stored."""
    row: Sequence[int] | None = connection.execute(
        "SELECT count(*), coalesce(sum(length), 0), coalesce(sum(stored), 0) FROM archived WHERE state = 0"
    ).fetchone()
    return ArchiveSums(0, 0, 0) if row is None else ArchiveSums(row[0], row[1], row[2])
