"""The SDK's own client against the handlers, in memory, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from engine.arguments import OPERATIONS
from engine.core.errors import NotFound
from engine.core.models.asking import Caller
from engine.mcp.catalogue import Catalogue
from engine.mcp.server import SessionServer
from tests.engine.mcp.fakes import SESSION, FakeApi, hit, uuid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from engine.ipc.protocol import Toolset

Answer = TypeVar("Answer")

ERAS = ("legacy", "2026-07-28")
CALLER = Caller(cwd="/home/ada/code/shop", session_id=SESSION, is_model=True)


@pytest.fixture
def queries() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2, thread_name_prefix="engine-query") as pool:
        yield pool


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


class Session:
    """Runs one scenario of a connected client."""

    def __init__(self, api: FakeApi, queries: ThreadPoolExecutor, era: str, toolset: Toolset = "all") -> None:
        self.handlers = SessionServer(
            api, Catalogue(OPERATIONS), caller=CALLER, toolset=toolset, version="1.2.3", queries=queries
        )
        self._era = era

    def run(self, scenario: Callable[[Client], Awaitable[Answer]]) -> Answer:
        async def connected() -> Answer:
            async with Client(self.handlers.server, mode=self._era) as client:
                return await asyncio.wait_for(scenario(client), 60)

        return asyncio.run(connected())

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        return self.run(lambda client: client.call_tool(name, arguments))


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error
    assert isinstance(result.structured_content, dict)
    return cast("dict[str, Any]", result.structured_content)


def refused(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def test_the_list_has_every_tool_with_its_closed_schema_and_its_hints(queries: ThreadPoolExecutor, era: str) -> None:
    tools = Session(FakeApi(), queries, era).run(lambda client: client.list_tools()).tools

    assert [tool.name for tool in tools] == list(Catalogue(OPERATIONS).tools("all"))
    by_name = {tool.name: tool for tool in tools}
    search, prune = by_name["hybrid_search"], by_name["prune"]
    assert search.meta == {"anthropic/alwaysLoad": True}
    assert search.input_schema["additionalProperties"] is False
    assert search.input_schema["properties"]["role"]["enum"] == ["user", "assistant", "tool", "injected", "summary"]
    assert search.annotations is not None
    assert (search.annotations.read_only_hint, search.annotations.open_world_hint) == (True, False)
    assert prune.annotations is not None
    assert (prune.annotations.read_only_hint, prune.annotations.destructive_hint) == (False, True)


def test_both_eras_hear_the_same_instructions(queries: ThreadPoolExecutor) -> None:
    async def instructions(client: Client) -> str | None:
        await asyncio.sleep(0)
        return client.instructions

    heard = {era: Session(FakeApi(), queries, era).run(instructions) for era in ("legacy", "auto")}

    assert heard["legacy"] == heard["auto"] == Catalogue(OPERATIONS).instructions("all")


def test_a_call_reaches_the_front_door_with_its_caller_in_a_query_thread(queries: ThreadPoolExecutor, era: str) -> None:
    api = FakeApi()

    result = Session(api, queries, era).call("hybrid_search", {"query": "auth rewrite", "limit": 2})

    assert [row["chunk_id"] for row in structured(result)["hits"]] == ["c000000000", "c000000001"]
    assert structured(result)["next_offset"] == 2
    (asked,) = api.asked
    assert asked.method == "hybrid_search"
    assert asked.arguments == {"query": "auth rewrite", "limit": 2}
    assert asked.caller == CALLER
    assert asked.thread.startswith("engine-query")


def test_the_text_beside_the_structure_is_readable(queries: ThreadPoolExecutor, era: str) -> None:
    (block,) = Session(FakeApi(), queries, era).call("hybrid_search", {"query": "x"}).content

    assert isinstance(block, TextContent)
    assert "We settled on rotating refresh tokens." in block.text


def test_a_note_comes_first(queries: ThreadPoolExecutor, era: str) -> None:
    api = FakeApi(replies={"status": {"engine": {"state": "running"}, "warnings": [], "note": "Still indexing."}})

    assert next(iter(structured(Session(api, queries, era).call("status")))) == "note"


def test_a_large_answer_is_fitted(queries: ThreadPoolExecutor, era: str) -> None:
    api = FakeApi(hits=[hit(number, "refresh " * 80) for number in range(100)])

    reply = structured(Session(api, queries, era).call("keyword_search", {"query": "refresh", "limit": 100}))

    assert len(json.dumps(reply)) <= 15_000
    assert reply["next_offset"] == len(reply["hits"]) < 100


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"query": "x", "limit": "10"},
            'invalid_argument: limit must be a whole number. You sent "10" (text). Call again with "limit": 10.',
        ),
        ({"query": "x", "limit": None}, "invalid_argument: limit must not be null."),
        ({"qeury": "x"}, 'invalid_argument: hybrid_search has no argument "qeury". Did you mean "query"?'),
        ({"query": "x", "role": "human"}, "Candidates: user, assistant, tool, injected, summary"),
        (None, "invalid_argument: query is missing."),
    ],
)
def test_a_wrong_call_is_a_tool_error_that_repairs_itself(
    queries: ThreadPoolExecutor, era: str, arguments: dict[str, Any] | None, text: str
) -> None:
    api = FakeApi()

    assert text in refused(Session(api, queries, era).call("hybrid_search", arguments))
    assert api.asked == []


def test_an_unknown_tool_is_answered_with_the_nearest(queries: ThreadPoolExecutor, era: str) -> None:
    text = refused(Session(FakeApi(), queries, era).call("search", {"query": "x"}))

    assert 'Call "hybrid_search" instead.' in text


def test_a_tool_of_another_toolset_is_unknown(queries: ThreadPoolExecutor, era: str) -> None:
    session = Session(FakeApi(), queries, era, "recall")

    assert "There is no tool of this name" in refused(session.call("prune", {"older_than_days": 90}))


def test_a_refusal_of_the_front_door_arrives_in_words(queries: ThreadPoolExecutor, era: str) -> None:
    error = NotFound("No session begins with 9f", hint="list_sessions lists them.", candidates=(uuid(1),))

    text = refused(
        Session(FakeApi(replies={"get_session": error}), queries, era).call("get_session", {"session_id": "9f"})
    )

    assert text == f"not_found: No session begins with 9f. list_sessions lists them.\nCandidates: {uuid(1)}"


@pytest.mark.expect_log("Tool status failed")
def test_a_defect_is_logged_and_told_without_details(
    queries: ThreadPoolExecutor, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    api = FakeApi(replies={"status": ZeroDivisionError("secret detail")})

    text = refused(Session(api, queries, era).call("status"))

    assert text.startswith("internal_error: ")
    assert "secret" not in text
    assert "ZeroDivisionError" in caplog.text


def test_progress_reaches_a_client_that_asks_for_it(queries: ThreadPoolExecutor, era: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        await asyncio.sleep(0)
        heard.append((progress, total, message))

    result = Session(FakeApi(), queries, era).run(
        lambda client: client.call_tool("doctor", {"fix": True}, progress_callback=listen)
    )

    assert not result.is_error
    assert heard[-1] == (3.0, 3.0, "Checking")
    assert [done for done, _, _ in heard] == sorted({done for done, _, _ in heard})


def test_a_call_the_client_takes_back_is_cancelled_at_the_front_door(queries: ThreadPoolExecutor, era: str) -> None:
    api = FakeApi()

    async def scenario(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool("prune", {"older_than_days": 90}))
        assert await asyncio.to_thread(api.started.wait, 5)
        call.cancel()
        assert await asyncio.to_thread(api.cancelled.wait, 5)

    Session(api, queries, era).run(scenario)


def test_a_call_that_runs_while_the_session_closes_is_answered_with_call_again(
    queries: ThreadPoolExecutor, era: str
) -> None:
    api = FakeApi()
    session = Session(api, queries, era)

    async def scenario(client: Client) -> CallToolResult:
        call = asyncio.ensure_future(client.call_tool("prune", {"older_than_days": 90}))
        assert await asyncio.to_thread(api.started.wait, 5)
        session.handlers.close()
        return await call

    assert refused(session.run(scenario)).startswith("engine_stopping: Backscroll is restarting.")
    assert api.cancelled.wait(60)


def test_several_calls_run_at_once(queries: ThreadPoolExecutor, era: str) -> None:
    api = FakeApi()

    async def scenario(client: Client) -> CallToolResult:
        slow = asyncio.ensure_future(client.call_tool("prune", {"older_than_days": 90}))
        assert await asyncio.to_thread(api.started.wait, 5)
        quick = await client.call_tool("hybrid_search", {"query": "x"})
        slow.cancel()
        return quick

    assert structured(Session(api, queries, era).run(scenario))["total"] == 3


def test_prompts_are_listed_and_filled(queries: ThreadPoolExecutor, era: str) -> None:
    session = Session(FakeApi(), queries, era)

    prompts = session.run(lambda client: client.list_prompts()).prompts
    filled = session.run(lambda client: client.get_prompt("recall", {"topic": "the auth rewrite"}))

    assert [prompt.name for prompt in prompts] == ["recall", "standup"]
    assert prompts[0].arguments is not None
    assert [argument.name for argument in prompts[0].arguments] == ["topic"]
    (message,) = filled.messages
    assert isinstance(message.content, TextContent)
    assert message.content.text.startswith("Find in my earlier Claude Code sessions: the auth rewrite")


def test_an_unknown_prompt_is_answered_with_those_there_are(queries: ThreadPoolExecutor, era: str) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError, match="There are: recall, standup"):
            await client.get_prompt("recal")

    Session(FakeApi(), queries, era).run(scenario)
