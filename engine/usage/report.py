"""Usage by day, week, month, model, project, session or five-hour block, for any range, zone and prices.

Zone, prices and ranges are applied to the roll-up when a report is asked for: changing them needs no rebuild. Totals
are the same whatever a report is grouped by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from engine.core.errors import InvalidArgument
from engine.store.usage import ALL_FOLDERS
from engine.usage.amounts import Amounts, total_of
from engine.usage.grouping import Grouper
from engine.usage.periods import first_complete_day
from engine.usage.rows import Grouping, UsageRow
from engine.usage.source import UsageFilter, UsageNames, UsageSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from engine.usage.pricing import Prices

WEEK_NOTE = "A week begins on Monday (ISO 8601) and is named by its date."
BLOCK_NOTE = (
    "A block begins at the full UTC hour of its first call and lasts five hours; the real limit window may differ by "
    "up to an hour."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """All rows of a report, with totals over all of them."""

    by: Grouping
    rows: tuple[UsageRow, ...]
    """Newest first by time, else the costliest first."""
    totals: Amounts
    time_zone: str
    since: str | None
    """First day whose calls are all there; None where nothing of the range was pruned."""
    notes: tuple[str, ...]

    def reply(self, limit: int | None = None, offset: int = 0) -> dict[str, Any]:
        """Return a page in the shape of `get_usage` (interface.md). Money has nine places: do not round it again."""
        rows = self.rows[offset:] if limit is None else self.rows[offset : offset + limit]
        reply: dict[str, Any] = {"note": " ".join(self.notes)} if self.notes else {}
        reply["rows"] = [row.reply(self.by) for row in rows]
        reply["totals"] = self.totals.reply()
        if self.since is not None:
            reply["totals"]["since"] = self.since
        reply["time_zone"] = self.time_zone
        reply["total"] = len(self.rows)
        if offset + len(rows) < len(self.rows):
            reply["next_offset"] = offset + len(rows)
        return reply


def usage_report(
    source: UsageSource,
    *,
    by: Grouping,
    prices: Prices,
    zone: tzinfo,
    names: UsageNames,
    now_ms: int,
    only: UsageFilter | None = None,
    split_models: bool = False,
) -> UsageReport:
    """Return a report.

    Args:
        source: Sums of the calls.
        by: What a row is.
        prices: What tokens cost.
        zone: The zone of days, weeks and months.
        names: Names of sessions and folders.
        now_ms: Decides which block is active.
        only: Range and restrictions; everything when left out.
        split_models: Each row tells its models apart too (stacked bars).

    Raises:
        InvalidArgument: `by` is none of the groupings.
    """
    only = only or UsageFilter()
    if by not in get_args(Grouping):
        raise InvalidArgument(
            f"by cannot be {by!r}", f"It is one of {', '.join(get_args(Grouping))}.", candidates=get_args(Grouping)
        )
    grouper = Grouper(source, prices, zone, names, now_ms, only, split_models)
    match by:
        case "day" | "week" | "month":
            rows = grouper.periods(by)
        case "block":
            rows = grouper.blocks()
        case "model":
            rows = grouper.models()
        case "project":
            rows = grouper.projects()
        case "session":
            rows = grouper.sessions()
    totals = total_of(row.amounts for row in rows)
    since = _since(source.pruned_before(), only, zone)
    return UsageReport(
        by=by,
        rows=tuple(rows),
        totals=totals,
        time_zone=str(zone),
        since=since,
        notes=tuple(_notes(by, totals, since)),
    )


def _since(pruned: Mapping[int, int], only: UsageFilter, zone: tzinfo) -> str | None:
    cuts = [
        before
        for folder, before in pruned.items()
        if folder == ALL_FOLDERS or only.folder_ids is None or folder in only.folder_ids
    ]
    cut = max(cuts, default=0)
    return first_complete_day(cut, zone).isoformat() if cut > only.start_ms else None


def _notes(by: Grouping, totals: Amounts, since: str | None) -> Iterator[str]:
    if since is not None:
        yield f"Calls before {since} were pruned and are not in the totals."
    if totals.unpriced_calls:
        yield f"{totals.unpriced_calls} of {totals.calls} calls have no price: the cost is of the others."
    if totals.incomplete_calls:
        yield (
            f"Output tokens and cost of {totals.incomplete_calls} calls are too low: Claude Code up to 2.1.59 did not "
            "record them in full."
        )
    if by == "week":
        yield WEEK_NOTE
    if by == "block":
        yield BLOCK_NOTE
