"""Copies of the database made while it is open, and the database moved aside when it is damaged. Nothing is deleted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from engine.store.errors import known_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEP_PAGES = 2_000
"""Of 4 KB that one step copies: other readers and the writer get a turn in between."""

UNFINISHED_SUFFIX = ".new"
"""Of a copy that is being made."""

SIDE_FILES = ("", "-wal", "-shm")


def copy_database(source: Path, target: Path, step: Callable[[], None] | None = None) -> None:
    """Copy a database with SQLite's online backup: one state of it, whatever is being written. 0600.

    Args:
        source: The database.
        target: Its copy.
        step: Called between two steps; raises to stop.

    Raises:
        StorageFailure: It cannot be read, or there is no space. No half copy is left.
    """
    beside = target.with_name(f".{target.name}{UNFINISHED_SUFFIX}")
    try:
        with known_errors("Copying the index"):
            beside.touch(mode=0o600)
            reading = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
            writing = apsw.Connection(str(beside))
            try:
                # One state is held: else SQLite begins anew with each write of others, and never ends.
                reading.execute("BEGIN")
                reading.execute("SELECT count(*) FROM sqlite_schema").fetchall()
                with writing.backup("main", reading, "main") as backup:
                    while not backup.done:
                        backup.step(STEP_PAGES)
                        if step is not None:
                            step()
                # A copy is one file: a log beside it would be forgotten when it is moved.
                writing.execute("PRAGMA journal_mode = DELETE").fetchall()
            finally:
                reading.close()
                writing.close()
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def move_aside(database: Path, folder: Path) -> Path:
    """Move a closed database with its log into a folder and return the folder. It keeps its names, so it can be opened.

    Raises:
        OSError: It cannot be moved.
    """
    folder.mkdir(parents=True, mode=0o700)
    for suffix in SIDE_FILES:
        file = database.with_name(database.name + suffix)
        if file.exists():
            os.replace(file, folder / file.name)  # noqa: PTH105 - a name with a suffix
    return folder


def damage_of(database: Path) -> tuple[str, ...]:
    """Return what SQLite finds wrong with a database, its pages and the word index, in its words; empty when sound.

    Raises:
        StorageFailure: It is not damaged but cannot be opened: missing, locked, forbidden.
    """
    try:
        connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    except (apsw.CorruptError, apsw.NotADBError) as exc:
        return (str(exc),)
    try:
        with known_errors("Checking the index"):
            return _damage(connection)
    finally:
        connection.close(force=True)


def _damage(connection: apsw.Connection) -> tuple[str, ...]:
    said: list[str] = []
    try:
        for row in connection.execute("PRAGMA quick_check(20)"):
            said.append(str(row[0]))  # noqa: PERF401 - what was said before an error counts
    except (apsw.CorruptError, apsw.NotADBError) as exc:
        said.append(str(exc))
    if said == ["ok"]:
        return ()
    # One row holds many findings, a line each, behind a heading.
    return tuple(line for each in said for line in each.splitlines() if not line.startswith("***")) or tuple(said)
