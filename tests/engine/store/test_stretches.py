"""Where the newest chunks stand, by looking at a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.when import TimeSpan
from engine.store import stretches
from engine.store.connection import all_rows
from tests.helpers.history import add_chunk, new_database

if TYPE_CHECKING:
    from pathlib import Path

    from engine.store.stretches import Stretches


def numbers(found: Stretches) -> set[int]:
    return {number for first, last in found for number in range(first, last + 1)}


@pytest.mark.parametrize(
    ("times", "newest"),
    [
        (range(50), {47, 48, 49, 50}),
        (range(50, 0, -1), {1, 2, 3, 4}),
        ([*range(30, 0, -1), *range(100, 110)], {37, 38, 39, 40}),
    ],
)
def test_the_newest_are_found_at_either_end(tmp_path: Path, times: range | list[int], newest: set[int]) -> None:
    db = new_database(tmp_path / "index.db")
    for time_ms in times:
        add_chunk(db, "text", time_ms=time_ms)
    assert numbers(stretches.newest(db, 4, TimeSpan())) == newest
    db.close()


def test_a_span_comes_first_and_the_newest_after_it(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    for time_ms in range(1, 51):
        add_chunk(db, "text", time_ms=time_ms)
    assert numbers(stretches.newest(db, 4, TimeSpan(10, 13))) == {10, 11, 12, 50}
    db.close()


def test_chunks_without_a_time_come_last(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    for time_ms in (None, 5, None, 7):
        add_chunk(db, "text", time_ms=time_ms)
    assert numbers(stretches.newest(db, 2, TimeSpan())) == {2, 4}
    db.close()


def test_an_empty_history_has_no_newest_chunk(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    sql = f"SELECT count(*) FROM chunks AS c WHERE {stretches.within(stretches.newest(db, 4, TimeSpan()), 'c.id')}"  # noqa: S608 - ours
    assert all_rows(db, sql) == [(0,)]
    db.close()
