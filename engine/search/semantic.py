"""Search by meaning: a question becomes a vector, the nearest passages are found among the allowed ones.

Without a model, without vectors, or while the model is loading, it says why instead: the caller goes on with words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.core.vectors import NoVector
from engine.store import generations, vectors

if TYPE_CHECKING:
    from engine.core.vectors import QueryVector
    from engine.search.scope import Scope
    from engine.store.bitcopy import BitCopy
    from engine.store.connection import Connection
    from engine.store.generations import Generation
    from engine.store.packing import Floats
    from engine.store.vectors import PassageMatch

COPY_FROM_VECTORS = 10_000
"""From so many vectors on the bits are searched in memory: at 20,000 `vec0` takes 25 ms and the copy 2.4; it loads in
a few milliseconds and is 1 MB (tests/benchmarks/vectors)."""

_MAX_REMEMBERED = 64
"""Vectors of the last questions: another page, another filter or one more key stroke needs no model."""


class QueryEmbedder(Protocol):
    """Makes vectors of questions, by the model of a generation."""

    def embed_query(self, text: str, generation: Generation, timeout_s: float) -> QueryVector | NoVector:
        """Return the vector, or why there is none within the time."""
        ...

    def knows_word(self, word: str, generation: Generation) -> bool:
        """Return whether a lower-case word is one to the model, and so not mistyped."""
        ...


@dataclass(frozen=True, slots=True)
class Meaning:
    """A question, understood."""

    generation: Generation
    vector: Floats


@dataclass(frozen=True, slots=True)
class NoMeaning:
    """Why a question can only be answered by its words."""

    reason: str


class SemanticLeg:
    """Finds passages by meaning.

    Args:
        embedder: None where there is no engine to ask.
        wait_s: How long a cold model may delay an answer (`search.semantic_wait_s`).
    """

    def __init__(self, embedder: QueryEmbedder | None, *, wait_s: float) -> None:
        self._embedder = embedder
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._remembered: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._copy: BitCopy | None = None

    def understand(self, connection: Connection, text: str) -> Meaning | NoMeaning:
        """Return a question's vector, or why there is none."""
        return self.begin(connection, text).result()

    def begin(self, connection: Connection, text: str) -> Future[Meaning | NoMeaning]:
        """Begin to understand a question; its vector comes of another process, its words can be looked up meanwhile.

        The connection is used before this returns, never after.
        """
        from engine.store.packing import vectors_from  # noqa: PLC0415 - numpy: a search by words does without

        begun: Future[Meaning | NoMeaning] = Future()
        embedder = self._embedder
        if embedder is None:
            begun.set_result(NoMeaning("No engine is running, so there is no model to ask."))
            return begun
        generation = generations.answering(connection)
        if generation is None:
            begun.set_result(NoMeaning("Nothing is embedded yet."))
            return begun
        with self._lock:
            known = self._remembered.get((generation.id, text))
        if known is not None:
            begun.set_result(Meaning(generation, vectors_from(known, generation.identity.dimension)[0]))
            return begun

        def work() -> None:
            try:
                begun.set_result(self._embedded(embedder, text, generation))
            except BaseException as exc:  # noqa: BLE001 - raised again where the result is asked for
                begun.set_exception(exc)

        threading.Thread(target=work, name="engine-understand", daemon=True).start()
        return begun

    def _embedded(self, embedder: QueryEmbedder, text: str, generation: Generation) -> Meaning | NoMeaning:
        from engine.store.packing import vectors_from  # noqa: PLC0415 - numpy: a search by words does without

        made = embedder.embed_query(text, generation, self._wait_s)
        if isinstance(made, NoVector):
            return NoMeaning(made.reason)
        with self._lock:
            self._remembered[generation.id, text] = made.vector
            while len(self._remembered) > _MAX_REMEMBERED:
                self._remembered.popitem(last=False)
        return Meaning(generation, vectors_from(made.vector, generation.identity.dimension)[0])

    def knows(self, connection: Connection, word: str) -> bool:
        """Return whether the model takes a folded word for a word; False without a model."""
        generation = None if self._embedder is None else generations.answering(connection)
        return self._embedder is not None and generation is not None and self._embedder.knows_word(word, generation)

    def nearest(self, connection: Connection, meaning: Meaning, where: Scope, wanted: int) -> tuple[PassageMatch, ...]:
        """Return the allowed passages nearest to a question, nearest first."""
        if where.no_such_project:
            return ()
        generation = meaning.generation
        if vectors.vectors_ever(connection) < COPY_FROM_VECTORS:
            return vectors.nearest(connection, generation.id, meaning.vector, where.chunks, wanted)
        with self._lock:
            if self._copy is None:
                from engine.store.bitcopy import BitCopy  # noqa: PLC0415 - for large histories only

                self._copy = BitCopy()
            copy = self._copy
        return copy.nearest(connection, generation, meaning.vector, where.chunks, wanted)

    def rest(self) -> None:
        """Give memory back; called when nobody has asked for a while."""
        with self._lock:
            if self._copy is not None:
                self._copy.drop()
