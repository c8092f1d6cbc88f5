"""Choosing what of an exchange is shown when there is no room for all of it.

The messages that were asked for come first. Around a hit the rest follows from both sides without gaps; of a whole
exchange it is the prompt and what it came to, then what was said, then what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from engine.mcp.measure import SEPARATOR, cost, cut_to_fit

NEIGHBOUR_SHARE: Final = 4
"""A text beside the one that was asked for takes at most one part in so many of the room."""
_SKIPPED: Final = cost({"skipped_before": 100_000})

Row = dict[str, Any]
HowToRead = Callable[[Row], str]
"""Words that say how the rest of a message can be read."""


def around(messages: list[Row], room: int, more: HowToRead, *, ends: bool = False) -> tuple[int, list[Row], int]:
    """Return the part of an exchange that fits: the messages asked for, and as many of both sides as there is room for.

    A long text beside the asked one is cut to its share first, so that a bulky tool result does not hide the answer
    that follows it. A message kept behind others that were not carries their number in `skipped_before`.

    Args:
        messages: In order; the asked ones carry `in_hit`. When none does, the one in the middle counts as asked.
        room: What they may cost together.
        more: Says how to read the rest of a message that is cut.
        ends: This is a whole exchange: its first and last message are kept too, the prompt and what it came to, then
            what was said before what was done. Otherwise both sides are kept as far as they go without a gap.

    Returns:
        How many were left out before, the messages kept, how many were left out after.
    """
    if not messages:
        return 0, [], 0
    asked = [number for number, message in enumerate(messages) if message.get("in_hit")] or [len(messages) // 2]
    share = room // NEIGHBOUR_SHARE
    outer = {0, len(messages) - 1} - set(asked) if ends else set[int]()
    shown = _asked(messages, asked, room, room - len(outer) * share, more)
    left = room - sum(cost(message) + SEPARATOR for message in shown.values())

    def add(number: int) -> bool:
        nonlocal left
        if not 0 <= number < len(messages) or number in shown:
            return False
        message = cut_to_fit(messages[number], share - SEPARATOR - _SKIPPED, more(messages[number]))
        size = cost(message) + SEPARATOR + _SKIPPED
        if size > left:
            return False
        left -= size
        shown[number] = message
        return True

    if ends:
        for number in (*sorted(outer), *_by_worth(messages, asked)):
            add(number)
    else:
        edges = [(number, step) for number in asked for step in (-1, 1)]
        while edges:
            edges = [(number + step, step) for number, step in edges if add(number + step)]
    kept = sorted(shown)
    rows = [_marked(shown[number], number - before - 1) for before, number in pairwise(kept)]
    return kept[0], [shown[kept[0]], *rows], len(messages) - 1 - kept[-1]


def _by_worth(messages: list[Row], asked: list[int]) -> list[int]:
    """Return the places of messages, what was said before what was done and thought, nearest first."""

    def worth(number: int) -> tuple[bool, int]:
        message = messages[number]
        said = message.get("role") in ("user", "assistant") and any(
            block.get("kind") == "text" for block in message.get("blocks", ())
        )
        return not said, min(abs(number - each) for each in asked)

    return sorted(range(len(messages)), key=worth)


def _marked(message: Row, skipped: int) -> Row:
    return {**message, "skipped_before": skipped} if skipped else message


def _asked(messages: list[Row], asked: list[int], room: int, cut_room: int, more: HowToRead) -> dict[int, Row]:
    """Return the asked messages by their place: whole where they fit in `room`, else cut alike to `cut_room`.

    Where not even their shortest forms fit, the first of them.
    """
    if sum(cost(messages[number]) + SEPARATOR for number in asked) <= room:
        return {number: messages[number] for number in asked}
    while True:
        each = cut_room // len(asked) - SEPARATOR
        kept = {number: cut_to_fit(messages[number], each, more(messages[number])) for number in asked}
        if len(asked) == 1 or sum(cost(message) + SEPARATOR for message in kept.values()) <= room:
            return kept
        asked = asked[: len(asked) // 2]
