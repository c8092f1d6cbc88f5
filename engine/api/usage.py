"""Usage reports with the names of sessions and working directories in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.recall.sessions import NO_SUCH_PROJECT
from engine.store import filters, reading
from engine.store.usage_sums import UsageSums
from engine.usage.report import usage_report
from engine.usage.source import FolderName, SessionName, UsageFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from zoneinfo import ZoneInfo

    from engine.core.when import TimeSpan
    from engine.store.connection import Connection
    from engine.usage.pricing import Prices
    from engine.usage.report import UsageReport
    from engine.usage.rows import Grouping


def usage_of(
    connection: Connection,
    *,
    by: Grouping,
    span: TimeSpan,
    folders: tuple[int, ...] | None,
    prices: Prices,
    zone: ZoneInfo,
    now_s: float,
    split_models: bool,
) -> UsageReport:
    """Return tokens and cost.

    Args:
        connection: The database.
        by: What a row is.
        span: The period.
        folders: Working directories; None is all of them.
        prices: Of the models.
        zone: Of the days.
        now_s: Seconds since 1970.
        split_models: Each row also by model.
    """
    everything = UsageFilter()
    only = UsageFilter(
        start_ms=everything.start_ms if span.start_ms is None else span.start_ms,
        end_ms=everything.end_ms if span.end_ms is None else span.end_ms,
        folder_ids=folders,
    )
    report = usage_report(
        UsageSums(connection),
        by=by,
        prices=prices,
        zone=zone,
        names=_StoredNames(connection),
        now_ms=int(now_s * 1000),
        only=only,
        split_models=split_models,
    )
    return replace(report, notes=(NO_SUCH_PROJECT, *report.notes)) if folders == () else report


class _StoredNames:
    """Looks names up in the database (`engine.usage.source.UsageNames`)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return names of sessions."""
        return {
            number: SessionName(info.session_id, info.title, info.project)
            for number, info in reading.sessions_by_id(self._connection, ids).items()
        }

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return names of working directories."""
        named = filters.folder_names(self._connection)
        return {number: FolderName(*named[number]) for number in ids if number in named}
