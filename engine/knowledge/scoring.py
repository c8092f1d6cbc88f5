"""BM25 over exactly the rows a question may see: equal to FTS5's `bm25()` on a table that holds only those rows.

Constants and formula are FTS5's own (fts5_aux.c): k1 = 1.2, b = 0.75, an IDF that is not positive becomes 1e-6.
Pure: postings in, scores out.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.knowledge.queries import Mode

WEIGHTS = (8.0, 6.0, 1.0)
"""Title, aliases, body (R65)."""

_K1 = 1.2
_B = 0.75
_MIN_IDF = 1e-6

Posting = tuple[int, int, int]
"""Row, column, position."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A row that matches."""

    score: float
    columns: frozenset[int]
    """Columns that hold a word of the question, or the phrase."""


def rank(
    words: Sequence[str],
    mode: Mode,
    sizes: Mapping[int, int],
    postings: Callable[[str], Iterable[Posting]],
    alias_ends: Callable[[int], Sequence[int]],
) -> dict[int, Scored]:
    """Return every allowed row that matches, with its score.

    Args:
        words: Words of the question in order; a repeated one counts again in the score, as in FTS5.
        mode: All words, any word, or the words as a phrase inside one field.
        sizes: Token count of every row the question may see. These rows are the whole corpus (R67).
        postings: Occurrences of a word in the table.
        alias_ends: Position behind each alias of a row, which a phrase may not cross (R9).
    """
    if not sizes:
        return {}
    if mode == "phrase":
        found = {"": _group(_phrase(words, sizes, postings, alias_ends), sizes)}
        terms: Sequence[str] = [""]
        matching = set(found[""])
    else:
        found = {word: _group(postings(word), sizes) for word in dict.fromkeys(words)}
        terms = words
        matching = set[int]()
        if mode == "any":
            for rows in found.values():
                matching |= rows.keys()
        else:
            matching = set.intersection(*(set(rows) for rows in found.values()))
    average = sum(sizes.values()) / len(sizes)
    idf = {term: _idf(len(sizes), len(rows)) for term, rows in found.items()}
    return {row: _score(row, terms, found, idf, sizes[row], average) for row in matching}


def _score(
    row: int,
    terms: Sequence[str],
    found: Mapping[str, Mapping[int, tuple[float, int]]],
    idf: Mapping[str, float],
    size: int,
    average: float,
) -> Scored:
    score, columns = 0.0, 0
    for term in terms:
        frequency, mask = found[term].get(row, (0.0, 0))
        score += idf[term] * ((frequency * (_K1 + 1.0)) / (frequency + _K1 * (1 - _B + _B * size / average)))
        columns |= mask
    return Scored(score, frozenset(column for column in range(3) if columns >> column & 1))


def _group(postings: Iterable[Posting], sizes: Mapping[int, int]) -> dict[int, tuple[float, int]]:
    """Return weighted frequency and column mask of each allowed row."""
    grouped: dict[int, tuple[float, int]] = {}
    for row, column, _ in postings:
        if row in sizes:
            frequency, mask = grouped.get(row, (0.0, 0))
            grouped[row] = (frequency + WEIGHTS[column], mask | 1 << column)
    return grouped


def _phrase(
    words: Sequence[str],
    sizes: Mapping[int, int],
    postings: Callable[[str], Iterable[Posting]],
    alias_ends: Callable[[int], Sequence[int]],
) -> list[Posting]:
    """Return where the words stand one behind the other, by the position of the first."""
    known = {word: [posting for posting in postings(word) if posting[0] in sizes] for word in dict.fromkeys(words)}
    starts: set[Posting] | None = None
    for shift, word in enumerate(words):
        shifted = {(row, column, position - shift) for row, column, position in known[word]}
        starts = shifted if starts is None else starts & shifted
    found: list[Posting] = []
    for row, column, position in starts or ():
        if column == 1:
            ends = alias_ends(row)
            if bisect_right(ends, position) != bisect_right(ends, position + len(words) - 1):
                continue
        found.append((row, column, position))
    return found


def _idf(rows: int, hits: int) -> float:
    value = math.log((rows - hits + 0.5) / (hits + 0.5))
    return value if value > 0.0 else _MIN_IDF
