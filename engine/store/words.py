"""The word index: ranked matches, and the vocabulary that typos are corrected from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store.connection import Value, one_row
from engine.store.filters import ChunkFilter, conditions

if TYPE_CHECKING:
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


def ranked(connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter) -> tuple[Match, ...]:
    """Return every chunk that matches an FTS5 expression and passes the filter, unordered.

    The expression comes from `engine.search.query` and holds quoted words only.
    """
    where = conditions(chunk_filter)
    return tuple(
        Match(*row)
        for row in connection.execute(
            f"""WITH matched AS MATERIALIZED (
                  SELECT rowid AS id, -bm25(search, {WORDS_WEIGHT}, {PARTS_WEIGHT}) AS score
                  FROM search WHERE search MATCH ?)
                SELECT c.id, matched.score, c.exchange_id, c.signal, c.time_ms, c.message_id
                FROM matched CROSS JOIN chunks c ON c.id = matched.id WHERE {where.sql}""",
            (expression, *where.values),
        )
    )


@dataclass(frozen=True, slots=True)
class HiddenCounts:
    """What a search matched but did not show."""

    low_signal: int
    in_view: int


def hidden(connection: apsw.Connection, expression: str, chunk_filter: ChunkFilter) -> HiddenCounts:
    """Count the matches that only their signal, or the caller's own view, keeps out."""
    where = conditions(chunk_filter, with_signal=False)
    low = "0" if chunk_filter.low_signal else "c.signal = 2"
    in_view, values = "0", list[Value]()
    if chunk_filter.in_view_session is not None:
        in_view = "(c.session_id = ? AND c.message_id > ?)"
        values = [chunk_filter.in_view_session, chunk_filter.in_view_after]
    row = one_row(
        connection,
        f"""SELECT coalesce(sum({low} AND NOT {in_view}), 0), coalesce(sum({in_view} AND NOT {low}), 0)
            FROM search CROSS JOIN chunks c ON c.id = search.rowid WHERE search MATCH ? AND {where.sql}""",
        (*values, *values, expression, *where.values),
    )
    return HiddenCounts(int(row[0]), int(row[1]))


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
