from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.core.models.kinds import Signal
from engine.store import generations, vectors
from engine.store.chunks import delete_chunks
from engine.store.connection import open_writer
from engine.store.migrations import MIGRATIONS, migrate
from tests.helpers.history import MODEL, add_chunk, add_vector, new_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.store.connection import Connection

OTHER = replace(MODEL, name="other")
VECTOR = np.full(64, 0.125, np.float32)


@pytest.fixture
def db(tmp_path: Path) -> Generator[Connection]:
    connection = new_database(tmp_path / "index.db")
    yield connection
    connection.close(force=True)


def open_one(db: Connection) -> generations.Generation:
    return generations.open_generation(db, MODEL, "folder", "float32")


def waiting(db: Connection, generation: int) -> list[int]:
    return [each.chunk for each in generations.next_waiting(db, generation, chunks=100, characters=1_000_000)]


def table_names(db: Connection) -> set[str]:
    return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master")}


def test_a_database_of_version_1_gets_the_tables_and_keeps_its_chunks(tmp_path: Path) -> None:
    old = open_writer(tmp_path / "index.db")
    assert migrate(old, MIGRATIONS[:1]) == ("history",)
    add_chunk(old, "said before")
    assert migrate(old)[:1] == ("vectors",)
    fresh = new_database(tmp_path / "fresh.db")
    assert table_names(old) == table_names(fresh)
    generation = open_one(old)
    assert waiting(old, generation.id) == [1]
    old.close(force=True)
    fresh.close(force=True)


def test_nothing_is_embedded_before_the_first_model_and_that_is_counted(db: Connection) -> None:
    add_chunk(db, "one")
    assert generations.answering(db) is None
    assert generations.share(db) == (1, 0, 0.0)
    assert generations.left(db) == 1
    open_one(db)
    assert generations.left(db) == 1


def test_an_empty_history_is_covered_completely(db: Connection) -> None:
    assert generations.share(db) == (0, 0, 100.0)


def test_chunks_before_and_after_the_model_wait(db: Connection) -> None:
    before = add_chunk(db, "before", time_ms=1)
    generation = open_one(db)
    after = add_chunk(db, "after", time_ms=2)
    assert waiting(db, generation.id) == [after, before]


def test_high_signal_comes_first_then_the_newest_and_low_signal_last(db: Connection) -> None:
    low = add_chunk(db, "listing", signal=Signal.LOW, time_ms=9)
    old = add_chunk(db, "old answer", time_ms=1)
    thought = add_chunk(db, "thought", signal=Signal.MEDIUM, time_ms=8)
    new = add_chunk(db, "new answer", time_ms=5)
    undated = add_chunk(db, "undated answer", time_ms=None)
    generation = open_one(db)
    assert waiting(db, generation.id) == [new, old, undated, thought, low]
    assert generations.waiting_count(db, generation.id) == 5
    assert generations.waiting_count(db, generation.id, up_to=Signal.MEDIUM) == 4


def test_a_batch_ends_at_its_number_of_characters_but_holds_at_least_one_chunk(db: Connection) -> None:
    for index in range(3):
        add_chunk(db, "x" * 100, time_ms=10 - index)
    generation = open_one(db)
    assert len(generations.next_waiting(db, generation.id, chunks=100, characters=10)) == 1
    assert len(generations.next_waiting(db, generation.id, chunks=100, characters=200)) == 2
    assert len(generations.next_waiting(db, generation.id, chunks=1, characters=200)) == 1


def test_failed_and_excluded_chunks_leave_the_queue_and_are_counted(db: Connection) -> None:
    failed, excluded, embedded = (add_chunk(db, text) for text in ("one", "two", "three"))
    generation = open_one(db)
    generations.mark(db, generation.id, [failed], generations.FAILED)
    generations.mark(db, generation.id, [excluded], generations.EXCLUDED)
    add_vector(db, generation.id, embedded, VECTOR)
    counted = generations.answering_counts(db)
    assert counted == generations.EmbeddingCounts(embedded=1, failed=1, excluded=1, vectors=1)
    assert generations.share(db) == (3, 1, 50.0)


def test_failed_chunks_wait_again_when_asked(db: Connection) -> None:
    failed = add_chunk(db, "one")
    generation = open_one(db)
    generations.mark(db, generation.id, [failed], generations.FAILED)
    assert generations.retry_failed(db) == 1
    assert waiting(db, generation.id) == [failed]


def test_the_same_model_goes_on_where_it_was(db: Connection) -> None:
    chunk = add_chunk(db, "one")
    first = open_one(db)
    add_vector(db, first.id, chunk, VECTOR)
    again = generations.open_generation(db, MODEL, "elsewhere", "bfloat16")
    assert (again.id, again.folder, again.precision, again.answers) == (first.id, "elsewhere", "bfloat16", True)
    assert waiting(db, again.id) == []


def test_another_model_is_built_while_the_old_one_answers_then_takes_over(db: Connection) -> None:
    chunk = add_chunk(db, "one")
    old = open_one(db)
    add_vector(db, old.id, chunk, VECTOR)
    new = generations.open_generation(db, OTHER, "other", "float32")
    later = add_chunk(db, "two")
    current = generations.answering(db)
    assert current is not None
    assert current.id == old.id
    assert waiting(db, new.id) == [chunk, later]
    assert waiting(db, old.id) == [later]
    for number in (chunk, later):
        add_vector(db, new.id, number, VECTOR)
    generations.switch_to(db, new.id)
    assert [each.identity for each in generations.generations(db)] == [OTHER]
    assert generations.answering_counts(db) == generations.EmbeddingCounts(embedded=2, vectors=2)
    assert f"bits_{old.id}" not in table_names(db)
    assert db.execute("SELECT count(*) FROM passages").fetchall() == [(2,)]


def test_a_third_model_replaces_one_that_was_still_being_built(db: Connection) -> None:
    add_chunk(db, "one")
    old = open_one(db)
    abandoned = generations.open_generation(db, OTHER, "other", "float32")
    third = generations.open_generation(db, replace(MODEL, name="third"), "third", "float32")
    assert [each.id for each in generations.generations(db)] == [old.id, third.id]
    assert generations.waiting_count(db, abandoned.id) == 0


def test_a_deleted_chunk_takes_its_vectors_and_its_place_in_the_queue_along(db: Connection) -> None:
    embedded, queued = add_chunk(db, "one"), add_chunk(db, "two")
    generation = open_one(db)
    add_vector(db, generation.id, embedded, VECTOR)
    delete_chunks(db, [embedded, queued])
    assert generations.answering_counts(db) == generations.EmbeddingCounts()
    assert waiting(db, generation.id) == []
    assert db.execute(f"SELECT count(*) FROM bits_{generation.id}").fetchall() == [(0,)]  # noqa: S608 - a number of ours
    current = generations.answering(db)
    assert current is not None
    assert current.removed == 1


def test_a_chunk_that_changed_while_it_was_embedded_is_left_waiting(db: Connection) -> None:
    chunk = add_chunk(db, "as it was")
    generation = open_one(db)
    hashes = {chunk: generations.text_hash("as it was")}
    db.execute("UPDATE texts SET text = 'as it is' WHERE id = ?", (chunk,))
    passage = vectors.NewPassage(0, 9, vectors_packed())
    assert vectors.record(db, generation.id, {chunk: [passage]}, hashes) == 0
    assert waiting(db, generation.id) == [chunk]


def test_a_chunk_is_embedded_once_even_when_its_vectors_come_twice(db: Connection) -> None:
    chunk = add_chunk(db, "one")
    generation = open_one(db)
    add_vector(db, generation.id, chunk, VECTOR)
    add_vector(db, generation.id, chunk, VECTOR)
    assert generations.answering_counts(db).vectors == 1


def test_identical_texts_share_the_computation_but_not_the_rows(db: Connection) -> None:
    first, second = add_chunk(db, "the same"), add_chunk(db, "the same")
    generation = open_one(db)
    add_vector(db, generation.id, first, VECTOR)
    hashed = generations.text_hash("the same")
    copied = vectors.copy_of(db, generation.id, "the same", hashed)
    assert copied is not None
    vectors.record(db, generation.id, {second: copied}, {second: hashed})
    assert generations.answering_counts(db) == generations.EmbeddingCounts(embedded=2, vectors=2)
    assert vectors.copy_of(db, generation.id, "another", generations.text_hash("another")) is None


def test_a_share_is_100_only_when_nothing_is_missing() -> None:
    assert generations.percent(100_000, 99_999) == 99.9
    assert generations.percent(100_000, 100_000) == 100.0


def vectors_packed() -> vectors.Packed:
    from engine.store.packing import pack

    return pack(VECTOR.reshape(1, -1))[0]


def test_two_batches_follow_each_other_without_a_gap(db: Connection) -> None:
    for index in range(7):
        add_chunk(db, "x" * 10, time_ms=100 - index)
    generation = open_one(db)
    batch, following = generations.next_batches(db, generation.id, chunks=3, characters=1_000)
    assert [each.chunk for each in batch] == [1, 2, 3]
    assert [each.chunk for each in following] == [4, 5, 6]
    batch, following = generations.next_batches(db, generation.id, chunks=3, characters=20)
    assert [each.chunk for each in (*batch, *following)] == [1, 2, 3, 4]
    assert len(batch) == 2
    batch, following = generations.next_batches(db, generation.id, chunks=9, characters=1_000)
    assert (len(batch), following) == (7, ())
