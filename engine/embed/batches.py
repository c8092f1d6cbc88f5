"""Embeds one batch of chunks: what need not be computed, what the worker makes of the rest, and what is written."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.embed.client import ModelRefused, WorkerDied
from engine.store import generations, vectors
from engine.transcripts.signals import is_own_tool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from engine.core.vectors import ModelIdentity
    from engine.embed.client import WorkerClient
    from engine.embed.health import Health
    from engine.embed.messages import Embedded, TextVectors
    from engine.store.connection import ReaderPool
    from engine.store.generations import Generation, WaitingChunk
    from engine.store.writer import StoreWriter

logger = logging.getLogger(__name__)

ATTEMPTS = 2
"""A worker may die of something else once; a batch that it dies over twice is given up and counted."""


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What became of a batch."""

    chunks: int
    """How many left the queue."""
    replaced_by: ModelIdentity | None = None
    """Another model lies where the generation's lay; nothing was written."""


class Batches:
    """Embeds batches, one at a time.

    Args:
        writer: The single writer.
        readers: Read-only connections.
        client: The worker.
        health: Told when the model cannot be loaded.
    """

    def __init__(self, writer: StoreWriter, readers: ReaderPool, client: WorkerClient, health: Health) -> None:
        self._writer = writer
        self._readers = readers
        self._client = client
        self._health = health
        self._closed = False
        self._ahead: _Ahead | None = None

    def close(self) -> None:
        """Give up what is under way: it stays in the queue."""
        self._closed = True

    def embed(
        self, generation: Generation, batch: Sequence[WaitingChunk], following: Sequence[WaitingChunk] = ()
    ) -> BatchDone:
        """Give chunks their vectors, all those of one chunk in the transaction that takes it out of the queue.

        Args:
            generation: Whose model.
            batch: What to do now.
            following: What probably comes next: the worker begins with it while this batch is written.
        """
        own = [each.chunk for each in batch if is_own_tool(each.tool)]
        if own:
            # Answers of Backscroll quote other sessions: they would be found as if said again.
            self._mark(generation, own, generations.EXCLUDED)
        rest = [each for each in batch if not is_own_tool(each.tool)]
        hashes = {each.chunk: generations.text_hash(each.text) for each in rest}
        made = self._copies(generation, rest, hashes)
        begun, attempts = self._begun(generation)
        made.update((each.text, begun[each.text]) for each in rest if each.text in begun)
        new = [each for each in rest if each.text not in made]
        failed: list[int] = []
        if new:
            texts = list(dict.fromkeys(each.text for each in new))
            reply = self._ask(generation, texts, attempts)
            if isinstance(reply, _GivenUp):
                failed = [each.chunk for each in new]
                self._mark(generation, failed, generations.FAILED)
            elif reply is not None and reply.identity != generation.identity:
                return BatchDone(len(own), reply.identity)
            elif reply is not None:
                dimension = reply.identity.dimension
                made.update((text, _packed(each, dimension)) for text, each in zip(texts, reply.texts, strict=True))
        chunks = {each.chunk: made[each.text] for each in rest if each.text in made}
        if chunks and following:
            self._begin(generation, [each for each in following if each.text not in made])
        if chunks:
            self._writer.write(lambda connection: vectors.record(connection, generation.id, chunks, hashes))
        return BatchDone(len(own) + len(failed) + len(chunks))

    def _mark(self, generation: Generation, chunks: list[int], state: int) -> None:
        self._writer.write(lambda connection: generations.mark(connection, generation.id, chunks, state))

    def _copies(
        self, generation: Generation, batch: Sequence[WaitingChunk], hashes: dict[int, int]
    ) -> dict[str, Sequence[vectors.NewPassage]]:
        """Return the passages of texts that another chunk has had embedded before."""
        found: dict[str, Sequence[vectors.NewPassage]] = {}
        with self._readers.connection() as connection:
            for each in batch:
                if each.text not in found:
                    copied = vectors.copy_of(connection, generation.id, each.text, hashes[each.chunk])
                    if copied is not None:
                        found[each.text] = copied
        return found

    def _begin(self, generation: Generation, following: Sequence[WaitingChunk]) -> None:
        """Let the worker begin with the next batch."""
        rest = [each for each in following if not is_own_tool(each.tool)]
        known = self._copies(generation, rest, {each.chunk: generations.text_hash(each.text) for each in rest})
        texts = tuple(dict.fromkeys(each.text for each in rest if each.text not in known))
        if texts:
            self._ahead = _Ahead(generation, texts, self._client.embed(generation.folder, texts))

    def _begun(self, generation: Generation) -> tuple[dict[str, Sequence[vectors.NewPassage]], int]:
        """Return the passages of the texts the worker began with, and how often it has died over them."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.generation.id != generation.id:
            return {}, 0
        try:
            reply = ahead.future.result()
        except (ModelRefused, WorkerDied):
            return {}, 1
        if reply.identity != generation.identity:
            return {}, 0
        dimension = reply.identity.dimension
        return {text: _packed(each, dimension) for text, each in zip(ahead.texts, reply.texts, strict=True)}, 0

    def _ask(self, generation: Generation, texts: Sequence[str], attempts: int) -> Embedded | _GivenUp | None:
        """Have texts embedded; None when they had better wait."""
        if attempts and (self._closed or self._health.problem is not None):
            return None
        for attempt in range(1 + attempts, ATTEMPTS + 1):
            try:
                return self._client.embed(generation.folder, texts).result()
            except ModelRefused as exc:
                self._health.refused(str(exc))
                return None
            except WorkerDied:
                if self._closed or self._health.problem is not None:
                    return None
                logger.warning("The worker died over %d texts, attempt %d", len(texts), attempt)
        return _GivenUp()


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Texts that the worker has in hand before their turn."""

    generation: Generation
    texts: tuple[str, ...]
    future: Future[Embedded]


@dataclass(frozen=True, slots=True)
class _GivenUp:
    """The worker died over the batch too often."""


def _packed(made: TextVectors, dimension: int) -> list[vectors.NewPassage]:
    from engine.store.packing import pack, vectors_from  # noqa: PLC0415 - numpy: an engine that reads only does without

    packed = pack(vectors_from(made.vectors, dimension))
    return [vectors.NewPassage(start, stop, vector) for (start, stop), vector in zip(made.ranges, packed, strict=True)]
