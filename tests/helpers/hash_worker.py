"""A worker process without a model: vectors are made of hashed words, so that like texts have like vectors.

Also a program: `python hash_worker.py [delay_ms] [deadly word]` serves its standard streams as the real worker does.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.core.vectors import ModelIdentity
from engine.embed.location import revision_of
from engine.embed.passages import Passage, passages_of
from engine.embed.worker import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

DIMENSION = 64
LIMIT = 32
"""Words that fit into one passage."""

_WORD = re.compile(r"\w+")


class HashModel:
    """Adds up one pseudo-random direction for each word.

    Args:
        folder: Its name is the model's.
        delay_s: How long each call takes on top.
        deadly: A word that ends the process, as a crash in native code would.
    """

    def __init__(self, folder: str, *, delay_s: float = 0.0, deadly: str | None = None) -> None:
        self.identity = ModelIdentity(Path(folder).name, revision_of(Path(folder)), DIMENSION, "mean")
        self.precision = "float32"
        self._delay_s = delay_s
        self._deadly = deadly
        self.calls: list[list[str]] = []

    def passages(self, text: str) -> list[Passage]:
        """Return the passages of a text, `LIMIT` words each."""
        return passages_of(text, [match.span() for match in _WORD.finditer(text)], LIMIT)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one vector of length 1 for each text."""
        self.calls.append(list(texts))
        if self._delay_s:
            time.sleep(self._delay_s)
        if self._deadly is not None and any(self._deadly in text for text in texts):
            os._exit(139)
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for number, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                rows[number] += direction(word)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def direction(word: str) -> npt.NDArray[np.float32]:
    """Return the direction of a word."""
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


def command(delay_ms: int = 0, deadly: str = "") -> list[str]:
    """Return the command that starts this worker."""
    return [sys.executable, "-m", "tests.helpers.hash_worker", str(delay_ms), deadly]


if __name__ == "__main__":
    DELAY_S = int(sys.argv[1]) / 1000
    DEADLY = sys.argv[2] or None
    sys.exit(serve(lambda folder: HashModel(folder, delay_s=DELAY_S, deadly=DEADLY)))
