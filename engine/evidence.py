"""Finds what was said in sessions as evidence for Knowledge: joins what was decided to where it was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core import when
from engine.core.errors import NotFound
from engine.core.models.kinds import Kind
from engine.knowledge.transcripts import TranscriptMessage
from engine.search import scope
from engine.search.query import read_query
from engine.store import named, reading, words
from engine.store import names as store_names
from engine.store.filters import ChunkFilter
from engine.transcripts.signals import is_own_tool

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from engine.recall.raw import RawReader
    from engine.store.connection import Connection, ReaderPool

MAX_CANDIDATES = 200
"""Messages whose full text is compared with a quote, newest first: a quote this common tells nothing apart."""


class SessionEvidence:
    """The transcripts as Knowledge asks them (`engine.knowledge.transcripts.TranscriptSource`).

    Args:
        readers: Read-only connections.
        raw: Re-reads whole messages.
        zone: Of timestamps.
    """

    def __init__(self, readers: ReaderPool, raw: RawReader, zone: ZoneInfo) -> None:
        self._readers = readers
        self._raw = raw
        self._zone = zone

    def message(self, session_id: str, message_uuid: str) -> TranscriptMessage | None:
        """Return a message of a session, None when no copy of it is left."""
        with self._readers.connection() as connection:
            number = named.message_by_uuid(connection, message_uuid)
            if number is None:
                return None
            found = self._read(connection, number)
            if found is None:
                return None
            held = (found.session_id, *reading.other_sessions(connection, [number]).get(number, ()))
            return found if session_id in held else None

    def find_quote(
        self, quote: str, *, session_id: str | None, message_uuid: str | None, limit: int
    ) -> tuple[TranscriptMessage, ...]:
        """Return the messages whose text holds a quote, newest first; runs of blanks count as one."""
        wanted = _flat(quote)
        if not wanted:
            return ()
        with self._readers.connection() as connection:
            found: list[TranscriptMessage] = []
            for number in self._candidates(connection, wanted, session_id, message_uuid):
                message = self._read(connection, number)
                if message is not None and wanted in _flat(message.text):
                    found.append(message)
                    if len(found) == limit:
                        break
            return tuple(found)

    def _candidates(
        self, connection: Connection, quote: str, session_id: str | None, message_uuid: str | None
    ) -> list[int]:
        if message_uuid is not None:
            number = named.message_by_uuid(connection, message_uuid)
            return [] if number is None else [number]
        session = None
        if session_id is not None:
            try:
                session = scope.session_number(connection, session_id)
            except NotFound:
                return []
        query = read_query('"' + quote.replace('"', " ")[:2_000] + '"')
        if not query.terms:
            return []
        own = tuple(number for number, name in store_names.tool_names(connection) if is_own_tool(name))
        everything = ChunkFilter(
            span=when.TimeSpan(), session=session, hidden_tools=own, low_signal=True, sidechains=True
        )
        matches = sorted(
            words.ranked(connection, query.strict, everything), key=lambda each: each.time_ms or 0, reverse=True
        )
        return list(dict.fromkeys(each.message for each in matches))[:MAX_CANDIDATES]

    def _read(self, connection: Connection, number: int) -> TranscriptMessage | None:
        rows = reading.messages(connection, [number])
        if not rows:
            return None
        row = rows[0]
        _, blocks = self._raw.blocks(connection, row)
        texts = [block.text for block in blocks if block.text and block.kind != Kind.IMAGE]
        if not texts:
            return None
        return TranscriptMessage(
            session_id=row.session_id,
            message_uuid=row.uuid,
            timestamp=when.iso(row.time_ms, self._zone) or "",
            role=row.role,
            text="\n\n".join(texts),
        )


def _flat(text: str) -> str:
    return " ".join(text.split())
