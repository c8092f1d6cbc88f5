"""The other side of the local socket for programs of our own: the command line, a second start of the app, tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from typing import TYPE_CHECKING, Self

from engine.core.errors import EngineError, EngineNotRunning, EngineStopping
from engine.ipc.handshake import EngineRefused, WrongKey, enter
from engine.ipc.protocol import MAX_FRAME_BYTES, PROTOCOL, Call, Cancel, Hello, encode, parse_server_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from engine.core.paths import Paths
    from engine.ipc.channel import Channel
    from engine.ipc.protocol import Event, JsonObject, JsonValue, ServerFrame, Welcome

_RETRY_S = 0.05
_START_HINT = "Open the Backscroll app, or run `backscroll serve` where there is no display."


class InternalError(EngineError):
    """A defect inside the engine; what happened is in its log."""

    code = "internal_error"


class EngineClient:
    """One connection to a running engine. `call` may be used from several threads, one after the other."""

    def __init__(self, channel: Channel, welcome: Welcome) -> None:
        self.welcome = welcome
        self._channel = channel
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, paths: Paths, *, version: str, timeout_s: float = 5.0, events: bool = False) -> Self:
        """Connect to the engine of an installation.

        Args:
            paths: The installation.
            version: Of the program that asks.
            timeout_s: How long an engine that is there may keep us waiting; without one this returns at once.
            events: Ask for events; then `next_event` must be called between the calls.

        Raises:
            EngineNotRunning: No engine answers.
            EngineError: It does not want this client, and says why.
        """
        hello = Hello(
            type="hello",
            protocol=PROTOCOL,
            kind="api",
            version=version,
            pid=os.getpid(),
            ppid=os.getppid(),
            cwd=_working_directory(),
            events=events,
        )
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return cls(*enter(paths, hello, deadline))
            except EngineRefused as error:
                refused, title = error.refused, "Backscroll does not take this connection"
                raise _raised(refused["code"], title, refused["message"], refused["hint"]) from error
            except (FileNotFoundError, ConnectionRefusedError) as error:
                raise EngineNotRunning("Backscroll is not running", hint=_START_HINT) from error
            except WrongKey as error:
                raise EngineNotRunning(
                    "Another program listens in Backscroll's place",
                    "It does not hold this installation's key.",
                    "Restart Backscroll.",
                ) from error
            except (EOFError, OSError) as error:
                # Closed in our face: it is just stopping, or had too many at the door. Worth asking again.
                if time.monotonic() + _RETRY_S >= deadline:
                    raise EngineNotRunning(
                        "Backscroll does not answer",
                        f"It is there, but said nothing for {timeout_s:g} seconds.",
                        "Restart it; `backscroll doctor` says more.",
                    ) from error
                time.sleep(_RETRY_S)

    def call(
        self,
        method: str,
        arguments: JsonObject | None = None,
        *,
        on_progress: Callable[[float, float | None, str], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> JsonValue:
        """Ask the engine and wait for its answer, however long that takes. Ctrl-C takes the question back.

        Args:
            method: Of the front door.
            arguments: By name.
            on_progress: Told how far a long call is: done, total, text.
            on_event: Told what happens meanwhile, when events were asked for.

        Raises:
            EngineError: Why there is no answer, as the class the engine raised where that is loaded here.
        """
        with self._lock:
            number = next(self._numbers)
            try:
                self._channel.send(encode(Call(type="call", id=number, method=method, arguments=arguments or {})))
                while True:
                    frame = self._receive()
                    if frame["type"] == "event":
                        if on_event is not None:
                            on_event(frame)
                    elif frame["id"] != number:
                        continue  # of a call that was taken back
                    elif frame["type"] == "progress":
                        if on_progress is not None:
                            on_progress(frame["done"], frame["total"], frame["text"])
                    elif frame["type"] == "result":
                        return frame["value"]
                    else:
                        candidates = tuple(frame["candidates"])
                        raise _raised(frame["code"], frame["title"], frame["message"], frame["hint"], candidates)
            except (EOFError, OSError) as error:
                raise EngineStopping(
                    "Backscroll closed while it was answering", "It was stopped or restarted.", "Try again."
                ) from error
            except KeyboardInterrupt:
                with contextlib.suppress(OSError):  # the engine may be gone, which cancels as well
                    self._channel.send(encode(Cancel(type="cancel", id=number)))
                raise

    def next_event(self, timeout_s: float) -> Event | None:
        """Wait for the next event and return it; none when there was none in time.

        Raises:
            EngineStopping: The engine has closed.
        """
        with self._lock:
            deadline = time.monotonic() + timeout_s
            try:
                while self._channel.ready(deadline):
                    if (frame := self._receive())["type"] == "event":
                        return frame
            except (EOFError, OSError) as error:
                raise EngineStopping("Backscroll has closed", hint="Try again.") from error
            return None

    def close(self) -> None:
        """End the connection. A call of another thread ends with `EngineStopping`. May be called again."""
        self._channel.shutdown()
        with self._lock:
            self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self) -> ServerFrame:
        return parse_server_frame(self._channel.receive(MAX_FRAME_BYTES))


def _raised(code: str, title: str, message: str, hint: str, candidates: tuple[str, ...] = ()) -> EngineError:
    # What the database reports is a class that a client has no reason to load; programs go by its code all the same.
    kind = _error_of(code, EngineError) or type("EngineSaid", (EngineError,), {"code": code})
    return kind(title, message, hint, candidates=candidates)


def _error_of(code: str, family: type[EngineError]) -> type[EngineError] | None:
    """Return the class with this code among those loaded in this process."""
    if family.code == code:
        return family
    return next((found for kind in family.__subclasses__() if (found := _error_of(code, kind)) is not None), None)


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a text for the wire
    except FileNotFoundError:
        return ""
