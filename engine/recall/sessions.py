"""Lists of sessions, and what was worked on in a period: titles, openings, highlights, how to resume."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.core import when
from engine.core.models.sessions import Lineage, SessionList, SessionRow
from engine.core.repository import relative_cwd
from engine.core.text import shorten
from engine.store import reading

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from engine.core.models.asking import DateRange
    from engine.core.when import TimeSpan
    from engine.store.connection import Connection
    from engine.store.reading import SessionInfo

TITLE_CHARACTERS = 120
OPENING_CHARACTERS = 200
HIGHLIGHT_CHARACTERS = 160
MAX_HIGHLIGHTS = 6
"""Of a session in a period: enough to recognise the work, small enough for twenty sessions in one reply."""
NO_SUCH_PROJECT = "No project that is indexed has this in its path; list_sessions without `project` shows all."


def session_row(info: SessionInfo, zone: ZoneInfo) -> SessionRow:
    """Return a session as replies show it."""
    return SessionRow(
        session_id=info.session_id,
        title=None if info.title is None else shorten(info.title, TITLE_CHARACTERS),
        project=info.project,
        cwd=relative_cwd(info.cwd, info.project),
        started_at=when.iso(info.started_ms, zone),
        last_at=when.iso(info.last_ms, zone),
        messages=info.messages,
        prompts=info.prompts,
        branch=info.branch,
        lineage=_lineage(info),
        on_disk=info.files_on_disk > 0,
        archived=bool(info.archived),
        resume_command=resume_command(info.session_id, info.cwd),
    )


def resume_command(session_id: str, cwd: str | None) -> str:
    """Return the shell command that goes on with a session: Claude Code finds it only from its own folder."""
    resume = f"claude --resume {session_id}"
    if cwd is None:
        return resume
    if "\\" in cwd or cwd[1:2] == ":":
        return f'cd /d "{cwd}" && {resume}'
    return f"cd {shlex.quote(cwd)} && {resume}"


def list_sessions(
    connection: Connection,
    *,
    span: TimeSpan,
    folders: tuple[int, ...] | None,
    hidden_folders: tuple[int, ...],
    shown_range: DateRange | None,
    limit: int,
    offset: int,
    zone: ZoneInfo,
    with_highlights: bool = False,
) -> SessionList:
    """Return one page of sessions, newest first.

    With highlights, also what each session was about within the span: its prompts, decisions and commands.
    """
    infos, total = reading.list_sessions(
        connection, span=span, folders=folders, hidden_folders=hidden_folders, limit=limit, offset=offset
    )
    rows: list[SessionRow] = []
    for info in infos:
        row = session_row(info, zone)
        if with_highlights:
            opening = reading.opening_in(connection, info.id, span) or info.opening
            row = replace(
                row,
                opening=None if opening is None else shorten(opening, OPENING_CHARACTERS),
                highlights=_highlights(connection, info.id, span) or None,
            )
        rows.append(row)
    following = offset + limit
    return SessionList(
        sessions=tuple(rows),
        total=total,
        next_offset=following if following < total else None,
        range=shown_range,
        note=None if total else _why_none(span, folders),
    )


def _why_none(span: TimeSpan, folders: tuple[int, ...] | None) -> str | None:
    """Return why a list is empty, None when there is no history at all."""
    if folders == ():
        return NO_SUCH_PROJECT
    if folders is not None and not span.is_open:
        return "No session of this project in this time; there may be some without `project`, or in a longer time."
    return None if span.is_open else "No session in this time; status says whether transcripts are still being read."


def _lineage(info: SessionInfo) -> Lineage | None:
    if info.parent is None or info.parent_kind is None:
        return None
    return Lineage(parent=info.parent, kind=info.parent_kind)


def _highlights(connection: Connection, session: int, span: TimeSpan) -> tuple[str, ...]:
    """Return later prompts, plans and edits of a session within a span, in order, without a model."""
    shown: list[str] = []
    for label, text in reading.highlights_in(connection, session, span, limit=40):
        line = shorten(f"{label}: {text}" if label else text, HIGHLIGHT_CHARACTERS)
        if line not in shown:
            shown.append(line)
    if len(shown) <= MAX_HIGHLIGHTS:
        return tuple(shown)
    # Evenly over the session, with its last one: how it ended is what people ask.
    step = (len(shown) - 1) / (MAX_HIGHLIGHTS - 1)
    return tuple(shown[round(index * step)] for index in range(MAX_HIGHLIGHTS))
