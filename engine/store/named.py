"""What an id that somebody sends names: a session, also by its beginning, or a message, also by one of its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.errors import NotFound
from engine.core.ids import message_key, parse_chunk_id
from engine.store.connection import one_row

if TYPE_CHECKING:
    import apsw


def find_sessions(connection: apsw.Connection, prefix: str, limit: int = 6) -> tuple[tuple[int, str], ...]:
    """Return (number, session id) of the sessions whose id begins with a prefix, whatever its case."""
    lowered = prefix.lower()
    return tuple(
        (row[0], row[1])
        for row in connection.execute(
            "SELECT id, session_id FROM sessions WHERE lower(substr(session_id, 1, ?)) = ? ORDER BY session_id LIMIT ?",
            (len(lowered), lowered, limit),
        )
    )


def message_named(connection: apsw.Connection, name: str) -> int | None:
    """Return the number of the message that a uuid or a chunk id names, None when they name nothing."""
    found = message_by_uuid(connection, name)
    if found is not None:
        return found
    try:
        key, _ = parse_chunk_id(name)
    except NotFound:
        return None
    return message_by_key(connection, key)


def message_by_uuid(connection: apsw.Connection, uuid: str) -> int | None:
    """Return the number of the message with this uuid, also when it is a copy's."""
    return message_by_key(connection, message_key(uuid))


def message_by_key(connection: apsw.Connection, key: int) -> int | None:
    """Return the number of the message with this key, also when it is a copy's."""
    row = (
        connection.execute("SELECT id FROM messages WHERE key = ?", (key,)).fetchone()
        or connection.execute("SELECT message_id FROM copies WHERE key = ? LIMIT 1", (key,)).fetchone()
    )
    return None if row is None else int(row[0])


def session_of(connection: apsw.Connection, message: int) -> str:
    """Return the id of the session a message was said in."""
    row = one_row(
        connection,
        "SELECT s.session_id FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?",
        (message,),
    )
    return str(row[0])


def all_sessions(connection: apsw.Connection) -> tuple[tuple[int, str], ...]:
    """Return (number, session id) of every session, those that are being forgotten left out."""
    return tuple((each[0], each[1]) for each in connection.execute("SELECT id, session_id FROM sessions WHERE id > 0"))
