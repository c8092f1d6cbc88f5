"""The rows of a report, and Claude Code's own total beside a session's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.usage.amounts import Amounts, dollars

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.store.usage import CostState

Grouping = Literal["day", "week", "month", "model", "project", "session", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostComparison:
    """Claude Code's own total of a session beside the sum of its recorded calls."""

    cost_usd: float
    difference_usd: float | None
    """Claude Code's total less ours; None when some calls have no price."""
    copied_usd: float | None
    """Part of the difference: calls copied into the session, which count in the one they were made in."""
    why: str

    def reply(self) -> dict[str, Any]:
        """Return the keys of `get_usage`, those without a value left out."""
        reply: dict[str, Any] = {"cost_usd": self.cost_usd, "why": self.why}
        if self.difference_usd is not None:
            reply["difference_usd"] = self.difference_usd
        if self.copied_usd:
            reply["copied_usd"] = self.copied_usd
        return reply


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
    by_model: Mapping[str, Amounts] | None = None
    """The same by model, where the report was asked to split its rows."""

    def reply(self, by: Grouping) -> dict[str, Any]:
        """Return the row in the shape of `get_usage` (interface.md)."""
        head: dict[str, Any] = {"session_id" if by == "session" else by: self.label}
        for name in ("title", "project", "end", "active", "gap"):
            if getattr(self, name) is not None:
                head[name] = getattr(self, name)
        if self.cwds is not None:
            head["cwds"] = list(self.cwds)
        reply = head | self.amounts.reply()
        if self.cost_state is not None:
            reply["cost_state"] = self.cost_state.reply()
        if self.by_model is not None:
            reply["by_model"] = [{"model": model} | amounts.reply() for model, amounts in self.by_model.items()]
        return reply


def compare(state: CostState, ours: Amounts, copied: Amounts) -> CostComparison:
    """Name the difference between Claude Code's total of a session and the sum of its calls.

    Args:
        state: Claude Code's total.
        ours: The calls that count for the session.
        copied: The calls that it holds but another session owns.
    """
    theirs = dollars(state.cost_nanos)
    if ours.unpriced_calls or copied.unpriced_calls or state.unpriced:
        why = "Claude Code's own total. It cannot be compared: some calls have no price."
        return CostComparison(cost_usd=theirs, difference_usd=None, copied_usd=None, why=why)
    difference = state.cost_nanos - ours.cost_nanos
    rest = difference - copied.cost_nanos
    reasons: list[str] = []
    if copied.cost_nanos:
        reasons.append("It includes calls copied into this session, which count in the one they were made in.")
    if rest > 0:
        reasons.append(
            "It has calls that no transcript line records (compaction, titles, helper models) or that were pruned."
        )
    if rest < 0:
        reasons.append("It was written before the last calls, began anew at a resume, or uses other prices.")
    return CostComparison(
        cost_usd=theirs,
        difference_usd=dollars(difference),
        copied_usd=dollars(copied.cost_nanos),
        why=" ".join(["Claude Code's own total.", *(reasons or ["It is the sum of the recorded calls."])]),
    )
