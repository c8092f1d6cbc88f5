"""Five-hour blocks, as Claude's usage limits count them and ccusage shows them.

A block begins at the full UTC hour of its first call and takes every call up to and including its end. (ccusage also
begins a new one after more than five hours without a call; such a call always lies beyond the end of its block.) The
chain of blocks hangs on exact times, so it comes from the calls and not from the roll-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR_MS = 60 * 60 * 1000
BLOCK_MS = 5 * HOUR_MS
"""Length of a block, and the idle time after which a gap is shown (ccusage's rule, transcripts.md 5.3)."""


class CallTimes(Protocol):
    """Knows when calls were made."""

    def next_call(self, at_ms: int) -> int | None:
        """Return the time of the first call at or after a time."""
        ...

    def previous_call(self, at_ms: int) -> int | None:
        """Return the time of the last call at or before a time."""
        ...


class Block(NamedTuple):
    """Five hours with calls, or a gap of more than five hours without."""

    start_ms: int
    end_ms: int
    first_ms: int
    """First call; of a gap its start."""
    last_ms: int
    """Last call; of a gap its end."""
    is_gap: bool

    def is_active(self, now_ms: int) -> bool:
        """Return whether a call made now would still belong to it (its last call is then under five hours old)."""
        return not self.is_gap and now_ms < self.end_ms


def blocks(times: CallTimes) -> Iterator[Block]:
    """Return all blocks and gaps in order of time."""
    first = times.next_call(0)
    while first is not None:
        start = first // HOUR_MS * HOUR_MS
        last = times.previous_call(start + BLOCK_MS) or first
        yield Block(start, start + BLOCK_MS, first, last, is_gap=False)
        first = times.next_call(start + BLOCK_MS + 1)
        if first is not None and first - last > BLOCK_MS:
            yield Block(last + BLOCK_MS, first, last + BLOCK_MS, first, is_gap=True)
