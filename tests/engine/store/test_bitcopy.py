"""The copy of the bits under filters: asking in steps finds what asking for everybody finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engine.store import bitcopy, generations, vectors
from engine.store.bitcopy import BitCopy
from engine.store.chunks import delete_chunks
from tests.helpers.history import EVERYTHING, MODEL, add_chunk, add_vector, new_database

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.store.packing import Floats
    from engine.store.vectors import PassageMatch


def direction(rng: np.random.Generator) -> Floats:
    vector = rng.standard_normal(64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_the_nearest_allowed_are_the_same_however_it_is_found_out_who_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MIN_CANDIDATES", 8)
    db = new_database(tmp_path / "index.db")
    generation = generations.open_generation(db, MODEL, "folder", "float32")
    rng = np.random.default_rng(5)
    for number in range(300):
        add_vector(db, generation.id, add_chunk(db, "text", folder=number % 30), direction(rng))
    query = direction(rng)
    current = generations.generations(db)[0]
    for chunk_filter in (EVERYTHING, replace(EVERYTHING, folders=(7,)), replace(EVERYTHING, folders=(1, 2, 3))):
        answers: list[tuple[PassageMatch, ...]] = []
        for most_asked in (0, 100, 10_000):
            monkeypatch.setattr(bitcopy, "MOST_ASKED", most_asked)
            answers.append(BitCopy().nearest(db, current, query, chunk_filter, 5))
        assert answers[0] == answers[1] == answers[2]
        assert len(answers[0]) == 5
    db.close(force=True)


def test_a_vector_that_comes_later_is_found_under_a_filter_that_was_asked_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bitcopy, "MOST_ASKED", 0)
    monkeypatch.setattr(vectors, "MIN_CANDIDATES", 8)
    db = new_database(tmp_path / "index.db")
    generation = generations.open_generation(db, MODEL, "folder", "float32")
    rng = np.random.default_rng(6)
    for number in range(200):
        add_vector(db, generation.id, add_chunk(db, "text", folder=number % 40), direction(rng))
    copy, chunk_filter, query = BitCopy(), replace(EVERYTHING, folders=(7,)), direction(rng)

    def found() -> set[int]:
        current = generations.generations(db)[0]
        return {match.chunk for match in copy.nearest(db, current, query, chunk_filter, 2)}

    before = found()
    assert found() == before
    nearest = add_chunk(db, "text", folder=7)
    add_vector(db, generation.id, nearest, query)
    assert nearest in found()
    delete_chunks(db, [nearest])
    assert found() == before
    copy.drop()
    assert found() == before
    db.close(force=True)
