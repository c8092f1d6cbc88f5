"""Sums of usage for any range of time: from the roll-up where it is whole, from the calls at the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.store.usage import CallVariant, CostState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

QUARTER_MS = 15 * 60 * 1000
"""Grain of the fine roll-up: every zone of today is a multiple of a quarter of an hour off UTC."""
HOUR_MS = 60 * 60 * 1000
"""Grain of the coarse roll-up, which knows no sessions and folders."""

Dimension = Literal["session_id", "folder_id"]


class UsageCell(NamedTuple):
    """Sums of the calls of one variant, of one session or folder where that was asked for."""

    group: int
    variant: CallVariant
    calls: int
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int


_SUMS = (
    "sum(calls), sum(input), sum(output), sum(cache_write_5m), sum(cache_write_1h), sum(cache_read), sum(web_searches)"
)
_COLUMNS = "variant_id, calls, input, output, cache_write_5m, cache_write_1h, cache_read, web_searches"


class UsageSums:
    """Reads sums over one connection. Variants are remembered: they are added to and never change."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._variants: dict[int, CallVariant] = {}

    def cells(
        self,
        start_ms: int,
        end_ms: int,
        *,
        dimension: Dimension | None = None,
        session_ids: Collection[int] | None = None,
        folder_ids: Collection[int] | None = None,
    ) -> list[UsageCell]:
        """Return exact sums of the calls from `start_ms` up to, not including, `end_ms`.

        Whole quarters (whole hours where no session or folder is asked for) come from the roll-up, the rest from the
        calls.
        """
        only = _among("session_id", session_ids) + _among("folder_id", folder_ids)
        coarse = dimension is None and not only
        quarters = _inside(start_ms, end_ms, QUARTER_MS)
        hours = _inside(*quarters, HOUR_MS) if coarse else (quarters[1], quarters[1])
        stretches = (
            ("calls", start_ms, quarters[0]),
            ("quarters", quarters[0] // QUARTER_MS, hours[0] // QUARTER_MS),
            ("hours", hours[0] // HOUR_MS, hours[1] // HOUR_MS),
            ("quarters", hours[1] // QUARTER_MS, quarters[1] // QUARTER_MS),
            ("calls", quarters[1], end_ms),
        )
        parts = [each for each in stretches if each[1] < each[2]]
        if not parts:
            return []
        query = _cells_query(tuple(each[0] for each in parts), dimension, only)
        bounds = [bound for each in parts for bound in each[1:]]
        return [UsageCell(row[0], self._variant(row[1]), *row[2:]) for row in self._connection.execute(query, bounds)]

    def next_call(self, at_ms: int) -> int | None:
        """Return the time of the first call at or after a time."""
        return self._time("SELECT min(counted_ms) FROM api_calls WHERE counted_ms >= ?", at_ms)

    def previous_call(self, at_ms: int) -> int | None:
        """Return the time of the last call at or before a time."""
        return self._time("SELECT max(counted_ms) FROM api_calls WHERE counted_ms <= ?", at_ms)

    def cost_states(self) -> dict[int, CostState]:
        """Return Claude Code's own totals, by session."""
        return {row[0]: CostState(*row[1:]) for row in self._connection.execute("SELECT * FROM cost_states")}

    def copies(self, session_ids: Collection[int]) -> list[tuple[int, UsageCell]]:
        """Return the calls these sessions hold but other sessions own, each with the time it was made."""
        query = (
            "SELECT owned.counted_ms, held.session_id, held.variant_id, 1, held.input, held.output, "
            "held.cache_write_5m, held.cache_write_1h, held.cache_read, held.web_searches FROM api_calls AS held "
            "JOIN api_calls AS owned ON owned.key = held.key AND owned.counted_session_id <> held.session_id "
            # A foreign id that another session has too is another call: there each counts for itself.
            "WHERE held.counted_session_id IS NOT held.session_id "
            f"AND held.session_id IN ({_numbers(session_ids)})"
        )
        return [(row[0], UsageCell(row[1], self._variant(row[2]), *row[3:])) for row in self._connection.execute(query)]

    def pruned_before(self) -> dict[int, int]:
        """Return until when calls were pruned, by folder (`ALL_FOLDERS` for all)."""
        return dict(self._connection.execute("SELECT folder_id, before_ms FROM usage_pruned"))

    def _variant(self, number: int) -> CallVariant:
        if number not in self._variants:
            rows = self._connection.execute(
                "SELECT id, model, speed, service_tier, prompt_over, incomplete FROM api_call_variants"
            )
            self._variants = {row[0]: CallVariant(*row[1:]) for row in rows}
        return self._variants[number]

    def _time(self, query: str, at_ms: int) -> int | None:
        row = self._connection.execute(query, (at_ms,)).fetchone()
        return None if row is None else row[0]


def _cells_query(sources: tuple[str, ...], dimension: Dimension | None, only: str) -> str:
    """Return the SQL of the sums over stretches of some sources: one, because a year of days asks 365 times."""
    stretches = " UNION ALL ".join(_stretch_query(source, dimension, only) for source in sources)
    group, by = (dimension, "1, 2") if dimension else ("0", "2")
    return f"SELECT {group}, variant_id, {_SUMS} FROM ({stretches}) GROUP BY {by}"


def _stretch_query(source: str, dimension: Dimension | None, only: str) -> str:
    group = f"{dimension}, " if dimension else ""
    if source == "calls":
        group = f"counted_{dimension} AS {dimension}, " if dimension else ""
        counted = only.replace("session_id", "counted_session_id").replace("folder_id", "counted_folder_id")
        columns = _COLUMNS.replace("calls", "1 AS calls")
        return f"SELECT {group}{columns} FROM api_calls WHERE counted_ms >= ? AND counted_ms < ?{counted}"
    at = source.removesuffix("s")
    return f"SELECT {group}{_COLUMNS} FROM usage_{source} WHERE {at} >= ? AND {at} < ?{only}"


def _inside(start: int, end: int, step: int) -> tuple[int, int]:
    """Return the largest stretch of whole steps inside a range, empty at its end where there is none."""
    first, last = -(-start // step) * step, end // step * step
    return (first, last) if first <= last else (end, end)


def _among(column: str, numbers: Collection[int] | None) -> str:
    return "" if numbers is None else f" AND {column} IN ({_numbers(numbers)})"


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(int(number)) for number in numbers)
