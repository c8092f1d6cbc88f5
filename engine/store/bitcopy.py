"""A copy of the bit codes in memory, for histories in which `vec0` alone would take too long.

At a million vectors it finds 200 candidates in 11 ms where `vec0` takes 100 (architecture). 64 MB a million: loaded
when a search needs it, kept in step by number (passages are only ever added at the end), dropped when nobody asks.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from engine.store.connection import all_rows
from engine.store.packing import bits_of
from engine.store.vectors import allowed_among, allowed_passages, among, candidates_for, chunks_of_passages

if TYPE_CHECKING:
    import apsw
    import numpy.typing as npt

    from engine.store.filters import ChunkFilter
    from engine.store.generations import Generation
    from engine.store.packing import Bytes, Floats
    from engine.store.vectors import PassageMatch

    Words = npt.NDArray[np.uint64]
    Numbers = npt.NDArray[np.int64]


MOST_ASKED = 5_000
"""Passages that are asked for one by one whether a filter lets them through, 4 microseconds each; from there on asking
for every allowed one takes less (40 ms at a million)."""

FILTERS_REMEMBERED = 4
"""At most a megabyte each at a million vectors: only narrow filters come so far."""


class BitCopy:
    """The bit codes of one generation. Any thread may search, with its own connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = 0
        self._removed = 0
        self._ids: Numbers = np.zeros(0, np.int64)
        self._chunks: Numbers = self._ids
        """Of each vector: who is allowed is asked by chunk, whose rows lie close together (passages hold the codes)."""
        self._words: Words = np.zeros((0, 0), np.uint64)
        """One row for each eight bytes of a code, one column for each vector: each row is read from end to end."""
        self._allowed_among: Numbers = self._ids
        self._allowed: dict[ChunkFilter, Numbers] = {}
        """Places in `_allowed_among` that narrow filters let through."""

    def __len__(self) -> int:
        return len(self._ids)

    def drop(self) -> None:
        """Give the memory back."""
        with self._lock:
            self._generation = 0
            self._ids = self._chunks = np.zeros(0, np.int64)
            self._words = np.zeros((0, 0), np.uint64)
            self._allowed_among = self._ids
            self._allowed.clear()

    def nearest(
        self, connection: apsw.Connection, generation: Generation, query: Floats, chunk_filter: ChunkFilter, wanted: int
    ) -> tuple[PassageMatch, ...]:
        """Return the allowed passages nearest to a question, nearest first, as `vectors.nearest` does."""
        ids, chunks, words = self._in_step(connection, generation)
        if not len(ids):
            return ()
        distances = _distances(words, query)
        enough = candidates_for(wanted)
        # Most filters let most passages through: see who is allowed among the nearest before asking for all of them.
        asked = 2 * enough
        while True:
            nearest = closest(ids, distances, asked)
            among_these = chunks[nearest].tolist()
            allowed = allowed_among(connection, among_these, chunk_filter)
            nearby = nearest[[chunk in allowed for chunk in among_these]]
            if len(nearby) >= enough or asked >= len(ids):
                break
            needed = asked * enough // max(1, len(nearby)) * 5 // 4
            if needed > MOST_ASKED:
                places = self._places_of_allowed(connection, generation, chunk_filter, ids)
                nearby = places[closest(ids[places], distances[places], enough)]
                break
            asked = max(needed, 2 * asked)
        return among(connection, query, ids[nearby[:enough]].tolist(), chunk_filter)[:wanted]

    def _places_of_allowed(
        self, connection: apsw.Connection, generation: Generation, chunk_filter: ChunkFilter, ids: Numbers
    ) -> Numbers:
        """Return where the vectors stand that a narrow filter lets through.

        Remembered for the next questions under the same filter, until a vector comes or goes; who is shown is asked of
        the database each time.
        """
        with self._lock:
            if self._allowed_among is not ids:
                self._allowed_among = ids
                self._allowed.clear()
            known = self._allowed.get(chunk_filter)
        if known is not None:
            return known
        every = np.asarray(allowed_passages(connection, generation.id, chunk_filter), np.int64)
        places = np.minimum(np.searchsorted(ids, every), len(ids) - 1)
        places = places[ids[places] == every]
        with self._lock:
            if self._allowed_among is ids:
                self._allowed[chunk_filter] = places
                if len(self._allowed) > FILTERS_REMEMBERED:
                    del self._allowed[next(iter(self._allowed))]
        return places

    def _in_step(self, connection: apsw.Connection, generation: Generation) -> tuple[Numbers, Numbers, Words]:
        """Return numbers, chunks and codes as of the connection's moment, or a little later: SQL drops what is gone."""
        with self._lock:
            if self._generation != generation.id:
                self._ids, self._words = _load(connection, generation.id)
                self._chunks = _chunks_of(connection, generation.id, self._ids)
                self._generation, self._removed = generation.id, generation.removed
            last = int(self._ids[-1]) if len(self._ids) else 0
            added = all_rows(
                connection,
                f"""SELECT p.id, b.bits, p.chunk_id FROM passages p CROSS JOIN bits_{generation.id} b ON b.rowid = p.id
                    WHERE p.id > ? AND +p.generation = ? ORDER BY p.id""",
                (last, generation.id),
            )
            if added:
                codes = np.frombuffer(b"".join(row[1] for row in added), np.uint8).reshape(len(added), -1)
                more = _words(codes)
                self._ids = np.concatenate([self._ids, np.asarray([row[0] for row in added], np.int64)])
                self._chunks = np.concatenate([self._chunks, np.asarray([row[2] for row in added], np.int64)])
                self._words = more if not len(self._words) else np.concatenate([self._words, more], axis=1)
            if self._removed != generation.removed:
                kept = all_rows(connection, "SELECT id FROM passages WHERE generation = ?", (generation.id,))
                there = np.isin(self._ids, np.asarray([row[0] for row in kept], np.int64))
                self._ids, self._chunks = self._ids[there], self._chunks[there]
                self._words = np.ascontiguousarray(self._words[:, there])
                self._removed = generation.removed
            return self._ids, self._chunks, self._words


def _chunks_of(connection: apsw.Connection, generation: int, ids: Numbers) -> Numbers:
    """Return the chunk of each vector; 0, which no chunk has, for one whose passage is gone."""
    passages, chunks = (
        np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)
        for listed in chunks_of_passages(connection, generation)
    )
    found = np.zeros(len(ids), np.int64)
    places = np.searchsorted(ids, passages)
    known = places < len(ids)
    known[known] = ids[places[known]] == passages[known]
    found[places[known]] = chunks[known]
    return found


def _load(connection: apsw.Connection, generation: int) -> tuple[Numbers, Words]:
    """Read all codes from `vec0`'s own tables, a thousand in a piece: row by row through `vec0` takes 30 times as long.

    Its layout (sqlite-vec 0.1): numbers, a bitmap of the places in use, and codes, one blob each for 1,024 places.
    """
    ids: list[Numbers] = [np.zeros(0, np.int64)]
    codes: list[Bytes] = []
    for rowids, validity, vectors in connection.execute(
        f"""SELECT c.rowids, c.validity, v.vectors FROM bits_{generation}_chunks c
            JOIN bits_{generation}_vector_chunks00 v ON v.rowid = c.chunk_id"""
    ):
        used = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
        ids.append(np.frombuffer(rowids, np.int64)[used])
        codes.append(np.frombuffer(vectors, np.uint8).reshape(len(used), -1)[used])
    numbers = np.concatenate(ids)
    order = np.argsort(numbers)
    if not len(order):
        return numbers, np.zeros((0, 0), np.uint64)
    return numbers[order], _words(np.concatenate(codes)[order])


def _words(codes: Bytes) -> Words:
    """Turn codes, one a row, into columns of eight bytes each."""
    spare = -codes.shape[1] % 8
    if spare:
        codes = np.pad(codes, ((0, 0), (0, spare)))
    return np.ascontiguousarray(np.ascontiguousarray(codes).view(np.uint64).T)


def _distances(words: Words, query: Floats) -> npt.NDArray[np.uint16]:
    asked = _words(bits_of(query)[np.newaxis])[:, 0]
    total = np.zeros(words.shape[1], np.uint16)
    for row in range(len(words)):
        total += np.bitwise_count(words[row] ^ asked[row])
    return total


def closest(ids: Numbers, distances: npt.NDArray[np.uint16], count: int) -> Numbers:
    """Return the places of at most `count` closest, closest first; equals by number, so that answers repeat."""
    chosen = _within(distances, count) if count < len(ids) else np.arange(len(ids))
    order = np.lexsort((ids[chosen], distances[chosen]))[:count]
    return chosen[order]


def _within(distances: npt.NDArray[np.uint16], count: int) -> Numbers:
    """Return the places of at least so many closest: all within the least distance that has as many.

    Distances are small whole numbers, so a few passes that only compare find it: 1 ms a million, partitioning takes 7.
    """
    low, high = 0, int(distances.max())
    while low < high:
        middle = (low + high) // 2
        if int(np.count_nonzero(distances <= middle)) >= count:
            high = middle
        else:
            low = middle + 1
    return np.flatnonzero(distances <= low)
