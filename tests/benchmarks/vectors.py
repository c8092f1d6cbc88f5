"""How long the vector search takes and how much it finds, by number of vectors: `vec0` alone, and the copy in memory.

    python dev.py bench vectors [COUNT ...]

The counts are 20000 and 100000 when none is given. The vectors are invented: clusters of 384 dimensions, as texts of a
few hundred topics make them. Prints milliseconds and recall@10 against exact float32, and the bytes a vector takes.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.core.vectors import ModelIdentity
from engine.store import generations, vectors
from engine.store.bitcopy import BitCopy
from engine.store.connection import all_rows
from engine.store.packing import pack
from tests.helpers.history import EVERYTHING, new_database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.store.connection import Connection
    from engine.store.packing import Floats
    from engine.store.vectors import PassageMatch

DIMENSION = 384
QUESTIONS = 40
FILTERS = {
    "all": EVERYTHING,
    "half (no low signal)": replace(EVERYTHING, low_signal=False),
    "one folder of 50": replace(EVERYTHING, folders=(7,)),
}


def fill(connection: Connection, count: int) -> Floats:
    """Write chunks with one vector each and return the vectors."""
    rng = np.random.default_rng(3)
    topics = rng.standard_normal((400, DIMENSION)).astype(np.float32)
    made = topics[rng.integers(0, 400, count)] + 0.8 * rng.standard_normal((count, DIMENSION)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    generations.open_generation(connection, ModelIdentity("bench", "1", DIMENSION, "mean"), "bench", "float32")
    connection.execute("BEGIN")
    connection.execute("DROP TRIGGER chunk_waits")  # the queue is not what is measured
    for start in range(0, count, 5_000):
        part = range(start, min(count, start + 5_000))
        connection.executemany(
            """INSERT INTO chunks (id, message_id, block, kind, signal, role, sidechain, failed, tool_id, session_id,
                 folder_id, time_ms, exchange_id, cut) VALUES (?, ?, 0, 0, ?, 1, 0, 0, NULL, ?, ?, ?, ?, 0)""",
            [(row + 1, row + 1, row % 2 * 2, row % 900, row % 50, row, row // 20 + 1) for row in part],
        )
        packed = pack(made[start : start + 5_000])
        connection.executemany(
            "INSERT INTO passages VALUES (?, 1, ?, 0, 500, ?, ?)",
            [(row + 1, row + 1, each.scale, each.codes) for row, each in zip(part, packed, strict=True)],
        )
        connection.executemany(
            "INSERT INTO bits_1 (rowid, bits) VALUES (?, vec_bit(?))",
            [(row + 1, each.bits) for row, each in zip(part, packed, strict=True)],
        )
    connection.execute("COMMIT")
    return made


def measure(made: Floats, search: Callable[[Floats, str], Sequence[PassageMatch]], allowed: dict[str, Floats]) -> str:
    """Return milliseconds and recall for each filter."""
    rng = np.random.default_rng(9)
    cells: list[str] = []
    for name in FILTERS:
        taken: list[float] = []
        shares: list[float] = []
        for row in rng.integers(0, len(made), QUESTIONS):
            query = made[row] + 0.03 * rng.standard_normal(DIMENSION).astype(np.float32)
            query = (query / np.linalg.norm(query)).astype(np.float32)
            near = np.where(allowed[name] > 0, made @ query, -2)
            exact = set((np.argpartition(-near, 10)[:10] + 1).tolist())
            started = time.perf_counter()
            found = search(query, name)
            taken.append(time.perf_counter() - started)
            shares.append(len(exact & {match.passage for match in found}) / 10)
        cells.append(f"{1000 * statistics.median(taken):8.1f} ms {statistics.mean(shares):.3f}")
    return "  ".join(f"{cell:>22}" for cell in cells)


def main(arguments: Sequence[str]) -> int:
    """Measure each count."""
    print(" " * 22 + "  ".join(f"{name:>22}" for name in FILTERS))
    for count in [int(each) for each in arguments] or [20_000, 100_000]:
        with tempfile.TemporaryDirectory() as temporary:
            connection = new_database(Path(temporary) / "index.db")
            made = fill(connection, count)
            rows = np.arange(count)
            allowed: dict[str, Floats] = {
                "all": np.ones(count, np.float32),
                "half (no low signal)": (rows % 2 == 0).astype(np.float32),
                "one folder of 50": (rows % 50 == 7).astype(np.float32),
            }
            generation = generations.generations(connection)[0]
            copy = BitCopy()
            started = time.perf_counter()
            copy.nearest(connection, generation, made[0], EVERYTHING, 10)
            loading = time.perf_counter() - started

            def by_table(query: Floats, name: str, connection: Connection = connection) -> Sequence[PassageMatch]:
                return vectors.nearest(connection, 1, query, FILTERS[name], 10)

            def by_copy(
                query: Floats,
                name: str,
                connection: Connection = connection,
                generation: generations.Generation = generation,
                copy: BitCopy = copy,
            ) -> Sequence[PassageMatch]:
                return copy.nearest(connection, generation, query, FILTERS[name], 10)

            print(f"{count:>9,} vec0        {measure(made, by_table, allowed)}")
            print(f"{count:>9,} in memory   {measure(made, by_copy, allowed)}   loaded in {loading:.2f} s")
            sizes = dict(all_rows(connection, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
            used = sum(size for name, size in sizes.items() if str(name).startswith(("bits_", "passages")))
            print(f"{count:>9,} {used / count:.0f} bytes a vector")
            connection.close(force=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
