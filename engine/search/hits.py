"""Makes hits of ranked chunks: snippet, exchange, place, further sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core import when
from engine.core.ids import chunk_id
from engine.core.models.hits import Exchange, Hit
from engine.core.models.kinds import Role
from engine.core.repository import relative_cwd
from engine.core.text import shorten
from engine.search.snippets import snippet_of
from engine.store import reading, surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zoneinfo import ZoneInfo

    from engine.search.query import Query
    from engine.search.ranking import Ranked
    from engine.store.connection import Connection
    from engine.store.reading import ChunkRow

EXCHANGE_CHARACTERS = 200


def make_hits(
    connection: Connection,
    ranked: Sequence[Ranked],
    query: Query | None,
    zone: ZoneInfo,
    passages: Mapping[int, tuple[int, int]] | None = None,
) -> tuple[Hit, ...]:
    """Return the hits of ranked chunks, in their order. Chunks deleted meanwhile are missing.

    Args:
        connection: One state of the database.
        ranked: Chunks.
        query: Its words are marked in snippets.
        zone: Of timestamps.
        passages: Stretch of a chunk that the snippet is to be taken from, where one is nearest in meaning.
    """
    rows = reading.chunk_rows(connection, [each.chunk for each in ranked])
    ends = surroundings.exchange_ends(connection, [row.exchange for row in rows.values() if _needs_exchange(row)])
    titles = surroundings.session_titles(connection, [row.session for row in rows.values()])
    also = reading.other_sessions(connection, [row.message for row in rows.values()])
    around = _Around(ends, titles, also, zone, passages or {})
    return tuple(_hit(rows[each.chunk], each, query, around) for each in ranked if each.chunk in rows)


def _needs_exchange(row: ChunkRow) -> bool:
    return row.role != Role.USER


@dataclass(frozen=True, slots=True)
class _Around:
    """What hits are shown with."""

    ends: dict[int, tuple[str | None, str | None]]
    titles: dict[int, str]
    also_in: dict[int, tuple[str, ...]]
    zone: ZoneInfo
    passages: Mapping[int, tuple[int, int]]


def _hit(row: ChunkRow, ranked: Ranked, query: Query | None, around: _Around) -> Hit:
    start, stop = around.passages.get(row.chunk, (0, len(row.text)))
    snippet = snippet_of(row.text[start:stop], query)
    title = around.titles.get(row.session)
    return Hit(
        chunk_id=chunk_id(row.key, row.block),
        message_uuid=row.uuid,
        session_id=row.session_id,
        project=row.project,
        cwd=relative_cwd(row.cwd, row.project),
        timestamp=when.iso(row.time_ms, around.zone),
        role=row.role,
        kind=row.kind,
        signal=row.signal,
        is_sidechain=row.is_sidechain,
        score=ranked.score,
        snippet=snippet.text,
        marks=snippet.marks,
        tool=row.tool,
        session_title=None if title is None else shorten(title, 120),
        on_disk=row.on_disk,
        exchange=_exchange(row, around.ends.get(row.exchange)),
        also_in=around.also_in.get(row.message),
        similar=ranked.similar,
    )


def _exchange(row: ChunkRow, ends: tuple[str | None, str | None] | None) -> Exchange | None:
    if ends is None:
        return None
    prompt, answer = ends
    # The hit itself shows what it is part of: an answer is not repeated beside itself.
    own_answer = row.role == Role.ASSISTANT and row.kind == "text" and answer is not None and answer == row.text
    exchange = Exchange(
        prompt=None if prompt is None else shorten(prompt, EXCHANGE_CHARACTERS),
        answer=None if answer is None or own_answer else shorten(answer, EXCHANGE_CHARACTERS),
    )
    return None if exchange == Exchange() else exchange
