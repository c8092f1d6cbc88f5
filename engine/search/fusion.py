"""Weighs words against meaning for one question, and gives every exchange one score. Pure numbers, no database.

Both legs are measured on a scale of their own question, then added with weights that the question itself decides:

- the words count as much as they cover it: the share of the question's rare words that the best answer holds;
- the meaning counts less the more the question is made of identifiers, paths and quoted phrases.

An exchange of a hundred tool calls has a hundred chances to hold a word or to come near by accident, so both legs are
taken down a little with the logarithm of its size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MEANING_WEIGHT = 0.45
"""Of the nearest exchange, against 1 for an exchange that holds all the words. Anything from 0.3 to 0.6 gives the same
figures within two questions of 115: the middle was taken."""

PROMPT_WEIGHT = 0.5
"""How much the prompt's nearness counts beside the best passage's: what an answer was for. 0.3 to 0.7 are alike."""

IDENTIFIER_SHIFT = 0.5
"""A question of identifiers alone halves the weight of meaning: a model that reads word pieces knows no
`GetCheckpointAuthor`. Without the shift meaning outvotes an exact match once in a dozen such questions."""

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


def fuse(evidence: Mapping[int, Evidence], form: QuestionForm) -> dict[int, float]:
    """Return the score of each exchange, 0 to about 1.5.

    Args:
        evidence: Of every candidate.
        form: Of the question.
    """
    words = _words(evidence)
    meaning = _meaning(evidence, form)
    meaning_weight = MEANING_WEIGHT * (1 - IDENTIFIER_SHIFT * form.identifiers)
    return {each: form.coverage * words[each] + meaning_weight * meaning[each] for each in evidence}


def _words(evidence: Mapping[int, Evidence]) -> dict[int, float]:
    """Return 0 to 1: best block and exchange, each on a scale from nothing to the best, half and half."""
    blocks = {each: found.block / (1 + SIZE_WORDS * math.log(found.size)) for each, found in evidence.items()}
    wholes = {each: found.whole / (1 + SIZE_WORDS * math.log(found.size)) for each, found in evidence.items()}
    best_block = max(blocks.values(), default=0.0) or 1.0
    best_whole = max(wholes.values(), default=0.0) or 1.0
    return {each: (blocks[each] / best_block + wholes[each] / best_whole) / 2 for each in evidence}


def _meaning(evidence: Mapping[int, Evidence], form: QuestionForm) -> dict[int, float]:
    """Return at most 1: nearness on a scale from a random passage's to the nearest."""
    near: dict[int, float] = {}
    for each, found in evidence.items():
        if found.passage is None:
            near[each] = 0.0
            continue
        passage = found.passage - form.mean
        prompt = (found.prompt if found.prompt is not None else form.mean) - form.mean
        chance = SIZE_MEANING * form.spread * (1 + PROMPT_WEIGHT) * math.log(found.size)
        near[each] = passage + PROMPT_WEIGHT * prompt - chance
    best = max(near.values(), default=0.0)
    return dict.fromkeys(near, 0.0) if best <= 0 else {each: value / best for each, value in near.items()}
