"""What a report asks of the rooms around it: sums of calls, and names of sessions and folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.usage.blocks import CallTimes
from engine.usage.calls import LATEST_MS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.store.usage import CostState
    from engine.store.usage_sums import Dimension, UsageCell


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFilter:
    """What a report covers: a half-open range in epoch milliseconds, and some sessions or folders only."""

    start_ms: int = 0
    end_ms: int = LATEST_MS
    session_ids: Collection[int] | None = None
    folder_ids: Collection[int] | None = None


class UsageSource(CallTimes, Protocol):
    """Where sums come from (`engine.store.usage_sums.UsageSums`)."""

    def cells(
        self,
        start_ms: int,
        end_ms: int,
        *,
        dimension: Dimension | None = None,
        session_ids: Collection[int] | None = None,
        folder_ids: Collection[int] | None = None,
    ) -> list[UsageCell]:
        """Return exact sums of the calls of a half-open range."""
        ...

    def cost_states(self) -> Mapping[int, CostState]:
        """Return Claude Code's own totals, by session."""
        ...

    def copies(self, session_ids: Collection[int]) -> list[tuple[int, UsageCell]]:
        """Return the calls these sessions hold but other sessions own, each with the time it was made."""
        ...

    def pruned_before(self) -> Mapping[int, int]:
        """Return until when calls were pruned, by folder."""
        ...


class FolderName(NamedTuple):
    """A working directory and the repository it belongs to."""

    project: str
    cwd: str


class SessionName(NamedTuple):
    """A session as people know it."""

    session_id: str
    title: str | None = None
    project: str | None = None


class UsageNames(Protocol):
    """Turns the numbers of sessions and folders into names. One that is gone may be missing."""

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return names of sessions."""
        ...

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return names of folders."""
        ...
