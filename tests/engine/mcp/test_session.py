"""Sessions over a connection's two blocking ends: frames in, frames out, with the SDK's client at the other end."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, jsonrpc_message_adapter

from engine.arguments import OPERATIONS
from engine.core.models.asking import Caller
from engine.mcp.catalogue import Catalogue
from engine.mcp.session import McpSessions
from tests.engine.mcp.fakes import FakeApi

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PRUNE = {"name": "prune", "arguments": {"older_than_days": 90}}


class Pipe:
    """A connection without a socket: the engine's end is a `Wire`, the client's end has queues."""

    def __init__(self) -> None:
        self.to_engine: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.to_client: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.closed = threading.Event()

    def receive(self) -> bytes | None:
        return self.to_engine.get(timeout=60)

    def send(self, frame: bytes) -> None:
        self.to_client.put(frame)

    def close(self) -> None:
        self.closed.set()
        self.to_engine.put(None)
        self.to_client.put(None)

    def ask(self, number: int, method: str, params: dict[str, Any] | None = None) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}
        self.to_engine.put(json.dumps(message).encode())

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self.to_engine.put(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def shake_hands(self) -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        self.ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        return self.reply()

    def reply(self) -> dict[str, Any]:
        frame = self.to_client.get(timeout=60)
        assert frame is not None
        return json.loads(frame)

    def leave(self) -> None:
        self.to_engine.put(None)


class Engine:
    """Sessions over a fake front door, with a thread for each connection as the socket has."""

    def __init__(self, api: FakeApi, sessions: McpSessions) -> None:
        self.api = api
        self.sessions = sessions
        self._threads: list[threading.Thread] = []

    def connect(self) -> Pipe:
        pipe = Pipe()
        caller = Caller(cwd="/home/ada/code/shop", is_model=True)
        thread = threading.Thread(target=self.sessions.serve, args=(pipe,), kwargs={"caller": caller, "toolset": "all"})
        thread.start()
        self._threads.append(thread)
        return pipe

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


@pytest.fixture
def engine() -> Iterator[Engine]:
    api = FakeApi()
    with ThreadPoolExecutor(2, thread_name_prefix="engine-query") as queries:
        sessions = McpSessions(api, Catalogue(OPERATIONS), version="1.2.3", queries=queries)
        sessions.start()
        serving = Engine(api, sessions)
        try:
            yield serving
        finally:
            ended = sessions.stop()
            serving.join()
            assert ended


@asynccontextmanager
async def transport(pipe: Pipe) -> AsyncGenerator[Any]:
    """Give the client's end of a pipe as the SDK's client wants it."""
    to_client, read = anyio.create_memory_object_stream[SessionMessage | Exception](100)
    write, from_client = anyio.create_memory_object_stream[SessionMessage](100)

    async def receive() -> None:
        while (frame := await asyncio.to_thread(pipe.to_client.get)) is not None:
            await to_client.send(SessionMessage(jsonrpc_message_adapter.validate_json(frame, by_name=False)))

    async def send() -> None:
        async for message in from_client:
            pipe.to_engine.put(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async with to_client, read, write, from_client, anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield read, write
        pipe.close()
        await write.aclose()


def with_client(pipe: Pipe, mode: str, scenario: Callable[[Client], Awaitable[CallToolResult]]) -> CallToolResult:
    async def connected() -> CallToolResult:
        async with Client(transport(pipe), mode=mode) as client:
            return await asyncio.wait_for(scenario(client), 60)

    return asyncio.run(connected())


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_client_of_the_sdk_calls_a_tool_in_either_era(engine: Engine, mode: str) -> None:
    result = with_client(engine.connect(), mode, lambda client: client.call_tool("hybrid_search", {"query": "auth"}))

    assert result.structured_content is not None
    assert result.structured_content["total"] == 3


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_progress_is_heard_over_a_connection(engine: Engine, mode: str) -> None:
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        await asyncio.sleep(0)
        assert (total, message) == (3.0, "Checking")
        heard.append(progress)

    with_client(
        engine.connect(), mode, lambda client: client.call_tool("doctor", {"fix": True}, progress_callback=listen)
    )

    assert heard[-1] == 3.0


def test_a_request_is_answered_under_its_own_number_with_the_servers_identity(engine: Engine) -> None:
    pipe = engine.connect()

    reply = pipe.shake_hands()

    assert reply["id"] == 0
    assert reply["result"]["serverInfo"] == {"name": "backscroll", "title": "Backscroll", "version": "1.2.3"}
    assert reply["result"]["protocolVersion"] == "2025-11-25"
    assert reply["result"]["instructions"] == Catalogue(OPERATIONS).instructions("all")
    pipe.leave()


def test_a_query_with_a_lone_surrogate_arrives_as_it_is(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.shake_hands()

    pipe.ask(1, "tools/call", {"name": "keyword_search", "arguments": {"query": "half \ud83d of it"}})

    assert pipe.reply()["result"]["structuredContent"]["total"] == 3
    assert engine.api.asked[0].arguments == {"query": "half \ud83d of it"}
    pipe.leave()


def test_what_is_no_message_is_answered_and_the_session_goes_on(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.to_engine.put(b"not json")
    assert pipe.reply()["error"]["code"] == -32700
    pipe.to_engine.put(b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}')
    assert pipe.reply()["id"] == 7

    pipe.shake_hands()
    pipe.ask(8, "tools/list")

    assert len(pipe.reply()["result"]["tools"]) == len(Catalogue(OPERATIONS).tools("all"))
    pipe.leave()


def test_arguments_that_are_no_object_are_refused_in_words(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.shake_hands()

    pipe.ask(1, "tools/call", {"name": "hybrid_search", "arguments": ["auth"]})

    assert "must be an object" in pipe.reply()["error"]["message"]
    pipe.leave()


def test_requests_of_the_newer_era_need_no_handshake(engine: Engine) -> None:
    pipe = engine.connect()

    pipe.ask(1, "tools/call", {"name": "status", "_meta": ENVELOPE})

    reply = pipe.reply()["result"]
    assert reply["resultType"] == "complete"
    assert reply["structuredContent"] == {}
    pipe.leave()


def test_a_cancelled_call_is_taken_back_and_never_answered(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.shake_hands()
    pipe.ask(1, "tools/call", PRUNE)
    assert engine.api.started.wait(60)

    pipe.tell("notifications/cancelled", {"requestId": 1})
    assert engine.api.cancelled.wait(60)
    pipe.ask(2, "ping")

    assert pipe.reply()["id"] == 2
    pipe.leave()


def test_calls_on_their_way_are_answered_when_the_connection_takes_no_more(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.shake_hands()
    for number in range(1, 6):
        pipe.ask(number, "tools/call", {"name": "hybrid_search", "arguments": {"query": "auth"}})
    pipe.leave()

    assert sorted(pipe.reply()["id"] for _ in range(5)) == [1, 2, 3, 4, 5]
    assert pipe.closed.wait(60)


def test_a_call_that_outlasts_its_connection_is_answered_with_call_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.mcp.session.GRACE_S", 0.05)
    pipe = engine.connect()
    pipe.shake_hands()
    pipe.ask(1, "tools/call", PRUNE)
    assert engine.api.started.wait(60)

    pipe.leave()

    result = pipe.reply()["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("engine_stopping: Backscroll is restarting.")
    assert engine.api.cancelled.wait(60)


def test_stopping_cuts_off_sessions_that_are_still_connected(engine: Engine) -> None:
    pipe = engine.connect()
    pipe.shake_hands()

    assert engine.sessions.stop()

    assert pipe.closed.wait(60)


def test_a_session_before_the_start_ends_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(1) as queries:
        sessions = McpSessions(FakeApi(), Catalogue(OPERATIONS), version="1", queries=queries)
        with caplog.at_level("INFO"):
            sessions.serve(Pipe(), caller=Caller(), toolset="all")

    assert "came before the start or after the end" in caplog.text


def test_starting_and_stopping_leaves_no_thread() -> None:
    before = threading.active_count()
    with ThreadPoolExecutor(1) as queries:
        sessions = McpSessions(FakeApi(), Catalogue(OPERATIONS), version="1", queries=queries)
        for _ in range(20):
            sessions.start()
            sessions.start()
            assert sessions.stop()
        assert sessions.stop()

    assert threading.active_count() == before


@pytest.mark.expect_log("An MCP session failed")
def test_a_connection_that_breaks_while_sending_ends_its_session_only(engine: Engine) -> None:
    broken, sound = BrokenPipe(), engine.connect()
    serving = threading.Thread(
        target=engine.sessions.serve, args=(broken,), kwargs={"caller": Caller(), "toolset": "all"}
    )
    serving.start()
    broken.ask(0, "ping")
    serving.join(60)

    assert not serving.is_alive()
    assert sound.shake_hands()["id"] == 0
    sound.leave()


class BrokenPipe(Pipe):
    """Takes nothing."""

    def send(self, frame: bytes) -> None:
        raise ValueError(f"{len(frame)} bytes are too many")
