"""Counts of what is indexed, for `status` and `coverage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind, Role
from engine.store.codes import KINDS, ROLES
from engine.store.connection import one_row
from engine.store.files import refused_folders
from engine.store.generations import EMBEDDED, EXCLUDED

if TYPE_CHECKING:
    import apsw


@dataclass(frozen=True, slots=True)
class Counts:
    """The whole index in numbers."""

    files_seen: int
    files_indexed: int
    files_gone: int
    files_unreadable: int
    sessions: int
    messages: int
    prompts: int
    answers: int
    tool_calls: int
    chunks: int
    damaged: int
    salvaged: int


def counts(connection: apsw.Connection) -> Counts:
    """Return the numbers of the whole index."""
    seen, indexed, gone, unreadable = one_row(
        connection,
        """SELECT count(*), coalesce(sum(error IS NULL), 0), coalesce(sum(gone_ms IS NOT NULL), 0),
           coalesce(sum(error IS NOT NULL), 0) FROM files""",
    )
    sessions = one_row(connection, "SELECT count(DISTINCT session_id) FROM files")[0]
    messages, prompts, answers = one_row(
        connection,
        f"""SELECT count(*), coalesce(sum(role = {ROLES[Role.USER]} AND sidechain = 0), 0),
            coalesce(sum(role = {ROLES[Role.ASSISTANT]}), 0) FROM messages""",
    )
    chunks, calls = one_row(connection, f"SELECT count(*), coalesce(sum(kind = {KINDS[Kind.TOOL_USE]}), 0) FROM chunks")
    damaged, salvaged = one_row(
        connection, "SELECT coalesce(sum(salvaged = 0), 0), coalesce(sum(salvaged), 0) FROM problems"
    )
    return Counts(
        seen, indexed, gone, unreadable, sessions, messages, prompts, answers, calls, chunks, damaged, salvaged
    )


def chunk_count(connection: apsw.Connection) -> int:
    """Return how many chunks there are."""
    return int(one_row(connection, "SELECT count(*) FROM chunks")[0])


def unknown_types(connection: apsw.Connection) -> dict[str, int]:
    """Return how many lines of each unknown type were kept aside."""
    return dict(
        connection.execute("SELECT type, sum(lines) FROM kept_types WHERE known = 0 GROUP BY type ORDER BY type")
    )


def problems(connection: apsw.Connection, limit: int) -> tuple[tuple[str, str, int | None, int | None], ...]:
    """Return (file, what, line, offset) of folders, files and lines that could not be read whole, in this order."""
    folders = [(folder, f"folder: {why}", None, None) for folder, why in sorted(refused_folders(connection).items())]
    rows = connection.execute(
        """SELECT r.path || '/' || f.path, f.error, NULL, NULL FROM files f JOIN roots r ON r.id = f.root_id
           WHERE f.error IS NOT NULL
           UNION ALL
           SELECT r.path || '/' || f.path, p.what, p.line, p.offset FROM problems p
           JOIN files f ON f.id = p.file_id JOIN roots r ON r.id = f.root_id LIMIT ?""",
        (limit,),
    )
    return tuple([*folders, *((row[0], row[1], row[2], row[3]) for row in rows)][:limit])


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """The numbers of one project or one day."""

    name: str
    chunks: int
    messages: int
    sessions: int
    embedded: int
    excluded: int
    """Chunks that are never embedded: our own calls."""


_STATES = """LEFT JOIN embedded e ON e.chunk_id = c.id AND e.generation = (SELECT id FROM generations WHERE answers)"""


def by_project(connection: apsw.Connection, limit: int, offset: int) -> tuple[tuple[GroupCounts, ...], int]:
    """Return the numbers of each project, largest first, and how many projects there are."""
    rows = connection.execute(
        f"""SELECT coalesce(p.path, ''), count(*), count(DISTINCT c.message_id), count(DISTINCT c.session_id),
             coalesce(sum(e.state = {EMBEDDED}), 0), coalesce(sum(e.state = {EXCLUDED}), 0)
           FROM chunks c {_STATES} LEFT JOIN folders f ON f.id = c.folder_id LEFT JOIN projects p ON p.id = f.project_id
           GROUP BY p.path ORDER BY count(*) DESC, p.path LIMIT ? OFFSET ?""",
        (limit, offset),
    )
    total = one_row(
        connection,
        "SELECT count(DISTINCT coalesce(f.project_id, 0)) FROM chunks c LEFT JOIN folders f ON f.id = c.folder_id",
    )[0]
    return tuple(GroupCounts(*row) for row in rows), int(total)


def by_quarter_hour(connection: apsw.Connection) -> tuple[tuple[int, int, int, int, int], ...]:
    """Return (quarter of an hour since 1970, chunks, messages, embedded chunks, excluded chunks).

    Small enough to be summed into any zone's days.
    """
    return tuple(
        (row[0], row[1], row[2], row[3], row[4])
        for row in connection.execute(
            f"""SELECT c.time_ms / 900000, count(*), count(DISTINCT c.message_id),
                  coalesce(sum(e.state = {EMBEDDED}), 0), coalesce(sum(e.state = {EXCLUDED}), 0)
                FROM chunks c {_STATES} WHERE c.time_ms IS NOT NULL GROUP BY c.time_ms / 900000 ORDER BY 1"""
        )
    )


def totals(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many sessions and messages there are."""
    row = one_row(connection, "SELECT (SELECT count(DISTINCT session_id) FROM files), (SELECT count(*) FROM messages)")
    return int(row[0]), int(row[1])
