"""Takes whole sessions out of the tables, and gives the space back. Writer only, but for the plan.

A session goes as a whole: an exchange without its beginning is of no use. Its row stays as an empty stub, because usage
refers to it by number and numbers are never given out again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store.chunks import delete_chunks
from engine.store.generations import generations
from engine.store.redactions import shown
from engine.store.rows import number, row, rows
from engine.store.vectors import rebuild_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    import apsw

MERGE_PAGES = 1_000
"""Of the word index that one step of merging writes: some 4 MB, so that a step takes well under a second."""


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A session that may go."""

    session: int
    session_id: str
    last_ms: int
    is_on_disk: bool
    is_archived: bool
    title: str | None


@dataclass(frozen=True, slots=True)
class SessionSums:
    """What some sessions take."""

    chunks: int
    vectors: int
    text_bytes: int
    all_text_bytes: int
    """Of the whole index, for the share."""
    archive_bytes: int


_TITLE = shown("coalesce(s.custom_title, s.ai_title, s.last_prompt, s.summary, s.opening)")
_CANDIDATES = f"""SELECT s.id, s.session_id, coalesce(s.last_ms, 0),
    EXISTS (SELECT 1 FROM files f WHERE f.session_id = s.id AND f.gone_ms IS NULL AND instr(f.path, '/agent-') = 0),
    EXISTS (SELECT 1 FROM files f JOIN roots r ON r.id = f.root_id
            JOIN archived a ON a.label = r.label AND a.path = f.path WHERE f.session_id = s.id AND a.state = 0),
    {_TITLE}
    FROM sessions s WHERE EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)"""


def sessions_before(
    connection: apsw.Connection, before_ms: int, folders: Collection[int] | None
) -> tuple[PruneCandidate, ...]:
    """Return the sessions in which nothing was said since a time, of some working directories or of all."""
    among = "" if folders is None else f" AND s.folder_id IN ({', '.join(map(str, folders)) or 'NULL'})"
    return tuple(
        PruneCandidate(each[0], each[1], each[2], bool(each[3]), bool(each[4]), each[5])
        for each in rows(
            connection, f"{_CANDIDATES} AND coalesce(s.last_ms, 0) < ?{among} ORDER BY s.last_ms, s.id", (before_ms,)
        )
    )


def sums_of(connection: apsw.Connection, sessions: Collection[int]) -> SessionSums:
    """Return what sessions take in the index and in the archive."""
    listed = json.dumps(list(sessions))
    chunks, text_bytes = row(
        connection,
        """SELECT count(*), coalesce(sum(length(x.text)), 0) FROM chunks c JOIN texts x ON x.id = c.id
           WHERE c.session_id IN (SELECT value FROM json_each(?))""",
        (listed,),
    ) or (0, 0)
    vectors = number(
        connection,
        """SELECT count(*) FROM passages p JOIN chunks c ON c.id = p.chunk_id
           WHERE c.session_id IN (SELECT value FROM json_each(?))""",
        (listed,),
    )
    archive = number(
        connection,
        """SELECT coalesce(sum(a.stored), 0) FROM archived a JOIN roots r ON r.label = a.label
           JOIN files f ON f.root_id = r.id AND f.path = a.path
           WHERE f.session_id IN (SELECT value FROM json_each(?)) AND a.state = 0""",
        (listed,),
    )
    return SessionSums(
        chunks, vectors, text_bytes, number(connection, "SELECT coalesce(sum(length(text)), 0) FROM texts"), archive
    )


def archived_of(connection: apsw.Connection, session: int) -> tuple[tuple[str, str], ...]:
    """Return (label, path) of the transcripts of a session."""
    return tuple(
        (each[0], each[1])
        for each in rows(
            connection,
            "SELECT r.label, f.path FROM files f JOIN roots r ON r.id = f.root_id WHERE f.session_id = ?",
            (session,),
        )
    )


def places_of(connection: apsw.Connection, session: int) -> tuple[tuple[str, str, str, bool], ...]:
    """Return (root, label, path below it, gone) of the transcripts of a session, its own before sub-agents'."""
    return tuple(
        (each[0], each[1], each[2], bool(each[3]))
        for each in rows(
            connection,
            """SELECT r.path, r.label, f.path, f.gone_ms IS NOT NULL FROM files f JOIN roots r ON r.id = f.root_id
               WHERE f.session_id = ? ORDER BY instr(f.path, '/agent-') > 0, f.path""",
            (session,),
        )
    )


def delete_sessions(connection: apsw.Connection, sessions: Iterable[int], *, forget: bool) -> None:
    """Take sessions out: messages, words, vectors, titles. What other sessions hold as well becomes theirs.

    Args:
        connection: The writer's, inside a transaction.
        sessions: Numbers of sessions.
        forget: Also their ids and files, for ever.
    """
    connection.execute("PRAGMA secure_delete = ON")
    for session in sessions:
        _hand_over(connection, session)
        chunks = [each[0] for each in rows(connection, "SELECT id FROM chunks WHERE session_id = ?", (session,))]
        delete_chunks(connection, chunks)
        keys = "SELECT key FROM messages WHERE session_id = ?1 UNION SELECT key FROM copies WHERE session_id = ?1"
        connection.execute(f"DELETE FROM summaries WHERE leaf IN ({keys})", (session,))
        connection.execute(
            """DELETE FROM claims WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)""", (session,)
        )
        connection.execute(
            "DELETE FROM copies WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?1) OR session_id = ?1",
            (session,),
        )
        connection.execute("DELETE FROM messages WHERE session_id = ?", (session,))
        for table in ("file_sessions", "agents"):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))
        connection.execute(
            """UPDATE sessions SET folder_id = NULL, branch = NULL, version = NULL, custom_title = NULL,
               ai_title = NULL, last_prompt = NULL, summary = NULL, opening = NULL, parent = NULL, parent_kind = NULL
               WHERE id = ?""",
            (session,),
        )
        if forget:
            _forget_names(connection, session)
        # The rows of its files stay, with the offset up to which they were read.
        connection.execute("UPDATE files SET session_id = NULL WHERE session_id = ?", (session,))
    connection.execute("PRAGMA secure_delete = FAST")


def _forget_names(connection: apsw.Connection, session: int) -> None:
    files = "SELECT id FROM files WHERE session_id = ?"
    for table in ("problems", "kept_types", "redactions"):
        connection.execute(f"DELETE FROM {table} WHERE file_id IN ({files})", (session,))
    connection.execute("DELETE FROM files WHERE session_id = ?", (session,))
    connection.execute(
        "UPDATE sessions SET session_id = 'forgotten-' || id, started_ms = NULL, last_ms = NULL WHERE id = ?",
        (session,),
    )


def _hand_over(connection: apsw.Connection, session: int) -> None:
    """Give messages that another session holds a copy of to that session."""
    for message, file, offset, part in rows(
        connection,
        """SELECT c.message_id, c.file_id, c.offset, c.part FROM copies c JOIN messages m ON m.id = c.message_id
           WHERE m.session_id = ?1 AND c.session_id <> ?1
           GROUP BY c.message_id HAVING max(c.generation * 1000000 - c.session_id)""",
        (session,),
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


def merge_words(connection: apsw.Connection) -> bool:
    """Do one step of merging the word index; False when it is done.

    Deleted words stay readable in its segments until they are merged. Writer only, outside a transaction of others.
    """
    before = connection.total_changes()
    connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
    # FTS5 counts the statement itself as one change.
    return connection.total_changes() - before >= 2


def give_back_space(connection: apsw.Connection, step: Callable[[str], None], *, compact: bool) -> None:
    """Rebuild what keeps deleted rows, and return free pages to the file system. Writer only, outside a transaction.

    Args:
        connection: The writer's.
        step: Told what comes next; raises to stop.
        compact: Write the whole database anew, which needs its size again for a while: deleting every other row leaves
            pages half empty, and those are not given back one by one.
    """
    connection.execute("PRAGMA secure_delete = ON")
    step("Merging the word index")
    with connection:
        connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (-MERGE_PAGES,))
    while merge_words(connection):
        step("Merging the word index")
    for each in generations(connection):
        step("Rebuilding the vectors")
        with connection:
            rebuild_bits(connection, each.id)
    step("Returning space to the disk")
    if compact:
        connection.execute("VACUUM")
    connection.execute("PRAGMA incremental_vacuum").fetchall()
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
