"""Answers a question by meaning, or by words and meaning together; by words alone, and says why, when it must."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.search import exchanges, fuzzy
from engine.search.query import Query
from engine.search.ranking import Ranking, recency
from engine.search.semantic import NoMeaning
from engine.store import words
from engine.store.vectors import MAX_CANDIDATES

if TYPE_CHECKING:
    from engine.core.models.asking import Mode, SearchRequest
    from engine.search.query import Term
    from engine.search.scope import Scope
    from engine.search.semantic import SemanticLeg
    from engine.store.connection import Connection

FIRST_CANDIDATES = 512
"""Passages ranked for the first pages of a search by meaning; whoever turns further gets `MAX_CANDIDATES`."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A ranking by meaning, with what a reply says about it."""

    ranking: Ranking
    query: Query
    """What snippets show: the words that say what the question is about, typos corrected."""
    corrected: bool
    realised: Mode
    reason: str | None
    passages: dict[int, tuple[int, int]]
    """Which stretch of each chunk is nearest (code points)."""
    may_go_on: bool
    """True when further pages need a longer ranking."""
    ends: bool
    """True when paging ends here though there may be more."""


def answer(
    connection: Connection,
    request: SearchRequest,
    query: Query,
    where: Scope,
    leg: SemanticLeg,
    *,
    now_ms: int,
    chunks: int,
    percent: float,
) -> Meant:
    """Return the answer to a question in the mode `semantic` or `hybrid`.

    Args:
        connection: One state of the database.
        request: As asked.
        query: As read.
        where: Filters.
        leg: Meaning.
        now_ms: For the gentle preference of what is recent.
        chunks: How many there are, about.
        percent: Of the history, embedded.
    """
    repaired = repair(connection, query, leg) if request.fuzzy_fallback else query
    begun = leg.begin(connection, repaired.text)
    # The model thinks in a process of its own: the words are looked up meanwhile.
    by_words = exchanges.look_up(connection, repaired, where, chunks) if request.mode == "hybrid" else None
    understood = begun.result()
    reason = understood.reason if isinstance(understood, NoMeaning) else _share_reason(percent)
    meaning = None if isinstance(understood, NoMeaning) else understood
    content = replace(repaired, terms=exchanges.content_terms(repaired))
    if request.mode == "semantic" and meaning is not None:
        wanted = FIRST_CANDIDATES if request.offset + request.limit <= FIRST_CANDIDATES // 2 else MAX_CANDIDATES
        matches = leg.nearest(connection, meaning, where, wanted)
        passages: dict[int, tuple[int, int]] = {}
        ordered, scores = array("q"), array("d")
        for match in matches:
            if match.chunk not in passages:
                passages[match.chunk] = (match.start, match.stop)
                ordered.append(match.chunk)
                scores.append(match.cosine)
        full = len(matches) >= wanted
        return Meant(
            Ranking(ordered, scores), content, repaired is not query, "semantic", reason, passages,
            may_go_on=full and wanted < MAX_CANDIDATES, ends=full and wanted == MAX_CANDIDATES,
        )  # fmt: skip
    if by_words is None:
        by_words = exchanges.look_up(connection, repaired, where, chunks)
    gathered = exchanges.rank_exchanges(connection, by_words, where, leg, meaning)
    hits = list(gathered.hits)
    if request.rerank:
        # Signal has spoken already: it chose the block that is shown, and tool results counted less. Once more, for
        # whole exchanges, it cost one question in a hundred (it is the prompt that makes an exchange, not its tools).
        hits = [replace(hit, score=hit.score * (1 + recency(hit.time_ms, now_ms))) for hit in hits]
        hits.sort(key=lambda hit: (-hit.score, -(hit.time_ms or 0), -hit.chunk))
    ranking = Ranking(
        array("q", [hit.chunk for hit in hits]),
        array("d", [hit.score for hit in hits]),
        array("q", [hit.similar for hit in hits]),
    )
    realised: Mode = "keyword" if meaning is None else "hybrid"
    return Meant(
        ranking, content, repaired is not query, realised, reason, gathered.passages, may_go_on=False, ends=False
    )


def repair(connection: Connection, query: Query, leg: SemanticLeg) -> Query:
    """Return the question with words that stand nowhere in the history replaced by likely ones.

    A word that was only ever mistyped here helps neither leg; a rare one is left alone: it may be what is looked for.
    So is a word that the model knows: where nobody wrote `career`, whoever asks for one does not mean `carmen`. Ten of
    28 reworded questions about invented chats had been changed so. Stop words are not looked for and need no repair.
    """
    content = exchanges.content_terms(query)
    terms = tuple(_repaired(connection, term, leg) if term in content else term for term in query.terms)
    if terms == query.terms:
        return query
    text = query.text
    for old, new in zip(query.terms, terms, strict=True):
        text = text.replace(old.text, new.text) if old is not new else text
    return replace(query, text=text, terms=tuple(dict.fromkeys(terms)))


def _repaired(connection: Connection, term: Term, leg: SemanticLeg) -> Term:
    if term.is_phrase or term.is_prefix or words.any_matches(connection, term.expression):
        return term
    if all(leg.knows(connection, word) for word in term.words):
        return term
    other = fuzzy.corrected(connection, Query(term.text, (term,)))
    return term if other is None else other.terms[0]


def _share_reason(percent: float) -> str | None:
    """Return what a search by meaning does not see yet."""
    return None if percent >= 100 else f"{percent:g} % of the history is embedded; the rest is found by its words only."
