"""Gives the engine a life inside the app: started off the main thread, taken over from a `serve`, restarted, stopped.

Signals come on the main thread. The engine's log begins when it owns the data directory, and ends with it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop import words
from desktop.single_instance import Owner, ask
from engine.core.errors import EngineAlreadyRunning, EngineError, EngineStopping, StorageFailure
from engine.core.log import configure_logging
from engine.core.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.bridge import Bridge
    from desktop.tasks import Tasks
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.service import Engine

logger = logging.getLogger(__name__)

TAKE_OVER_S = 30.0
"""A `serve` that is asked to give way finishes its batch, which takes seconds at most."""
RETRY_S = 0.1


class AnotherAppRuns(EngineError):
    """The tray app of this installation runs already and has shown its window."""

    code = "another_app_runs"


class EngineMaker(Protocol):
    """Makes the engine of an installation; a fake stands here in tests."""

    def __call__(self, paths: Paths, settings: Settings) -> Engine:
        """Return an engine that is not started."""
        ...


class EngineHost(QObject):
    """Owns the engine.

    Args:
        paths: The installation.
        bridge: Is attached to each engine that starts.
        tasks: Threads.
        make: Makes an engine.
    """

    started = Signal(object)
    """The engine's `EngineApi`."""
    stopped = Signal()
    failed = Signal(object)
    """Why there is no engine."""
    outdone = Signal()
    """Another app owns the data directory: this one is to end."""

    def __init__(self, paths: Paths, bridge: Bridge, tasks: Tasks, make: EngineMaker | None = None) -> None:
        super().__init__()
        self._paths = paths
        self._bridge = bridge
        self._tasks = tasks
        self._make = make or make_engine
        self._ending = threading.Event()
        self._life = threading.RLock()
        """Held while the engine starts or stops: an end that comes during the start waits for it."""
        self._lane = tasks.lane()
        self._undo_log: Callable[[], None] | None = None
        self.engine: Engine | None = None
        self.settings = load_settings(paths.settings_file).settings

    @property
    def is_paused(self) -> bool:
        """True while indexing rests because the person said so."""
        return self.engine is not None and self.engine.ingest_status().state == "paused"

    def start(self) -> None:
        """Start the engine; `started`, `failed` or `outdone` follows."""
        self._lane.run(lambda _: self._start(), self._is_started, self._has_failed)

    def restart(self) -> None:
        """Stop the engine and start it with the settings as they are now."""
        self._leave()
        self.stopped.emit()
        self._lane.run(lambda _: self._again(), self._is_started, self._has_failed)

    def pause(self, for_s: float | None = None) -> None:
        """Let indexing rest.

        Args:
            for_s: Go on by itself after so many seconds; None waits for `resume` or the next start.
        """
        if self.engine is not None:
            self.engine.pause(for_s)

    def warm(self) -> None:
        """Let the model for questions by meaning be loaded: one is likely soon. Returns at once."""
        engine = self.engine
        if engine is not None:
            self._tasks.run(lambda _: engine.warm(), _nothing)

    def resume(self) -> None:
        """Go on indexing."""
        if self.engine is not None:
            self.engine.resume()

    def stop(self, then: Callable[[], None]) -> None:
        """Stop the engine and call back on the main thread."""
        self._ending.set()
        self._leave()
        self.stopped.emit()

        def ended(_result: object) -> None:
            then()

        self._tasks.run(lambda _: self._stop(), ended, ended)

    def end(self) -> None:
        """Stop what is left when the interface has gone, and wait for it. Nothing starts any more."""
        self._ending.set()
        self._leave()
        self._stop()

    def _leave(self) -> None:
        self._bridge.detach()

    def _again(self) -> Engine:
        with self._life:
            self._stop()
            return self._start()

    def _start(self) -> Engine:
        """Runs in the background."""
        with self._life:
            return self._started()

    def _started(self) -> Engine:
        waited = 0.0
        self.settings = load_settings(self._paths.settings_file).settings
        while not self._ending.is_set():
            engine = self._make(self._paths, self.settings)
            try:
                engine.start()
            except EngineAlreadyRunning:
                if waited >= TAKE_OVER_S or self._ending.is_set():
                    raise EngineAlreadyRunning(
                        words.engine.OTHER_RUNS_TITLE, words.engine.OTHER_RUNS_MESSAGE, words.engine.OTHER_RUNS_HINT
                    ) from None
                if ask(self._paths, "hand_over") is Owner.APP:
                    raise AnotherAppRuns(words.engine.OTHER_RUNS_TITLE) from None
                self._ending.wait(RETRY_S)
                waited += RETRY_S
                continue
            except OSError as error:
                place = error.filename or self._paths.data
                raise StorageFailure(words.engine.NO_START, f"{place}: {error.strerror or error}.") from error
            self._undo_log = configure_logging(self._paths)
            # Set here and not on the main thread, so that an end in between finds it.
            self.engine = engine
            return engine
        raise EngineStopping(words.engine.QUITTING)

    def _stop(self) -> None:
        """Runs in the background."""
        with self._life:
            engine, self.engine = self.engine, None
            if engine is not None:
                engine.stop()
            undo, self._undo_log = self._undo_log, None
            if undo is not None:
                undo()

    def _is_started(self, engine: Engine) -> None:
        if self._ending.is_set():
            return
        self._bridge.attach(engine.events)
        self.started.emit(engine.api)

    def _has_failed(self, error: Exception) -> None:
        if self._ending.is_set():
            return
        if isinstance(error, AnotherAppRuns):
            self.outdone.emit()
            return
        if not isinstance(error, EngineError):
            logger.error("The engine did not start", exc_info=error)
        self.failed.emit(error)


def _nothing(_result: object) -> None:
    """Wait for no answer."""


def make_engine(paths: Paths, settings: Settings) -> Engine:
    """Return the engine of an installation, not started."""
    # Half a second of imports that the icon need not wait for: this runs in the background.
    from engine.core.clock import SystemClock  # noqa: PLC0415 - see above
    from engine.service import Engine  # noqa: PLC0415 - see above

    return Engine(paths, settings, SystemClock(), has_window=True)
