"""Carries MCP sessions between connections of the socket and the SDK, all on one event loop in one thread.

A connection's own thread reads and parses its frames and hands them to the loop, waiting while the session is busy;
replies go straight to the connection, which queues them. When a connection ends, for whatever reason, the calls that
are running may still finish for a moment; then they are answered with "call again".
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from engine.mcp.server import Api, SessionServer
from engine.mcp.wire import decode, encode

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.core.models.asking import Caller
    from engine.ipc.protocol import Toolset
    from engine.mcp.catalogue import Catalogue

logger = logging.getLogger(__name__)

GRACE_S: Final = 2.0
"""How long calls may run on after their connection has ended. Less than the socket's `STOP_S`, with time to spare."""
LAST_WORDS_S: Final = 1.0
"""And how long the answers "call again" may take after that."""
_BACKLOG: Final = 16
"""Messages a session may lag behind its connection before the connection waits."""

Work = Callable[[], Coroutine[Any, Any, None]]

__all__ = ["Api", "McpSessions", "Wire"]


class Wire(Protocol):
    """One connection: `engine.ipc.session.Session` is one."""

    def receive(self) -> bytes | None:
        """Wait for the next JSON-RPC message and return it; none when there will be no more."""
        ...

    def send(self, frame: bytes, /) -> None:
        """Take a message to send and return at once. From any thread."""
        ...

    def close(self) -> None:
        """Let `receive` return none; what was sent before still goes out. From any thread, more than once."""
        ...


class McpSessions:
    """Serves every MCP session of an engine.

    Args:
        api: The front door.
        catalogue: What there is to show.
        version: The engine's.
        queries: Where calls run (`engine-query-N`). It must outlive `stop`.
    """

    def __init__(self, api: Api, catalogue: Catalogue, *, version: str, queries: Executor) -> None:
        self._api = api
        self._catalogue = catalogue
        self._version = version
        self._queries = queries
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def version(self) -> str:
        """The engine's version, as clients are told it."""
        return self._version

    def start(self) -> None:
        """Start the loop's thread. Does nothing when it runs."""
        if self._thread is not None:
            return
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="engine-loop", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """End the loop with whatever still runs on it. The socket is stopped before, so that sessions have ended.

        Returns:
            False when the thread did not end in time.
        """
        if self._loop is None or self._thread is None:
            return True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_s)
        ended = not self._thread.is_alive()
        if not ended:
            logger.warning("The thread of the MCP sessions has not ended")
        self._loop = self._thread = None
        return ended

    def serve(self, wire: Wire, *, caller: Caller, toolset: Toolset) -> None:
        """Serve one session until its connection ends; blocks in the connection's thread. Raises nothing.

        Args:
            wire: The connection.
            caller: Who is at its other end.
            toolset: What it shows.
        """
        loop = self._loop
        if loop is None:
            logger.info("An MCP session came before the start or after the end of the engine")
            return
        session = _Session(
            wire,
            SessionServer(
                self._api,
                self._catalogue,
                caller=caller,
                toolset=toolset,
                version=self._version,
                queries=self._queries,
            ),
        )
        try:
            running = _begin(session.run, loop)
            try:
                while (frame := wire.receive()) is not None:
                    message = decode(frame)
                    if isinstance(message, bytes):
                        wire.send(message)
                    elif message is not None:
                        _wait(_begin(partial(session.take, message), loop), loop)
            finally:
                _wait(_begin(session.end, loop), loop)
            _wait(running, loop)
        except CancelledError:
            logger.info("An MCP session was cut off by the end of the engine")
        except Exception:
            logger.exception("An MCP session failed")
        finally:
            session.close()


def _begin(work: Work, loop: asyncio.AbstractEventLoop) -> Future[None]:
    """Start something on the loop. It is made there, so that a loop which ends first leaves nothing half-made.

    Raises:
        CancelledError: The loop has ended.
    """
    outcome: Future[None] = Future()

    def finished(task: asyncio.Task[None]) -> None:
        if task.cancelled():
            outcome.cancel()
        elif (error := task.exception()) is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    try:
        loop.call_soon_threadsafe(lambda: loop.create_task(work()).add_done_callback(finished))
    except RuntimeError as error:
        raise CancelledError from error
    return outcome


def _wait(outcome: Future[None], loop: asyncio.AbstractEventLoop) -> None:
    """Wait for something on the loop for as long as the loop is there.

    Raises:
        CancelledError: The loop ended before.
    """
    while not outcome.done():
        try:
            outcome.result(timeout=1.0)
        except TimeoutError:
            if loop.is_closed():
                raise CancelledError from None
    outcome.result()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Body of `engine-loop`."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        _cancel_all(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        _cancel_all(loop)
    except Exception:
        logger.exception("The loop of the MCP sessions failed")
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is on the loop, and what comes onto it meanwhile, until nothing is left."""
    while left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left))


class _Session:
    """One session's streams, and which of its requests have not been answered. Lives on the event loop."""

    def __init__(self, wire: Wire, server: SessionServer) -> None:
        self._wire = wire
        self._server = server
        self._inbound, self._read = anyio.create_memory_object_stream[SessionMessage | Exception](_BACKLOG)
        self._write, self._outbound = anyio.create_memory_object_stream[SessionMessage](_BACKLOG)
        self._open: set[RequestId] = set()
        self._settled = asyncio.Event()
        self._settled.set()

    async def run(self) -> None:
        """Serve until the inbound stream ends. However it ends, the streams and the connection are closed then."""
        server = self._server.server
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._send_replies)
                await server.run(self._read, self._write, server.create_initialization_options())
        finally:
            self._settled.set()
            self._wire.close()
            self.close()

    def close(self) -> None:
        """Close the streams. On the loop, or when the session does not run there any more."""
        for stream in (self._inbound, self._read, self._write, self._outbound):
            stream.close()

    async def take(self, message: SessionMessage) -> None:
        """Hand a message to the server; waits while the session lags behind."""
        match message.message:
            case JSONRPCRequest(id=number):
                self._open.add(number)
                self._settled.clear()
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as number}):
                self._answered(number)  # it never will be: the protocol forbids an answer to a cancelled request
            case _:
                pass
        try:
            await self._inbound.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("A message came for a session that has ended")

    async def end(self) -> None:
        """Let what is being answered finish, answer the rest with "call again", and end the inbound stream."""
        if not await self._settles(GRACE_S):
            self._server.close()
            await self._settles(LAST_WORDS_S)
        self._inbound.close()

    async def _settles(self, timeout_s: float) -> bool:
        with anyio.move_on_after(timeout_s):
            await self._settled.wait()
        return self._settled.is_set()

    async def _send_replies(self) -> None:
        async for message in self._outbound:
            self._wire.send(encode(message.message))
            if isinstance(message.message, (JSONRPCResponse, JSONRPCError)) and message.message.id is not None:
                self._answered(message.message.id)

    def _answered(self, number: RequestId) -> None:
        self._open.discard(number)
        if not self._open:
            self._settled.set()
