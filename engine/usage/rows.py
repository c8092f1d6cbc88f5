"""The rows of a report, and Claude Code's own total beside a session's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.usage.amounts import Amounts, dollars

if TYPE_CHECKING:
    from engine.store.usage import CostState

Grouping = Literal["day", "week", "month", "model", "project", "session", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostComparison:
    """Claude Code's own total of a session beside the sum of its recorded calls."""

    cost_usd: float
    difference_usd: float | None
    """Claude Code's total less ours; None when some of our calls have no price."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """One day, week, month, model, project, session or block."""

    label: str
    """Its date (a week's Monday), `2026-08`, name, session id or start."""
    amounts: Amounts
    title: str | None = None
    project: str | None = None
    """Of a session."""
    cwds: tuple[str, ...] | None = None
    """Of a project."""
    end: str | None = None
    """Of a block or gap."""
    active: bool | None = None
    gap: bool | None = None
    cost_state: CostComparison | None = None

    def reply(self, by: Grouping) -> dict[str, Any]:
        """Return the row in the shape of `get_usage` (interface.md)."""
        head: dict[str, Any] = {"session_id" if by == "session" else by: self.label}
        for name in ("title", "project", "end", "active", "gap"):
            if getattr(self, name) is not None:
                head[name] = getattr(self, name)
        if self.cwds is not None:
            head["cwds"] = list(self.cwds)
        reply = head | self.amounts.reply()
        if (ours := self.cost_state) is not None:
            reply["cost_state"] = {"cost_usd": ours.cost_usd, "why": ours.why}
            if ours.difference_usd is not None:
                reply["cost_state"]["difference_usd"] = ours.difference_usd
        return reply


def compare(state: CostState, amounts: Amounts) -> CostComparison:
    """Name the difference between Claude Code's total of a session and the sum of its calls."""
    theirs = dollars(state.cost_nanos)
    if amounts.unpriced_calls or state.unpriced:
        return CostComparison(
            cost_usd=theirs,
            difference_usd=None,
            why="Claude Code's own total. It cannot be compared: some calls have no price.",
        )
    difference = state.cost_nanos - amounts.cost_nanos
    if difference == 0:
        why = "Claude Code's own total, the same as the sum of the recorded calls."
    elif difference > 0:
        why = (
            "Claude Code's own total is higher: it also has calls that no transcript line records (compaction, titles, "
            "helper models), calls made before a fork, which count in the session they were made in, and pruned ones."
        )
    else:
        why = (
            "Claude Code's own total is lower: it was written before the last calls, began anew when the session was "
            "resumed, or uses other prices."
        )
    return CostComparison(cost_usd=theirs, difference_usd=dollars(difference), why=why)
