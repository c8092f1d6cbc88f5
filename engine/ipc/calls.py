"""Answers the calls of one `api` client: each in a thread of its own, with progress, until the client takes it back."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from engine.core.errors import Cancelled, EngineError, EngineStopping
from engine.ipc.protocol import Failure, ProtocolError, Result, encode, parse_client_frame
from engine.ipc.protocol import Progress as ProgressFrame

if TYPE_CHECKING:
    from engine.ipc.protocol import Call, JsonObject, JsonValue
    from engine.ipc.session import Client, Session

logger = logging.getLogger(__name__)

MAX_CALLS = 8
"""At once for one client. The command line makes one at a time."""
INTERNAL_ERROR = "internal_error"
"""The code of every exception that is not an `EngineError`. Its text stays in the log."""


class Progress(Protocol):
    """Tells the caller how far its call is. From any thread, as often as one likes."""

    def __call__(self, done: float, total: float | None, text: str) -> None:
        """Report; `total` in the unit of `done`, none when it is not known."""
        ...


class CallHandler(Protocol):
    """The front door behind the socket."""

    def __call__(
        self, client: Client, method: str, arguments: JsonObject, progress: Progress, cancelled: threading.Event
    ) -> JsonValue:
        """Answer one call.

        Raises:
            EngineError: Reaches the caller as it is. Any other exception is logged as a bug and reaches the caller as
                `internal_error`.
        """
        ...


class CallServer:
    """Serves one session until the client goes away or the session ends.

    Args:
        session: Of kind `api`.
        handler: Answers.
    """

    def __init__(self, session: Session, handler: CallHandler) -> None:
        self._session = session
        self._handler = handler
        self._lock = threading.Lock()
        self._running: dict[int, tuple[threading.Thread, threading.Event]] = {}

    def run(self) -> None:
        """Read calls, and return when there are no more and the last has ended. In the connection's thread.

        Raises:
            ProtocolError: The client sent something else.
        """
        try:
            while (frame := self._session.receive()) is not None:
                asked = parse_client_frame(frame)
                if asked["type"] == "cancel":
                    self._cancel(asked["id"])
                else:
                    self._begin(asked)
        finally:
            self._end()

    def _begin(self, call: Call) -> None:
        number = call["id"]
        with self._lock:
            if number in self._running:
                raise ProtocolError("two calls of the same number")
            if len(self._running) < MAX_CALLS:
                cancelled = threading.Event()
                name = f"engine-conn-{self._session.client.number}-call"
                thread = threading.Thread(target=self._answer, args=(call, cancelled), name=name, daemon=True)
                self._running[number] = (thread, cancelled)
                thread.start()
                return
        self._fail(
            number,
            EngineError("Too many calls at once", f"At most {MAX_CALLS} are answered on one connection.", "Try again."),
        )

    def _cancel(self, number: int) -> None:
        with self._lock:
            running = self._running.get(number)
        if running is not None:
            running[1].set()

    def _end(self) -> None:
        """Take every call back, tell the caller why, and wait for them to end."""
        with self._lock:
            running = dict(self._running)
            self._running.clear()
        for number, (_, cancelled) in running.items():
            cancelled.set()
            self._fail(number, EngineStopping("Backscroll is stopping", "This call was not finished.", "Try again."))
        for thread, _ in running.values():
            thread.join()

    def _answer(self, call: Call, cancelled: threading.Event) -> None:
        """Body of a call's thread: the barrier behind which nothing else of the connection is harmed."""
        number = call["id"]

        def progress(done: float, total: float | None, text: str) -> None:
            if self._is_open(number):
                frame = ProgressFrame(type="progress", id=number, done=done, total=total, text=text)
                self._session.send(encode(frame))

        try:
            value = self._handler(self._session.client, call["method"], call["arguments"], progress, cancelled)
            reply = encode(Result(type="result", id=number, value=value))
        except EngineError as error:
            self._finish(number, _failure(number, error))
        except Exception:
            if cancelled.is_set():
                # Whatever was interrupted may say so in its own way.
                logger.debug("Call %s was cancelled", call["method"], exc_info=True)
                self._finish(number, _failure(number, Cancelled("Cancelled")))
            else:
                logger.exception("Call %s failed", call["method"])
                self._finish(number, _internal_error(number))
        else:
            self._finish(number, reply)

    def _is_open(self, number: int) -> bool:
        with self._lock:
            return number in self._running

    def _finish(self, number: int, reply: bytes) -> None:
        """Send a call's one reply, unless it has had that already."""
        with self._lock:
            if self._running.pop(number, None) is None:
                return
        try:
            self._session.send(reply)
        except ValueError:
            logger.exception("Call %d has too large an answer", number)
            self._session.send(_internal_error(number))

    def _fail(self, number: int, error: EngineError) -> None:
        self._session.send(_failure(number, error))


def _failure(number: int, error: EngineError) -> bytes:
    return encode(
        Failure(
            type="error",
            id=number,
            code=error.code,
            title=error.title,
            message=error.message,
            hint=error.hint,
            candidates=list(error.candidates),
        )
    )


def _internal_error(number: int) -> bytes:
    return encode(
        Failure(
            type="error",
            id=number,
            code=INTERNAL_ERROR,
            title="Something went wrong inside Backscroll",
            message="This is a defect. What happened is in the log.",
            hint="Run `backscroll doctor` to see where the log lies.",
            candidates=[],
        )
    )
