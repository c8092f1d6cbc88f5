"""Answers a search: resolves its filters, ranks, corrects typos, makes the page of hits and says what it left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.core.models import IndexShare, SearchMode, SearchReply
from engine.search import fuzzy, scope
from engine.search.hits import make_hits
from engine.search.query import Query, read_query
from engine.search.ranking import Ranking, RankingMemory, best_of_exchanges, rank
from engine.store import coverage, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    from engine.core.clock import Clock
    from engine.core.models import Caller, SearchRequest
    from engine.search.scope import InView, Scope
    from engine.store.connection import Connection

MAX_LIMIT = 500
"""More hits than anybody reads; a larger limit is answered as this and said in `limit_applied`."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A ranking with what belongs to it on every page."""

    ranking: Ranking
    query: Query
    corrected: bool
    low_signal: int
    in_view: int


class Searcher:
    """Searches over a read-only connection that the caller lends.

    Args:
        zone: Days and timestamps.
        clock: Now.
        apart: `privacy.projects_apart`.
        files_pending: How many transcripts still wait to be read.
    """

    def __init__(
        self, *, zone: ZoneInfo, clock: Clock, apart: tuple[str, ...], files_pending: Callable[[], int]
    ) -> None:
        self._zone = zone
        self._clock = clock
        self._apart = apart
        self._files_pending = files_pending
        self._memory = RankingMemory(clock)

    def search(
        self, connection: Connection, request: SearchRequest, caller: Caller, in_view: InView | None
    ) -> SearchReply:
        """Return one page of hits.

        Raises:
            InvalidArgument: A filter that is not understood.
            NotFound: A session that does not exist.
            Ambiguous: A session prefix that fits several.
        """
        where = scope.resolve(
            connection,
            request.filters,
            caller,
            zone=self._zone,
            now_s=self._clock.now(),
            apart=self._apart,
            in_view=in_view,
        )
        query = read_query(request.query, prefix_last=request.prefix_last)
        answer = self._answer(connection, request, query, where)
        limit = min(request.limit, MAX_LIMIT)
        ranking = answer.ranking
        page = range(request.offset, min(len(ranking), request.offset + limit))
        hits = make_hits(connection, [ranking.entry(index) for index in page], answer.query, self._zone)
        following = request.offset + limit
        projects = None
        if not len(ranking) and request.filters.project is not None and query.terms:
            everywhere = replace(where.chunks, folders=None)
            projects = words.projects_with(connection, answer.query.strict, everywhere, 3) or None
        chunks = coverage.chunk_count(connection)
        return SearchReply(
            note=self._note(query, answer, where, projects),
            hits=hits,
            total=len(ranking),
            next_offset=following if following < len(ranking) else None,
            mode=SearchMode(requested=request.mode, realised="keyword"),
            coverage=IndexShare(chunks=chunks, embedded=0, percent=0.0 if chunks else 100.0),
            range=where.range,
            excluded=answer.in_view or None,
            corrected_query=answer.query.text if answer.corrected else None,
            low_signal_matches=answer.low_signal or None,
            limit_applied=MAX_LIMIT if request.limit > MAX_LIMIT else None,
            projects=projects,
        )

    def _answer(self, connection: Connection, request: SearchRequest, query: Query, where: Scope) -> _Answer:
        # Not the resolved span: "24h" begins later on page two.
        key = (
            query, request.filters, request.fuzzy_fallback, request.group, where.chunks.folders,
            where.chunks.hidden_folders, where.chunks.in_view_session,
        )  # fmt: skip
        if request.offset:
            kept = self._memory.get(key)
            if kept is not None and isinstance(kept.extra, _Answer):
                return kept.extra
        answer = self._strict(connection, query, where, request.group, corrected=False)
        if not len(answer.ranking) and not answer.low_signal and not answer.in_view and request.fuzzy_fallback:
            other = fuzzy.corrected(connection, query)
            if other is not None:
                second = self._strict(connection, other, where, request.group, corrected=True)
                if len(second.ranking) or second.low_signal:
                    answer = second
        self._memory.put(key, answer.ranking, answer)
        return answer

    def _strict(
        self, connection: Connection, query: Query, where: Scope, group: str | None, *, corrected: bool
    ) -> _Answer:
        if not query.terms or where.no_such_project:
            return _Answer(rank((), 0), query, corrected, 0, 0)
        matches = words.ranked(connection, query.strict, where.chunks)
        order = best_of_exchanges if group == "exchange" else rank
        ranking = order(matches, int(self._clock.now() * 1000))
        hidden = words.hidden(connection, query.strict, where.chunks)
        return _Answer(ranking, query, corrected, hidden.low_signal, hidden.in_view)

    def _note(self, query: Query, answer: _Answer, where: Scope, projects: tuple[str, ...] | None) -> str | None:
        if not query.terms:
            return "The query holds no word that can be searched; use letters, digits or a file name."
        parts: list[str] = []
        if answer.corrected:
            parts.append("Nothing matched as typed; these hits are for corrected_query.")
        if query.ignored:
            parts.append(f"Only the first {len(query.terms)} words were searched.")
        if not len(answer.ranking):
            parts.append(_why_empty(query, answer, where, projects))
        pending = self._files_pending()
        if pending:
            parts.append(f"{pending} transcripts are still being read; an answer may be missing.")
        return " ".join(part for part in parts if part) or None


def _why_empty(query: Query, answer: _Answer, where: Scope, projects: tuple[str, ...] | None) -> str:
    if where.no_such_project:
        return "No project matches the project filter; list_sessions shows the projects."
    if projects:
        return "Nothing in this project; `projects` names where the words do occur."
    if answer.low_signal:
        return "Only low-signal text (tool output, injected text) matches: set include_low_signal."
    if answer.in_view:
        return "Only your present session matches: set include_current to see it."
    return "No chunk holds all of these words; try fewer or other words." if len(query.terms) > 1 else ""
