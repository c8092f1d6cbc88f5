"""The answers about Backscroll itself: `status` and `coverage`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from engine import __version__
from engine.core import when
from engine.core.errors import StorageFailure
from engine.core.models.status import (
    Coverage,
    CoverageRow,
    EmbeddingStatus,
    EngineStatus,
    FileCounts,
    IngestStatus,
    LineCounts,
    Notice,
    Problem,
    Status,
)
from engine.store import archived, coverage, generations, redactions
from engine.store.files import last_read_ms

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from engine.api.control import EngineControl
    from engine.api.page import Page
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.store.connection import Connection, ReaderPool

MAX_PROBLEMS = 200
"""Files and lines that are named; beyond them only the counts tell."""


def status_of(
    readers: ReaderPool, paths: Paths, settings: Settings, control: EngineControl | None, zone: ZoneInfo
) -> Status:
    """Return what the engine is doing. Answers even when the database cannot be read."""
    warnings = () if control is None else control.notices()
    ingest = IngestStatus(state="stopped", files_pending=0, bytes_pending=0)
    if control is not None:
        ingest = control.ingest_status()
    counted, stored_bytes, redacted, waiting = (0, 0), 0, None, 0
    try:
        with readers.connection() as connection:
            counted = coverage.totals(connection)
            ingest = replace(ingest, last_at=ingest.last_at or when.iso(last_read_ms(connection), zone))
            stored_bytes = archived.sums(connection).stored_bytes
            redacted = redactions.totals(connection) or None
            waiting = generations.left(connection) if control is None else 0
    except StorageFailure as problem:
        text = f"{problem.title}. {problem.message}"
        warnings = (*warnings, Notice(id=problem.code, text=text, hint=problem.hint))
    return Status(
        engine=EngineStatus(state="stopped", pid=None, version=__version__, uptime_s=None)
        if control is None
        else control.engine_status(),
        ingest=ingest,
        embedding=_resting(settings, waiting) if control is None else control.embedding_status(),
        clients=0 if control is None else control.clients(),
        paths=_shown_paths(paths),
        database_bytes=_size(paths.database),
        archive_bytes=stored_bytes,
        sessions=counted[0],
        messages=counted[1],
        warnings=warnings,
        job=None if control is None else control.job(),
        redacted=redacted,
    )


def _resting(settings: Settings, waiting: int) -> EmbeddingStatus:
    """Return what there is to embed while no engine runs that could."""
    if not settings.embedding_enabled:
        return EmbeddingStatus(
            state="off", backlog=0, reason="Search by meaning is switched off (setting embedding.enabled)."
        )
    return EmbeddingStatus(state="waiting" if waiting else "idle", backlog=waiting, reason="No engine is running.")


def coverage_of(connection: Connection, by: Literal["project", "day"] | None, page: Page, zone: ZoneInfo) -> Coverage:
    """Return how much of the history is indexed.

    Raises:
        EngineError: The database cannot be read.
    """
    counted = coverage.counts(connection)
    stored = archived.sums(connection)
    unknown = coverage.unknown_types(connection)
    troubles = coverage.problems(connection, MAX_PROBLEMS)
    made = generations.answering_counts(connection)
    rows, total = _rows(connection, by, page, zone)
    following = page.offset + page.limit
    return Coverage(
        files=FileCounts(
            seen=counted.files_seen,
            indexed=counted.files_indexed,
            gone=counted.files_gone,
            unreadable=counted.files_unreadable,
        ),
        sessions=counted.sessions,
        messages=counted.messages,
        prompts=counted.prompts,
        answers=counted.answers,
        tool_calls=counted.tool_calls,
        chunks=counted.chunks,
        embedded=made.embedded,
        vectors=made.vectors,
        failed=made.failed or None,
        percent=generations.percent(counted.chunks - made.excluded, made.embedded),
        archived_bytes=stored.source_bytes,
        lines=LineCounts(damaged=counted.damaged, salvaged=counted.salvaged, unknown_types=unknown),
        problems=tuple(Problem(file=each[0], what=each[1], line=each[2], offset=each[3]) for each in troubles),
        by=rows,
        total=total,
        next_offset=following if total is not None and following < total else None,
        limit_applied=page.applied,
    )


def _rows(
    connection: Connection, by: str | None, page: Page, zone: ZoneInfo
) -> tuple[tuple[CoverageRow, ...] | None, int | None]:
    if by == "project":
        groups, total = coverage.by_project(connection, page.limit, page.offset)
        rows = tuple(
            CoverageRow(
                project=each.name,
                chunks=each.chunks,
                embedded=each.embedded,
                messages=each.messages,
                sessions=each.sessions,
                percent=generations.percent(each.chunks - each.excluded, each.embedded),
            )
            for each in groups
        )
        return rows, total
    if by == "day":
        days: dict[str, list[int]] = {}
        for quarter, *counted in coverage.by_quarter_hour(connection):
            sums = days.setdefault(when.local_day(quarter * 900_000, zone).isoformat(), [0, 0, 0, 0])
            for index, count in enumerate(counted):
                sums[index] += count
        names = sorted(days, reverse=True)
        shown = names[page.offset : page.offset + page.limit]
        return tuple(
            CoverageRow(
                day=name,
                chunks=chunks,
                embedded=embedded,
                messages=messages,
                percent=generations.percent(chunks - excluded, embedded),
            )
            for name, (chunks, messages, embedded, excluded) in ((name, days[name]) for name in shown)
        ), len(names)
    return None, None


def _shown_paths(paths: Paths) -> dict[str, str]:
    return {
        "data": str(paths.data),
        "database": str(paths.database),
        "archive": str(paths.archive),
        "knowledge": str(paths.knowledge),
        "settings": str(paths.settings_file),
        "log": str(paths.log_file),
    }


def _size(database: os.PathLike[str]) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(f"{os.fspath(database)}{suffix}").st_size  # noqa: PTH116 - a name with a suffix
        except FileNotFoundError:
            continue
    return total
