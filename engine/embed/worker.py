"""The worker process: holds the model, embeds what comes through its pipe, and ends with the engine.

It works in strides short enough that a question waits for at most one of them, and looks for questions in between.
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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

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

    from engine.embed.messages import Reply, Request
    from engine.embed.model import Model

    ModelFactory = Callable[[str], Model]

logger = logging.getLogger(__name__)

STRIDE_S = 0.06
"""How long one call of the model should take: with reading the pipe, a question waits less than 100 ms."""

_FIRST_STRIDE_TOKENS = 512
_MIN_STRIDE_TOKENS = 256
_MAX_STRIDE_TOKENS = 8_192


def main(arguments: list[str]) -> int:
    """Run a worker on the standard streams until it is told to stop or the engine is gone.

    Args:
        arguments: Threads, precision.
    """
    from engine.embed.model import SentenceModel  # noqa: PLC0415 - numpy: this file is also read by the engine

    options = WorkerOptions(int(arguments[0]), arguments[1])

    def load(folder: str) -> Model:
        return SentenceModel(folder, threads=options.threads, precision=options.precision)

    return serve(load)


def serve(factory: ModelFactory) -> int:
    """Run a worker on the standard streams with the models that a factory loads."""
    from engine.embed.priority import step_back  # noqa: PLC0415 - ctypes, on Windows

    # Ctrl+C in a terminal reaches the whole group; the engine decides when its worker ends.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    step_back()
    pipe = _claim_streams()
    inbox: queue.Queue[Request] = queue.Queue()
    threading.Thread(target=_listen, args=(pipe, inbox), name="embed-pipe", daemon=True).start()
    try:
        Worker(inbox, pipe.send, factory).run()
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


def _listen(pipe: PipeEnd, inbox: queue.Queue[Request]) -> None:
    """Hand on what comes. The end of the pipe is the end of the engine."""
    while True:
        try:
            request = cast("Request", pipe.receive())
        except (EOFError, OSError):
            request = Stop()
        inbox.put(request)
        if isinstance(request, Stop):
            return


@dataclass(slots=True)
class _Piece:
    """One passage that waits to be embedded."""

    text: int
    passage: int
    content: str
    tokens: int


@dataclass(slots=True)
class _Batch:
    """The texts in hand, longest passages first so that none is padded to much more than itself."""

    job: int
    model: Model
    ranges: list[tuple[tuple[int, int], ...]]
    pieces: deque[_Piece]
    made: dict[tuple[int, int], bytes] = field(default_factory=dict[tuple[int, int], bytes])


class Worker:
    """Works through requests.

    Args:
        inbox: Where they come in.
        reply: Called with each answer.
        factory: Loads a model from a folder.
    """

    def __init__(self, inbox: queue.Queue[Request], reply: Callable[[Reply], None], factory: ModelFactory) -> None:
        self._inbox = inbox
        self._reply = reply
        self._factory = factory
        self._models: dict[str, Model] = {}
        self._questions: deque[EmbedQuery | Load] = deque()
        self._waiting: deque[EmbedTexts] = deque()
        self._batch: _Batch | None = None
        self._stride_tokens = _FIRST_STRIDE_TOKENS
        self._stopped = False

    @property
    def is_stopped(self) -> bool:
        """True once it was told to stop."""
        return self._stopped

    def run(self) -> None:
        """Serve until stopped."""
        while not self._stopped:
            self.step()

    def step(self) -> None:
        """Take what has come, then do the most urgent thing: a question, else one stride of a batch."""
        self._take(wait=not (self._questions or self._waiting or self._batch))
        if self._stopped:
            return
        if self._questions:
            self._answer(self._questions.popleft())
        elif self._batch is not None:
            self._stride(self._batch)
        elif self._waiting:
            self._open(self._waiting.popleft())

    def _take(self, *, wait: bool) -> None:
        while wait or not self._inbox.empty():
            request = self._inbox.get()
            wait = False
            if isinstance(request, Stop):
                self._stopped = True
                return
            if isinstance(request, EmbedTexts):
                self._waiting.append(request)
            else:
                self._questions.append(request)

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
        model = self._model(request.model, request.job)
        if model is None:
            return
        ranges: list[tuple[tuple[int, int], ...]] = []
        pieces: list[_Piece] = []
        for number, text in enumerate(request.texts):
            found = model.passages(text)
            ranges.append(tuple((each.start, each.end) for each in found))
            pieces += [
                _Piece(number, index, text[each.start : each.end], each.tokens) for index, each in enumerate(found)
            ]
        pieces.sort(key=lambda piece: -piece.tokens)
        self._batch = _Batch(request.job, model, ranges, deque(pieces))

    def _stride(self, batch: _Batch) -> None:
        if batch.pieces:
            longest = batch.pieces[0].tokens + 2
            count = max(1, self._stride_tokens // longest)
            taken = [batch.pieces.popleft() for _ in range(min(count, len(batch.pieces)))]
            started = time.perf_counter()
            vectors = batch.model.encode([piece.content for piece in taken])
            self._adapt(len(taken) * longest, time.perf_counter() - started)
            for piece, vector in zip(taken, vectors, strict=True):
                batch.made[piece.text, piece.passage] = vector.tobytes()
        if not batch.pieces:
            self._batch = None
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
