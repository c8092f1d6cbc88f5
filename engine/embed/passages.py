"""Cuts a text that is longer than the model reads into overlapping passages that together cover it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OVERLAP_TOKENS = 48
"""Tokens that two neighbours share: about two sentences, so that none is only ever seen in halves."""

_SEARCHED = 24
"""How many tokens back a cut may move to fall between words."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text (code points)."""

    start: int
    end: int
    tokens: int
    """Of the model, its begin and end marks not counted."""


def passages_of(
    text: str, tokens: Sequence[tuple[int, int]], limit: int, overlap: int = OVERLAP_TOKENS
) -> list[Passage]:
    """Return the passages of a text, in order; at least one, and every character lies in one.

    Args:
        text: The chunk's text.
        tokens: Start and end of each of the model's tokens in the text.
        limit: Tokens that fit into one passage, the model's own begin and end marks not counted.
        overlap: Tokens that a passage repeats from the one before; less than half of `limit`.
    """
    if len(tokens) <= limit:
        return [Passage(0, len(text), len(tokens))]
    # A model that reads very little would otherwise repeat everything and never arrive.
    overlap = min(overlap, limit // 4)
    found: list[Passage] = []
    first = 0
    while True:
        last = first + limit
        if last >= len(tokens):
            found.append(Passage(_start_of(tokens, first), len(text), len(tokens) - first))
            return found
        last = _between_words(tokens, last, first + limit // 2)
        found.append(Passage(_start_of(tokens, first), tokens[last][0], last - first))
        following = _between_words(tokens, last - overlap, last - 2 * overlap)
        first = max(following, first + 1)


def _start_of(tokens: Sequence[tuple[int, int]], index: int) -> int:
    return tokens[index][0] if index else 0


def _between_words(tokens: Sequence[tuple[int, int]], index: int, earliest: int) -> int:
    """Move a cut back to where a gap stands before a token; where there is none near (Chinese, base64), leave it."""
    for candidate in range(index, max(earliest, index - _SEARCHED), -1):
        if candidate > 0 and tokens[candidate - 1][1] < tokens[candidate][0]:
            return candidate
    return index
