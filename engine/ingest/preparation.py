"""Between reading and writing: each batch is screened, and its words are made ready, in a second process if that pays.

Python lets one thread work at a time, so a backfill would leave the second core to SQLite alone. Replacing secrets and
splitting texts into words are a third of the work and need nothing but the texts: while the next lines are parsed here,
the second process prepares those before. It may be some batches behind, because files differ: one is all tool output
that is cut away, the next all words. Whatever becomes of it, the result is the same: what it does not answer is
prepared here.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from engine.transcripts.redaction import Redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.ingest.prepare import Answer
    from engine.store.batches import FileBatch

logger = logging.getLogger(__name__)

WORTH_BYTES = 16 * 1024 * 1024
"""With less than this still to read the process would hardly be up before everything is done."""

MOST_ASKED = 4
"""So many batches may be with the second process, each of 4 MB of a file at most. Waiting for each before the next is
asked would take 12 % longer, two would take 4 % longer (84 MB of real transcripts and 100 MB of invented ones)."""


class Screen(Protocol):
    """Decides what of a transcript may enter the index, and in which words."""

    @property
    def redacts(self) -> bool:
        """Secrets are replaced."""
        ...

    def is_forgotten(self, session_id: str | None) -> bool:
        """Return True for a session that a person removed for ever: its files are not even opened."""
        ...

    def pass_on(self, batch: FileBatch, known: Mapping[str, Redacted]) -> FileBatch:
        """Return the batch without what was pruned and with secrets replaced.

        Args:
            batch: As it was read.
            known: What some of its texts become; the others are looked at.
        """
        ...


class Assistant(Protocol):
    """Prepares texts while the caller goes on (`engine.ingest.second_process`)."""

    @property
    def is_ready(self) -> bool:
        """It can be asked without waiting for it to come up."""
        ...

    def ask(self, texts: Sequence[str], *, redacts: bool) -> bool:
        """Hand over texts, also before it answered what was asked before. False when it cannot take them."""
        ...

    @property
    def has_answered(self) -> bool:
        """`answer` need not wait."""
        ...

    def answer(self) -> Sequence[Answer] | None:
        """Wait for the answer to what was asked first. None when it died over it."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """A batch whose texts the second process has."""

    batch: FileBatch
    texts: Sequence[str]


class Preparation:
    """Prepares batches on the ingest thread, in order.

    Args:
        screen: Looks at each batch, None without one.
        assistant: Starts the second process; None does everything here.
    """

    def __init__(self, screen: Screen | None, assistant: Callable[[], Assistant] | None) -> None:
        self._screen = screen
        self._assistant = assistant
        self._second: Assistant | None = None
        self._asked: deque[_Asked] = deque()

    def expect(self, backlog: int) -> None:
        """Let the second process come up if it pays.

        Args:
            backlog: How many bytes are still to be read.
        """
        if self._second is None and self._assistant is not None and backlog >= WORTH_BYTES:
            try:
                self._second = self._assistant()
            except OSError:
                logger.warning("The second process cannot be started", exc_info=True)
                self._assistant = None

    def put(self, batch: FileBatch) -> list[FileBatch]:
        """Take a batch and return those that are ready, in the order they came."""
        ready: list[FileBatch] = []
        while self._asked and (len(self._asked) >= MOST_ASKED or self._has_answered):
            ready += self._next()
        if self._second is not None and self._second.is_ready:
            texts = [block.text for each in batch.occurrences for block in each.message.blocks if block.text]
            if self._second.ask(texts, redacts=self._screen is not None and self._screen.redacts):
                self._asked.append(_Asked(batch, texts))
                return ready
            ready += self._give_up()
        ready.append(self._finished(batch, {}, {}))
        return ready

    def drain(self) -> list[FileBatch]:
        """Return what is not ready yet once it is."""
        ready: list[FileBatch] = []
        while self._asked:
            ready += self._next()
        return ready

    def drop(self) -> frozenset[int]:
        """Forget what is not ready yet and return the numbers of its files."""
        files = frozenset(each.batch.file_id for each in self._asked)
        while self._asked and self._second is not None and self._second.answer() is not None:
            self._asked.popleft()
        if self._asked:
            self._asked.clear()
            self._give_up()
        return files

    def rest(self) -> None:
        """End the second process: there is nothing to read for now."""
        if self._second is not None:
            self._second.close()
            self._second = None

    @property
    def _has_answered(self) -> bool:
        return self._second is not None and self._second.has_answered

    def _next(self) -> list[FileBatch]:
        """Return the batch that was asked first, and all of them when the second process is gone."""
        first = self._asked[0]
        answers = None if self._second is None else self._second.answer()
        if answers is None or len(answers) != len(first.texts):
            return self._give_up()
        self._asked.popleft()
        return [self._finished(first.batch, *_sorted_out(first.texts, answers))]

    def _give_up(self) -> list[FileBatch]:
        """Do without it from now on: what it died of may be in the texts that follow, too. Returns what it had."""
        logger.warning("Indexing goes on without a second process")
        self._assistant = None
        self.rest()
        left = [self._finished(each.batch, {}, {}) for each in self._asked]
        self._asked.clear()
        return left

    def _finished(self, batch: FileBatch, known: Mapping[str, Redacted], words: Mapping[str, str]) -> FileBatch:
        if self._screen is not None:
            batch = self._screen.pass_on(batch, known)
        return replace(batch, words=words) if words else batch


def _sorted_out(texts: Sequence[str], answers: Sequence[Answer]) -> tuple[dict[str, Redacted], dict[str, str]]:
    """Return what texts become, and the words of what they become."""
    known: dict[str, Redacted] = {}
    words: dict[str, str] = {}
    for text, answer in zip(texts, answers, strict=True):
        if isinstance(answer, str):
            known[text] = Redacted(text, {})
            words[text] = answer
        else:
            columns, redacted, counts = answer
            known[text] = Redacted(redacted, counts)
            words[redacted] = columns
    return known, words
