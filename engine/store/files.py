"""The table of transcript files: what is known of each, and how far it was read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store import redactions
from engine.store.rows import Row, number, row, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw


_REFUSED = "refused_folders"
"""Key in `meta`: folders that could not be read, with the reasons, as JSON."""

_LAST_READ = "last_read_ms"
"""Key in `meta`: when something new was read for the last time."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One transcript file as it was last read."""

    id: int
    root_id: int
    path: str
    """Below the root, with forward slashes."""
    session_id: str | None
    inode: int
    size: int
    mtime_ns: int
    offset: int
    tail: bytes | None
    lines: int
    first_ms: int | None
    generation: int
    parser: str | None
    gone: bool
    error: str | None


_COLUMNS = """f.id, f.root_id, f.path, s.session_id, f.inode, f.size, f.mtime_ns, f.offset, f.tail, f.lines, f.first_ms,
    f.generation, f.parser, f.gone_ms IS NOT NULL, f.error FROM files f LEFT JOIN sessions s ON s.id = f.session_id"""


def _row(values: Row) -> FileRow:
    *fields, gone, error = values
    return FileRow(*fields, gone=bool(gone), error=error)


def all_files(connection: apsw.Connection) -> dict[tuple[int, str], FileRow]:
    """Return every known file by root and path."""
    found = [_row(values) for values in rows(connection, f"SELECT {_COLUMNS}")]
    return {(each.root_id, each.path): each for each in found}


def register_files(connection: apsw.Connection, found: Iterable[tuple[int, str]]) -> dict[tuple[int, str], FileRow]:
    """Return the rows of files, given by root and path, adding the new ones."""
    keys = list(found)
    connection.executemany("INSERT OR IGNORE INTO files (root_id, path) VALUES (?, ?)", keys)
    registered: dict[tuple[int, str], FileRow] = {}
    for key in keys:
        values = row(connection, f"SELECT {_COLUMNS} WHERE f.root_id = ? AND f.path = ?", key)
        if values is not None:
            registered[key] = _row(values)
    return registered


def register_root(connection: apsw.Connection, path: str, label: str) -> int:
    """Return the number of a root, adding it when it is new. Labels are made unique: the archive has a folder each."""
    found = row(connection, "SELECT id FROM roots WHERE path = ?", (path,))
    if found is not None:
        return int(found[0])
    taken = {each[0] for each in rows(connection, "SELECT label FROM roots")}
    unique, number = label, 2
    while unique in taken:
        unique, number = f"{label}-{number}", number + 1
    connection.execute("INSERT INTO roots (path, label) VALUES (?, ?)", (path, unique))
    return connection.last_insert_rowid()


def roots(connection: apsw.Connection) -> dict[int, tuple[str, str]]:
    """Return (path, label) of every root ever seen, by number."""
    return {each[0]: (each[1], each[2]) for each in rows(connection, "SELECT id, path, label FROM roots")}


def begin_rewrite(connection: apsw.Connection, file_id: int) -> None:
    """Start a file anew: its next reading is a new generation, what it does not hold any more stays findable."""
    connection.execute(
        """UPDATE files SET generation = generation + 1, offset = 0, tail = NULL, lines = 0, parser = NULL,
           exchange_id = NULL, side_exchange_id = NULL, first_ms = NULL, size = 0, mtime_ns = 0 WHERE id = ?""",
        (file_id,),
    )
    connection.execute("DELETE FROM problems WHERE file_id = ?", (file_id,))
    connection.execute("DELETE FROM kept_types WHERE file_id = ?", (file_id,))
    redactions.begin_again(connection, file_id)
    connection.execute("DELETE FROM file_sessions WHERE file_id = ?", (file_id,))


def mark_gone(connection: apsw.Connection, file_ids: Iterable[int], now_ms: int) -> None:
    """Remember since when files are missing. Their rows stay: this may be the only copy."""
    connection.executemany(
        "UPDATE files SET gone_ms = ? WHERE id = ? AND gone_ms IS NULL", [(now_ms, each) for each in file_ids]
    )


def mark_back(connection: apsw.Connection, file_ids: Iterable[int]) -> None:
    """Forget that files were missing: they are there again, unchanged."""
    connection.executemany("UPDATE files SET gone_ms = NULL WHERE id = ?", [(each,) for each in file_ids])


def mark_unreadable(connection: apsw.Connection, file_id: int, error: str) -> None:
    """Remember why a file could not be read."""
    connection.execute("UPDATE files SET error = ? WHERE id = ?", (error, file_id))


def note_refused_folders(connection: apsw.Connection, refused: Mapping[str, str]) -> None:
    """Remember which folders could not be read at the last look, and why. Writes nothing when they are the same."""
    if refused != refused_folders(connection):
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_REFUSED, json.dumps(dict(refused))))


def refused_folders(connection: apsw.Connection) -> dict[str, str]:
    """Return the folders that could not be read at the last look, and why."""
    found = row(connection, "SELECT value FROM meta WHERE name = ?", (_REFUSED,))
    return {} if found is None else dict(json.loads(found[0]))


def note_last_read(connection: apsw.Connection, now_ms: int) -> None:
    """Remember that something new was read now."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LAST_READ, now_ms))


def last_read_ms(connection: apsw.Connection) -> int | None:
    """Return when something new was read for the last time."""
    return number(connection, "SELECT value FROM meta WHERE name = ?", (_LAST_READ,)) or None


def mark_read(connection: apsw.Connection, file_id: int, size: int, mtime_ns: int, inode: int) -> None:
    """Remember the state of a file that had nothing new to read (empty, or touched)."""
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, gone_ms = NULL, error = NULL WHERE id = ?",
        (size, mtime_ns, inode, file_id),
    )


@dataclass(frozen=True, slots=True)
class TranscriptPlace:
    """A session's transcript on disk."""

    root: str
    path: str
    session: int
    session_id: str


def newest_transcripts(
    connection: apsw.Connection, folders: tuple[int, ...], limit: int
) -> tuple[TranscriptPlace, ...]:
    """Return the transcripts that were last written among the sessions of some working directories."""
    listed = ", ".join(map(str, folders)) or "NULL"
    return tuple(
        TranscriptPlace(*found)
        for found in rows(
            connection,
            f"""SELECT r.path, f.path, s.id, s.session_id FROM files f JOIN roots r ON r.id = f.root_id
                JOIN sessions s ON s.id = f.session_id
                WHERE s.folder_id IN ({listed}) AND f.gone_ms IS NULL AND instr(f.path, '/agent-') = 0
                ORDER BY f.mtime_ns DESC LIMIT ?""",
            (limit,),
        )
    )
