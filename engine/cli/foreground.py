"""An engine in this process: started, kept until somebody wants it to end, stopped in order."""

from __future__ import annotations

import logging
import queue
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.core.errors import EngineAlreadyRunning, StorageFailure
from engine.core.events import HandoverRequested

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from engine.core.events import Event
    from engine.service import Engine

logger = logging.getLogger(__name__)

END_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Ctrl+C, the system's end, a closed terminal, Ctrl+Break of Windows; each where it exists."""


@contextmanager
def running(engine: Engine, *, watch: bool, verbose: bool = False) -> Generator[None]:
    """Start an engine with its log, and stop it whatever happens.

    Args:
        engine: Not started.
        watch: In the background and reachable; else only for what this process asks of it.
        verbose: Repeat the log on stderr.

    Raises:
        EngineAlreadyRunning: Another engine owns the data directory. The log is not touched: it is the other's.
        StorageFailure: Folders or database cannot be made or opened.
    """
    from engine.core.log import configure_logging  # noqa: PLC0415 - 4 ms for whoever starts no engine

    try:
        engine.start(watch=watch)
    except EngineAlreadyRunning:
        raise
    except OSError as error:
        raise refused_by_disk(error, engine) from error
    except Exception:
        undo = configure_logging(engine.paths, to_stderr=verbose)
        logger.exception("The engine did not start")
        undo()
        raise
    undo = configure_logging(engine.paths, to_stderr=verbose)
    try:
        yield
    finally:
        engine.stop()
        undo()


def refused_by_disk(error: OSError, engine: Engine) -> StorageFailure:
    """Return in words that a folder or file an engine needs could not be made or opened."""
    place = error.filename or engine.paths.data
    return StorageFailure(
        "Backscroll cannot start",
        f"{place}: {error.strerror or error}.",
        "Look at the permissions and the free space there, or name another folder in BACKSCROLL_HOME.",
    )


class Told:
    """That this process is to end: told from a signal's handler or by another thread, awaited by the main thread.

    Not a `threading.Event`: its lock is not reentrant, and a handler that runs on the thread that waits, between two
    of its steps, would wait for itself (seen: one Ctrl+C in 160 hung for ever). `SimpleQueue.put` is made for that.
    """

    def __init__(self) -> None:
        self._words: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_set = False

    def set(self) -> None:
        """Tell it. Any thread, and any moment of the one that waits."""
        self._is_set = True
        self._words.put(None)

    def is_set(self) -> bool:
        """Return whether it was told."""
        return self._is_set

    def wait(self, timeout_s: float) -> bool:
        """Wait until it is told. False when the time is over and it was not."""
        if not self._is_set:
            try:
                self._words.get(timeout=timeout_s)
            except queue.Empty:
                return self._is_set
        return True


@contextmanager
def until_told() -> Generator[Told]:
    """Give what is set by the first signal to end. Entered before anything is made that has to be taken down again.

    A second signal ends the process as usual. Signals that whoever started us wants ignored (`nohup`, a shell's
    background job) stay ignored. Only the main thread may use this.
    """
    told = Told()
    handlers = {number: signal.getsignal(number) for number in _numbers()}
    # What was set without Python (None) could not be put back.
    before = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}

    def tell(_number: int, _frame: FrameType | None) -> None:
        told.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            if signal.getsignal(number) is tell:  # what others have set since is theirs
                signal.signal(number, handler)

    try:
        for number in before:
            signal.signal(number, tell)
        yield told
    finally:
        restore()


@contextmanager
def as_by_ctrl_c() -> Generator[None]:
    """Let every signal to end do what Ctrl+C does, for work that is broken off: what was started is stopped.

    Signals that whoever started us wants ignored stay ignored. Only the main thread may use this.
    """
    handlers = {number: signal.getsignal(number) for number in _numbers()}
    before = {number: handler for number, handler in handlers.items() if handler is signal.SIG_DFL}
    try:
        for number in before:
            signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def giving_way(engine: Engine, told: Told) -> Generator[None]:
    """Let an engine without a window be told to end when the app has started and wants to take over."""

    def give_way(event: Event) -> None:
        if isinstance(event, HandoverRequested):
            told.set()

    unsubscribe = engine.events.subscribe(give_way)
    try:
        yield
    finally:
        unsubscribe()


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in END_SIGNALS if name in signal.Signals.__members__]
