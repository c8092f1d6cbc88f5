"""Between reading and writing: each batch is screened, and its words are made ready, in a second process if that pays.

Python lets one thread work at a time, so a backfill would leave the second core to SQLite alone. Replacing secrets and
splitting texts into words are a third of the work and need nothing but the texts: while the next lines are parsed here,
the second process prepares those before. Whatever becomes of it, the result is the same: what it does not answer is
prepared here.
"""

from __future__ import annotations

import logging
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

BEFORE_BYTES = 1024 * 1024
"""So much must have been read first: a large file that only grew by a line is no backfill."""


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
        """Hand over texts. False when it cannot take them."""
        ...

    def answer(self) -> Sequence[Answer] | None:
        """Wait for what was asked last. None when it died over it."""
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
        backlog: Returns how many bytes are still to be read.
        assistant: Starts the second process; None does everything here.
    """

    def __init__(
        self, screen: Screen | None, backlog: Callable[[], int], assistant: Callable[[], Assistant] | None
    ) -> None:
        self._screen = screen
        self._backlog = backlog
        self._assistant = assistant
        self._second: Assistant | None = None
        self._asked: _Asked | None = None
        self._bytes = 0

    def put(self, batch: FileBatch) -> list[FileBatch]:
        """Take a batch and return those that are ready, in the order they came."""
        self._bytes += batch.position.offset - batch.start
        if self._second is None and self._bytes >= BEFORE_BYTES and self._backlog() >= WORTH_BYTES:
            self._second = self._started()
        ready = self.drain()
        if self._second is not None and self._second.is_ready:
            texts = [block.text for each in batch.occurrences for block in each.message.blocks if block.text]
            if self._second.ask(texts, redacts=self._screen is not None and self._screen.redacts):
                self._asked = _Asked(batch, texts)
                return ready
            self._give_up()
        ready.append(self._finished(batch, {}, {}))
        return ready

    def drain(self) -> list[FileBatch]:
        """Return what is not ready yet once it is."""
        asked, self._asked = self._asked, None
        if asked is None or self._second is None:
            return []
        answers = self._second.answer()
        if answers is None or len(answers) != len(asked.texts):
            self._give_up()
            return [self._finished(asked.batch, {}, {})]
        return [self._finished(asked.batch, *_sorted_out(asked.texts, answers))]

    def drop(self) -> frozenset[int]:
        """Forget what is not ready yet and return the numbers of its files."""
        dropped, self._asked = self._asked, None
        if dropped is None:
            return frozenset()
        if self._second is not None and self._second.answer() is None:
            self._give_up()
        return frozenset({dropped.batch.file_id})

    def rest(self) -> None:
        """End the second process: there is nothing to read for now."""
        self._bytes = 0
        if self._second is not None:
            self._second.close()
            self._second = None

    def _started(self) -> Assistant | None:
        if self._assistant is None:
            return None
        try:
            return self._assistant()
        except OSError:
            logger.warning("The second process cannot be started", exc_info=True)
            self._assistant = None
            return None

    def _give_up(self) -> None:
        """Do without it from now on: what it died of may be in the texts that follow, too."""
        logger.warning("Indexing goes on without a second process")
        self._assistant = None
        self.rest()

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
