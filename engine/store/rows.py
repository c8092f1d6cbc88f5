"""Rows in and out: what SQLite returns gets the types its query promises, and many rows are inserted at a time."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from engine.store.connection import Value

Row = tuple[Any, ...]


def rows(connection: apsw.Connection, sql: str, values: Sequence[Value] = ()) -> list[Row]:
    """Return all rows of a query."""
    return cast("list[Row]", connection.execute(sql, values).fetchall())


def row(connection: apsw.Connection, sql: str, values: Sequence[Value] = ()) -> Row | None:
    """Return the first row of a query, None when there is none."""
    return cast("Row | None", connection.execute(sql, values).fetchone())


def number(connection: apsw.Connection, sql: str, values: Sequence[Value] = ()) -> int:
    """Return the whole number that a query answers."""
    found = row(connection, sql, values)
    return 0 if found is None else int(found[0])


BLOCK_ROWS = (256, 64, 16, 4, 1)
"""SQLite inserts so many rows without Python's lock, which then has to be taken back from whoever parses: up to 5 ms
each time, so inserting row by row would stand still while files are read. The text of the longest statement stays under
16 KB, up to which apsw remembers statements."""


def insert(connection: apsw.Connection, into: str, new: Sequence[Sequence[Value]], on_conflict: str = "") -> None:
    """Insert rows of the same width, many with each statement.

    Args:
        connection: The writer's.
        into: `INSERT INTO table (columns)`, up to `VALUES`.
        new: The rows.
        on_conflict: What stands behind the values.
    """
    start = 0
    for size in BLOCK_ROWS:
        while len(new) - start >= size:
            values = tuple(chain.from_iterable(new[start : start + size]))
            connection.execute(f"{into} VALUES {_placeholders(len(new[0]), size)} {on_conflict}", values)
            start += size


@lru_cache(maxsize=64)
def _placeholders(width: int, count: int) -> str:
    return ",".join([f"({','.join('?' * width)})"] * count)
