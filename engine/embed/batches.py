"""Embeds one batch of chunks: what need not be computed, what the worker makes of the rest, and what is written."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.embed.client import ModelRefused, WorkerDied
from engine.store import generations, vectors
from engine.transcripts.signals import is_own_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
        self._ahead: _Asked | None = None
        self._kept = _Kept(0, {})

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
            following: What probably comes next: the worker goes on with it without a gap.
        """
        own = [each.chunk for each in batch if is_own_tool(each.tool)]
        if own:
            # Answers of Backscroll quote other sessions: they would be found as if said again.
            self._mark(generation, own, generations.EXCLUDED)
        rest = [each for each in batch if not is_own_tool(each.tool)]
        hashes = {each.chunk: generations.text_hash(each.text) for each in rest}
        made = self._copies(generation, rest, hashes)
        if self._kept.generation == generation.id:
            made.update(self._kept.made)
        asked = self._asked(generation, rest, made)
        self._begin(generation, following, {*made, *(text for each in asked for text in each.texts)})
        given_up: set[str] = set()
        for each in asked:
            reply = self._outcome(each, asked)
            if isinstance(reply, _GivenUp):
                given_up.update(each.texts)
            elif reply is not None and reply.identity != generation.identity:
                return BatchDone(len(own), reply.identity)
            elif reply is not None:
                dimension = reply.identity.dimension
                made.update((text, _packed(one, dimension)) for text, one in zip(each.texts, reply.texts, strict=True))
        self._kept = _Kept(generation.id, made)
        failed = [each.chunk for each in rest if each.text in given_up]
        if failed:
            self._mark(generation, failed, generations.FAILED)
        chunks = {each.chunk: made[each.text] for each in rest if each.text in made}
        if chunks:
            self._writer.write(lambda connection: vectors.record(connection, generation.id, chunks, hashes))
        done = {each.text for each in rest}
        surplus = {text: made[text] for each in asked for text in each.texts if text in made and text not in done}
        self._kept = _Kept(generation.id, surplus)
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

    def _asked(self, generation: Generation, batch: Sequence[WaitingChunk], made: Mapping[str, object]) -> list[_Asked]:
        """Ask for what the worker has not in hand already, and return all that will come."""
        ahead, self._ahead = self._ahead, None
        asked = [ahead] if ahead is not None and ahead.generation.id == generation.id else []
        known = {*made, *(text for each in asked for text in each.texts)}
        texts = tuple(dict.fromkeys(each.text for each in batch if each.text not in known))
        if texts:
            asked.append(self._ask(generation, texts))
        return asked

    def _begin(self, generation: Generation, following: Sequence[WaitingChunk], known: set[str]) -> None:
        """Let the worker have the next batch."""
        rest = [each for each in following if not is_own_tool(each.tool) and each.text not in known]
        copies = self._copies(generation, rest, {each.chunk: generations.text_hash(each.text) for each in rest})
        texts = tuple(dict.fromkeys(each.text for each in rest if each.text not in copies))
        if texts:
            self._ahead = self._ask(generation, texts)

    def _ask(self, generation: Generation, texts: tuple[str, ...]) -> _Asked:
        return _Asked(generation, texts, self._client.embed(generation.folder, texts))

    def _outcome(self, asked: _Asked, together: Sequence[_Asked]) -> Embedded | _GivenUp | None:
        """Return what the worker made of texts; None when they had better wait.

        The worker embeds one request after the other, so its death is the doing of the first that it has not answered:
        that one is asked again alone, and what it had in hand besides has not been tried yet.
        """
        for attempt in range(1, ATTEMPTS + 1):
            if asked.future is None:
                asked.future = self._client.embed(asked.generation.folder, asked.texts)
            try:
                return asked.future.result()
            except ModelRefused as exc:
                self._health.refused(str(exc))
                return None
            except WorkerDied:
                for each in together:
                    if each.future is not None and (each is asked or not _is_answered(each.future)):
                        each.future = None
                self._ahead = None
                if self._closed or self._health.problem is not None:
                    return None
                logger.warning("The worker died over %d texts, attempt %d", len(asked.texts), attempt)
        return _GivenUp()


@dataclass(slots=True)
class _Asked:
    """Texts that the worker has in hand."""

    generation: Generation
    texts: tuple[str, ...]
    future: Future[Embedded] | None
    """None after a death: to be asked again."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Made but not written: the disk refused it, or something more important came between."""

    generation: int
    made: Mapping[str, Sequence[vectors.NewPassage]]


@dataclass(frozen=True, slots=True)
class _GivenUp:
    """The worker died over the batch too often."""


def _is_answered(future: Future[Embedded]) -> bool:
    return future.done() and future.exception() is None


def _packed(made: TextVectors, dimension: int) -> list[vectors.NewPassage]:
    from engine.store.packing import pack, vectors_from  # noqa: PLC0415 - numpy: an engine that reads only does without

    packed = pack(vectors_from(made.vectors, dimension))
    return [vectors.NewPassage(start, stop, vector) for (start, stop), vector in zip(made.ranges, packed, strict=True)]
