"""The word index: ranked matches, and the vocabulary that typos are corrected from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.core.models.kinds import Signal
from engine.store.codes import SIGNALS
from engine.store.connection import one_row
from engine.store.filters import ChunkFilter, conditions
from engine.store.stretches import Stretches, within
from engine.store.texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

WORDS_WEIGHT = 1.0
PARTS_WEIGHT = 0.4
"""BM25 weight of the second column: a stem or a part of an identifier counts less than the word itself."""


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk that matches, before it is shown."""

    chunk: int
    score: float
    """BM25, greater is better."""
    exchange: int
    signal: int
    time_ms: int | None
    message: int = 0

    def scored(self, score: float) -> Match:
        """Return the match with a score."""
        return replace(self, score=score)


_MATCHING = "FROM search CROSS JOIN chunks c ON c.id = search.rowid WHERE search MATCH ?"
"""FTS5 runs first in every plan, so that chunks are looked up by number and BM25 is worked out for the allowed."""

_SCORE = f"-bm25(search, {WORDS_WEIGHT}, {PARTS_WEIGHT})"


def ranked(
    connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter, stretches: Stretches | None = None
) -> tuple[Match, ...]:
    """Return every chunk that matches an FTS5 expression and passes the filter, unordered.

    The expression comes from `engine.search.query` and holds quoted words only.
    """
    where = conditions(chunk_filter)
    return tuple(
        Match(*row)
        for row in connection.execute(
            f"""SELECT c.id, {_SCORE}, c.exchange_id, c.signal, c.time_ms, c.message_id
                {_MATCHING} AND {within(stretches)} AND {where.sql}""",
            (expression, *where.values),
        )
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares that are added to a chunk's score."""

    signals: tuple[float, float, float]
    """For high, medium and low signal."""
    recency: float
    """For what was said now."""
    half_life_ms: float
    """After which half of that is left."""
    now_ms: int


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """What a search matched: what it shows, and what it does not."""

    shown: int
    low_signal: int
    in_view: int


_COUNTS = """coalesce(sum(NOT low AND NOT in_view), 0), coalesce(sum(low AND NOT in_view), 0),
    coalesce(sum(in_view AND NOT low), 0)"""


def _hidden(chunk_filter: ChunkFilter) -> tuple[str, str]:
    """Return the SQL of what keeps a chunk out: its signal; that the caller has it in view. The numbers are ours."""
    low = "0" if chunk_filter.low_signal else f"c.signal = {SIGNALS[Signal.LOW]}"
    if chunk_filter.in_view_session is None:
        return f"({low})", "0"
    session, after = int(chunk_filter.in_view_session), int(chunk_filter.in_view_after)
    return f"({low})", f"(c.session_id = {session} AND c.message_id > {after})"


def best(
    connection: apsw.Connection,
    expression: str,
    chunk_filter: ChunkFilter,
    weights: Weights,
    *,
    limit: int | None,
    stretches: Stretches | None = None,
) -> tuple[list[tuple[int, float]], MatchCounts]:
    """Return (chunk, score) of the best matches, best first, and how many match; equals newest first, then by number.

    Only the best leave the database: handing out a hundred thousand rows takes longer than finding them. Both come of
    one pass, because looking up a match's row takes ten times as long as finding the match.

    Args:
        connection: Any.
        expression: FTS5 text.
        chunk_filter: What is shown.
        weights: Added to scores.
        limit: At most so many of the best; None for all of them.
        stretches: Where to look; None for everywhere.
    """
    where = conditions(chunk_filter, with_signal=False)
    low, in_view = _hidden(chunk_filter)
    high, medium, least = weights.signals
    counts, *found = connection.execute(
        f"""WITH matching AS MATERIALIZED (
              SELECT c.id AS id, coalesce(c.time_ms, 0) AS time_ms, {low} AS low, {in_view} AS in_view,
                CASE WHEN NOT {low} AND NOT {in_view} THEN
                  {_SCORE} * (1 + CASE c.signal WHEN 0 THEN {high} WHEN 1 THEN {medium} ELSE {least} END
                    + CASE WHEN c.time_ms IS NULL THEN 0.0 ELSE
                      ?2 * pow(0.5, max(0.0, (?3 - c.time_ms) / {float(weights.half_life_ms)})) END) END AS weighed
              {_MATCHING}1 AND {within(stretches)} AND {where.sql})
            SELECT {_COUNTS} FROM matching
            UNION ALL SELECT * FROM (
              SELECT id, weighed, NULL FROM matching WHERE NOT low AND NOT in_view
              ORDER BY weighed DESC, time_ms DESC, id DESC LIMIT {-1 if limit is None else int(limit)})""",
        (expression, weights.recency, weights.now_ms, *where.values),
    )
    return [(row[0], row[1]) for row in found], MatchCounts(*counts)


def newest_texts(
    connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter, stretches: Stretches, limit: int
) -> Iterator[tuple[Match, str]]:
    """Yield the newest chunks of some stretches with their texts, not yet scored.

    Args:
        connection: Any.
        expression: FTS5 text that they match; empty for all.
        chunk_filter: What may be found.
        stretches: Where to look.
        limit: At most so many.
    """
    where = conditions(chunk_filter)
    if expression:
        matching, values = f"{_MATCHING} AND {within(stretches)}", [expression]
    else:
        matching, values = f"FROM chunks c WHERE {within(stretches, 'c.id')}", []
    for row in connection.execute(
        f"""WITH newest AS MATERIALIZED (
              SELECT c.id, c.exchange_id, c.signal, c.time_ms, c.message_id {matching} AND {where.sql}
              ORDER BY coalesce(c.time_ms, 0) DESC, c.id DESC LIMIT {int(limit)})
            SELECT n.id, 0.0, n.exchange_id, n.signal, n.time_ms, n.message_id,
              {plain("x.text")}
            FROM newest n CROSS JOIN texts x ON x.id = n.id""",
        (*values, *where.values),
    ):
        yield Match(*row[:6]), row[6]


def number_of_match(connection: apsw.Connection, expression: str, place: int) -> int | None:
    """Return the number of the chunk that matches at a place in the order of numbers; None when fewer do."""
    row = connection.execute(
        "SELECT rowid FROM search WHERE search MATCH ? LIMIT 1 OFFSET ?", (expression, place)
    ).fetchone()
    return None if row is None else int(row[0])


def counted(
    connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter, stretches: Stretches | None = None
) -> MatchCounts:
    """Count the matches that are shown, and those that only their signal, or the caller's own view, keeps out."""
    where = conditions(chunk_filter, with_signal=False)
    low, in_view = _hidden(chunk_filter)
    row = one_row(
        connection,
        f"""SELECT {_COUNTS} FROM (
              SELECT {low} AS low, {in_view} AS in_view {_MATCHING} AND {within(stretches)} AND {where.sql})""",
        (expression, *where.values),
    )
    return MatchCounts(*row)


def projects_with(
    connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter, limit: int
) -> tuple[str, ...]:
    """Return the projects in which an expression matches most often."""
    where = conditions(chunk_filter)
    return tuple(
        row[0]
        for row in connection.execute(
            f"""SELECT p.path, count(*) AS hits FROM search CROSS JOIN chunks c ON c.id = search.rowid
                JOIN folders f ON f.id = c.folder_id JOIN projects p ON p.id = f.project_id
                WHERE search MATCH ? AND {where.sql} GROUP BY p.path ORDER BY hits DESC, p.path LIMIT ?""",
            (expression, *where.values, limit),
        )
    )


def any_matches(connection: apsw.Connection, expression: str) -> bool:
    """True when a chunk matches an FTS5 expression; tells at once, also for the most common word."""
    return connection.execute("SELECT 1 FROM search WHERE search MATCH ? LIMIT 1", (expression,)).fetchone() is not None


def document_count(connection: apsw.Connection, word: str) -> int:
    """Return in how many chunks an exact word stands."""
    row = connection.execute("SELECT doc FROM vocabulary WHERE term = ? AND col = 'words'", (word,)).fetchone()
    return 0 if row is None else int(row[0])


def similar_words(connection: apsw.Connection, prefix: str, shortest: int, longest: int) -> tuple[tuple[str, int], ...]:
    """Return (word, chunks) of the words that begin with a prefix and have a length in range."""
    return tuple(
        (row[0], row[1])
        for row in connection.execute(
            """SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? AND col = 'words'
               AND length(term) BETWEEN ? AND ?""",
            (prefix, prefix + "\U0010ffff", shortest, longest),
        )
    )


def stem_count(connection: apsw.Connection, stemmed: str) -> int:
    """Return in how many chunks a stem or a part of an identifier stands."""
    row = connection.execute("SELECT doc FROM vocabulary WHERE term = ? AND col = 'parts'", (stemmed,)).fetchone()
    return 0 if row is None else int(row[0])
