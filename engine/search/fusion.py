"""Weighs words against meaning for one question, and gives every exchange one score. Pure numbers, no database.

Both legs are measured on a scale of their own question, then added with weights that the question itself decides:

- the words count as much as they cover it: the share of the question's rare words that the best answer holds, and half
  as much when of many words no two stand together;
- the meaning counts less the more the question is made of identifiers, paths and quoted phrases.

What lies right before or after in the session counts a little too, in both legs.

An exchange of a hundred tool calls has a hundred chances to hold a word or to come near by accident, so both legs are
taken down a little with the logarithm of its size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MEANING_WEIGHT = 0.55
"""Of the nearest exchange, against 1 for an exchange that holds all the words. 0.5 to 0.65 give the same figures within
two questions of 115."""

PROMPT_WEIGHT = 0.5
"""How much the prompt's nearness counts beside the best passage's: what an answer was for. 0.3 to 0.7 are alike."""

NEIGHBOUR_WEIGHT = 0.3
"""How much of what speaks for the exchange right before or after, the better of them, counts for this one too: what is
talked about rarely fits into one exchange. 0.2 to 0.35 are alike. With it nine of 115 questions are answered earlier
and four later, six and five of 63 about chats; nine of ten resamplings of either set prefer it."""

IDENTIFIER_SHIFT = 0.6
"""How much less meaning weighs for a question of identifiers alone: a model that reads word pieces knows no
`GetCheckpointAuthor`. Without it meaning outvotes an exact match once in a dozen such questions. 0.5 to 0.7 are
alike."""

SCATTERED_FROM = 4
SCATTERED_WEIGHT = 0.5
"""What words keep of their weight when a question has so many and no block holds two of them: each then stands
somewhere by chance. Of 42 such questions about invented chats words alone answer one at first place, meaning 18; of 74
with three words they answer 25 and it 29, so these keep theirs. 0.3 to 0.7 are alike; none of 115 questions about real
sessions is of this kind."""

SIZE_WORDS = 0.08
SIZE_MEANING = 0.1
"""Taken from the scores for each e-fold of an exchange's size (blocks): a share of the words' score, and a share of the
spread of random passages. 0.05 to 0.15 are alike; without it long exchanges win one paraphrase in eight by chance."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one exchange."""

    block: float = 0.0
    """BM25 of its best block."""
    whole: float = 0.0
    """BM25 of the exchange as one: for each word of the question, its best block."""
    passage: float | None = None
    """Cosine of its best passage; None while it has no vector."""
    prompt: float | None = None
    """Cosine of its prompt."""
    size: int = 1
    """Blocks that may be found."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """What the question itself says about the legs."""

    coverage: float
    """0 to 1: the largest share of the question's words, weighed by rarity, that one block holds."""
    identifiers: float
    """0 to 1: the share of terms that are identifiers, paths or quoted."""
    mean: float = 0.0
    """Cosine of the question with passages taken at random."""
    spread: float = 0.1
    """Their standard deviation."""
    scattered: bool = False
    """It has many words, and no block holds two of them."""


def fuse(
    evidence: Mapping[int, Evidence], form: QuestionForm, neighbours: Mapping[int, Collection[int]] | None = None
) -> dict[int, float]:
    """Return the score of each exchange, 0 to about 1.6.

    Args:
        evidence: Of every candidate.
        form: Of the question.
        neighbours: The exchanges right before and after each candidate; only those that are candidates too count.
    """
    beside = neighbours or {}
    words = _words(evidence, beside)
    meaning = _meaning(evidence, form, beside)
    meaning_weight = MEANING_WEIGHT * (1 - IDENTIFIER_SHIFT * form.identifiers)
    words_weight = form.coverage * (SCATTERED_WEIGHT if form.scattered else 1)
    return {each: words_weight * words[each] + meaning_weight * meaning[each] for each in evidence}


def _words(evidence: Mapping[int, Evidence], beside: Mapping[int, Collection[int]]) -> dict[int, float]:
    """Return 0 to 1: best block and exchange, each on a scale from nothing to the best, half and half."""
    blocks = {each: found.block / (1 + SIZE_WORDS * math.log(found.size)) for each, found in evidence.items()}
    wholes = {each: found.whole / (1 + SIZE_WORDS * math.log(found.size)) for each, found in evidence.items()}
    best_block = max(blocks.values(), default=0.0) or 1.0
    best_whole = max(wholes.values(), default=0.0) or 1.0
    alone = {each: (blocks[each] / best_block + wholes[each] / best_whole) / 2 for each in evidence}
    return _scaled(_with_neighbours(alone, alone, beside))


def _meaning(
    evidence: Mapping[int, Evidence], form: QuestionForm, beside: Mapping[int, Collection[int]]
) -> dict[int, float]:
    """Return at most 1: nearness on a scale from a random passage's to the nearest."""
    passages = {
        each: found.passage - form.mean if found.passage is not None else 0.0 for each, found in evidence.items()
    }
    near: dict[int, float] = {}
    for each, found in evidence.items():
        if found.passage is None:
            near[each] = 0.0
            continue
        prompt = (found.prompt if found.prompt is not None else form.mean) - form.mean
        chance = SIZE_MEANING * form.spread * (1 + PROMPT_WEIGHT) * math.log(found.size)
        near[each] = passages[each] + PROMPT_WEIGHT * prompt - chance
    return _scaled(_with_neighbours(near, passages, beside))


def _with_neighbours(
    scores: Mapping[int, float], support: Mapping[int, float], beside: Mapping[int, Collection[int]]
) -> dict[int, float]:
    """Return scores with the better neighbour's support added."""
    return {
        each: score + NEIGHBOUR_WEIGHT * max([0.0, *(support.get(other, 0.0) for other in beside.get(each, ()))])
        for each, score in scores.items()
    }


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    return dict.fromkeys(scores, 0.0) if best <= 0 else {each: value / best for each, value in scores.items()}
