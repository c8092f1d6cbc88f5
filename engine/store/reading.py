"""Rows of messages, chunks and sessions for whoever shows them: hits, readings and lists."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.ids import unpack_uuid
from engine.core.models.kinds import Role
from engine.store.codes import KIND_OF, ROLE_OF, ROLES, SIGNAL_OF
from engine.store.connection import Value, one_row
from engine.store.redactions import shown
from engine.store.rows import rows
from engine.store.texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from engine.core.models.sessions import LineageKind
    from engine.core.when import TimeSpan


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk with its message and session, as a hit shows it."""

    chunk: int
    block: int
    kind: str
    signal: str
    tool: str | None
    text: str
    cut: int
    message: int
    key: int
    uuid: str
    role: str
    is_sidechain: bool
    time_ms: int | None
    exchange: int
    session: int
    session_id: str
    cwd: str | None
    project: str | None
    on_disk: bool


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message and where its line stands."""

    id: int
    key: int
    uuid: str
    role: str
    is_sidechain: bool
    time_ms: int | None
    model: str | None
    agent: str | None
    session: int
    session_id: str
    exchange: int
    file_id: int
    root: str
    root_label: str
    path: str
    """Of the transcript, below its root."""
    offset: int
    length: int
    part: int
    gone: bool
    removed: bool
    """A rewrite took it out of its file."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as lists show it."""

    id: int
    session_id: str
    custom_title: str | None
    ai_title: str | None
    last_prompt: str | None
    summary: str | None
    opening: str | None
    cwd: str | None
    project: str | None
    started_ms: int | None
    last_ms: int | None
    branch: str | None
    parent: str | None
    parent_kind: LineageKind | None
    messages: int
    prompts: int
    files_on_disk: int
    archived: bool

    @property
    def title(self) -> str | None:
        """Claude Code's own order: name given by hand, name it made, last prompt, summary, first prompt."""
        return self.custom_title or self.ai_title or self.last_prompt or self.summary or self.opening


_TEXT = shown(plain("x.text"))
_TITLES = ", ".join(map(shown, ("s.custom_title", "s.ai_title", "s.last_prompt", "s.summary", "s.opening")))


def chunk_rows(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, ChunkRow]:
    """Return what is needed to show chunks, by number. Missing ones were deleted meanwhile."""
    rows: dict[int, ChunkRow] = {}
    for row in connection.execute(
        f"""SELECT c.id, c.block, c.kind, c.signal, t.name, {_TEXT}, c.cut, m.id, m.key, m.uuid, m.role, m.sidechain,
             m.time_ms, c.exchange_id, s.id, s.session_id, f.cwd, p.path, fi.gone_ms IS NULL
           FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value JOIN texts x ON x.id = c.id
           JOIN messages m ON m.id = c.message_id JOIN sessions s ON s.id = m.session_id
           JOIN files fi ON fi.id = m.file_id LEFT JOIN tools t ON t.id = c.tool_id
           LEFT JOIN folders f ON f.id = c.folder_id LEFT JOIN projects p ON p.id = f.project_id""",
        (json.dumps(list(chunks)),),
    ):
        rows[row[0]] = ChunkRow(
            row[0], row[1], KIND_OF[row[2]], SIGNAL_OF[row[3]], row[4], row[5], row[6], row[7], row[8],
            unpack_uuid(row[9]), ROLE_OF[row[10]], bool(row[11]), row[12], row[13], row[14], row[15], row[16],
            row[17], bool(row[18]),
        )  # fmt: skip
    return rows


def other_sessions(connection: apsw.Connection, messages: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return the further sessions that hold messages, by message."""
    found: dict[int, list[str]] = {}
    for message, session in connection.execute(
        """SELECT DISTINCT c.message_id, s.session_id FROM copies c JOIN sessions s ON s.id = c.session_id
           JOIN messages m ON m.id = c.message_id
           WHERE c.message_id IN (SELECT value FROM json_each(?)) AND c.session_id <> m.session_id
           ORDER BY s.started_ms, s.session_id""",
        (json.dumps(list(set(messages))),),
    ):
        found.setdefault(message, []).append(session)
    return {message: tuple(sessions) for message, sessions in found.items()}


_SESSION_COLUMNS = f"""s.id, s.session_id, {_TITLES}, f.cwd, p.path,
    s.started_ms, s.last_ms, s.branch, s.parent, s.parent_kind,
    (SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.sidechain = 0)
      + (SELECT count(*) FROM copies c JOIN messages m ON m.id = c.message_id
         WHERE c.session_id = s.id AND m.session_id <> s.id AND m.sidechain = 0),
    (SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.sidechain = 0 AND m.role = {ROLES[Role.USER]})
      + (SELECT count(*) FROM copies c JOIN messages m ON m.id = c.message_id
         WHERE c.session_id = s.id AND m.session_id <> s.id AND m.sidechain = 0 AND m.role = {ROLES[Role.USER]}),
    (SELECT count(*) FROM files fi WHERE fi.session_id = s.id AND fi.gone_ms IS NULL),
    EXISTS (SELECT 1 FROM files fi JOIN roots r ON r.id = fi.root_id
            JOIN archived a ON a.label = r.label AND a.path = fi.path WHERE fi.session_id = s.id AND a.state = 0)
    FROM sessions s LEFT JOIN folders f ON f.id = s.folder_id LEFT JOIN projects p ON p.id = f.project_id"""

_SPOKEN = f"""EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id AND m.sidechain = 0
    AND m.role IN ({ROLES[Role.USER]}, {ROLES[Role.ASSISTANT]}))"""
"""Hides warm-ups, usage probes and stubs: sessions in which neither a person nor Claude said anything."""


def sessions_by_id(connection: apsw.Connection, numbers: Iterable[int]) -> dict[int, SessionInfo]:
    """Return sessions by number."""
    return {
        row[0]: SessionInfo(*row)
        for row in connection.execute(
            f"SELECT {_SESSION_COLUMNS} WHERE s.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(set(numbers))),),
        )
    }


def list_sessions(
    connection: apsw.Connection,
    *,
    span: TimeSpan,
    folders: tuple[int, ...] | None,
    hidden_folders: tuple[int, ...],
    limit: int,
    offset: int,
) -> tuple[tuple[SessionInfo, ...], int]:
    """Return sessions in which something was said, newest first, and how many there are.

    A session belongs to a span when it was active in it: it began before the end and ended after the start.
    """
    parts, values = [_SPOKEN], list[Value]()
    if span.start_ms is not None:
        parts.append("s.last_ms >= ?")
        values.append(span.start_ms)
    if span.end_ms is not None:
        parts.append("s.started_ms < ?")
        values.append(span.end_ms)
    if span.start_ms is not None and span.end_ms is not None:
        # Long-lived sessions are resumed weeks later: only those with a message in the span were active in it.
        parts.append("EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id AND m.time_ms >= ? AND m.time_ms < ?)")
        values += [span.start_ms, span.end_ms]
    if folders is not None:
        listed = ", ".join(map(str, folders)) or "NULL"
        parts.append(
            f"(s.folder_id IN ({listed}) OR EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id"
            f" AND m.folder_id IN ({listed})))"
        )
    if hidden_folders:
        parts.append(f"(s.folder_id IS NULL OR s.folder_id NOT IN ({', '.join(map(str, hidden_folders))}))")
    where = " AND ".join(parts)
    total = one_row(connection, f"SELECT count(*) FROM sessions s WHERE {where}", values)[0]
    rows = connection.execute(
        # The page first: what is counted and shown of a session is worth the time for those on it only.
        f"""SELECT {_SESSION_COLUMNS} WHERE s.id IN (
              SELECT s.id FROM sessions s WHERE {where} ORDER BY s.last_ms DESC, s.session_id LIMIT ? OFFSET ?)
            ORDER BY s.last_ms DESC, s.session_id""",
        (*values, limit, offset),
    )
    return tuple(SessionInfo(*row) for row in rows), int(total)


_MESSAGE_COLUMNS = """m.id, m.key, m.uuid, m.role, m.sidechain, m.time_ms, mo.name, m.agent, m.session_id,
    s.session_id, m.exchange_id, {place}.file_id, r.path, r.label, fi.path, {place}.offset, {place}.length,
    {place}.part, fi.gone_ms IS NOT NULL, {place}.generation < fi.generation"""

_MESSAGE_JOINS = """JOIN sessions s ON s.id = m.session_id JOIN files fi ON fi.id = {place}.file_id
    JOIN roots r ON r.id = fi.root_id LEFT JOIN models mo ON mo.id = m.model_id"""


def _message(row: Sequence[object]) -> MessageRow:
    values = list(row)
    values[2] = unpack_uuid(values[2])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - a column of ours
    values[3] = ROLE_OF[values[3]]  # type: ignore[index] # pyright: ignore[reportArgumentType] - a column of ours
    for index in (4, 18, 19):
        values[index] = bool(values[index])
    return MessageRow(*values)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - columns in the order of the fields


def session_messages(connection: apsw.Connection, session: int, *, sidechains: bool) -> tuple[int, ...]:
    """Return the numbers of a session's messages in the order they were recorded, shared ones included.

    Files are in the order they began; sub-agents' files follow the session's own.
    """
    side = "" if sidechains else "AND m.sidechain = 0"
    return tuple(
        row[0]
        for row in connection.execute(
            f"""SELECT o.id FROM (
                  SELECT m.id AS id, m.file_id AS file_id, m.offset AS offset, m.part AS part
                  FROM messages m WHERE m.session_id = ?1 {side}
                  UNION ALL
                  SELECT c.message_id, c.file_id, c.offset, c.part FROM copies c
                  JOIN messages m ON m.id = c.message_id WHERE c.session_id = ?1 AND m.session_id <> ?1 {side}) o
                JOIN files fi ON fi.id = o.file_id
                ORDER BY instr(fi.path, '/agent-') > 0, fi.first_ms, fi.id, o.offset, o.part""",
            (session,),
        )
    )


def messages(connection: apsw.Connection, numbers: Sequence[int]) -> tuple[MessageRow, ...]:
    """Return messages in the order asked, each with the best place to read it from: on disk before gone."""
    rows: dict[int, MessageRow] = {}
    wanted = json.dumps(list(numbers))
    own = _MESSAGE_COLUMNS.format(place="m")
    for row in connection.execute(
        f"SELECT {own} FROM messages m {_MESSAGE_JOINS.format(place='m')}"
        " WHERE m.id IN (SELECT value FROM json_each(?))",
        (wanted,),
    ):
        rows[row[0]] = _message(row)
    missing = [number for number, row in rows.items() if row.gone or row.removed]
    if missing:
        other = _MESSAGE_COLUMNS.format(place="c")
        for row in connection.execute(
            f"SELECT {other} FROM copies c JOIN messages m ON m.id = c.message_id "
            f"{_MESSAGE_JOINS.format(place='c')} WHERE c.message_id IN (SELECT value FROM json_each(?))"
            " AND fi.gone_ms IS NULL AND c.generation = fi.generation",
            (json.dumps(missing),),
        ):
            rows[row[0]] = _message(row)
    return tuple(rows[number] for number in numbers if number in rows)


def agents(connection: apsw.Connection, sessions: Iterable[int]) -> dict[tuple[int, str], str]:
    """Return what the sub-agents of sessions are, by session and agent: their kind and their task."""
    found = rows(
        connection,
        f"""SELECT session_id, agent, kind, {shown("description")} FROM agents
           WHERE session_id IN (SELECT value FROM json_each(?)) AND coalesce(kind, description) IS NOT NULL""",
        (json.dumps(list(set(sessions))),),
    )
    return {(each[0], each[1]): ": ".join(part for part in each[2:] if part) for each in found}


def indexed_blocks(connection: apsw.Connection, message: int) -> tuple[tuple[str, str | None, str, int, bool], ...]:
    """Return (kind, tool, text, characters cut, failed) of a message's chunks: what is left when every file is gone."""
    return tuple(
        (KIND_OF[row[0]], row[1], row[2], row[3], bool(row[4]))
        for row in connection.execute(
            f"""SELECT c.kind, t.name, {_TEXT}, c.cut, c.failed FROM chunks c JOIN texts x ON x.id = c.id
               LEFT JOIN tools t ON t.id = c.tool_id WHERE c.message_id = ? ORDER BY c.block""",
            (message,),
        )
    )


def last_summary(connection: apsw.Connection, session: int) -> int:
    """Return the number of a session's last compaction summary, 0 when it has none."""
    row = one_row(
        connection,
        f"SELECT max(id) FROM messages WHERE session_id = ? AND role = {ROLES[Role.SUMMARY]} AND sidechain = 0",
        (session,),
    )
    return int(row[0] or 0)


def opening_in(connection: apsw.Connection, session: int, span: TimeSpan) -> str | None:
    """Return the first human prompt of a session within a span."""
    row = connection.execute(
        f"""SELECT {_TEXT} FROM chunks c JOIN texts x ON x.id = c.id
            WHERE c.message_id IN (SELECT id FROM messages WHERE session_id = ? AND sidechain = 0
              AND role = {ROLES[Role.USER]} AND coalesce(time_ms >= ?, 1) AND coalesce(time_ms < ?, 1))
            ORDER BY c.message_id, c.block LIMIT 1""",
        (session, span.start_ms, span.end_ms),
    ).fetchone()
    return None if row is None else row[0]


def highlights_in(
    connection: apsw.Connection, session: int, span: TimeSpan, *, limit: int
) -> tuple[tuple[str, str], ...]:
    """Return (label, text) of what says most about a session within a span, in order.

    These are prompts after the first, plans, and commands that change something (commits, pull requests, deployments).
    """
    rows = connection.execute(
        f"""WITH said AS MATERIALIZED (
              SELECT m.id, c.block, c.role, c.kind, c.signal, t.name, {plain("x.text")} AS text FROM messages m
              JOIN chunks c ON c.message_id = m.id JOIN texts x ON x.id = c.id LEFT JOIN tools t ON t.id = c.tool_id
              WHERE m.session_id = ? AND m.sidechain = 0 AND coalesce(m.time_ms >= ?, 1) AND coalesce(m.time_ms < ?, 1)
                AND ((c.role = {ROLES[Role.USER]} AND c.kind = 0)
                  OR (c.kind = 2 AND (c.signal = 0 OR t.name = 'Bash'))))
            SELECT role, kind, name, substr({shown("text")}, 1, 400) FROM said
            WHERE kind = 0 OR signal = 0 OR text LIKE '%git commit%' OR text LIKE '%gh pr create%'
              OR text LIKE '%git push%' OR text LIKE '%publish%' OR text LIKE '%deploy%'
            ORDER BY id, block""",
        (session, span.start_ms, span.end_ms),
    )
    found: list[tuple[str, str]] = []
    prompts = 0
    for role, kind, tool, text in rows:
        if role == ROLES[Role.USER]:
            prompts += 1
            if prompts > 1:
                found.append(("", text))
        elif kind == 2:
            found.append((tool or "", text))
        if len(found) >= limit:
            break
    return tuple(found)


def with_roles(connection: apsw.Connection, numbers: Sequence[int], roles: Iterable[Role]) -> tuple[int, ...]:
    """Return the messages that have one of the roles, in the order given."""
    listed = ", ".join(str(ROLES[role]) for role in roles) or "NULL"
    kept = {
        row[0]
        for row in connection.execute(
            f"SELECT id FROM messages WHERE role IN ({listed}) AND id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
    }
    return tuple(number for number in numbers if number in kept)


def exchange_messages(connection: apsw.Connection, message: int) -> tuple[int, ...]:
    """Return the messages of the exchange that a message belongs to, in order."""
    return tuple(
        row[0]
        for row in connection.execute(
            """SELECT m.id FROM messages m, messages asked WHERE asked.id = ? AND m.exchange_id = asked.exchange_id
               AND m.sidechain = asked.sidechain ORDER BY m.file_id, m.offset, m.part""",
            (message,),
        )
    )
