"""The engine's side of the process that prepares texts during a backfill: starts it, asks it, notices its death."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import engine
from engine.ingest.prepare import packed, receive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.ingest.prepare import Answer

logger = logging.getLogger(__name__)

ANSWER_S = 30.0
"""A batch takes it a few hundredths of a second; after so long it does not answer any more."""

STOP_S = 5.0
"""How long it may take to end once its input has ended."""

FROZEN_VERB = "prepare-texts"
"""First argument by which the frozen program knows that it is to be this process."""


def command() -> list[str]:
    """Return the command that starts the process, from source, installed or frozen."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_VERB]
    # -P: the folder somebody happens to stand in is no place to import from.
    return [sys.executable, "-P", "-m", "engine.ingest.prepare"]


def if_it_pays() -> type[SecondProcess] | None:
    """Return what starts the process where this program may use more than one core, else None."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return SecondProcess if cores > 1 else None


class SecondProcess:
    """One process, asked by one thread. Answers come in the order of the questions.

    Both ends of the pipe have a thread: a pipe holds less than one batch, so whoever asks would wait until the process
    begins to read it.

    Args:
        starts: The command that starts it; by default this program's own.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, starts: Sequence[str] | None = None) -> None:
        source = str(Path(engine.__file__).parents[1])
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (source, environment.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            list(starts or command()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ready = threading.Event()
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._closed = False
        self._threads = (
            threading.Thread(target=self._read, name="engine-ingest-from", daemon=True),
            threading.Thread(target=self._write, name="engine-ingest-to", daemon=True),
        )
        for thread in self._threads:
            thread.start()
        logger.info("A second process prepares texts, process %d", self._process.pid)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """True once it has come up: until then waiting for it would take longer than doing its work."""
        return self._ready.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until it has come up."""
        return self._ready.wait(timeout_s)

    def ask(self, texts: Sequence[str], *, redacts: bool) -> bool:
        """Hand over texts. False when it cannot take them.

        Args:
            texts: They are prepared while the caller goes on.
            redacts: Replace secrets.
        """
        try:
            message = packed([redacts, list(texts)])
        except TypeError:
            logger.warning("The second process took no texts", exc_info=True)
            return False
        if self._closed:
            logger.warning("The second process took no texts")
            return False
        self._requests.put(message)
        return True

    @property
    def has_answered(self) -> bool:
        """True when `answer` need not wait."""
        return not self._answers.empty()

    def answer(self) -> list[Answer] | None:
        """Wait for the answer to what was asked first. None when it died over it."""
        try:
            return cast("list[Answer] | None", self._answers.get(timeout=ANSWER_S))
        except queue.Empty:
            logger.warning("The second process does not answer")
            return None

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self._requests.put(None)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(STOP_S)

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        self._process.kill()

    def _write(self) -> None:
        stream = cast("Any", self._process.stdin)
        try:
            while (message := self._requests.get()) is not None:
                stream.write(message)
                stream.flush()
        except OSError:  # it is gone, which `_read` notices as well
            logger.debug("The second process left a request unread", exc_info=True)
        finally:
            with contextlib.suppress(OSError):  # of what is still buffered
                stream.close()

    def _read(self) -> None:
        stream = cast("Any", self._process.stdout)
        try:
            receive(stream)
            self._ready.set()
            while True:
                self._answers.put(receive(stream))
        except (EOFError, OSError, ValueError):
            self._answers.put(None)
        finally:
            stream.close()
