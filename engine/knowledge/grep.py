"""`knowledge_grep`: ranked keyword search over exactly the records the filters leave, earlier wordings included."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.errors import EmptyQuery, TooManyTokens
from engine.knowledge.filters import GREP_UNITS, check_length, filter_of
from engine.knowledge.hits import add_common, full_row, require_record, short_row
from engine.knowledge.replies import BUDGET_BYTES, Reply, coverage, freshness, page
from engine.knowledge.scoring import Scored, rank
from engine.knowledge.snippets import (
    AGENT_UNITS,
    FULL_UNITS,
    LOCATED_BYTES,
    Snippet,
    Sought,
    locate,
    opening,
)
from engine.store.knowledge_index import IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.knowledge.filters import RecordFilter
    from engine.knowledge.queries import GrepQuery
    from engine.knowledge.records import Record, RecordFile
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore
    from engine.store.knowledge_index import IndexedRow, KeywordIndex, Projection

logger = logging.getLogger(__name__)

MAX_TOKENS = 64
MAX_OFFSET = 500
_FIELDS = ("title", "aliases", "body")


@dataclass(frozen=True, slots=True)
class Match:
    """One record found, by its own text or by an earlier wording of it."""

    id: str
    score: float | None
    """None for a replacement: scores of different corpora are not comparable."""
    columns: frozenset[int] = frozenset()
    via: str | None = None
    """The superseded record whose wording matched (R47)."""


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
        matches = _find(index, snapshot, wanted, words, query)
    except IndexUnavailable:
        logger.exception("Keyword search of Knowledge is unavailable")
        return _unavailable(snapshot, query, now)
    shown = matches[query.offset : query.offset + query.limit]
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
    page(reply, rows, offset=query.offset, total=len(matches), budget=budget)
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


def _find(
    index: KeywordIndex,
    snapshot: Snapshot,
    wanted: RecordFilter,
    words: Sequence[str],
    query: GrepQuery,
) -> list[Match]:
    """Return all matches in order: direct ones by score, then replacements by the earlier record's score."""
    allowed = [name for name, record in snapshot.eligible.items() if wanted.passes(record)]
    scored = _rank(index, "current", words, query, allowed)
    direct = [Match(name, hit.score, hit.columns) for name, hit in scored.items()]
    if query.min_score is not None:
        direct = [match for match in direct if match.score is not None and match.score >= query.min_score]
    direct.sort(key=lambda match: (-(match.score or 0.0), match.id))
    if query.lifecycle != "active" or query.min_score is not None:
        return direct
    visible = set(allowed)
    earlier = [name for name, end in snapshot.replacements.items() if end in visible]
    return direct + _replacements(_rank(index, "earlier", words, query, earlier), snapshot, set(scored))


def _replacements(earlier: dict[str, Scored], snapshot: Snapshot, direct: set[str]) -> list[Match]:
    """Return current records found through earlier wordings, each once, via the best ranked one (R52 to R54)."""
    found: dict[str, Match] = {}
    for name, _ in sorted(earlier.items(), key=lambda item: (-item[1].score, item[0])):
        end = snapshot.replacements[name]
        if end not in direct and end not in found:
            found[end] = Match(end, None, via=name)
    return list(found.values())


def _rank(
    index: KeywordIndex,
    projection: Projection,
    words: Sequence[str],
    query: GrepQuery,
    allowed: Iterable[str],
) -> dict[str, Scored]:
    rows: dict[str, IndexedRow] = index.rows(projection)
    names = {rows[name].rowid: name for name in allowed if name in rows}
    sizes = {rowid: rows[name].tokens for rowid, name in names.items()}
    scored = rank(
        words,
        query.mode,
        sizes,
        lambda word: index.postings(projection, word),
        lambda rowid: rows[names[rowid]].alias_ends,
    )
    return {names[rowid]: hit for rowid, hit in scored.items()}


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
            found = locate("body", body, self.sought, units, self.index.words.of, file.body_line)
            if found is not None:
                return found
        if 1 in match.columns:
            for alias in record.aliases:
                found = locate("aliases", alias, self.sought, units, self.index.words.of)
                if found is not None:
                    return found
        return locate("title", record.title, self.sought, units, self.index.words.of) or start
