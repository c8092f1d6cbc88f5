"""Stretches of chunk numbers by age: where the newest chunks stand, without an index of times.

Chunks are numbered as they are written: at a first start the newest sessions come first, later what is said comes last.
So each session stands together, and looking at one chunk in a few thousand tells where the newest ones are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.store.connection import all_rows, one_row

if TYPE_CHECKING:
    from engine.core.when import TimeSpan
    from engine.store.connection import Connection

Stretches = tuple[tuple[int, int], ...]
"""First and last number of each, in order."""

PIECES = 200
"""The numbers are cut into so many: looking at one chunk of each takes a fifth of a millisecond."""


def ends(connection: Connection, table: str) -> tuple[int, int]:
    """Return the first and the last number of a table, (0, 0) of an empty one.

    Asked for one by one: SQLite reads the whole table when it is to tell both at once.
    """
    first, last = (f"(SELECT {which}(id) FROM {table})" for which in ("min", "max"))
    row = one_row(connection, f"SELECT coalesce({first}, 0), coalesce({last}, 0)")
    return int(row[0]), int(row[1])


def newest(connection: Connection, count: int, span: TimeSpan) -> Stretches:
    """Return stretches that hold about so many chunk numbers: within a span of time first, and newest first."""
    first, last = ends(connection, "chunks")
    step = max(1, -(-(last - first + 1) // PIECES))
    rows = all_rows(
        connection,
        """WITH RECURSIVE piece (first) AS (SELECT ?1 UNION ALL SELECT first + ?2 FROM piece WHERE first + ?2 <= ?3)
           SELECT first, (SELECT time_ms FROM chunks WHERE id >= piece.first AND id < piece.first + ?2
                          AND time_ms IS NOT NULL ORDER BY id LIMIT 1) FROM piece""",
        (first, step, last),
    )

    def age(row: tuple[int, int | None]) -> tuple[bool, int]:
        time_ms = row[1]
        if time_ms is None:
            return True, 0
        start_ms = time_ms if span.start_ms is None else span.start_ms
        end_ms = time_ms + 1 if span.end_ms is None else span.end_ms
        return not start_ms <= time_ms < end_ms, -time_ms

    chosen = sorted(start for start, _ in sorted(rows, key=age)[: max(1, -(-count // step))])
    joined: list[tuple[int, int]] = []
    for start in chosen:
        if joined and joined[-1][1] == start - 1:
            joined[-1] = (joined[-1][0], start + step - 1)
        else:
            joined.append((start, start + step - 1))
    return tuple(joined)


def within(stretches: Stretches | None, column: str = "search.rowid") -> str:
    """Return the SQL condition that keeps a search inside of stretches; everything for None. The numbers are ours."""
    if stretches is None:
        return "1"
    if not stretches:
        return "0"
    # FTS5 seeks to the first and stops after the last number; what lies between is passed over row by row.
    around = f"{column} BETWEEN {stretches[0][0]} AND {stretches[-1][1]}"
    if len(stretches) == 1:
        return around
    return f"{around} AND ({' OR '.join(f'{column} BETWEEN {first} AND {last}' for first, last in stretches)})"
