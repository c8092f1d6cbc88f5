"""Ranks the chunks that hold every word of a question; where nearly all do, only the newest of them, and says so.

Every chunk that matches costs half a microsecond (BM25, its row), so up to `RANKED_AT_ONCE` are ranked and counted
exactly. A million chunks hold "error" two hundred thousand times: which of them is best says little, and people mean
lately. The same holds for a word that is being typed: FTS5 must join the lists of every word that begins like it before
it hands out the first chunk, so the newest texts are looked at first, and the index only when these do not hold enough.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.text import fold, index_words
from engine.search.query import Query
from engine.search.ranking import (
    RECENCY_BONUS,
    RECENCY_HALF_LIFE_DAYS,
    SIGNAL_BONUS,
    Ranking,
    best_of_exchanges,
    rank,
)
from engine.store import stretches, words

if TYPE_CHECKING:
    from engine.search.scope import Scope
    from engine.store.connection import Connection
    from engine.store.stretches import Stretches

RANKED_AT_ONCE = 30_000
"""Matching chunks, 30 ms (tests/benchmarks/query)."""

ENOUGH = 200
"""Shown chunks among the newest that spare looking at all of them: a filter may leave few."""

FIRST_RANKED = 1_000
"""Places that are remembered for further pages; whoever turns further gets the whole ranking."""

LARGE = 30_000
"""Chunks from which on a word that is being typed is looked for in the newest texts first."""

TYPED_TEXTS = 1_000
"""Newest texts that are looked at: a megabyte or two, 15 ms."""

_TYPED_AMONG = 20_000
"""Newest chunk numbers that these are taken from: filters leave a few of ten."""

_DAY_MS = 86_400_000
_MIDDLING_WORDS = 100
"""Words of a middling text: longer ones need a word more often to say the same."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search by words found."""

    ranking: Ranking
    total: int
    low_signal: int
    in_view: int
    newest_only: bool = False
    """Older chunks hold the words, too, and were not looked at."""


def search(
    connection: Connection, query: Query, where: Scope, *, now_ms: int, wanted: int, group: str | None = None
) -> Found:
    """Return the chunks that hold every term, best first.

    Args:
        connection: One state of the database.
        query: Read; at least one term.
        where: Filters.
        now_ms: For the preference of what is recent.
        wanted: Places of the ranking that are needed now.
        group: `exchange` for the best chunk of each exchange only.
    """
    if group is None and query.terms[-1].is_prefix:
        found = _typed(connection, query, where, now_ms, wanted)
        if found is not None:
            return found
    near = newest_if_many(connection, query.strict, where, RANKED_AT_ONCE)
    if group == "exchange":
        counts = words.counted(connection, query.strict, where.chunks, near)
        if near is not None and counts.shown < max(ENOUGH, wanted):
            near = None
            counts = words.counted(connection, query.strict, where.chunks)
        ranking = best_of_exchanges(words.ranked(connection, query.strict, where.chunks, near), now_ms)
        return Found(ranking, len(ranking), counts.low_signal, counts.in_view, near is not None)
    limit = FIRST_RANKED if wanted <= FIRST_RANKED else None
    weights = _weights(now_ms)
    best, counts = words.best(connection, query.strict, where.chunks, weights, limit=limit, stretches=near)
    if near is not None and counts.shown < max(ENOUGH, wanted):
        near = None
        best, counts = words.best(connection, query.strict, where.chunks, weights, limit=limit)
    ranking = Ranking(array("q", [each[0] for each in best]), array("d", [each[1] for each in best]))
    return Found(ranking, counts.shown, counts.low_signal, counts.in_view, near is not None)


def continued(before: Ranking, after: Ranking) -> Ranking:
    """Return a longer ranking that begins as the one before did: no page shows a chunk twice while the index grows."""
    seen = set(before.chunks)
    chunks, scores = array("q", before.chunks), array("d", before.scores)
    for chunk, score in zip(after.chunks, after.scores, strict=True):
        if chunk not in seen:
            chunks.append(chunk)
            scores.append(score)
    return Ranking(chunks, scores)


def as_before(before: Ranking, after: Ranking) -> Ranking:
    """Return the order in which the same chunks were found before, else the new one.

    Whatever is indexed in between changes how rare and how long everything else is: a session that asks twice would see
    what is nearly equal turned around by its own first question.
    """
    return before if len(before) == len(after) and set(before.chunks) == set(after.chunks) else after


def _weights(now_ms: int) -> words.Weights:
    return words.Weights(SIGNAL_BONUS, RECENCY_BONUS, RECENCY_HALF_LIFE_DAYS * _DAY_MS, now_ms)


def hidden(connection: Connection, query: Query, where: Scope) -> words.MatchCounts:
    """Return what the filters keep out of the answer to a question; among the newest only, when that is very much."""
    near = newest_if_many(connection, query.strict, where, RANKED_AT_ONCE)
    return words.counted(connection, query.strict, where.chunks, near)


def newest_if_many(connection: Connection, expression: str, where: Scope, many: int) -> Stretches | None:
    """Return where about so many of the newest matches stand, None when there are not more."""
    last = words.number_of_match(connection, expression, many)
    if last is None:
        return None
    first, _ = stretches.ends(connection, "chunks")
    return stretches.newest(connection, last - first + 1, where.chunks.span)


def _typed(connection: Connection, query: Query, where: Scope, now_ms: int, wanted: int) -> Found | None:
    """Return what holds a question whose last word is being typed; None when the history is small, or nothing does."""
    *others, term = query.terms
    first, last = stretches.ends(connection, "chunks")
    if last - first < LARGE or len(term.words) != 1:
        return None
    near = stretches.newest(connection, _TYPED_AMONG, where.chunks.span)
    expression = Query("", tuple(others)).strict
    begins = re.compile(rf"(?<![^\W_]){re.escape(term.words[0])}")
    matches: list[words.Match] = []
    for match, text in words.newest_texts(connection, expression, where.chunks, near, TYPED_TEXTS):
        times = len(begins.findall(text.lower() if text.isascii() else fold(index_words(text))))
        if times:
            matches.append(match.scored(_weight(times, len(text))))
    if len(matches) >= wanted:
        return Found(rank(matches, now_ms), len(matches), 0, 0, newest_only=True)
    # Few of the newest, so not very many at all: one statement ranks and counts them, each joins the lists once more.
    every = rank(words.ranked(connection, query.strict, where.chunks), now_ms)
    return Found(every, len(every), 0, 0) if len(every) else None


def _weight(times: int, length: int) -> float:
    """Return BM25's share of one word: more often is better, less and less so, and shorter texts are about it."""
    return times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / (7 * _MIDDLING_WORDS)))
