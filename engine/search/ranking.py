"""Gentle tie-breaks on top of BM25, and rankings that are remembered so that pages fit together."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from engine.core.clock import Clock
    from engine.store.words import Match

SIGNAL_BONUS = (0.10, 0.0, -0.10)
"""Share of the score added for high, medium and low signal: enough to put a prompt before the tool output that repeats
it, not enough to put a passing mention before the text that is about it."""

RECENCY_BONUS = 0.05
RECENCY_HALF_LIFE_DAYS = 30.0
"""What was said today gets 5 % more, a month ago 2.5 %: it orders equals, as newer usually supersedes older."""

_DAY_MS = 86_400_000
_MAX_RANKINGS = 16
_MAX_IDS = 2_000_000
"""Twenty megabytes of remembered numbers at most."""

RANKING_LIFE_S = 600.0
"""How long page two still belongs to page one."""


def weighed(score: float, signal: int, time_ms: int | None, now_ms: int) -> float:
    """Return a score with its tie-breaks."""
    return score * (1 + SIGNAL_BONUS[signal] + recency(time_ms, now_ms))


def recency(time_ms: int | None, now_ms: int) -> float:
    """Return the share of a score that is added because something was said lately."""
    if time_ms is None:
        return 0.0
    age_days = max(0.0, (now_ms - time_ms) / _DAY_MS)
    return RECENCY_BONUS * 0.5 ** (age_days / RECENCY_HALF_LIFE_DAYS)


class Ranked(NamedTuple):
    """A chunk in its place."""

    chunk: int
    score: float
    similar: int | None = None
    """Further chunks of its exchange that it stands for."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Chunks in order, best first, with their scores."""

    chunks: array[int]
    scores: array[float]
    similar: array[int] | None = None
    """How many further chunks of its exchange each one stands for; None when nothing is grouped."""

    def __len__(self) -> int:
        return len(self.chunks)

    def entry(self, index: int) -> Ranked:
        """Return one place of the ranking."""
        similar = None if self.similar is None else self.similar[index] or None
        return Ranked(self.chunks[index], self.scores[index], similar)


def rank(matches: Iterable[Match], now_ms: int) -> Ranking:
    """Return matches by falling score; equals newest first, then by number, so that the order is total."""
    ordered = sorted(
        ((weighed(m.score, m.signal, m.time_ms, now_ms), m.time_ms or 0, m.chunk) for m in matches), reverse=True
    )
    return Ranking(array("q", [each[2] for each in ordered]), array("d", [each[0] for each in ordered]))


def best_of_exchanges(matches: Iterable[Match], now_ms: int) -> Ranking:
    """Return the best match of each exchange, ordered as `rank` orders."""
    exchange_of: dict[int, int] = {}
    counted: dict[int, int] = {}
    listed = tuple(matches)
    for match in listed:
        exchange_of[match.chunk] = match.exchange
        counted[match.exchange] = counted.get(match.exchange, -1) + 1
    everything = rank(listed, now_ms)
    chunks, scores, similar = array("q"), array("d"), array("q")
    seen: set[int] = set()
    for chunk, score in zip(everything.chunks, everything.scores, strict=True):
        exchange = exchange_of[chunk]
        if exchange not in seen:
            seen.add(exchange)
            chunks.append(chunk)
            scores.append(score)
            similar.append(counted[exchange])
    return Ranking(chunks, scores, similar)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A ranking with what was said about it."""

    ranking: Ranking
    extra: object
    made_at_s: float


class RankingMemory:
    """Keeps the last rankings for a while: further pages continue the first one while the index grows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Remembered] = OrderedDict()

    def put(self, key: Hashable, ranking: Ranking, extra: object) -> None:
        """Remember the ranking of a question."""
        with self._lock:
            self._kept[key] = Remembered(ranking, extra, self._clock.monotonic())
            self._kept.move_to_end(key)
            while len(self._kept) > _MAX_RANKINGS or (
                len(self._kept) > 1 and sum(len(each.ranking) for each in self._kept.values()) > _MAX_IDS
            ):
                self._kept.popitem(last=False)

    def get(self, key: Hashable) -> Remembered | None:
        """Return the ranking of a question asked within the last ten minutes, None otherwise."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or self._clock.monotonic() - kept.made_at_s > RANKING_LIFE_S:
                self._kept.pop(key, None)
                return None
            return kept
