"""Corrects typos from the index's own vocabulary, for a question that found nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA

from engine.core.text import is_cjk_letter, stem
from engine.search.query import Query, Term
from engine.store import words as store

if TYPE_CHECKING:
    from engine.store.connection import Connection

MIN_LENGTH = 4
"""Shorter words are never corrected: nearly every three letters are one typo away from another word."""

_NARROW = 3
"""Letters of the beginnings that are looked at first: a tenth of the words of two; most slips come later."""

RARE = 2
MUCH_MORE = 20
"""A word in at most two chunks may itself be a typo someone made, when a similar one is twenty times as common."""


def corrected(connection: Connection, query: Query) -> Query | None:
    """Return the question with its misspelled words replaced, None when there is nothing to correct."""
    terms = [_correct(connection, term) for term in query.terms]
    if all(new is old for new, old in zip(terms, query.terms, strict=True)):
        return None
    text = " ".join(f'"{term.text}"' if term.is_phrase else term.text for term in terms)
    return Query(text, tuple(dict.fromkeys(terms)), query.ignored)


def _correct(connection: Connection, term: Term) -> Term:
    replaced = [_best(connection, word) for word in term.words]
    if tuple(replaced) == term.words:
        return term
    return Term(" ".join(replaced), tuple(replaced), term.is_phrase, term.is_prefix)


def _best(connection: Connection, word: str) -> str:
    if len(word) < MIN_LENGTH or any(map(is_cjk_letter, word)) or word.isdigit():
        return word
    count = store.document_count(connection, word)
    if count > RARE or (count == 0 and store.stem_count(connection, stem(word)) > 0):
        return word
    # One slip in short words, two in longer ones (adjacent letters swapped count as one: optimal string alignment).
    allowed = 1 if len(word) <= 5 else 2
    for prefixes in _prefixes(word):
        ranked: list[tuple[int, int, str]] = []
        for prefix in prefixes:
            for candidate, chunks in store.similar_words(connection, prefix, len(word) - allowed, len(word) + allowed):
                if candidate == word or chunks < MUCH_MORE * count:
                    continue
                distance = OSA.distance(word, candidate, score_cutoff=allowed)
                if distance <= allowed:
                    ranked.append((distance, -chunks, candidate))
        # Of the first, narrow look only what is one slip away counts: something nearer may begin otherwise.
        if ranked and (len(prefixes[0]) < _NARROW or min(ranked)[0] == 1):
            return min(ranked)[2]
    return word


def _prefixes(word: str) -> tuple[tuple[str, ...], ...]:
    """Beginnings that a correction may have, likely ones first: so only a slice of the vocabulary is looked at."""
    first, second, third, fourth = word[:4]
    narrow = {
        word[:3], word[1:4], first + third + fourth, first + second + fourth,
        second + first + third, first + third + second,
    }  # fmt: skip
    near = {word[:2], word[0] + word[2], word[1] + word[0], word[1:3]}
    return tuple(sorted(narrow)), tuple(sorted(near)), (word[0],)
