from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.packing import bits_of, cosines, pack, vectors_from


def unit_vectors(seed: int, count: int, dimension: int = 384) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.integers(0, 1000), st.integers(1, 20))
def test_cosines_of_stored_vectors_are_those_of_the_vectors_within_half_a_percent(seed: int, count: int) -> None:
    vectors = unit_vectors(seed, count)
    query = unit_vectors(seed + 1, 1)[0]
    packed = pack(vectors)
    found = cosines(query, [each.codes for each in packed], [each.scale for each in packed])
    assert np.abs(found - vectors @ query).max() < 0.005


def test_one_vector_takes_48_and_384_bytes() -> None:
    packed = pack(unit_vectors(1, 1))[0]
    assert (len(packed.bits), len(packed.codes)) == (48, 384)


def test_bits_are_the_signs_lowest_bit_first_as_sqlite_vec_compares_them() -> None:
    assert bits_of(np.asarray([1, -1, -1, 1, 0, 0, 0, 1], np.float32)).tolist() == [0b10001001]


def test_a_vector_of_zeros_is_stored_and_near_to_nothing() -> None:
    packed = pack(np.zeros((1, 64), np.float32))[0]
    assert cosines(unit_vectors(1, 1, 64)[0], [packed.codes], [packed.scale]).tolist() == [0.0]


def test_no_vectors_are_no_rows() -> None:
    assert pack(np.zeros((0, 64), np.float32)) == []
    assert len(cosines(unit_vectors(1, 1)[0], [], [])) == 0


@pytest.mark.parametrize("dimension", [64, 384])
def test_bytes_of_the_pipe_become_the_vectors_that_were_sent(dimension: int) -> None:
    vectors = unit_vectors(3, 5, dimension)
    assert np.array_equal(vectors_from(vectors.tobytes(), dimension), vectors)
