"""`knowledge_grep`: ranked keyword search over exactly the records the filters leave, earlier wordings included."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.errors import EmptyQuery, TooManyTokens
from engine.knowledge.filters import GREP_UNITS, check_length, filter_of
from engine.knowledge.hits import add_common, full_row, require_record, short_row
from engine.knowledge.replies import BUDGET_BYTES, Reply, coverage, freshness, page
from engine.knowledge.scoring import Ranking, rank
from engine.knowledge.snippets import (
    AGENT_UNITS,
    FULL_UNITS,
    LOCATED_BYTES,
    Snippet,
    Sought,
    locate,
    opening,
)
from engine.store.knowledge_index import IndexUnavailable, ProjectionPostings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.knowledge.filters import RecordFilter
    from engine.knowledge.queries import GrepQuery
    from engine.knowledge.records import Record, RecordFile
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore
    from engine.store.knowledge_index import KeywordIndex, Projection

logger = logging.getLogger(__name__)

MAX_TOKENS = 64
MAX_OFFSET = 500
ANSWERS_KEPT = 4
"""Whole answers a snapshot remembers, for the pages that follow."""
_FIELDS = ("title", "aliases", "body")


@dataclass(frozen=True, slots=True)
class Match:
    """One record found, by its own text or by an earlier wording of it."""

    id: str
    score: float | None
    """None for a replacement: scores of different corpora are not comparable."""
    columns: frozenset[int] = frozenset()
    """Columns that hold a word of the question, or the phrase."""
    via: str | None = None
    """The superseded record whose wording matched (R47)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A whole answer: direct matches by score, then replacements. Kept as plain lists, because there may be many."""

    rows: list[int]
    names: dict[int, str]
    ranking: Ranking
    replacements: list[Match]

    @property
    def total(self) -> int:
        """How many records match (R58)."""
        return len(self.rows) + len(self.replacements)

    def page(self, offset: int, limit: int) -> list[Match]:
        """Return the matches of one page."""
        direct = [
            Match(self.names[row], self.ranking.scores[row], self.ranking.columns(row))
            for row in self.rows[offset : offset + limit]
        ]
        start = max(0, offset - len(self.rows))
        return direct + self.replacements[start : start + limit - len(direct)]


def grep(store: OpenStore, snapshot: Snapshot, query: GrepQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return ranked records.

    Raises:
        EmptyQuery, QueryTooLong, TooManyTokens, InvalidDate, InvalidRange: The question is not acceptable.
        MovedOn: A file changed since the scan.
    """
    check_length(query.query, GREP_UNITS)
    wanted = filter_of(query, snapshot.ontology)
    now = store.clock.now()
    try:
        index = store.index(snapshot)
        words = tuple(token.word for token in index.words.of(query.query))
        _check_words(words)
        found = _matches(index, snapshot, wanted, words, query)
    except IndexUnavailable:
        logger.exception("Keyword search of Knowledge is unavailable")
        return _unavailable(snapshot, query, now)
    shown = found.page(query.offset, query.limit)
    sought = Sought(words, phrase=query.mode == "phrase")
    build = _Rows(store, snapshot, index, sought, now_ns=int(now * 1e9))
    rows = [build.full(match) if query.view == "full" else build.agent(match) for match in shown]
    mark = index.mark()
    reply: Reply = {
        "rows": [],
        "snapshot": snapshot.id[:32],
        "index": {"state": "ready", "lag": False, "reindexed": store.reindexed},
        "coverage": coverage(snapshot, query.view),
    }
    if query.view == "full":
        reply["freshness"] = freshness(snapshot, now, mark.indexed_at if mark is not None else None)
    page(reply, rows, offset=query.offset, total=found.total, budget=budget)
    following = reply.get("nextOffset")
    if isinstance(following, int) and following > MAX_OFFSET:
        del reply["nextOffset"]
        reply["windowExhausted"] = True
    return reply


def _check_words(words: Sequence[str]) -> None:
    if not words:
        raise EmptyQuery("The query holds no word", "Punctuation only separates words.", "Pass at least one word.")
    if len(words) > MAX_TOKENS:
        raise TooManyTokens(
            f"The query has {len(words)} words",
            f"At most {MAX_TOKENS} are accepted.",
            "Keep the words that matter.",
        )


def _matches(
    index: KeywordIndex,
    snapshot: Snapshot,
    wanted: RecordFilter,
    words: tuple[str, ...],
    query: GrepQuery,
) -> Found:
    """Return all matches. The answer is kept with the snapshot: the next page asks for it again."""
    key = (words, query.mode, wanted, query.min_score)
    if key not in snapshot.rankings:
        if len(snapshot.rankings) >= ANSWERS_KEPT:
            snapshot.rankings.clear()
        snapshot.rankings[key] = _find(index, snapshot, wanted, words, query)
    return snapshot.rankings[key]


def _find(
    index: KeywordIndex,
    snapshot: Snapshot,
    wanted: RecordFilter,
    words: Sequence[str],
    query: GrepQuery,
) -> Found:
    """Return direct matches by score, then replacements by the earlier record's score (R52, R53, R68)."""
    allowed = snapshot.passing(wanted)
    names, ranking = _rank(index, "current", words, query, allowed)
    # Two stable sorts without a key tuple for each row: the garbage collector would visit 20,000 of them.
    rows = sorted(ranking.scores, key=names.__getitem__)
    rows.sort(key=ranking.scores.__getitem__, reverse=True)
    if query.min_score is not None:
        rows = [row for row in rows if ranking.scores[row] >= query.min_score]
    found = Found(rows, names, ranking, [])
    if query.lifecycle != "active" or query.min_score is not None:
        return found
    earlier = frozenset(name for name, end in snapshot.replacements.items() if end in allowed)
    if not earlier:
        return found
    old_names, old = _rank(index, "earlier", words, query, earlier)
    seen = {names[row] for row in rows}
    for _, name in sorted((-score, old_names[row]) for row, score in old.scores.items()):
        end = snapshot.replacements[name]
        if end not in seen:
            # Each once, via the best ranked of its earlier wordings (R54).
            seen.add(end)
            found.replacements.append(Match(end, None, via=name))
    return found


def _rank(
    index: KeywordIndex,
    projection: Projection,
    words: Sequence[str],
    query: GrepQuery,
    allowed: frozenset[str],
) -> tuple[dict[int, str], Ranking]:
    corpus = index.corpus(projection, allowed)
    ranking = rank(words, query.mode, corpus.sizes, ProjectionPostings(index, projection, corpus.names))
    return corpus.names, ranking


def _unavailable(snapshot: Snapshot, query: GrepQuery, now: float) -> Reply:
    reply: Reply = {
        "note": "The keyword index does not work, so nothing was searched; this is not an answer of no hits. "
        "knowledge_lookup and knowledge_records still work.",
        "rows": [],
        "total": None,
        "snapshot": snapshot.id[:32],
        "index": {"state": "unavailable"},
        "coverage": coverage(snapshot, query.view),
    }
    if query.view == "full":
        reply["freshness"] = freshness(snapshot, now)
    return reply


@dataclass(frozen=True, slots=True)
class _Rows:
    """Builds the rows of one page."""

    store: OpenStore
    snapshot: Snapshot
    index: KeywordIndex
    sought: Sought
    now_ns: int

    def agent(self, match: Match) -> Reply:
        file, record = require_record(self.snapshot, match.id)
        row = short_row(file, record, now_ns=self.now_ns)
        row["snippet"] = self._snippet(match, file, record, self.store.body(file), AGENT_UNITS).text
        add_common(row, record)
        if match.via is not None:
            row["via"] = {"id": match.via, "revision": self.snapshot.eligible[match.via].revision}
        return row

    def full(self, match: Match) -> Reply:
        file, record = require_record(self.snapshot, match.id)
        body = self.store.body(file)
        snippet = self._snippet(match, file, record, body, FULL_UNITS)
        row = full_row(self.snapshot, file, record, body, now_ns=self.now_ns)
        row["score"] = match.score
        row["matches"] = ["superseded"] if match.via is not None else [_FIELDS[n] for n in sorted(match.columns)]
        row["snippet"] = snippet.to_json()
        if snippet.start_line is not None:
            row["citation"] = {
                "id": record.id,
                "path": file.path,
                "revision": record.revision,
                "hash": file.hash,
                "startLine": snippet.start_line,
                "endLine": snippet.end_line,
            }
        add_common(row, record)
        if match.via is not None:
            earlier_file, earlier = require_record(self.snapshot, match.via)
            row["via"] = {
                "id": earlier.id,
                "revision": earlier.revision,
                "title": earlier.title,
                "path": earlier_file.path,
                "hash": earlier_file.hash,
            }
        return row

    def _snippet(self, match: Match, file: RecordFile, record: Record, body: str, units: int) -> Snippet:
        """Return the body's match, else an alias, else the title (contract 3, point 5)."""
        start = opening("body", body, units, file.body_line) if body.strip() else opening("title", record.title, units)
        if match.via is not None:
            return start
        if 2 in match.columns:
            if file.body_bytes > LOCATED_BYTES:
                return start
            found = locate("body", body, self.sought, units, words_of=self.index.words.of, body_line=file.body_line)
            if found is not None:
                return found
        if 1 in match.columns:
            for alias in record.aliases:
                found = locate("aliases", alias, self.sought, units, words_of=self.index.words.of)
                if found is not None:
                    return found
        return locate("title", record.title, self.sought, units, words_of=self.index.words.of) or start
