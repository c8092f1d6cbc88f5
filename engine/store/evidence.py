"""What speaks for an exchange, for the ranking: matches of words, its size, its neighbours, its prompt."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.models.kinds import Role
from engine.store.codes import ROLES
from engine.store.connection import all_rows
from engine.store.filters import ChunkFilter, conditions
from engine.store.stretches import Stretches, ends, within
from engine.store.words import PARTS_WEIGHT, WORDS_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.store.connection import Connection
    from engine.store.packing import Floats


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A chunk that holds one term of a question."""

    chunk: int
    score: float
    """BM25 of the term alone, greater is better."""
    exchange: int
    kind: int
    signal: int
    time_ms: int | None


def term_matches(
    connection: Connection, expression: str, chunk_filter: ChunkFilter, limit: int, stretches: Stretches | None
) -> list[TermMatch]:
    """Return the chunks that match an FTS5 expression best and pass the filter, at most so many, best first."""
    where = conditions(chunk_filter)
    return [
        TermMatch(*row)
        for row in connection.execute(
            f"""SELECT c.id, -bm25(search, {WORDS_WEIGHT}, {PARTS_WEIGHT}) AS score, c.exchange_id, c.kind, c.signal,
                  c.time_ms
                FROM search CROSS JOIN chunks c ON c.id = search.rowid
                WHERE search MATCH ? AND {within(stretches)} AND {where.sql}
                ORDER BY score DESC, c.id LIMIT {int(limit)}""",
            (expression, *where.values),
        )
    ]


def exchange_sizes(connection: Connection, exchanges: Iterable[int], chunk_filter: ChunkFilter) -> dict[int, int]:
    """Return how many allowed chunks exchanges have."""
    where = conditions(chunk_filter)
    return dict(
        connection.execute(
            f"""SELECT c.exchange_id, count(*) FROM json_each(?) j CROSS JOIN chunks c ON c.exchange_id = j.value
                WHERE {where.sql} GROUP BY c.exchange_id""",
            (json.dumps(list(exchanges)), *where.values),
        )
    )


def neighbours(connection: Connection, exchanges: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return the exchanges right before and after each, in its session (or its sub-agent's part of it)."""
    beside = f"""SELECT m.exchange_id FROM messages m WHERE m.session_id = x.session_id AND m.sidechain = x.sidechain
        AND m.role = {ROLES[Role.USER]}"""
    found = connection.execute(
        f"""SELECT x.id, ({beside} AND m.id < x.id ORDER BY m.id DESC LIMIT 1),
              ({beside} AND m.id > (SELECT max(id) FROM messages WHERE exchange_id = x.id) ORDER BY m.id LIMIT 1)
            FROM json_each(?) j CROSS JOIN messages x ON x.id = j.value""",
        (json.dumps(list(exchanges)),),
    )
    return {row[0]: tuple(each for each in row[1:] if each is not None and each != row[0]) for row in found}


def prompt_cosines(
    connection: Connection, generation: int, query: Floats, exchanges: Iterable[int]
) -> dict[int, float]:
    """Return how near the prompt of each exchange is to a question: what an answer or a command was for."""
    from engine.store.packing import cosines  # noqa: PLC0415 - numpy: a search by words does without

    rows = all_rows(
        connection,
        f"""SELECT c.exchange_id, p.codes, p.scale FROM json_each(?) j
            CROSS JOIN chunks c ON c.message_id = j.value AND c.role = {ROLES[Role.USER]}
            CROSS JOIN passages p ON p.generation = ? AND p.chunk_id = c.id""",
        (json.dumps(list(exchanges)), generation),
    )
    nearest: dict[int, float] = {}
    for row, cosine in zip(rows, cosines(query, [row[1] for row in rows], [row[2] for row in rows]), strict=True):
        nearest[row[0]] = max(float(cosine), nearest.get(row[0], -1.0))
    return nearest


def background(connection: Connection, generation: int, query: Floats, samples: int) -> tuple[float, float]:
    """Return mean and standard deviation of a question's cosine with passages taken evenly from the whole history.

    What is near for one question is far for another: "yes, do it" is near to everything.
    """
    from engine.store.packing import cosines  # noqa: PLC0415 - numpy: a search by words does without

    first, last = ends(connection, "passages")
    step = max(1, (last - first) // samples)
    rows = all_rows(
        connection,
        """WITH RECURSIVE place (id) AS (SELECT ? UNION ALL SELECT id + ? FROM place WHERE id + ? <= ?)
           SELECT p.codes, p.scale FROM place CROSS JOIN passages p ON p.id = place.id WHERE p.generation = ?""",
        (first, step, step, last, generation),
    )
    found = cosines(query, [row[0] for row in rows], [row[1] for row in rows])
    if len(found) < 2:
        return 0.0, 0.1
    return float(found.mean()), max(float(found.std()), 1e-3)
