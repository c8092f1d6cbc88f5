from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.usage.blocks import BLOCK_MS, HOUR_MS, Block, blocks

MINUTE = 60_000


@dataclass
class Times:
    """Calls at these times, ascending."""

    times: list[int]

    def next_call(self, at_ms: int) -> int | None:
        place = bisect_left(self.times, at_ms)
        return self.times[place] if place < len(self.times) else None

    def previous_call(self, at_ms: int) -> int | None:
        place = bisect_right(self.times, at_ms)
        return self.times[place - 1] if place else None


def ccusage_blocks(times: list[int]) -> list[tuple[int, list[int]]]:
    """Return blocks by the rule as ccusage words it: a new one after five hours, or after five hours without a call."""
    found: list[tuple[int, list[int]]] = []
    for each in times:
        if not found or each - found[-1][0] > BLOCK_MS or each - found[-1][1][-1] > BLOCK_MS:
            found.append((each // HOUR_MS * HOUR_MS, []))
        found[-1][1].append(each)
    return found


@given(
    st.lists(st.integers(0, 60 * HOUR_MS) | st.integers(0, 60).map(lambda hour: hour * HOUR_MS), max_size=40).map(
        sorted
    )
)
def test_blocks_are_those_of_the_rule_call_by_call(times: list[int]) -> None:
    made = [(block.start_ms, block.first_ms, block.last_ms) for block in blocks(Times(times)) if not block.is_gap]
    assert made == [(start, calls[0], calls[-1]) for start, calls in ccusage_blocks(times)]


@pytest.mark.parametrize(("idle", "gaps"), [(BLOCK_MS, 0), (BLOCK_MS + 1, 1)])
def test_a_gap_needs_more_than_five_idle_hours(idle: int, gaps: int) -> None:
    first = 10 * HOUR_MS + 30 * MINUTE
    found = list(blocks(Times([first, first + idle])))
    assert [block for block in found if block.is_gap] == [
        Block(first + BLOCK_MS, first + idle, first + BLOCK_MS, first + idle, is_gap=True)
    ] * gaps


def test_a_call_at_the_very_end_still_belongs_to_the_block() -> None:
    start = 10 * HOUR_MS
    assert [block.first_ms for block in blocks(Times([start, start + BLOCK_MS]))] == [start]
    later = [block.first_ms for block in blocks(Times([start, start + BLOCK_MS + 1])) if not block.is_gap]
    assert later == [start, start + BLOCK_MS + 1]


@pytest.mark.parametrize(("now_minutes", "active"), [(0, True), (299, True), (300, False), (900, False)])
def test_a_block_is_active_until_its_end(now_minutes: int, active: bool) -> None:  # noqa: FBT001 - the expected value
    (block,) = blocks(Times([10 * HOUR_MS]))
    assert block.is_active(10 * HOUR_MS + now_minutes * MINUTE) is active


def test_no_calls_no_blocks() -> None:
    assert list(blocks(Times([]))) == []
