from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.models.kinds import Role
from engine.store import evidence
from engine.store.codes import ROLES
from tests.helpers.history import new_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.store.connection import Connection


@pytest.fixture
def db(tmp_path: Path) -> Generator[Connection]:
    connection = new_database(tmp_path / "index.db")
    yield connection
    connection.close()


def add_messages(connection: Connection, session: int, *exchanges: int, sidechain: bool = False) -> None:
    """Add a session of which each exchange has a prompt, under its own number, and two answers."""
    for exchange in exchanges:
        for number, role in ((exchange, Role.USER), (exchange + 1, Role.ASSISTANT), (exchange + 2, Role.ASSISTANT)):
            connection.execute(
                """INSERT INTO messages (id, key, uuid, fingerprint, session_id, file_id, offset, length, part,
                     generation, role, sidechain, copied, copy_kind, exchange_id)
                   VALUES (?1, ?1, x'00', 0, ?2, 1, 0, 0, 0, 1, ?3, ?4, 0, 0, ?5)""",
                (number, session, ROLES[role], int(sidechain), exchange),
            )


def test_neighbours_are_the_exchanges_right_before_and_after(db: Connection) -> None:
    add_messages(db, 1, 10, 20, 30)
    assert evidence.neighbours(db, [10, 20, 30]) == {10: (20,), 20: (10, 30), 30: (20,)}


def test_neighbours_are_of_the_same_session_and_the_same_side_of_it(db: Connection) -> None:
    add_messages(db, 1, 10, 40)
    add_messages(db, 1, 20, sidechain=True)
    add_messages(db, 2, 30)
    assert evidence.neighbours(db, [10, 20, 30, 40]) == {10: (40,), 20: (), 30: (), 40: (10,)}


def test_an_exchange_that_is_gone_has_no_neighbours(db: Connection) -> None:
    add_messages(db, 1, 10)
    assert evidence.neighbours(db, [10, 99]) == {10: ()}
