"""The worker process: holds the model, embeds what comes through its pipe, and ends with the engine.

Texts are embedded in short strides, one for each core at a time, beside the thread that answers: a question waits for
no stride, and the end of the process for one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from engine.embed.lanes import Lanes
from engine.embed.messages import (
    Embedded,
    EmbedQuery,
    EmbedTexts,
    Load,
    Loaded,
    Refused,
    Stop,
    TextVectors,
    WorkerOptions,
)
from engine.embed.pipe import PipeEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.embed.lanes import Done, Finish
    from engine.embed.messages import Reply, Request
    from engine.embed.model import Model

    ModelFactory = Callable[[str], Model]
    Inbox = queue.Queue[Request | Done]

logger = logging.getLogger(__name__)

STRIDE_S = 0.06
"""How long one call of the model should take. Longer ones are no faster (256 to 1,024 tokens are alike, beyond that the
numbers leave the processor's caches: 2,048 tokens take 8 % more); the end of the process waits for one."""

_FIRST_STRIDE_TOKENS = 512
_MIN_STRIDE_TOKENS = 256
_MAX_STRIDE_TOKENS = 2_048


def main(arguments: list[str]) -> int:
    """Run a worker on the standard streams until it is told to stop or the engine is gone.

    Args:
        arguments: Threads, precision.
    """
    from engine.embed.model import SentenceModel  # noqa: PLC0415 - numpy: this file is also read by the engine

    options = WorkerOptions(int(arguments[0]), arguments[1])

    def load(folder: str) -> Model:
        return SentenceModel(folder, precision=options.precision)

    return serve(load, options.threads)


def serve(factory: ModelFactory, threads: int = 1) -> int:
    """Run a worker on the standard streams with the models that a factory loads."""
    from engine.embed.priority import step_back  # noqa: PLC0415 - ctypes, on Windows

    # Ctrl+C in a terminal reaches the whole group; the engine decides when its worker ends.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    step_back()
    pipe = _claim_streams()
    inbox: Inbox = queue.Queue()
    threading.Thread(target=_listen, args=(pipe, inbox), name="embed-pipe", daemon=True).start()
    try:
        Worker(inbox, pipe.send, factory, threads).run()
    except BrokenPipeError:
        logger.debug("The engine ended first")
    return 0


def _claim_streams() -> PipeEnd:
    """Take both streams for the pipe and point `print` at stderr, so that no library can write in between."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return PipeEnd(reader, writer)


def _listen(pipe: PipeEnd, inbox: Inbox) -> None:
    """Hand on what comes. The end of the pipe is the end of the engine."""
    while True:
        try:
            request = cast("Request", pipe.receive())
        except (EOFError, OSError):
            request = Stop()
        inbox.put(request)
        if isinstance(request, Stop):
            return


@dataclass(frozen=True, slots=True)
class _Piece:
    """One passage that waits to be embedded."""

    text: int
    passage: int
    content: str
    tokens: int


@dataclass(slots=True)
class _Batch:
    """Texts in hand."""

    job: int
    model: Model
    texts: tuple[str, ...]
    ranges: list[tuple[tuple[int, int], ...]] = field(default_factory=list[tuple[tuple[int, int], ...]])
    pieces: deque[_Piece] = field(default_factory=deque[_Piece])
    """Not embedded yet, longest first so that none is padded to much more than itself."""
    missing: int | None = None
    """How many passages have no vector yet; None until the texts are cut."""
    made: dict[tuple[int, int], bytes] = field(default_factory=dict[tuple[int, int], bytes])


class Worker:
    """Works through requests.

    Args:
        inbox: Where they come in, and what the lanes have done.
        reply: Called with each answer.
        factory: Loads a model from a folder.
        threads: How many strides are under way at a time.
    """

    def __init__(self, inbox: Inbox, reply: Callable[[Reply], None], factory: ModelFactory, threads: int = 1) -> None:
        self._inbox = inbox
        self._reply = reply
        self._factory = factory
        self._lanes = Lanes(max(1, threads), inbox.put)
        self._models: dict[str, Model] = {}
        self._questions: deque[EmbedQuery | Load] = deque()
        self._waiting: deque[EmbedTexts] = deque()
        self._batches: deque[_Batch] = deque()
        """In the order they came. Only the first is being embedded, so that a death is the doing of the first."""
        self._stride_tokens = _FIRST_STRIDE_TOKENS
        self._stopped = False

    @property
    def is_stopped(self) -> bool:
        """True once it was told to stop."""
        return self._stopped

    def run(self) -> None:
        """Serve until stopped."""
        try:
            while not self._stopped:
                self.step()
        finally:
            self._lanes.close()

    def step(self) -> None:
        """Take what has come, then do the most urgent thing: a question, else keep one more lane busy."""
        self._take(wait=not (self._questions or (self._lanes.has_free and (self._strides_wait or self._waiting))))
        if self._stopped:
            return
        if self._questions:
            self._answer(self._questions.popleft())
        elif self._lanes.has_free and self._strides_wait:
            self._start_stride(self._batches[0])
        elif self._lanes.has_free and self._waiting:
            self._open(self._waiting.popleft())

    @property
    def _strides_wait(self) -> bool:
        return bool(self._batches and self._batches[0].pieces)

    def _take(self, *, wait: bool) -> None:
        while wait or not self._inbox.empty():
            came = self._inbox.get()
            wait = False
            if isinstance(came, Stop):
                self._stopped = True
                return
            if isinstance(came, Future):
                self._lanes.finish(came)
            elif isinstance(came, EmbedTexts):
                self._waiting.append(came)
            else:
                self._questions.append(came)

    def _answer(self, request: EmbedQuery | Load) -> None:
        model = self._model(request.model, request.job)
        if model is None:
            return
        if isinstance(request, Load):
            self._reply(Loaded(request.job, model.identity, model.precision))
            return
        vectors = model.encode([request.text]).tobytes()
        made = TextVectors(((0, len(request.text)),), vectors)
        self._reply(Embedded(request.job, model.identity, (made,)))

    def _open(self, request: EmbedTexts) -> None:
        """Have the texts of a request cut into passages."""
        model = self._model(request.model, request.job)
        if model is None:
            return
        batch = _Batch(request.job, model, request.texts)
        self._batches.append(batch)

        def cut() -> Finish:
            pieces: list[_Piece] = []
            for number, text in enumerate(batch.texts):
                found = model.passages(text)
                batch.ranges.append(tuple((each.start, each.end) for each in found))
                pieces += [
                    _Piece(number, index, text[each.start : each.end], each.tokens) for index, each in enumerate(found)
                ]
            pieces.sort(key=lambda piece: -piece.tokens)
            return lambda: self._opened(batch, pieces)

        self._lanes.start(cut)

    def _opened(self, batch: _Batch, pieces: list[_Piece]) -> None:
        batch.pieces.extend(pieces)
        batch.missing = len(pieces)
        self._close_done()

    def _start_stride(self, batch: _Batch) -> None:
        longest = batch.pieces[0].tokens + 2
        count = max(1, self._stride_tokens // longest)
        taken = [batch.pieces.popleft() for _ in range(min(count, len(batch.pieces)))]

        def embed() -> Finish:
            started = time.perf_counter()
            vectors = batch.model.encode([piece.content for piece in taken])
            seconds = time.perf_counter() - started
            made = {(piece.text, piece.passage): row.tobytes() for piece, row in zip(taken, vectors, strict=True)}
            return lambda: self._made(batch, made, len(taken) * longest, seconds)

        self._lanes.start(embed)

    def _made(self, batch: _Batch, made: dict[tuple[int, int], bytes], tokens: int, seconds: float) -> None:
        self._adapt(tokens, seconds)
        batch.made.update(made)
        batch.missing = (batch.missing or 0) - len(made)
        self._close_done()

    def _close_done(self) -> None:
        while self._batches and self._batches[0].missing == 0:
            batch = self._batches.popleft()
            self._reply(Embedded(batch.job, batch.model.identity, tuple(_texts_of(batch))))

    def _adapt(self, tokens: int, seconds: float) -> None:
        """Choose the size of strides by the speed of this machine, here and now."""
        wanted = tokens * STRIDE_S / max(seconds, 1e-4)
        # Half of the old value: one hiccup of the machine must not make a hundred tiny strides.
        size = (self._stride_tokens + wanted) / 2
        self._stride_tokens = int(min(_MAX_STRIDE_TOKENS, max(_MIN_STRIDE_TOKENS, size)))

    def _model(self, folder: str, job: int) -> Model | None:
        model = self._models.get(folder)
        if model is None:
            try:
                model = self._models[folder] = self._factory(folder)
            except (OSError, ValueError, ImportError, RuntimeError) as exc:
                # What transformers raises for a folder without a model, a damaged file, a missing library.
                logger.exception("The model cannot be loaded")
                self._reply(Refused(job, f"The embedding model cannot be loaded ({type(exc).__name__}).", True))
        return model


def _texts_of(batch: _Batch) -> list[TextVectors]:
    return [
        TextVectors(ranges, b"".join(batch.made[number, index] for index in range(len(ranges))))
        for number, ranges in enumerate(batch.ranges)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
