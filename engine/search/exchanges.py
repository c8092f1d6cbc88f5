"""Ranks whole exchanges (a prompt and all that answers it) and shows the best block of each: the hybrid search."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind
from engine.search import keyword
from engine.search.fusion import SCATTERED_FROM, Evidence, QuestionForm, fuse
from engine.search.pieces import pieces_of
from engine.search.query import MAX_TERMS
from engine.search.ranking import SIGNAL_BONUS
from engine.search.stopwords import stop_words_for
from engine.store import evidence, vectors, words
from engine.store.codes import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.search.query import Query, Term
    from engine.search.scope import Scope
    from engine.search.semantic import Meaning, SemanticLeg
    from engine.store.connection import Connection
    from engine.store.evidence import TermMatch
    from engine.store.vectors import PassageMatch

TOOL_RESULT_WEIGHT = 0.6
"""Of a word found in a tool's result: printed by a program, said by nobody. 0.5 to 0.8 are alike."""

COMMON_TERM = 20_000
"""A word in more chunks than this ranks nothing that rarer words do not rank better, and takes 0.1 s to look up. Where
there is no rarer one, as many of its newest chunks are looked at."""

TERM_MATCHES = 3_000
"""Chunks that one term may propose, its best: further ones take 3 us each and changed none of the first ten answers to
115 questions; nor did those beyond 2,000."""

LEXICAL_CANDIDATES = 80
"""Exchanges that the words may propose: none beyond the 60th of one leg ended among the first ten of both."""

PASSAGE_CANDIDATES = 300
"""Passages that the meaning may propose: about 80 exchanges."""

BACKGROUND_SAMPLES = 400
"""Passages that tell how near is near: the mean is then known to 0.004."""

_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[_/\\:=@#$(){}\[\]<>]|\.\w|\d|^-\w|\w-\w")
_ENDING = ".,:;?!"


@dataclass(frozen=True, slots=True)
class BlockHit:
    """The block of an exchange that is shown."""

    chunk: int
    exchange: int
    score: float
    signal: int
    time_ms: int | None
    similar: int
    """How many further blocks of the exchange matched."""


@dataclass(slots=True)
class _Block:
    """One block of a candidate."""

    score: float = 0.0
    cosine: float | None = None
    covered: float = 0.0
    signal: int = 1
    time_ms: int | None = None


@dataclass(slots=True)
class _Candidate:
    """One exchange in the making."""

    blocks: dict[int, _Block] = field(default_factory=lambda: defaultdict[int, _Block](_Block))
    best: float = 0.0
    """Of its blocks, by their words."""
    whole: float = 0.0


@dataclass(frozen=True, slots=True)
class Gathered:
    """The answer: blocks best first, and the passages that show them."""

    hits: tuple[BlockHit, ...]
    passages: dict[int, tuple[int, int]]
    """Best passage of each shown chunk (code points)."""


@dataclass(frozen=True, slots=True)
class FoundByWords:
    """What the words of a question find, before its meaning is known. Ranking adds to the candidates: used once."""

    terms: tuple[tuple[Term, float], ...] = ()
    candidates: dict[int, _Candidate] = field(default_factory=lambda: defaultdict[int, _Candidate](_Candidate))
    covered: float = 0.0
    scattered: bool = False
    """Of many words no two stand in one block."""


def look_up(connection: Connection, query: Query, where: Scope, chunks: int) -> FoundByWords:
    """Return what the words of a question find.

    Args:
        connection: One state of the database.
        query: Read.
        where: Filters, applied before anything is ranked.
        chunks: How many there are, about: counting a million takes 5 ms.
    """
    if where.no_such_project:
        return FoundByWords()
    candidates: dict[int, _Candidate] = defaultdict(_Candidate)
    terms = searched_terms(connection, query, chunks)
    covered, together = _gather_words(connection, terms, where, candidates)
    return FoundByWords(tuple(terms), candidates, covered, len(terms) >= SCATTERED_FROM and not together)


def rank_exchanges(
    connection: Connection, found: FoundByWords, where: Scope, leg: SemanticLeg, meaning: Meaning | None
) -> Gathered:
    """Return one block for each exchange that words or meaning find, best first.

    Args:
        connection: One state of the database, the same that the words were looked up in.
        found: By the words, under the same filters.
        where: Filters, applied before anything is ranked.
        leg: Finds passages.
        meaning: The question's vector; None to rank by words alone.
    """
    if where.no_such_project:
        return Gathered((), {})
    candidates = found.candidates
    best = _best(candidates, LEXICAL_CANDIDATES)
    nearest: dict[int, PassageMatch] = {}
    form = QuestionForm(found.covered, identifier_share(found.terms), scattered=found.scattered)
    prompts: dict[int, float] = {}
    if meaning is not None:
        matches = leg.nearest(connection, meaning, where, PASSAGE_CANDIDATES)
        near = {match.exchange for match in matches}
        # The best passage of those that meaning proposes is known already.
        matches += vectors.of_exchanges(connection, meaning.generation.id, meaning.vector, best - near, where.chunks)
        best |= near
        nearest = _nearest(matches, candidates)
        prompts = evidence.prompt_cosines(connection, meaning.generation.id, meaning.vector, best)
        mean, spread = evidence.background(connection, meaning.generation.id, meaning.vector, BACKGROUND_SAMPLES)
        form = replace(form, mean=mean, spread=spread)
    sizes = evidence.exchange_sizes(connection, best, where.chunks)
    known = {each: _evidence(candidates[each], sizes.get(each, 1), prompts.get(each)) for each in best}
    scores = fuse(known, form, evidence.neighbours(connection, best))
    hits = [_shown(each, candidates[each], scores[each]) for each in best]
    hits.sort(key=lambda hit: (-hit.score, -(hit.time_ms or 0), -hit.chunk))
    shown = {hit.chunk: (nearest[hit.chunk].start, nearest[hit.chunk].stop) for hit in hits if hit.chunk in nearest}
    return Gathered(tuple(hits), shown)


def searched_terms(connection: Connection, query: Query, chunks: int) -> list[tuple[Term, float]]:
    """Return the terms that say what a question is about, each with its rarity (BM25's idf) among so many chunks."""
    content = content_terms(query)
    counted = [(term, _document_count(connection, term)) for term in content]
    kept = [(term, count) for term, count in counted if count <= COMMON_TERM]
    if not any(count for _, count in kept):
        # All of them are common: the least common one must do.
        known = sorted((count, index) for index, (_, count) in enumerate(counted) if count)
        kept = [counted[index] for _, index in known[:1]] or counted
    return [(term, math.log(1 + (chunks - count + 0.5) / (count + 0.5))) for term, count in kept]


def content_terms(query: Query) -> tuple[Term, ...]:
    """Return the terms without stop words, unless nothing would be left, and pairs of letters for lack of spaces."""
    stop_words = stop_words_for(word for term in query.terms for word in term.words)
    content = (
        tuple(
            term
            for term in query.terms
            if term.is_phrase or term.is_prefix or not all(word in stop_words for word in term.words)
        )
        or query.terms
    )
    return tuple(dict.fromkeys(piece for term in content for piece in pieces_of(term)))[:MAX_TERMS]


def identifier_share(terms: Sequence[tuple[Term, float]]) -> float:
    """Return which share of the terms is something to be found exactly: identifiers, paths, numbers, quotations."""
    if not terms:
        return 0.0
    exact = [term for term, _ in terms if term.is_phrase or _IDENTIFIER.search(term.text.rstrip(_ENDING))]
    return len(exact) / len(terms)


def _document_count(connection: Connection, term: Term) -> int:
    """Return about how many chunks hold a term: of several words, as many as the rarest."""
    return min(words.document_count(connection, word) for word in term.words)


def _gather_words(
    connection: Connection, terms: Sequence[tuple[Term, float]], where: Scope, candidates: dict[int, _Candidate]
) -> tuple[float, bool]:
    """Add what single words find.

    Returns:
        The largest share of the question that one block holds, and whether any block holds two of its words.
    """
    total = sum(rarity for _, rarity in terms) or 1.0
    covered, matched = 0.0, 0
    for term, rarity in terms:
        whole: dict[int, float] = {}
        found = _matches(connection, term, where)
        matched += len(found)
        for match in found:
            score = _weighed(match)
            candidate = candidates[match.exchange]
            block = candidate.blocks[match.chunk]
            block.score += score
            if block.score > candidate.best:  # noqa: PLR1730 - as below
                candidate.best = block.score
            block.covered += rarity
            block.signal, block.time_ms = match.signal, match.time_ms
            # Thousands of matches come by here: two calls of max() for each were a tenth of the answer's time.
            if block.covered > covered:  # noqa: PLR1730 - as above
                covered = block.covered
            if score > whole.get(match.exchange, 0.0):
                whole[match.exchange] = score
        for exchange, score in whole.items():
            candidates[exchange].whole += score
    blocks = sum(len(candidate.blocks) for candidate in candidates.values())
    return min(1.0, covered / total), matched > blocks


def _matches(connection: Connection, term: Term, where: Scope) -> list[TermMatch]:
    near = keyword.newest_if_many(connection, term.expression, where, COMMON_TERM)
    found = evidence.term_matches(connection, term.expression, where.chunks, TERM_MATCHES, near)
    if near is not None and len(found) < keyword.ENOUGH:
        return evidence.term_matches(connection, term.expression, where.chunks, TERM_MATCHES, None)
    return found


def _weighed(match: TermMatch) -> float:
    return match.score * (TOOL_RESULT_WEIGHT if match.kind == KINDS[Kind.TOOL_RESULT] else 1.0)


def _best(candidates: dict[int, _Candidate], count: int) -> set[int]:
    """Return the exchanges that words put first."""
    best_block = max((found.best for found in candidates.values()), default=0.0) or 1.0
    best_whole = max((found.whole for found in candidates.values()), default=0.0) or 1.0
    ordered = sorted(
        candidates,
        key=lambda each: (candidates[each].best / best_block + candidates[each].whole / best_whole, each),
        reverse=True,
    )
    return set(ordered[:count])


def _nearest(matches: Iterable[PassageMatch], candidates: dict[int, _Candidate]) -> dict[int, PassageMatch]:
    """Note how near each block is, and return its nearest passage."""
    nearest: dict[int, PassageMatch] = {}
    for match in matches:
        known = nearest.get(match.chunk)
        if known is None or match.cosine > known.cosine:
            nearest[match.chunk] = match
    for match in nearest.values():
        block = candidates[match.exchange].blocks[match.chunk]
        block.cosine, block.signal, block.time_ms = match.cosine, match.signal, match.time_ms
    return nearest


def _evidence(found: _Candidate, size: int, prompt: float | None) -> Evidence:
    cosines = [block.cosine for block in found.blocks.values() if block.cosine is not None]
    return Evidence(
        block=found.best,
        whole=found.whole,
        passage=max(cosines, default=None),
        prompt=prompt,
        size=max(1, size),
    )


def _shown(exchange: int, found: _Candidate, score: float) -> BlockHit:
    """Return the block that shows best why an exchange was found: near, full of the words, and said by somebody."""
    best_score = found.best or 1.0
    best_cosine = max((block.cosine or 0.0 for block in found.blocks.values()), default=0.0) or 1.0

    def value(block: _Block) -> float:
        together = block.score / best_score + max(0.0, block.cosine or 0.0) / best_cosine
        return together * (1 + SIGNAL_BONUS[block.signal])

    chunk, block = max(found.blocks.items(), key=lambda item: (value(item[1]), -item[0]))
    matched = sum(1 for each in found.blocks.values() if each.score > 0)
    return BlockHit(chunk, exchange, score, block.signal, block.time_ms, max(0, matched - (block.score > 0)))
