"""Packs a vector into 48 bytes that find candidates and 384 bytes that rank them (for 384 dimensions). Pure.

The bits are the signs. The codes are int8 with one scale per vector: recall@10 of an exhaustive search is 0.994 with
them, 0.961 with one fixed scale for all (measured, architecture).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Bytes = npt.NDArray[np.uint8]

_LARGEST_CODE = 127


@dataclass(frozen=True, slots=True)
class Packed:
    """One vector as it is stored."""

    bits: bytes
    codes: bytes
    scale: float
    """What a code of 1 stands for."""


def vectors_from(data: bytes, dimension: int) -> Floats:
    """Return the vectors that stand one after the other in float32 bytes."""
    return np.frombuffer(data, dtype=np.float32).reshape(-1, dimension)


def pack(vectors: Floats) -> list[Packed]:
    """Return the stored form of vectors of length 1."""
    largest = np.abs(vectors).max(axis=1, keepdims=True) if len(vectors) else np.zeros((0, 1), np.float32)
    scales = np.maximum(largest, np.float32(1e-12)) / np.float32(_LARGEST_CODE)
    codes = np.rint(vectors / scales).astype(np.int8)
    bits = bits_of(vectors)
    return [Packed(bits[row].tobytes(), codes[row].tobytes(), float(scales[row, 0])) for row in range(len(vectors))]


def bits_of(vectors: Floats) -> Bytes:
    """Return the signs, eight to a byte, lowest bit first as sqlite-vec has them."""
    return np.packbits(vectors > 0, axis=-1, bitorder="little")


def cosines(query: Floats, codes: Sequence[bytes], scales: Sequence[float]) -> Floats:
    """Return the cosine of each stored vector with a question's vector, both of length 1."""
    if not codes:
        return np.zeros(0, np.float32)
    table = np.frombuffer(b"".join(codes), dtype=np.int8).reshape(len(codes), -1)
    # Not `@`: BLAS wakes a thread for each core for these few thousand numbers, and these spin when they have nothing
    # to do (20 ms of processor time a question, and longer waits on a busy machine).
    return np.einsum("ij,j->i", table.astype(np.float32), query) * np.asarray(scales, dtype=np.float32)
