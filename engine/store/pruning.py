"""Says what a prune or forget takes out, and what that gives back. `removing` does it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.repository import encode_cwd
from engine.store.redactions import shown
from engine.store.rows import number, row, rows
from engine.store.space import WRITTEN_ANEW_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw


NOT_INDEXED = 0
"""Instead of the number of a session that is only in the archive any more."""


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
    """What some sessions take, beside what all do."""

    chunks: int
    vectors: int
    archive_bytes: int
    database_bytes: int
    """Of the whole index, its log taken in."""
    given_back: int
    """About so many of them come back."""


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


def archived_before(
    connection: apsw.Connection, before_ms: int, folders: Collection[int] | None
) -> tuple[PruneCandidate, ...]:
    """Return the sessions that were pruned from the index before and are still in the archive, nothing said since.

    Of some working directories: those whose project folder has their name, as Claude Code writes it.
    """
    cwds = None
    if folders is not None:
        listed = ", ".join(map(str, folders)) or "NULL"
        cwds = {encode_cwd(each[0]) for each in rows(connection, f"SELECT cwd FROM folders WHERE id IN ({listed})")}
    found: dict[str, PruneCandidate] = {}
    for path, last_ms, on_disk in rows(connection, _STORED_ONLY, (before_ms,)):
        folder, _, name = path.partition("/")
        if cwds is None or folder in cwds:
            session_id = name.removesuffix(".jsonl")
            known = found.get(session_id)
            is_on_disk = bool(on_disk) or (known is not None and known.is_on_disk)
            found[session_id] = PruneCandidate(NOT_INDEXED, session_id, last_ms, is_on_disk, True, None)
    return tuple(found.values())


_STORED_ONLY = """SELECT a.path, coalesce(s.last_ms, a.mtime_ns / 1000000), f.path IS NOT NULL
    FROM archived a JOIN roots r ON r.label = a.label
    LEFT JOIN files f ON f.root_id = r.id AND f.path = a.path AND f.gone_ms IS NULL
    LEFT JOIN sessions s ON s.session_id = substr(a.path, instr(a.path, '/') + 1, 36)
    WHERE a.state = 0 AND a.path LIKE '%.jsonl' AND length(a.path) = instr(a.path, '/') + 42
      AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)
      AND NOT EXISTS (SELECT 1 FROM files o JOIN messages m ON m.file_id = o.id
                      WHERE o.root_id = r.id AND o.path = a.path)
      AND coalesce(s.last_ms, a.mtime_ns / 1000000) < ?
    ORDER BY a.path, a.generation"""
"""Transcripts `<project folder>/<36 characters>.jsonl` of which the index has nothing."""

TEXT_SHARE = 0.7
"""Of an index without vectors: texts and their words (84 MB of transcripts: 9.5 of 13.7 MB); rows are the rest."""

VECTOR_BYTES = 560
"""Of one vector of 384 dimensions in the tables: 384 bytes, 48 of codes, numbers, and what pages leave free."""

COMES_BACK_OF_SMALL = 0.98
"""Of what goes, where the index is written anew afterwards (measured: 0.97 to 0.99)."""

COMES_BACK = 0.9
"""Of what goes: half-empty pages stay, and the next sessions fill them (measured: 0.89 to 0.90, oldest half and every
second session; writing all anew would give back 5 % of a large index more and hold everybody up meanwhile)."""


def sums_of(connection: apsw.Connection, sessions: Collection[PruneCandidate]) -> SessionSums:
    """Return what sessions take in the index and in the archive."""
    listed = json.dumps([each.session for each in sessions])
    chunks, text = row(
        connection,
        """SELECT count(*), coalesce(sum(length(x.text)), 0) FROM chunks c JOIN texts x ON x.id = c.id
           WHERE c.session_id IN (SELECT value FROM json_each(?))""",
        (listed,),
    ) or (0, 0)
    all_chunks, all_text = row(connection, "SELECT count(*), coalesce(sum(length(text)), 0) FROM texts") or (0, 0)
    all_vectors = number(connection, "SELECT count(*) FROM passages")
    vectors = number(
        connection,
        """SELECT count(*) FROM passages p JOIN chunks c ON c.id = p.chunk_id
           WHERE c.session_id IN (SELECT value FROM json_each(?))""",
        (listed,),
    )
    page_bytes = number(connection, "PRAGMA page_size")
    size = page_bytes * number(connection, "PRAGMA page_count")
    free = page_bytes * number(connection, "PRAGMA freelist_count")
    tables = page_bytes * number(connection, "SELECT count(*) FROM sqlite_schema WHERE rootpage > 0")
    of_vectors = min(all_vectors * VECTOR_BYTES, size - free)
    # An empty table keeps its page.
    rest = max(0, size - free - of_vectors - tables)
    share = TEXT_SHARE * _share(text, all_text) + (1 - TEXT_SHARE) * _share(chunks, all_chunks)
    goes = rest * share + of_vectors * _share(vectors, all_vectors)
    part = COMES_BACK_OF_SMALL if size - goes <= WRITTEN_ANEW_BYTES else COMES_BACK
    given_back = free + int(part * goes) if chunks else 0
    return SessionSums(chunks, vectors, _archive_bytes(connection, sessions), size, given_back)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _archive_bytes(connection: apsw.Connection, sessions: Collection[PruneCandidate]) -> int:
    """Return what is stored of sessions: transcripts, and what lies in the folders beside them."""
    files = rows(
        connection,
        "SELECT path FROM files WHERE session_id IN (SELECT value FROM json_each(?))",
        (json.dumps([each.session for each in sessions]),),
    )
    names = {each.session_id for each in sessions} | {_session_name(each[0]) for each in files}
    return sum(
        size
        for path, size in rows(connection, "SELECT path, stored FROM archived WHERE state = 0")
        if _session_name(path) in names
    )


def _session_name(path: str) -> str:
    """Return what all files of a session have in common: the name of its transcript, or of the folder beside it."""
    return path.split("/")[1].removesuffix(".jsonl") if "/" in path else path


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


def unchanged(connection: apsw.Connection, sessions: Iterable[PruneCandidate]) -> list[int]:
    """Return the sessions that have said nothing since they were chosen."""
    last = dict(rows(connection, "SELECT id, coalesce(last_ms, 0) FROM sessions"))
    return [each.session for each in sessions if last.get(each.session) == each.last_ms]
