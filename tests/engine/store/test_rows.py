"""Rows in and out."""

from __future__ import annotations

import apsw
import pytest

from engine.store.rows import BLOCK_ROWS, insert, number, row, rows


@pytest.fixture
def connection() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    made.execute("CREATE TABLE pairs (a INTEGER PRIMARY KEY, b)")
    return made


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 16, 21, 64, 255, 256, 257, 700])
def test_any_number_of_rows_is_inserted_in_order(connection: apsw.Connection, count: int) -> None:
    pairs = [(each, f"text {each}") for each in range(count)]
    insert(connection, "INSERT INTO pairs", pairs)
    assert rows(connection, "SELECT a, b FROM pairs ORDER BY a") == pairs


def test_a_row_that_is_there_may_be_updated(connection: apsw.Connection) -> None:
    insert(connection, "INSERT INTO pairs (a, b)", [(1, "old"), (2, "old")])
    insert(connection, "INSERT INTO pairs (a, b)", [(2, "new"), (3, "new")], "ON CONFLICT DO UPDATE SET b = excluded.b")
    assert rows(connection, "SELECT * FROM pairs") == [(1, "old"), (2, "new"), (3, "new")]


def test_the_longest_statement_is_short_enough_to_be_remembered() -> None:
    widest = 20
    assert len(f"({','.join('?' * widest)}),") * BLOCK_ROWS[0] < 16 * 1024


def test_rows_come_with_their_values(connection: apsw.Connection) -> None:
    assert rows(connection, "SELECT 1, 'a', NULL, x'00'") == [(1, "a", None, b"\0")]
    assert row(connection, "SELECT ?, 2", (1,)) == (1, 2)
    assert row(connection, "SELECT 1 WHERE 0") is None
    assert number(connection, "SELECT 7") == 7
    assert number(connection, "SELECT 1 WHERE 0") == 0
