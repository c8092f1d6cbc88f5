"""Sums of calls grouped into the rows of a report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.usage.amounts import amounts_of, shown_model
from engine.usage.blocks import blocks
from engine.usage.calls import LATEST_MS
from engine.usage.periods import PeriodKind, iso_time, period_at, pieces
from engine.usage.rows import UsageRow, compare
from engine.usage.source import SessionName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import tzinfo

    from engine.store.usage import CostState
    from engine.store.usage_sums import Dimension, UsageCell
    from engine.usage.pricing import Prices
    from engine.usage.source import UsageFilter, UsageNames, UsageSource

UNKNOWN_PROJECT = "unknown"
"""Calls whose lines name no working directory."""

_Priced = tuple["UsageCell", int | None]


@dataclass(frozen=True, slots=True)
class Grouper:
    """Makes the rows of one report, each by another grouping."""

    source: UsageSource
    prices: Prices
    zone: tzinfo
    names: UsageNames
    now_ms: int
    only: UsageFilter
    split_models: bool

    def periods(self, kind: PeriodKind) -> list[UsageRow]:
        """Return days, weeks or months with calls, newest first."""
        rows: list[UsageRow] = []
        at = self.source.next_call(self.only.start_ms)
        while at is not None and at < self.only.end_ms:
            period = period_at(kind, at, self.zone)
            cells = list(self._priced(period.start_ms, period.end_ms))
            at = period.end_ms
            if cells:
                rows.append(self._row(period.label, cells))
            else:
                at = self.source.next_call(at)
        return rows[::-1]

    def blocks(self) -> list[UsageRow]:
        """Return five-hour blocks with calls, and the gaps between them, newest first."""
        whole = self.only.session_ids is None and self.only.folder_ids is None
        rows: list[UsageRow] = []
        for block in blocks(self.source):
            if block.last_ms < self.only.start_ms or block.first_ms >= self.only.end_ms:
                continue
            cells = () if block.is_gap else tuple(self._priced(block.first_ms, block.end_ms + 1))
            if cells or (block.is_gap and whole):
                rows.append(
                    self._row(
                        iso_time(block.start_ms, self.zone),
                        cells,
                        end=iso_time(block.end_ms, self.zone),
                        active=None if block.is_gap else block.is_active(self.now_ms),
                        gap=True if block.is_gap else None,
                    )
                )
        return rows[::-1]

    def models(self) -> list[UsageRow]:
        """Return models as recorded, fast mode apart."""
        groups = self._groups(None, lambda cell: shown_model(cell.variant))
        return _costliest_first(self._row(name, cells) for name, cells in groups.items())

    def projects(self) -> list[UsageRow]:
        """Return repositories, each with the folders worked in."""
        groups = self._groups("folder_id", lambda cell: cell.group)
        names = self.names.folders(groups.keys())
        projects = defaultdict[str, list[int]](list)
        for folder in groups:
            projects[names[folder].project if folder in names else UNKNOWN_PROJECT].append(folder)
        return _costliest_first(
            self._row(
                project,
                [priced for folder in folders for priced in groups[folder]],
                cwds=tuple(sorted({names[folder].cwd for folder in folders if folder in names})),
            )
            for project, folders in projects.items()
        )

    def sessions(self) -> list[UsageRow]:
        """Return sessions; what their sub-agents used is theirs."""
        groups = self._groups("session_id", lambda cell: cell.group)
        names = self.names.sessions(groups.keys())
        states = self._whole_cost_states(groups.keys())
        copied = defaultdict[int, list[_Priced]](list)
        for at_ms, cell in self.source.copies(states.keys()) if states else ():
            copied[cell.group].append((cell, self.prices.cost_nanos(cell, at_ms)))
        rows: list[UsageRow] = []
        for session, cells in groups.items():
            name = names.get(session, SessionName(f"#{session}"))
            row = self._row(name.session_id, cells, title=name.title, project=name.project)
            if (state := states.get(session)) is not None:
                row = replace(row, cost_state=compare(state, row.amounts, amounts_of(copied[session])))
            rows.append(row)
        return _costliest_first(rows)

    def _row(self, label: str, cells: Collection[_Priced], **details: Any) -> UsageRow:
        parts = None
        if self.split_models:
            models = defaultdict[str, list[_Priced]](list)
            for priced in cells:
                models[shown_model(priced[0].variant)].append(priced)
            parts = {model: amounts_of(models[model]) for model in sorted(models)}
        return UsageRow(label=label, amounts=amounts_of(cells), by_model=parts, **details)

    def _groups(self, dimension: Dimension | None, key: Callable[[UsageCell], Any]) -> dict[Any, list[_Priced]]:
        groups = defaultdict[Any, list[_Priced]](list)
        for priced in self._priced(0, LATEST_MS, dimension):
            groups[key(priced[0])].append(priced)
        return groups

    def _priced(self, start_ms: int, end_ms: int, dimension: Dimension | None = None) -> Iterator[_Priced]:
        """Return the cells of a range within the report's, each with its cost: none reaches over a change of prices."""
        start_ms, end_ms = max(start_ms, self.only.start_ms), min(end_ms, self.only.end_ms)
        for piece_start, piece_end in pieces(start_ms, end_ms, self.prices.changes()):
            for cell in self._cells(piece_start, piece_end, dimension):
                yield cell, self.prices.cost_nanos(cell, piece_start)

    def _cells(self, start_ms: int, end_ms: int, dimension: Dimension | None) -> list[UsageCell]:
        return self.source.cells(
            start_ms,
            end_ms,
            dimension=dimension,
            session_ids=self.only.session_ids,
            folder_ids=self.only.folder_ids,
        )

    def _whole_cost_states(self, sessions: Collection[int]) -> dict[int, CostState]:
        """Return the totals of sessions all of whose calls are in the report: others cannot be compared."""
        if self.only.folder_ids is not None:
            return {}
        states = {session: state for session, state in self.source.cost_states().items() if session in sessions}
        if not states:
            return {}
        outside = [(0, self.only.start_ms), (self.only.end_ms, LATEST_MS)]
        for start, end in outside:
            if start < end:
                for cell in self.source.cells(start, end, dimension="session_id", session_ids=list(states)):
                    states.pop(cell.group, None)
        return states


def _costliest_first(rows: Iterable[UsageRow]) -> list[UsageRow]:
    return sorted(rows, key=lambda row: (-row.amounts.cost_nanos, -row.amounts.tokens, row.label))
