"""Takes sessions out of the tables in steps, so that others read and write between any two. Writer only.

`space` clears what is left of them. A session's row stays as an empty stub, because usage refers to it by number and
numbers are never given out again.

What is forgotten is hidden first, by one small transaction: its row moves to the negative of its number, where nothing
finds it, and no reader shows a message without its session. `meta` remembers it until the last step, also over a kill.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from engine.store.chunks import delete_chunks
from engine.store.rows import number, row, rows
from engine.store.space import note_traces, overwriting

if TYPE_CHECKING:
    import apsw

STEP_MESSAGES: Final = 200
"""Taken out by one step: some 100 ms on a busy machine."""

STEP_COPIES: Final = 2_000
"""Places of other sessions' messages that one step takes out: rows without words and vectors."""

_ALL: Final = 2**63 - 1

_FORGETTING: Final = "forgetting "
"""Begins the key in `meta` of a session that is being forgotten; its value lists the working directories."""


def prune_some(connection: apsw.Connection, session: int, *, up_to: int) -> bool:
    """Take some of a session out, and at last what is left of it; what is said meanwhile stays.

    Args:
        connection: The writer's, inside a transaction.
        session: Its number.
        up_to: Number of the last message that goes.

    Returns:
        Whether there is more.
    """
    note_traces(connection)
    with overwriting(connection):
        if _take_messages(connection, session, up_to):
            return True
        if message_count(connection, session):
            return False
        if _take_copies(connection, session):
            return True
        _finish(connection, session)
        return False


def message_count(connection: apsw.Connection, session: int) -> int:
    """Return how many messages are a session's own."""
    return number(connection, "SELECT count(*) FROM messages WHERE session_id = ?", (session,))


def last_message(connection: apsw.Connection, session: int) -> int:
    """Return the number of a session's last message, 0 when it has none."""
    return number(connection, "SELECT coalesce(max(id), 0) FROM messages WHERE session_id = ?", (session,))


def _take_messages(connection: apsw.Connection, session: int, up_to: int) -> bool:
    """Take some messages out with their words and vectors; those another session holds too become its own."""
    some = rows(
        connection, "SELECT id FROM messages WHERE session_id = ? AND id <= ? LIMIT ?", (session, up_to, STEP_MESSAGES)
    )
    if not some:
        return False
    _hand_over(connection, session, json.dumps([each[0] for each in some]))
    among = "(SELECT value FROM json_each(?1))"
    gone = rows(
        connection,
        f"SELECT id FROM messages WHERE id IN {among} AND session_id = ?2",
        (json.dumps([each[0] for each in some]), session),
    )
    listed = json.dumps([each[0] for each in gone])
    delete_chunks(
        connection,
        [each[0] for each in rows(connection, f"SELECT id FROM chunks WHERE message_id IN {among}", (listed,))],
    )
    connection.execute(
        f"""DELETE FROM summaries WHERE leaf IN (SELECT key FROM messages WHERE id IN {among}
            UNION SELECT key FROM copies WHERE message_id IN {among})""",
        (listed,),
    )
    connection.execute(f"DELETE FROM claims WHERE message_id IN {among}", (listed,))
    connection.execute(f"DELETE FROM copies WHERE message_id IN {among}", (listed,))
    connection.execute(f"DELETE FROM messages WHERE id IN {among}", (listed,))
    return True


def _take_copies(connection: apsw.Connection, session: int) -> bool:
    """Take some places out where a session holds messages of others; False when it holds none."""
    some = rows(
        connection, "SELECT key, file_id, offset, part FROM copies WHERE session_id = ? LIMIT ?", (session, STEP_COPIES)
    )
    connection.executemany("DELETE FROM summaries WHERE leaf = ?", [each[:1] for each in some])
    connection.executemany("DELETE FROM copies WHERE file_id = ? AND offset = ? AND part = ?", [x[1:] for x in some])
    return bool(some)


def _finish(connection: apsw.Connection, session: int) -> None:
    """Take out what is left of a session without messages. The rows of its files stay, with how far they were read."""
    for table in ("file_sessions", "agents"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))
    _empty(connection, session)
    connection.execute("UPDATE sessions SET folder_id = NULL WHERE id = ?", (session,))
    connection.execute("UPDATE files SET session_id = NULL WHERE session_id = ?", (session,))


# Forgetting ---------------------------------------------------------------------------------------------------------


def hide(connection: apsw.Connection, session: int) -> None:
    """Let nobody see a session any more, and remember that it must go. Inside a transaction."""
    name = f"{_FORGETTING}{session}"
    if row(connection, "SELECT 1 FROM meta WHERE name = ?", (name,)) is not None:
        return
    note_traces(connection)
    with overwriting(connection):
        folders = sorted(_folders_of(connection, session))
        connection.execute("INSERT INTO meta VALUES (?, ?)", (name, json.dumps(folders)))
        # The files of a session that was pruned before are nobody's: they are known by their names.
        own = "(SELECT session_id FROM sessions WHERE id = ?1)"
        connection.execute(
            f"""UPDATE files SET session_id = ?1
                WHERE (instr(path, '/' || {own} || '.jsonl') > 0 OR instr(path, '/' || {own} || '/') > 0)
                  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.file_id = files.id AND m.session_id <> ?1)""",
            (session,),
        )
        _empty(connection, session)
        # Numbers follow the greatest there is: this one must not be given out while messages have it.
        connection.execute(
            """INSERT INTO sessions (id, session_id) SELECT ?1 + 1, 'forgotten-' || (?1 + 1)
               WHERE ?1 = (SELECT max(id) FROM sessions)""",
            (session,),
        )
        connection.execute(
            """UPDATE sessions SET id = -id, session_id = 'forgotten-' || id, folder_id = NULL, started_ms = NULL,
               last_ms = NULL WHERE id = ?""",
            (session,),
        )


def being_forgotten(connection: apsw.Connection) -> tuple[int, ...]:
    """Return the sessions that are hidden and not gone yet."""
    found = rows(connection, "SELECT name FROM meta WHERE name GLOB ?", (f"{_FORGETTING}*",))
    return tuple(sorted(int(each[0].removeprefix(_FORGETTING)) for each in found))


def forget_some(connection: apsw.Connection, session: int) -> bool:
    """Take some of a hidden session out, and at last its files and names. Inside a transaction.

    Returns:
        Whether there is more.
    """
    with overwriting(connection):
        if _take_messages(connection, session, _ALL) or _take_copies(connection, session):
            return True
        _finish_forgetting(connection, session)
        return False


def _finish_forgetting(connection: apsw.Connection, session: int) -> None:
    name = f"{_FORGETTING}{session}"
    found = row(connection, "SELECT value FROM meta WHERE name = ?", (name,))
    folders: list[int] = [] if found is None else json.loads(found[0])
    own = "session_id = ?1 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.file_id = files.id)"
    for table in ("problems", "kept_types", "redactions"):
        connection.execute(f"DELETE FROM {table} WHERE file_id IN (SELECT id FROM files WHERE {own})", (session,))
    connection.execute(f"DELETE FROM files WHERE {own}", (session,))
    connection.execute("UPDATE sessions SET id = -id WHERE id = ?", (-session,))
    _finish(connection, session)
    connection.executemany(
        f"DELETE FROM folders WHERE id = ? AND NOT ({_FOLDER_IS_USED})", [(each,) for each in folders]
    )
    connection.execute("DELETE FROM projects WHERE id NOT IN (SELECT project_id FROM folders)")
    connection.execute("DELETE FROM meta WHERE name = ?", (name,))


def _empty(connection: apsw.Connection, session: int) -> None:
    connection.execute(
        """UPDATE sessions SET branch = NULL, version = NULL, custom_title = NULL, ai_title = NULL, last_prompt = NULL,
           summary = NULL, opening = NULL, parent = NULL, parent_kind = NULL WHERE id = ?""",
        (session,),
    )


def _folders_of(connection: apsw.Connection, session: int) -> set[int]:
    return {
        each[0]
        for each in rows(
            connection,
            """SELECT folder_id FROM sessions WHERE id = ?1
               UNION SELECT folder_id FROM messages WHERE session_id = ?1""",
            (session,),
        )
        if each[0] is not None
    }


_FOLDER_IS_USED = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} WHERE {column} = folders.id)"
    for table, column in (
        ("sessions", "folder_id"), ("messages", "folder_id"), ("chunks", "folder_id"), ("api_calls", "folder_id"),
        ("api_calls", "counted_folder_id"), ("usage_pruned", "folder_id"),
    )
)  # fmt: skip


def _hand_over(connection: apsw.Connection, session: int, messages: str) -> None:
    """Give those of some messages that another session holds a copy of to that session."""
    for message, file, offset, part in rows(
        connection,
        """SELECT c.message_id, c.file_id, c.offset, c.part FROM copies c
           WHERE c.message_id IN (SELECT value FROM json_each(?2)) AND c.session_id <> ?1
           GROUP BY c.message_id HAVING max(c.generation * 1000000 - c.session_id)""",
        (session, messages),
    ):
        place = (file, offset, part)
        connection.execute(
            """UPDATE messages SET (key, uuid, parent, session_id, file_id, offset, length, part, generation, time_ms,
                 copy_kind) = (SELECT key, uuid, parent, session_id, file_id, offset, length, part, generation, time_ms,
                 copy_kind FROM copies WHERE file_id = ?1 AND offset = ?2 AND part = ?3) WHERE id = ?4""",
            (*place, message),
        )
        connection.execute("DELETE FROM copies WHERE file_id = ? AND offset = ? AND part = ?", place)
        connection.execute("DELETE FROM copies WHERE message_id = ? AND session_id = ?", (message, session))
        connection.execute(
            """UPDATE chunks SET (session_id, time_ms) = (
                 SELECT m.session_id, m.time_ms FROM messages m WHERE m.id = chunks.message_id) WHERE message_id = ?""",
            (message,),
        )
