"""Reads rows: the one place where what SQLite returns, which could be anything, gets the types its query promises."""

from __future__ import annotations

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
