"""Embeds what has no vectors yet, answers questions with a vector, and starts and ends the worker as it is needed."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engine.core.errors import StorageFailure
from engine.core.models.status import EmbeddingStatus
from engine.core.vectors import NoVector, QueryVector
from engine.embed.batches import Batches
from engine.embed.client import ModelRefused, WorkerClient, WorkerDied
from engine.embed.location import find_model, reads_whole, revision_of
from engine.embed.pace import Pace
from engine.store import generations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.core.clock import Clock
    from engine.core.vectors import ModelIdentity
    from engine.embed.health import Health
    from engine.embed.messages import Embedded
    from engine.store.connection import Connection, ReaderPool
    from engine.store.generations import Generation, WaitingChunk
    from engine.store.writer import StoreWriter

logger = logging.getLogger(__name__)

BATCH_CHUNKS = 128
BATCH_CHARACTERS = 120_000
"""One batch is written in one transaction and lost with its worker: two to five seconds of work, and enough passages
that those of like length can share a stride."""

POWER_CHECK_S = 60.0

RETRY_S = 5.0
"""Pause after the disk refused a write. What was computed is kept and only written again."""

State = Literal["off", "waiting", "loading", "embedding", "idle", "paused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOptions:
    """What the settings say about embedding."""

    enabled: bool = True
    model: str = "bundled"
    idle_unload_s: float = 600.0
    on_battery: bool = False


class EmbeddingLoop:
    """The engine's embedding: one thread runs `run`, any thread may ask the rest.

    Args:
        writer: The single writer.
        readers: Read-only connections.
        client: The worker.
        health: Told of the worker's deaths by whoever made the client.
        options: Settings.
        clock: Time.
        on_change: Called when what `status` shows has changed.
        on_rest: Called when nobody has asked for so long that the worker is ended.
        on_battery: Asked at most once a minute.
    """

    def __init__(
        self,
        writer: StoreWriter,
        readers: ReaderPool,
        client: WorkerClient,
        health: Health,
        *,
        options: EmbedOptions,
        clock: Clock,
        on_change: Callable[[], None],
        on_rest: Callable[[], None],
        on_battery: Callable[[], bool],
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._client = client
        self._health = health
        self._batches = Batches(writer, readers, client, health)
        self._options = options
        self._clock = clock
        self._on_change = on_change
        self._on_rest = on_rest
        self._on_battery = on_battery
        self._power: tuple[float, bool] | None = None
        self._pace = Pace(clock)
        self._wake = threading.Event()
        self._paused = threading.Event()
        self._closed = False
        self._target: ModelIdentity | None = None
        self._busy = False
        self._loading: Future[object] | None = None
        self._refused: StorageFailure | None = None
        self._last_used = clock.monotonic()

    # Asked by other threads --------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """True while a batch is under way."""
        return self._busy

    @property
    def problem(self) -> str | None:
        """Why there is no search by meaning though it is switched on, None when nothing is wrong."""
        if not self._options.enabled:
            return None
        return self._missing() if self._folder() is None else self._health.problem

    def notify(self) -> None:
        """Say that there are new chunks."""
        self._wake.set()

    def warm(self) -> None:
        """Load the model now, because a question is likely soon. Returns at once."""
        folder = self._folder()
        if not self._options.enabled or folder is None or self._health.problem is not None:
            return
        self._last_used = self._clock.monotonic()
        if not self._client.is_running:
            self._loading = self._client.load(str(folder))  # pyright: ignore[reportAttributeAccessIssue] - only waited for
            self._wake.set()

    def pause(self) -> None:
        """Stop embedding after the present batch. Questions are still answered."""
        self._paused.set()
        self._wake.set()

    def resume(self) -> None:
        """Go on, and try again what gave up."""
        self._paused.clear()
        self._health.forgive()
        self._wake.set()

    def retry_failed(self) -> int:
        """Let chunks that were given up wait again and return how many there are.

        Raises:
            StorageFailure: The database refused.
        """
        count = self._writer.write(generations.retry_failed)
        self._wake.set()
        return count

    def embed_query(self, text: str, generation: Generation, timeout_s: float) -> QueryVector | NoVector:
        """Return a question as a vector of a generation's model, or say why not within the time.

        Args:
            text: The question.
            generation: Whose vectors it will be compared with.
            timeout_s: How long the caller can wait.
        """
        refusal = self._refusal()
        if refusal is not None:
            return NoVector(refusal)
        self._last_used = self._clock.monotonic()
        try:
            reply = self._asked(generation.folder, text, timeout_s)
        except FutureTimeout:
            return NoVector("The embedding model is still loading; ask again in a few seconds.")
        except ModelRefused as exc:
            self._health.refused(str(exc))
            self._on_change()
            return NoVector(str(exc))
        except WorkerDied:
            return NoVector(self._health.problem or "The embedding worker ended while it read the question.")
        if reply.identity != generation.identity:
            self._wake.set()
            return NoVector("The embedding model was replaced by another one; everything is embedded anew.")
        return QueryVector(reply.texts[0].vectors)

    def knows_word(self, word: str, generation: Generation) -> bool:
        """Return whether a lower-case word is one to a generation's model, and so not mistyped."""
        return reads_whole(Path(generation.folder), word)

    def _asked(self, folder: str, text: str, timeout_s: float) -> Embedded:
        """Ask the worker, once more when it died over the question or over something else meanwhile."""
        try:
            return self._client.embed_query(folder, text).result(timeout_s)
        except WorkerDied:
            if self._health.problem is not None:
                raise
            return self._client.embed_query(folder, text).result(timeout_s)

    def _refusal(self) -> str | None:
        if not self._options.enabled:
            return "Search by meaning is switched off (setting embedding.enabled)."
        return self._health.problem

    def status(self) -> EmbeddingStatus:
        """Return what embedding is doing."""
        with self._readers.connection() as connection:
            left = generations.left(connection)
        problem = self._health.problem
        state: State = "idle"
        reason = None
        if not self._options.enabled:
            state, reason = "off", "Search by meaning is switched off (setting embedding.enabled)."
        elif self._folder() is None:
            state, reason = "failed", self._missing()
        elif problem is not None:
            state, reason = "failed", problem
        elif self._paused.is_set():
            state = "paused"
        elif self._refused is not None:
            state, reason = "waiting", f"{self._refused.title}. {self._refused.hint}"
        elif self._loading is not None and not self._loading.done():
            state = "loading"
        elif left and self._waits_for_power():
            state, reason = "waiting", "Waiting for mains power (setting embedding.on_battery)."
        elif self._busy:
            state = "embedding"
        elif left:
            state = "waiting"
        return EmbeddingStatus(
            state=state, backlog=left, rate=self._pace.rate, eta_s=self._pace.eta_s(left), reason=reason
        )

    # The thread --------------------------------------------------------------------------------------------------

    def run(self, stopping: threading.Event) -> None:
        """Embed until stopped: the loop of the thread `engine-embed`."""
        while not stopping.is_set() and not self._closed:
            self._wake.clear()
            if self._try_step():
                continue
            self._wake.wait(self._pause_s())
        self._busy = False

    def _try_step(self) -> bool:
        """Do one batch, or remember why the database refused: a full disk is no reason to give up for good."""
        try:
            went_on = self.step()
        except StorageFailure as exc:
            logger.warning("Embedding waits, the database refused: %s", exc.title)
            self._refused = exc
            self._on_change()
            return False
        if self._refused is not None:
            self._refused = None
            self._on_change()
        return went_on

    def close(self) -> None:
        """End the worker and let `run` return. What was under way is done again next time."""
        self._closed = True
        self._wake.set()
        self._batches.close()
        self._client.close()

    def renewed(self) -> None:
        """Begin anew: the database was replaced, and its generations with it."""
        self._target = None
        self.notify()

    def drain(self, on_progress: Callable[[EmbeddingStatus], None] | None = None) -> EmbeddingStatus:
        """Embed everything on the caller's thread, as far as it goes, and return how it ended."""
        while self.step():
            if on_progress is not None:
                on_progress(self.status())
        return self.status()

    def step(self) -> bool:
        """Do one batch. False when there is nothing to do, or it may not be done now."""
        try:
            return self._step()
        finally:
            self._busy = False

    def _step(self) -> bool:
        folder = self._folder()
        allowed = self._options.enabled and folder is not None and not self._paused.is_set()
        if not allowed or folder is None or self._health.problem is not None or self._waits_for_power():
            self._unload_when_idle()
            return False
        if not self._settle_target(folder):
            self._unload_when_idle()
            return False
        with self._readers.connection() as connection:
            known = generations.generations(connection)
            for generation in known:
                batches = generations.next_batches(
                    connection, generation.id, chunks=BATCH_CHUNKS, characters=BATCH_CHARACTERS
                )
                if batches[0]:
                    break
            else:
                generation, batches = None, ((), ())
        if generation is None:
            if not self._complete(known):
                self._unload_when_idle()
                return False
            return True
        self._embed(generation, *batches)
        return True

    def _embed(self, generation: Generation, batch: Sequence[WaitingChunk], following: Sequence[WaitingChunk]) -> None:
        self._busy = True
        started = self._clock.monotonic()
        done = self._batches.embed(generation, batch, following)
        if done.replaced_by is not None:
            self._replaced(generation, done.replaced_by)
        self._last_used = self._clock.monotonic()
        self._pace.add(started, done.chunks)
        self._on_change()

    # Models and generations --------------------------------------------------------------------------------------

    def _folder(self) -> Path | None:
        return find_model(self._options.model)

    def _missing(self) -> str:
        return f"The embedding model {self._options.model!r} is not installed."

    def _settle_target(self, folder: Path) -> bool:
        """Make sure that the generation of the configured model exists. False while there is nothing to embed."""
        if self._target is not None:
            return True
        with self._readers.connection() as connection:
            known = generations.generations(connection)
            if not known and not generations.left(connection):
                return False
        revision = revision_of(folder)
        for each in known:
            if each.folder == str(folder) and each.identity.revision == revision:
                self._target = each.identity
                return True
        loading = self._client.load(str(folder))
        self._loading = loading  # pyright: ignore[reportAttributeAccessIssue] - only waited for
        self._on_change()
        try:
            loaded = loading.result()
        except ModelRefused as exc:
            self._health.refused(str(exc))
            return False
        except WorkerDied:
            # A client that is closed fails at once, every time.
            return not self._closed and self._health.problem is None and self._settle_target(folder)
        finally:
            self._on_change()
        self._last_used = self._clock.monotonic()
        self._writer.write(
            lambda connection: generations.open_generation(connection, loaded.identity, str(folder), loaded.precision)
        )
        self._target = loaded.identity
        return True

    def _complete(self, known: Sequence[Generation]) -> bool:
        """Let the new model's generation answer once nothing waits for it. True when that happened."""
        for each in known:
            if each.identity == self._target and not each.answers:
                self._writer.write(lambda connection, number=each.id: generations.switch_to(connection, number))
                self._on_change()
                return True
        return False

    def _replaced(self, generation: Generation, found: ModelIdentity) -> None:
        """Another model lies where this generation's lay: its questions cannot be asked any more."""
        logger.warning("The model of generation %d was replaced; embedding anew", generation.id)
        self._target = None

        def renew(connection: Connection) -> None:
            fresh = generations.open_generation(connection, found, generation.folder, "float32")
            generations.switch_to(connection, fresh.id)

        self._writer.write(renew)

    # Rest --------------------------------------------------------------------------------------------------------

    def _unload_when_idle(self) -> None:
        if self._client.is_running and self._idle_s() >= self._options.idle_unload_s:
            self._client.unload()
            self._on_rest()

    def _idle_s(self) -> float:
        return self._clock.monotonic() - self._last_used

    def _pause_s(self) -> float | None:
        """How long to sleep when nothing happens; None for as long as nothing happens."""
        waits = [
            self._health.wait_s,
            max(1.0, self._options.idle_unload_s - self._idle_s()) if self._client.is_running else None,
            POWER_CHECK_S if self._waits_for_power() else None,
            RETRY_S if self._refused is not None else None,
        ]
        return min((each for each in waits if each is not None), default=None)

    def _waits_for_power(self) -> bool:
        if self._options.on_battery:
            return False
        now = self._clock.monotonic()
        if self._power is None or now - self._power[0] >= POWER_CHECK_S:
            self._power = (now, self._on_battery())
        return self._power[1]
