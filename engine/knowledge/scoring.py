"""BM25 over exactly the rows a question may see: equal to FTS5's `bm25()` on a table that holds only those rows.

Constants and formula are FTS5's own (fts5_aux.c): k1 = 1.2, b = 0.75, an IDF that is not positive becomes 1e-6.
Pure: postings in, scores out.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.knowledge.queries import Mode

WEIGHTS = (8.0, 6.0, 1.0)
"""Title, aliases, body (R65)."""

_K1 = 1.2
_B = 0.75
_MIN_IDF = 1e-6

Occurrences = tuple[Mapping[int, int], Mapping[int, int], Mapping[int, int]]
"""How often a word stands in title, aliases and body of each row."""


class Postings(Protocol):
    """Where words stand in a table."""

    def counts(self, word: str) -> Occurrences:
        """Return how often a word stands in each column of each row."""
        ...

    def positions(self, word: str) -> Iterable[tuple[int, int, int]]:
        """Return (row, column, position) of every occurrence of a word."""
        ...

    def alias_ends(self, row: int) -> Sequence[int]:
        """Return the position behind each alias of a row, which a phrase may not cross (R9)."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows that match."""

    scores: dict[int, float]
    terms: tuple[Occurrences, ...] = ()

    def columns(self, row: int) -> frozenset[int]:
        """Return the columns of a row that hold a word of the question, or the phrase."""
        return frozenset(column for term in self.terms for column, rows in enumerate(term) if row in rows)


def rank(words: Sequence[str], mode: Mode, sizes: Mapping[int, int], postings: Postings) -> Ranking:
    """Return every allowed row that matches, with its score.

    Args:
        words: Words of the question in order; a repeated one counts again in the score, as in FTS5.
        mode: All words, any word, or the words as a phrase inside one field.
        sizes: Token count of every row the question may see. These rows are the whole corpus (R67).
        postings: Where words stand in the table, also in rows that are not allowed.
    """
    if not sizes:
        return Ranking({})
    terms = {"": _phrase(words, sizes, postings)} if mode == "phrase" else {w: postings.counts(w) for w in words}
    weighted = {term: _weighted(occurrences, sizes) for term, occurrences in terms.items()}
    if mode == "any":
        matching = set[int]().union(*weighted.values())
    else:
        first, *others = weighted.values()
        matching = set(first).intersection(*others)
    norms = _norms(matching, sizes)
    scores = dict.fromkeys(matching, 0.0)
    for word in [""] if mode == "phrase" else words:
        rows = weighted[word]
        idf = _idf(len(sizes), len(rows))
        for row in matching if mode != "any" else matching & rows.keys():
            frequency = rows[row]
            scores[row] += idf * ((frequency * (_K1 + 1.0)) / (frequency + norms[row]))
    return Ranking(scores, tuple(terms.values()))


def _norms(rows: Iterable[int], sizes: Mapping[int, int]) -> dict[int, float]:
    """Return what BM25 adds to a frequency for the length of each row."""
    average = sum(sizes.values()) / len(sizes)
    return {row: _K1 * (1 - _B + _B * sizes[row] / average) for row in rows}


def _weighted(occurrences: Occurrences, sizes: Mapping[int, int]) -> dict[int, float]:
    """Return the weighted frequency of each allowed row."""
    title, aliases, body = occurrences
    found = {row: count * WEIGHTS[2] for row, count in body.items() if row in sizes}
    for weight, rows in ((WEIGHTS[0], title), (WEIGHTS[1], aliases)):
        for row, count in rows.items():
            if row in sizes:
                found[row] = found.get(row, 0.0) + count * weight
    return found


def _phrase(words: Sequence[str], sizes: Mapping[int, int], postings: Postings) -> Occurrences:
    """Return how often the words stand one behind the other inside one field of a row."""
    known = {word: [one for one in postings.positions(word) if one[0] in sizes] for word in dict.fromkeys(words)}
    starts: set[tuple[int, int, int]] | None = None
    for shift, word in enumerate(words):
        shifted = {(row, column, position - shift) for row, column, position in known[word]}
        starts = shifted if starts is None else starts & shifted
    found: tuple[Counter[int], Counter[int], Counter[int]] = (Counter(), Counter(), Counter())
    for row, column, position in starts or ():
        if column == 1:
            ends = postings.alias_ends(row)
            if bisect_right(ends, position) != bisect_right(ends, position + len(words) - 1):
                continue
        found[column][row] += 1
    return found


def _idf(rows: int, hits: int) -> float:
    value = math.log((rows - hits + 0.5) / (hits + 0.5))
    return value if value > 0.0 else _MIN_IDF
