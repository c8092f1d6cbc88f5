"""The engine's side of the worker: starts the process, carries requests and answers, and notices its death.

Any thread may ask. One reader thread hands answers to whoever waits; a death fails everything that was under way.
"""

from __future__ import annotations

import itertools
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, cast

import engine
from engine.embed.messages import EmbedQuery, EmbedTexts, Load, Refused, Stop
from engine.embed.pipe import PipeEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.embed.messages import Embedded, Loaded, Reply, Request, WorkerOptions

logger = logging.getLogger(__name__)

STOP_S = 5.0
"""How long a worker that was told to stop may take (one stride and its exit) before it is ended by force."""

FROZEN_VERB = "embed-worker"
"""First argument by which the frozen program knows that it is to be a worker."""


class WorkerDied(Exception):
    """The worker process ended while something was asked of it."""


class ModelRefused(Exception):
    """The worker lives but could not do it. The text is for the person."""


def worker_command(options: WorkerOptions) -> list[str]:
    """Return the command that starts the worker, from source, installed or frozen."""
    arguments = [str(options.threads), options.precision]
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_VERB, *arguments]
    # -P: the folder somebody happens to stand in is no place to import from.
    return [sys.executable, "-P", "-m", "engine.embed.worker", *arguments]


class WorkerClient:
    """One worker process, started on the first request and again after its end.

    Args:
        command: Starts it.
        on_death: Called when it ended without being told to, before those who wait learn of it; on any thread.
    """

    def __init__(self, command: Sequence[str], *, on_death: Callable[[], None]) -> None:
        self._command = list(command)
        self._on_death = on_death
        self._lock = threading.Lock()
        self._ended_one = threading.Condition(self._lock)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: PipeEnd | None = None
        self._pending: dict[int, Future[Reply]] = {}
        self._numbers = itertools.count(1)
        self._reader: threading.Thread | None = None
        self._closed = False
        self._stopping = False
        self._has_answered = False
        """The present process has come so far as to listen."""

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        process = self._process
        return None if process is None else process.pid

    @property
    def is_running(self) -> bool:
        """True while there is a process."""
        return self._process is not None

    def load(self, model: str) -> Future[Loaded]:
        """Load a model. The future fails with `WorkerDied` or `ModelRefused`."""
        return cast("Future[Loaded]", self._ask(lambda job: Load(job, model)))

    def embed(self, model: str, texts: Sequence[str]) -> Future[Embedded]:
        """Embed whole texts, passage by passage. The future fails with `WorkerDied` or `ModelRefused`."""
        return cast("Future[Embedded]", self._ask(lambda job: EmbedTexts(job, model, tuple(texts))))

    def embed_query(self, model: str, text: str) -> Future[Embedded]:
        """Embed one question, ahead of texts. The future fails with `WorkerDied` or `ModelRefused`."""
        return cast("Future[Embedded]", self._ask(lambda job: EmbedQuery(job, model, text)))

    def unload(self) -> None:
        """End the process and give its memory back. The next request starts a new one."""
        with self._lock:
            process, pipe, reader = self._process, self._pipe, self._reader
            self._stopping = process is not None
            listens = self._has_answered
        if process is None or pipe is None:
            return
        # Before it is told: one that reads nothing any more would not even let it be said.
        late = threading.Timer(STOP_S, process.kill)
        late.daemon = True
        late.start()
        try:
            if listens:
                pipe.send(Stop())
            else:
                # It still imports, for seconds, and holds nothing: nobody who quits should wait for that.
                process.kill()
        except OSError:
            logger.debug("The worker was gone already")
        finally:
            process.wait()
            late.cancel()
        if reader is not None:
            reader.join(STOP_S)

    def close(self) -> None:
        """End the process for good. Idempotent."""
        with self._lock:
            self._closed = True
        self.unload()

    def _ask(self, make: Callable[[int], Request]) -> Future[Reply]:
        future: Future[Reply] = Future()
        try:
            with self._lock:
                self._ended_one.wait_for(lambda: not self._stopping, STOP_S)
                if self._closed:
                    future.set_exception(WorkerDied("The worker is closing"))
                    return future
                if self._process is None:
                    self._start()
                job = next(self._numbers)
                self._pending[job] = future
                pipe = cast("PipeEnd", self._pipe)
        except OSError as exc:
            logger.warning("The embedding worker could not be started: %s", exc)
            self._on_death()
            future.set_exception(WorkerDied("The embedding worker could not be started"))
            return future
        try:
            pipe.send(make(job))
        except OSError:
            # The reader thread sees the end too, and fails what is pending.
            logger.debug("The worker went away before it could be asked")
        return future

    def _start(self) -> None:
        source = str(Path(engine.__file__).parents[1])
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (source, environment.get("PYTHONPATH", ""))))
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both streams are pipes")
        self._process = process
        self._has_answered = False
        self._pipe = PipeEnd(process.stdout, process.stdin)
        self._reader = threading.Thread(
            target=self._read, args=(process, self._pipe), name="engine-embed-pipe", daemon=True
        )
        self._reader.start()
        logger.info("Embedding worker started, process %d", process.pid)

    def _read(self, process: subprocess.Popen[bytes], pipe: PipeEnd) -> None:
        while True:
            try:
                reply = cast("Reply", pipe.receive())
            except (EOFError, OSError):
                break
            except Exception:
                # An installation that was replaced while the engine ran speaks otherwise: better no worker than none
                # that ever answers.
                logger.exception("The embedding worker's answer is not understood")
                process.kill()
                break
            with self._lock:
                self._has_answered = True
                future = self._pending.pop(reply.job, None)
            if future is None or not future.set_running_or_notify_cancel():
                continue
            if isinstance(reply, Refused):
                future.set_exception(ModelRefused(reply.reason))
            else:
                future.set_result(reply)
        self._ended(process, pipe)

    def _ended(self, process: subprocess.Popen[bytes], pipe: PipeEnd) -> None:
        code = process.wait()
        pipe.close()
        with self._lock:
            expected = self._stopping
            self._process = self._pipe = self._reader = None
            self._stopping = False
            pending, self._pending = self._pending, {}
            self._ended_one.notify_all()
        if expected:
            logger.info("Embedding worker ended")
        else:
            logger.warning("Embedding worker died, exit code %s", code)
            self._on_death()
        for future in pending.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(WorkerDied(f"The embedding worker ended with code {code}"))
