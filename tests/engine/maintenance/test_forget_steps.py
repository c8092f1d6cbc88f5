"""A forget, a prune and a repair go in steps: nobody waits long, and what is cut short is finished later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import Cancelled, NotFound
from engine.store import removing, upkeep
from engine.store.rows import rows
from engine.store.upkeep import VectorGaps
from engine.store.writer import StoreWriter
from tests.engine.maintenance.conftest import History, found, session_id
from tests.engine.maintenance.test_forget import MARKER, archive_holds
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from engine.service import Engine
    from engine.store.connection import Connection

SAID = 2 * removing.STEP_MESSAGES


class Cut(Exception):
    """Instead of `kill -9` between two steps."""


def write_large(history: History) -> None:
    """Write a session of several steps, with a fork that shares its beginning, and a small one."""
    large = history.session(1, MARKER, days_ago=60, cwd=f"/home/dev/{MARKER}")
    fork = TranscriptBuilder(session_id(3), cwd="/home/dev/shop", now=large.now, last_uuid=large.last_uuid)
    fork.lines = [
        {**line, "sessionId": session_id(3), "forkedFrom": {"sessionId": session_id(1), "messageUuid": line["uuid"]}}
        for line in large.lines
    ]
    fork.answer("The medlar of the fork is ripe.")
    fork.write(history.root)
    for number in range(SAID):
        large.prompt(f"Please look at {MARKER}, turn {number}.")
        large.answer(f"Done with turn {number}.")
    large.write(history.root)
    history.session(2, "medlar", days_ago=3)


def seen(engine: Engine) -> tuple[set[str], set[str], set[str]]:
    """Return where the marker and the other word are found, and what is listed."""
    rows = engine.api.call("list_sessions", {"limit": 100})["sessions"]
    return found(engine, "turn"), found(engine, "medlar"), {row["session_id"] for row in rows}


def test_a_forgotten_session_is_hidden_before_its_first_step_and_others_go_on(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_large(history)
    others = {session_id(2), session_id(3)}
    states: list[Any] = []
    forget_some = removing.forget_some
    with history.engine() as engine:
        assert session_id(1) in seen(engine)[0]

        def step(connection: Connection, session: int) -> bool:
            with pytest.raises(NotFound):
                engine.api.get_session(session_id(1))
            states.append(seen(engine))
            return forget_some(connection, session)

        monkeypatch.setattr(removing, "forget_some", step)
        engine.api.call("forget", {"session_id": session_id(1)})

        assert len(states) > SAID // removing.STEP_MESSAGES
        assert all(state == (set(), others, others) for state in states)
        # What the fork holds as well is the fork's.
        assert found(engine, MARKER) == {session_id(3)}
    assert not archive_holds(history, "turn 7")


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_forget_that_was_cut_short_stays_hidden_and_is_finished_by_the_next_start(
    history: History, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    write_large(history)
    left = [steps]
    forget_some = removing.forget_some

    def step(connection: Connection, session: int) -> bool:
        if not left[0]:
            raise Cut
        left[0] -= 1
        return forget_some(connection, session)

    with history.engine() as engine:
        with monkeypatch.context() as patched:
            patched.setattr(removing, "forget_some", step)
            with pytest.raises(Cut):
                engine.api.call("forget", {"session_id": session_id(1)})
        assert seen(engine)[0] == set()

    with history.engine() as engine:
        assert seen(engine)[0] == set()
        assert found(engine, MARKER) == {session_id(3)}
    assert history.traces("turn 7") == []
    assert history.sql("SELECT count(*) FROM sessions WHERE id < 0") == [(0,)]
    assert history.sql("SELECT count(*) FROM meta WHERE name LIKE 'forgetting%'") == [(0,)]


def test_a_forget_that_was_cut_before_anything_went_is_finished_by_the_next_start(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_large(history)

    def cut(*_: object) -> None:
        raise Cut

    with history.engine() as engine:
        with monkeypatch.context() as patched:
            patched.setattr(removing, "hide", cut)
            with pytest.raises(Cut):
                engine.api.call("forget", {"session_id": session_id(1)})
        assert session_id(1) in seen(engine)[0]
        assert archive_holds(history, "turn 7")

    with history.engine() as engine:
        assert seen(engine)[0] == set()
        assert found(engine, MARKER) == {session_id(3)}
    assert not archive_holds(history, "turn 7")
    assert history.traces("turn 7") == []


def nothing_more(*_: object) -> bool:
    """Leave a session hidden, as a kill would."""
    return False


def test_the_number_of_the_last_session_is_not_given_out_while_it_is_forgotten(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.session(2, "medlar", days_ago=3)
    with history.engine() as engine:
        history.session(1, MARKER, days_ago=3)
        engine.run_once()
        with monkeypatch.context() as patched:
            patched.setattr(removing, "forget_some", nothing_more)
            engine.api.call("forget", {"session_id": session_id(1)})
        history.session(4, "quince", days_ago=1)
        engine.run_once()

        assert found(engine, "quince") == {session_id(4)}
        assert found(engine, MARKER) == set()
        assert {message.session_id for message in engine.api.get_session(session_id(4)).messages} == {session_id(4)}


def test_a_large_session_is_pruned_in_steps_and_can_be_cancelled_between_two(history: History) -> None:
    write_large(history)
    prune = {"older_than_days": 30, "dry_run": False, "include_only_copies": True}
    cancelled = _Counting(3)
    with history.engine() as engine:
        with pytest.raises(Cancelled):
            engine.api.call("prune", prune, cancelled=cancelled)  # pyright: ignore[reportArgumentType] - only asked
        rest = history.sql("SELECT count(*) FROM messages")[0][0]
        assert 4 < rest < 2 * SAID

        engine.api.call("prune", prune)

        assert seen(engine) == (set(), {session_id(2)}, {session_id(2)})
        engine.api.call("reindex", {"full": True})
        engine.run_once()
        assert seen(engine)[0] == set()
    assert history.traces("turn 7") == []


EMBEDDED_AND_SPOILT = """
INSERT INTO generations (name, revision, dimension, pooling, folder, precision, answers)
    VALUES ('m', '1', 8, 'mean', '/m', 'float32', 1);
CREATE VIRTUAL TABLE bits_1 USING vec0(bits bit[8]);
INSERT INTO passages SELECT id, 1, id, 0, 1, 1.0, x'00' FROM chunks;
INSERT INTO bits_1 (rowid, bits) SELECT id, vec_bit(x'01') FROM chunks;
INSERT INTO embedded SELECT 1, id, 0, 5 FROM chunks;
DELETE FROM passages WHERE id % 3 = 0;
DELETE FROM bits_1 WHERE rowid % 3 = 1;
INSERT INTO passages SELECT id + 100000, 1, id + 100000, 0, 1, 1.0, x'00' FROM chunks;
"""
"""Every chunk embedded; then a third without vectors, a third without codes, and vectors without chunks."""


def numbers_in(connection: Connection, query: str) -> list[int]:
    return sorted(each[0] for each in rows(connection, query))


def test_vectors_are_mended_in_steps_that_others_get_a_turn_between(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "STEP_ROWS", 7)
    history.session(1, *(f"quince{number}" for number in range(9)), days_ago=3)
    with history.engine():
        pass
    writer = StoreWriter(history.paths.database)
    writer.start()
    try:
        writer.write(lambda c: c.execute(EMBEDDED_AND_SPOILT).fetchall())
        chunks = writer.write(lambda c: numbers_in(c, "SELECT id FROM chunks"))
        assert writer.write(upkeep.vector_gaps).any
        steps = 1
        while writer.write(upkeep.mend_some_vectors):
            steps += 1

        assert steps > 3
        assert writer.write(upkeep.vector_gaps) == VectorGaps(0, 0, 0)
        # What is waiting or has its vectors: nothing is lost and nothing double.
        left = "SELECT chunk_id FROM waiting UNION ALL SELECT chunk_id FROM embedded"
        assert writer.write(lambda c: numbers_in(c, left)) == chunks
    finally:
        writer.close()


class _Counting:
    """A cancel that comes at one of the looks at it."""

    def __init__(self, looks: int) -> None:
        self._left = looks

    def is_set(self) -> bool:
        """Return whether to stop."""
        self._left -= 1
        return self._left < 0
