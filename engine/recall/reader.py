"""Reads messages in full: the exchange around a hit, and whole sessions page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.core import when
from engine.core.errors import NotFound
from engine.core.models.sessions import MessageView, Position, Reading
from engine.recall.markdown import session_markdown
from engine.recall.sessions import session_row
from engine.store import named, reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from engine.core.models.kinds import Role
    from engine.recall.raw import RawReader
    from engine.store.connection import Connection
    from engine.store.reading import MessageRow

_SIDECHAIN_NOTE = "The message was said to or by a sub-agent; its neighbours are of the same sub-agent."

SHORT_SESSION_ID = 8
"""Digits of a session's id that people and lists shorten it to."""
RECORD_PREFIX = "k_"
"""Of the ids of Knowledge's records."""


class Reader:
    """Reads messages over a connection that the caller lends.

    Args:
        raw: Re-reads lines.
        zone: Of timestamps.
    """

    def __init__(self, raw: RawReader, zone: ZoneInfo) -> None:
        self._raw = raw
        self._zone = zone

    def message_number(self, connection: Connection, identity: str) -> int:
        """Return the number of the message that a chunk_id or message uuid names.

        Raises:
            NotFound: Nothing has this id.
        """
        number = named.message_named(connection, identity.strip())
        if number is None:
            raise _no_message(connection, identity)
        return number

    def context(self, connection: Connection, identities: Sequence[str], *, before: int, after: int) -> Reading:
        """Return messages with their neighbours in their sessions; what several ids share is told once.

        Raises:
            NotFound: An id names nothing.
        """
        asked = [self.message_number(connection, each) for each in identities]
        rows = reading.messages(connection, asked)
        # Forks and resumes share messages: each is told once, and one that was asked for in its own session.
        told: set[int] = set()
        sessions: dict[int, list[MessageRow]] = {}
        for row in rows:
            sessions.setdefault(row.session, []).append(row)
        views: list[MessageView] = []
        position: Position | None = None
        for session, members in sessions.items():
            side = any(row.is_sidechain for row in members)
            order = reading.session_messages(connection, session, sidechains=side)
            places = {number: index for index, number in enumerate(order)}
            wanted: set[int] = set()
            for row in members:
                at = places.get(row.id)
                if at is not None:
                    wanted.update(range(max(0, at - before), min(len(order), at + after + 1)))
            indexes = sorted(wanted)
            if position is None and indexes:
                position = Position(index=indexes[0], of=len(order))
            agents = {row.agent for row in members}
            own = {row.id for row in members}
            left = told | (set(asked) - own)
            shown = reading.messages(connection, [order[index] for index in indexes if order[index] not in left])
            if side and not any(not row.is_sidechain for row in members):
                shown = tuple(row for row in shown if row.agent in agents)
            told.update(row.id for row in shown)
            views += self._views(connection, shown, own)
        infos = reading.sessions_by_id(connection, sessions)
        first, *others = [session_row(infos[number], self._zone) for number in sessions]
        return Reading(
            messages=tuple(views),
            session=first,
            position=position or Position(index=0, of=len(views)),
            note=_SIDECHAIN_NOTE if any(row.is_sidechain for row in rows) else None,
            other_sessions=tuple(others) or None,
        )

    def session(
        self,
        connection: Connection,
        session: int,
        *,
        offset: int,
        limit: int,
        roles: frozenset[Role] | None,
        sidechains: bool,
    ) -> Reading:
        """Return one page of a session, in the order it was recorded."""
        order = reading.session_messages(connection, session, sidechains=sidechains)
        if roles is not None:
            order = reading.with_roles(connection, order, roles)
        page = order[offset : offset + limit]
        views = self._views(connection, reading.messages(connection, page), set())
        info = reading.sessions_by_id(connection, [session])[session]
        following = offset + limit
        return Reading(
            messages=tuple(views),
            session=session_row(info, self._zone),
            position=Position(index=min(offset, len(order)), of=len(order)),
            next_offset=following if following < len(order) else None,
        )

    def exchange(self, connection: Connection, message_uuid: str) -> tuple[MessageView, ...]:
        """Return the whole exchange a message belongs to: the prompt and all that answers it, without sub-agents."""
        number = self.message_number(connection, message_uuid)
        members = reading.exchange_messages(connection, number)
        return tuple(self._views(connection, reading.messages(connection, members), {number}))

    def export(self, connection: Connection, session: int, form: str) -> tuple[str, int]:
        """Return a whole session as one text: `markdown` to read, `jsonl` as Claude Code wrote it.

        Sub-agents are in the JSON lines and left out of the Markdown, as in the session itself.

        Returns:
            The text, and of how many messages no line as it was written is left (`jsonl`).

        Raises:
            NotFound: The index has nothing of it (it was pruned), or no line as it was written is left.
        """
        info = reading.sessions_by_id(connection, [session])[session]
        order = reading.session_messages(connection, session, sidechains=form == "jsonl")
        rows = reading.messages(connection, order)
        if not rows:
            raise NotFound(
                f"The index has nothing of session {info.session_id}",
                "It was pruned, or nobody said anything in it.",
                f"`backscroll restore {info.session_id} --to DIR` writes back what disk or archive still have.",
            )
        if form == "jsonl":
            read = [self._raw.line(row) for row in rows]
            lines = [each[1].decode("utf-8", "replace") for each in read if each is not None]
            if not lines:
                raise NotFound(
                    f"No line of session {info.session_id} is left",
                    "Its transcript is gone and was not archived.",
                    f"`backscroll export {info.session_id} --format markdown` shows what the index kept.",
                )
            return "".join(f"{line}\n" for line in dict.fromkeys(lines)), read.count(None)
        return session_markdown(session_row(info, self._zone), self._views(connection, rows, set())), 0

    def _views(self, connection: Connection, rows: Sequence[MessageRow], asked: set[int]) -> list[MessageView]:
        views: list[MessageView] = []
        agents = reading.agents(connection, [row.session for row in rows if row.agent is not None])
        for row in rows:
            source, blocks = self._raw.blocks(connection, row)
            view = MessageView(
                message_uuid=row.uuid,
                session_id=row.session_id,
                timestamp=when.iso(row.time_ms, self._zone),
                role=row.role,
                is_sidechain=row.is_sidechain,
                model=row.model,
                agent=None if row.agent is None else agents.get((row.session, row.agent), row.agent),
                source=source,
                blocks=blocks,
                removed=True if row.removed else None,
            )
            views.append(replace(view, in_hit=True) if row.id in asked else view)
        return views


def _no_message(connection: Connection, identity: str) -> NotFound:
    title = f"There is no message or chunk {identity[:60]!r}"
    sessions = named.find_sessions(connection, identity.strip(), 1) if len(identity) >= SHORT_SESSION_ID else ()
    if sessions:
        return NotFound(title, "It is the id of a session.", "get_session reads a session.")
    if identity.startswith(RECORD_PREFIX):
        return NotFound(title, "It looks like the id of a record.", "knowledge_record reads a record.")
    return NotFound(
        title,
        "The id is misspelt or cut short, or the message was pruned.",
        "Take chunk_id or message_uuid from a hit of hybrid_search or keyword_search.",
    )
