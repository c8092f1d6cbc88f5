"""One search as the front door answers it: hits, whole exchanges, records beside them, less what is in view."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from engine.core.errors import EngineError
from engine.recall.current import current_session
from engine.search import scope
from engine.search.scope import InView
from engine.store import files, reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.core.models.asking import Caller, SearchFilters, SearchRequest
    from engine.core.models.hits import SearchReply
    from engine.knowledge.service import KnowledgeService
    from engine.recall.reader import Reader
    from engine.search.searcher import Searcher
    from engine.store.connection import Connection
    from engine.store.files import TranscriptPlace

KNOWLEDGE_HITS = 3
"""Records beside the hits of a hybrid search (interface.md): what was decided outranks what was only said."""

_KNOWLEDGE_HIT = ("id", "kind", "title", "snippet", "revision")
_UNDECIDED = "It could not be told which session asks, so nothing was left out."
_NEWEST = 8
"""Transcripts among which the asking session is looked for: it is being written at this moment."""


class Searching:
    """Answers searches.

    Args:
        searcher: Finds hits.
        reader: Reads the exchange around one.
        knowledge: Has records.
    """

    def __init__(self, searcher: Searcher, reader: Reader, knowledge: KnowledgeService) -> None:
        self._searcher = searcher
        self._reader = reader
        self._knowledge = knowledge

    def search(
        self,
        connection: Connection,
        request: SearchRequest,
        caller: Caller,
        asked: tuple[str, Mapping[str, Any]] | None,
    ) -> SearchReply:
        """Return one page of hits.

        Raises:
            EngineError: A filter that is not understood, a session that does not exist, a database that cannot be read.
        """
        in_view, undecided = _in_view(connection, request.filters, caller, asked)
        reply = self._searcher.search(connection, request, caller, in_view)
        if request.read:
            hits = list(reply.hits)
            for index, hit in enumerate(hits[: request.read]):
                hits[index] = replace(hit, messages=self._reader.exchange(connection, hit.message_uuid))
            reply = replace(reply, hits=tuple(hits))
        return _with_note(reply, _UNDECIDED) if undecided else reply

    def with_records(self, reply: SearchReply, request: SearchRequest) -> SearchReply:
        """Return the reply with the records that match best beside its first page; a hybrid search has them."""
        if request.mode != "hybrid" or request.offset or not self._knowledge.exists():
            return reply
        try:
            found = self._knowledge.call("knowledge_grep", {"query": request.query, "limit": KNOWLEDGE_HITS})
        except EngineError as error:
            # Its own tools explain; a search of sessions must not fail over a record that cannot be read.
            return _with_note(reply, f"Knowledge was not searched: {error.title}.")
        rows = cast("list[dict[str, Any]]", found["rows"])
        records = tuple({key: row[key] for key in _KNOWLEDGE_HIT if key in row} for row in rows)
        return replace(reply, knowledge_hits=records or None)


def asking_session(connection: Connection, method: str, arguments: Mapping[str, Any], caller: Caller) -> str | None:
    """Return the session a call comes from; the environment's word where no transcript holds the call yet."""
    places = _places(connection, caller)
    session = current_session(places, method, arguments, caller.session_id) if places else None
    return next((each.session_id for each in places if each.session == session), caller.session_id)


def _in_view(
    connection: Connection, filters: SearchFilters, caller: Caller, asked: tuple[str, Mapping[str, Any]] | None
) -> tuple[InView | None, bool]:
    """Return what the caller still has before its eyes, and whether that should have been told but could not."""
    if asked is None or not caller.is_model or (filters.include_current and filters.session != "current"):
        return None, False
    places = _places(connection, caller)
    session = current_session(places, *asked, caller.session_id) if places else None
    if session is None:
        # A client that is no Claude Code has no transcript here, so there is nothing to be undecided about.
        return None, bool(places)
    return InView(session, reading.last_summary(connection, session)), False


def _places(connection: Connection, caller: Caller) -> tuple[TranscriptPlace, ...]:
    here = scope.folders_here(connection, caller)
    return files.newest_transcripts(connection, here, _NEWEST) if here else ()


def _with_note(reply: SearchReply, note: str) -> SearchReply:
    return replace(reply, note=f"{reply.note} {note}" if reply.note else note)
