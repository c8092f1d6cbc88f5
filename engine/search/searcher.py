"""Answers a search: resolves its filters, ranks, corrects typos, makes the page of hits and says what it left out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.arguments import LIMIT_CAP
from engine.core.models.hits import IndexShare, SearchMode, SearchReply
from engine.search import fuzzy, keyword, meaning, scope
from engine.search.hits import make_hits
from engine.search.query import MAX_TERMS, Query, read_query
from engine.search.ranking import Ranking, RankingMemory, rank
from engine.search.share import ShareMemory
from engine.store import words
from engine.store.vectors import MAX_CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    from engine.core.clock import Clock
    from engine.core.models.asking import Caller, Mode, SearchRequest
    from engine.search.scope import InView, Scope
    from engine.search.semantic import SemanticLeg
    from engine.store.connection import Connection


@dataclass(frozen=True, slots=True)
class _Answer:
    """A ranking with what belongs to it on every page."""

    ranking: Ranking
    query: Query
    corrected: bool
    low_signal: int
    in_view: int
    realised: Mode = "keyword"
    reason: str | None = None
    passages: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """Where the snippets of hits found by their meaning are taken from."""
    may_go_on: bool = False
    """Further pages need a longer ranking."""
    ends: bool = False
    """Paging ends before the matches do."""
    total: int | None = None
    """Where the ranking holds the first places only."""
    newest_only: bool = False
    """Nearly every chunk matches: only the newest were looked at."""


@dataclass(frozen=True, slots=True)
class _Unseen:
    """What an empty answer did not look at and would have found."""

    projects: tuple[str, ...] | None = None
    """Outside of the project that was asked for."""
    by_agents: bool = False
    all_of_it: bool = False
    """There is no history yet."""


def _unseen(connection: Connection, query: Query, where: Scope, chunks: int) -> _Unseen:
    if not chunks:
        return _Unseen(all_of_it=True)
    projects: tuple[str, ...] = ()
    if where.chunks.folders is not None:
        projects = words.projects_with(connection, query.strict, replace(where.chunks, folders=None), 3)
    beside = replace(where.chunks, sidechains=True)
    by_agents = not where.chunks.sidechains and bool(words.projects_with(connection, query.strict, beside, 1))
    return _Unseen(projects or None, by_agents)


class Searcher:
    """Searches over a read-only connection that the caller lends.

    Args:
        zone: Days and timestamps.
        clock: Now.
        apart: `privacy.projects_apart`.
        files_pending: How many transcripts still wait to be read.
        leg: Search by meaning.
    """

    def __init__(
        self,
        *,
        zone: ZoneInfo,
        clock: Clock,
        apart: tuple[str, ...],
        files_pending: Callable[[], int],
        leg: SemanticLeg,
    ) -> None:
        self._zone = zone
        self._clock = clock
        self._apart = apart
        self._files_pending = files_pending
        self._leg = leg
        self._memory = RankingMemory(clock)
        self._share = ShareMemory(clock)

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
        limit = min(request.limit, LIMIT_CAP)
        ranking = answer.ranking
        page = range(request.offset, min(len(ranking), request.offset + limit))
        entries = [ranking.entry(index) for index in page]
        hits = make_hits(connection, entries, answer.query, self._zone, answer.passages)
        following = request.offset + limit
        chunks, embedded, percent = self._share.share(connection)
        unseen = _Unseen() if len(ranking) or not query.terms else _unseen(connection, answer.query, where, chunks)
        return SearchReply(
            note=self._note(query, answer, where, unseen),
            hits=hits,
            total=len(ranking) if answer.total is None else answer.total,
            next_offset=following if following < len(ranking) or answer.may_go_on else None,
            mode=SearchMode(requested=request.mode, realised=answer.realised, reason=answer.reason),
            coverage=IndexShare(chunks=chunks, embedded=embedded, percent=percent),
            range=where.range,
            excluded=answer.in_view or None,
            corrected_query=answer.query.text if answer.corrected else None,
            low_signal_matches=answer.low_signal or None,
            limit_applied=LIMIT_CAP if request.limit > LIMIT_CAP else None,
            projects=unseen.projects,
            total_is="candidates" if request.mode != "keyword" else "newest" if answer.newest_only else None,
        )

    def _answer(self, connection: Connection, request: SearchRequest, query: Query, where: Scope) -> _Answer:
        # Not the resolved span: "24h" begins later on page two.
        key = (
            request.mode, query, request.filters, request.fuzzy_fallback, request.group, request.rerank,
            where.chunks.folders,
            where.chunks.hidden_folders, where.chunks.in_view_session,
        )  # fmt: skip
        kept = self._memory.get(key)
        before = kept.extra if kept is not None and isinstance(kept.extra, _Answer) else None
        if request.offset and before is not None and _reaches(before, request):
            return before
        if request.mode != "keyword":
            answer = self._by_meaning(connection, request, query, where)
            self._memory.put(key, answer.ranking, answer)
            return answer
        wanted = request.offset + min(request.limit, LIMIT_CAP)
        answer = self._strict(connection, query, where, request.group, wanted)
        if not len(answer.ranking) and not answer.low_signal and not answer.in_view and request.fuzzy_fallback:
            other = fuzzy.corrected(connection, query)
            if other is not None:
                second = self._strict(connection, other, where, request.group, wanted)
                if len(second.ranking) or second.low_signal:
                    answer = replace(second, corrected=True)
        if before is not None and answer.query == before.query and request.group is None:
            again = keyword.continued if request.offset else keyword.as_before
            answer = replace(answer, ranking=again(before.ranking, answer.ranking))
        self._memory.put(key, answer.ranking, answer)
        return answer

    def _by_meaning(self, connection: Connection, request: SearchRequest, query: Query, where: Scope) -> _Answer:
        if not query.terms or where.no_such_project:
            return _Answer(rank((), 0), query, False, 0, 0)
        chunks, _, percent = self._share.share(connection)
        found = meaning.answer(
            connection,
            request,
            query,
            where,
            self._leg,
            now_ms=int(self._clock.now() * 1000),
            chunks=chunks,
            percent=percent,
        )
        hidden = keyword.hidden(connection, found.query, where)
        return _Answer(
            found.ranking,
            found.query,
            found.corrected,
            hidden.low_signal,
            hidden.in_view,
            found.realised,
            found.reason,
            found.passages,
            found.may_go_on,
            found.ends,
        )

    def _strict(self, connection: Connection, query: Query, where: Scope, group: str | None, wanted: int) -> _Answer:
        if not query.terms or where.no_such_project:
            return _Answer(rank((), 0), query, False, 0, 0)
        found = keyword.search(
            connection, query, where, now_ms=int(self._clock.now() * 1000), wanted=wanted, group=group
        )
        return _Answer(
            found.ranking,
            query,
            False,
            found.low_signal,
            found.in_view,
            may_go_on=found.total > len(found.ranking),
            total=found.total,
            newest_only=found.newest_only,
        )

    def _note(self, query: Query, answer: _Answer, where: Scope, unseen: _Unseen) -> str | None:
        if not query.terms:
            return "The query holds no word that can be searched; use letters, digits or a file name."
        parts: list[str] = []
        if answer.corrected and not len(answer.ranking):
            parts.append("Nothing matched, neither as typed nor for corrected_query.")
        elif answer.corrected and answer.passages:
            parts.append("A word that stands nowhere was corrected; these hits are for corrected_query.")
        elif answer.corrected:
            parts.append("Nothing matched as typed; these hits are for corrected_query.")
        if answer.ends:
            parts.append(f"Search by meaning ranks the nearest {MAX_CANDIDATES:,} passages; use filters to go on.")
        if answer.newest_only:
            parts.append(
                f"Nearly everything matches: only the newest {answer.total or 0:,} matches were ranked; add words."
            )
        if query.ignored:
            parts.append(
                f"Of a long question the first {MAX_TERMS} words are searched; {query.ignored:,} were left out."
            )
        if not len(answer.ranking):
            parts.append(_why_empty(query, answer, where, unseen))
        pending = self._files_pending()
        if pending:
            parts.append(f"{pending} transcripts are still being read; an answer may be missing.")
        return " ".join(part for part in parts if part) or None


def _reaches(answer: _Answer, request: SearchRequest) -> bool:
    return not answer.may_go_on or request.offset + request.limit <= len(answer.ranking)


def _why_empty(query: Query, answer: _Answer, where: Scope, unseen: _Unseen) -> str:
    words = "all of these words" if len(query.terms) > 1 else "this word"
    shown = "`projects` names where the words do occur." if unseen.projects else "list_sessions shows the projects."
    reasons = (
        (unseen.all_of_it, "Nothing is indexed yet; status says whether transcripts are being read."),
        (where.no_such_project, f"No project matches the project filter; {shown}"),
        (where.chunks.tools == (), "No tool of this name was ever used; a hit names its tool as it is called."),
        (unseen.projects, "Nothing in this project; `projects` names where the words do occur."),
        (answer.low_signal, "Only low-signal text (tool output, injected text) matches: set include_low_signal."),
        (answer.in_view, "Only your present session matches: set include_current to see it."),
        (unseen.by_agents, "Only what sub-agents said matches: set include_sidechains."),
        (where.is_narrowed, f"Nothing that the filters let through holds {words}; call again without them."),
        (True, f"No chunk holds {words}; try {'fewer or ' if len(query.terms) > 1 else ''}other words."),
    )
    return next(sentence for holds, sentence in reasons if holds)
