from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.core.models.kinds import Kind, Role, Signal
from engine.core.when import TimeSpan
from engine.store import generations, vectors
from engine.store.bitcopy import BitCopy
from engine.store.chunks import delete_chunks
from engine.store.connection import all_rows
from engine.store.filters import conditions
from engine.store.packing import pack
from engine.store.space import compact_vectors
from tests.helpers.history import EVERYTHING, MODEL, add_chunk, add_vector, new_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.store.filters import ChunkFilter
    from engine.store.packing import Floats

COUNT = 1_500
FILTERS: dict[str, ChunkFilter] = {
    "nothing": EVERYTHING,
    "default": replace(EVERYTHING, low_signal=False, sidechains=False),
    "folder": replace(EVERYTHING, folders=(3,)),
    "dates": replace(EVERYTHING, span=TimeSpan(200, 260)),
    "role": replace(EVERYTHING, role=Role.USER),
    "kind": replace(EVERYTHING, kinds=(Kind.TOOL_USE,)),
    "session": replace(EVERYTHING, session=5),
    "no folder": replace(EVERYTHING, folders=()),
}


class Space:
    """A database of related vectors, and their exact values."""

    def __init__(self, path: Path) -> None:
        self.db = new_database(path)
        rng = np.random.default_rng(7)
        topics = rng.standard_normal((40, 64))
        self.vectors: Floats = (topics[rng.integers(0, 40, COUNT)] + 0.7 * rng.standard_normal((COUNT, 64))).astype(
            np.float32
        )
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.db.execute("BEGIN")
        for index in range(COUNT):
            add_chunk(
                self.db,
                f"text {index}",
                signal=Signal.LOW if index % 2 else Signal.HIGH,
                role=Role.USER if index % 7 == 0 else Role.ASSISTANT,
                kind=Kind.TOOL_USE if index % 5 == 0 else Kind.TEXT,
                time_ms=index,
                folder=index % 11,
                session=index % 13,
                sidechain=index % 17 == 0,
            )
        self.generation = generations.open_generation(self.db, MODEL, "folder", "float32")
        for index in range(COUNT):
            add_vector(self.db, self.generation.id, index + 1, self.vectors[index])
        self.db.execute("COMMIT")

    def question(self, index: int) -> Floats:
        vector = self.vectors[index] + 0.05 * np.random.default_rng(index).standard_normal(64).astype(np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def exact(self, query: Floats, chunk_filter: ChunkFilter, wanted: int) -> list[int]:
        where = conditions(chunk_filter)
        rows = self.db.execute(f"SELECT c.id FROM chunks c WHERE {where.sql}", where.values)  # noqa: S608 - ours
        allowed = [int(row[0]) for row in rows]
        near = self.vectors @ query
        return sorted(allowed, key=lambda chunk: -near[chunk - 1])[:wanted]


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Generator[Space]:
    made = Space(tmp_path_factory.mktemp("vectors") / "index.db")
    yield made
    made.db.close(force=True)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("in_memory", [False, True])
def test_the_true_nearest_among_the_allowed_are_found(space: Space, name: str, in_memory: bool) -> None:  # noqa: FBT001 - a parameter
    copy = BitCopy()
    found = wanted = 0
    for index in range(0, COUNT, 60):
        query = space.question(index)
        if in_memory:
            matches = copy.nearest(space.db, space.generation, query, FILTERS[name], 10)
        else:
            matches = vectors.nearest(space.db, space.generation.id, query, FILTERS[name], 10)
        exact = space.exact(query, FILTERS[name], 10)
        found += len({match.chunk for match in matches} & set(exact))
        wanted += len(exact)
        assert len(matches) == len(exact)
    assert found >= 0.98 * wanted


def test_matches_come_nearest_first_with_their_cosine(space: Space) -> None:
    query = space.question(4)
    matches = vectors.nearest(space.db, space.generation.id, query, EVERYTHING, 20)
    cosines = [match.cosine for match in matches]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx([float(space.vectors[match.chunk - 1] @ query) for match in matches], abs=0.01)


@pytest.mark.parametrize("name", FILTERS)
def test_every_plan_runs_the_nearest_neighbour_search_first(space: Space, name: str) -> None:
    where = conditions(FILTERS[name])
    plan = [
        str(row[3])
        for row in space.db.execute(
            "EXPLAIN QUERY PLAN " + vectors.nearest_sql(space.generation.id, where), (bytes(8), 10, *where.values)
        )
    ]
    assert plan[0] == "MATERIALIZE nearest"
    assert plan[1].startswith(f"SCAN bits_{space.generation.id} VIRTUAL TABLE")
    outer = plan[plan.index("SCAN nearest") :]
    assert [step.split(" USING")[0] for step in outer[:3]] == ["SCAN nearest", "SEARCH p", "SEARCH c"]


def test_no_more_candidates_are_asked_for_than_vec0_allows(space: Space) -> None:
    assert vectors.candidates_for(100_000) == vectors.MAX_CANDIDATES
    assert len(vectors.nearest(space.db, space.generation.id, space.question(1), EVERYTHING, 100_000)) == COUNT


def test_all_passages_of_exchanges_are_compared_under_the_filter(space: Space) -> None:
    query = space.question(10)
    asked = [10, 12, 13]
    found = vectors.of_exchanges(space.db, space.generation.id, query, asked, FILTERS["default"])
    assert {match.chunk for match in found} == {11, 13} & {chunk for chunk in asked if (chunk - 1) % 2 == 0}


def test_a_copy_in_memory_keeps_in_step_with_what_is_added_and_removed(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    first, second = add_chunk(db, "one"), add_chunk(db, "two")
    generation = generations.open_generation(db, MODEL, "folder", "float32")
    axes = np.eye(64, dtype=np.float32) + 0.01
    add_vector(db, generation.id, first, axes[0])
    copy = BitCopy()

    def nearest(axis: int) -> list[int]:
        current = generations.answering(db)
        assert current is not None
        return [match.chunk for match in copy.nearest(db, current, axes[axis], EVERYTHING, 5)]

    assert nearest(0) == [first]
    add_vector(db, generation.id, second, axes[1])
    assert nearest(1) == [second, first]
    delete_chunks(db, [first])
    assert nearest(0) == [second]
    assert len(copy) == 1
    third = add_chunk(db, "three")
    add_vector(db, generation.id, third, axes[2])
    assert set(nearest(2)) == {second, third}
    copy.drop()
    assert len(copy) == 0
    assert set(nearest(2)) == {second, third}
    db.close(force=True)


def test_a_copy_of_another_generation_is_loaded_anew(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    chunk = add_chunk(db, "one")
    copy = BitCopy()
    axis = np.full(64, 0.125, np.float32)
    for name in ("a", "b"):
        generation = generations.open_generation(db, replace(MODEL, name=name), name, "float32")
        add_vector(db, generation.id, chunk, axis)
        generations.switch_to(db, generation.id)
        assert [match.chunk for match in copy.nearest(db, generation, axis, EVERYTHING, 5)] == [chunk]
    db.close(force=True)


def test_a_copy_of_no_vectors_finds_nothing(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    generation = generations.open_generation(db, MODEL, "folder", "float32")
    assert BitCopy().nearest(db, generation, np.full(64, 0.125, np.float32), EVERYTHING, 5) == ()
    db.close(force=True)


def test_a_vector_takes_at_most_600_bytes_with_everything_around_it(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    count = 3 * 1_024
    rng = np.random.default_rng(5)
    made = pack(rng.standard_normal((count, 384)).astype(np.float32))
    db.execute("BEGIN")
    chunks = [add_chunk(db, f"text {index}") for index in range(count)]
    generation = generations.open_generation(db, replace(MODEL, dimension=384), "folder", "float32")
    vectors.record(
        db,
        generation.id,
        {chunk: [vectors.NewPassage(0, 9, vector)] for chunk, vector in zip(chunks, made, strict=True)},
        {chunk: generations.text_hash(f"text {index}") for index, chunk in enumerate(chunks)},
    )
    db.execute("COMMIT")
    sizes = dict(all_rows(db, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    taken = sum(size for name, size in sizes.items() if name.startswith(("passages", "embedded", "bits_")))
    assert taken / count <= 600
    db.close(force=True)


def test_space_of_deleted_vectors_is_given_back_by_moving_the_others_together(tmp_path: Path) -> None:
    db = new_database(tmp_path / "index.db")
    chunks = [add_chunk(db, f"text {index}") for index in range(2_100)]
    generation = generations.open_generation(db, MODEL, "folder", "float32")
    rng = np.random.default_rng(1)
    db.execute("BEGIN")
    for chunk in chunks:
        add_vector(db, generation.id, chunk, rng.standard_normal(64).astype(np.float32))
    kept = chunks[::21]
    delete_chunks(db, set(chunks) - set(kept))
    pages = f"SELECT count(*) FROM bits_{generation.id}_chunks"  # noqa: S608 - a number of ours
    assert db.execute(pages).fetchall() == [(3,)]
    db.execute("COMMIT")
    while compact_vectors(db):
        pass
    assert db.execute(pages).fetchall() == [(1,)]
    found = vectors.nearest(db, generation.id, np.full(64, 0.125, np.float32), EVERYTHING, 200)
    assert {match.chunk for match in found} == set(kept)
    db.close(force=True)
