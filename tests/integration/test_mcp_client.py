"""The official client at one end, a real engine at the other, the real shim between them as a process of its own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers import programs
from tests.helpers.engines import NOON
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from engine.core.paths import Paths

pytestmark = pytest.mark.integration

ERAS = ("legacy", "2026-07-28")
"""Handshake first, and an envelope on each request."""

AUTH, LONG = "11111111-aaaa-4aaa-8aaa-000000000001", "22222222-bbbb-4bbb-8bbb-000000000002"
LONG_TEXT = "The dispatcher waits for the queue. " * 2_000

Answer = TypeVar("Answer")


def write_history(projects: Path) -> None:
    auth = TranscriptBuilder(AUTH, cwd="/home/dev/shop")
    auth.prompt("How should the login keep people signed in?")
    auth.answer("We settled on rotating refresh tokens, each valid once.")
    auth.tool("Bash", {"command": "pytest tests/test_login.py"}, "3 passed")
    auth.answer("The login tests pass with rotation.")
    auth.write(projects)
    long = TranscriptBuilder(LONG, cwd="/home/dev/queue")
    for number in range(30):
        long.prompt(f"Question number {number} about the dispatcher")
        long.answer(f"Answer number {number}. {LONG_TEXT if number == 7 else ''}")
    long.write(projects)


class Installation:
    """A running engine with a history, and Claude Code's way to it."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def ask(self, era: str, scenario: Callable[[Client], Awaitable[Answer]], *arguments: str) -> Answer:
        """Start a shim, connect the client of the SDK to it, and run a scenario."""
        assert self._paths.home is not None
        command, *rest = programs.shim(*arguments)
        environment = programs.environment(BACKSCROLL_HOME=str(self._paths.home))
        server = StdioServerParameters(command=command, args=rest, env=environment)

        async def connected() -> Answer:
            async with Client(server, mode=era) as client:
                return await asyncio.wait_for(scenario(client), 60)

        return asyncio.run(connected())

    def call(self, era: str, tool: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        return self.ask(era, lambda client: client.call_tool(tool, arguments))


@pytest.fixture
def installation(paths: Paths, tmp_path: Path) -> Iterator[Installation]:
    projects = tmp_path / "projects"
    write_history(projects)
    engine = Engine(
        paths,
        Settings(time_zone="UTC", embedding_enabled=False),
        FixedClock(NOON),
        roots=(Root(projects, "test"),),
    )
    engine.start(watch=False, serve=True)
    try:
        engine.run_once(until="keyword")
        yield Installation(paths)
    finally:
        assert engine.stop() == ()


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return cast("dict[str, Any]", result.structured_content)


def refused(result: CallToolResult) -> str:
    assert result.is_error
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def test_the_server_introduces_itself_and_its_tools(installation: Installation, era: str) -> None:
    async def scenario(client: Client) -> tuple[list[str], list[str]]:
        tools = (await client.list_tools()).tools
        assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
        assert all(tool.annotations is not None and tool.annotations.open_world_hint is False for tool in tools)
        return [tool.name for tool in tools], [prompt.name for prompt in (await client.list_prompts()).prompts]

    tools, prompts = installation.ask(era, scenario)

    assert {"keyword_search", "get_context", "get_session", "list_sessions", "get_period", "status"} <= set(tools)
    assert {"recall", "standup"} <= set(prompts)


def test_a_toolset_shows_its_part(installation: Installation, era: str) -> None:
    async def scenario(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    shown = installation.ask(era, scenario, "--toolset", "recall")

    assert "keyword_search" in shown
    assert not shown & {"status", "reindex", "doctor", "prune"}


def test_one_search_brings_the_exchange_itself(installation: Installation, era: str) -> None:
    result = installation.call(era, "keyword_search", {"query": "rotating refresh tokens", "read": 1})

    reply = structured(result)
    first = reply["hits"][0]
    assert first["session_id"] == AUTH
    assert "rotating refresh tokens" in first["snippet"]
    texts = [block.get("text", "") for row in first["messages"] for block in row["blocks"]]
    assert any("How should the login keep people signed in?" in text for text in texts)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert first["chunk_id"] in block.text


def test_from_hit_to_context_to_session(installation: Installation, era: str) -> None:
    async def scenario(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        found = structured(await client.call_tool("keyword_search", {"query": "rotation"}))
        chunk = found["hits"][0]["chunk_id"]
        around = structured(await client.call_tool("get_context", {"chunk_id": chunk}))
        whole = structured(await client.call_tool("get_session", {"session_id": around["session"]["session_id"][:8]}))
        return around, whole

    around, whole = installation.ask(era, scenario)

    assert any(row.get("in_hit") for row in around["messages"])
    assert whole["session"]["session_id"] == AUTH
    assert whole["messages"][0]["blocks"][0]["text"] == "How should the login keep people signed in?"


def test_pages_of_a_long_session_fit_and_cover_every_message_once(installation: Installation, era: str) -> None:
    async def scenario(client: Client) -> list[str]:
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            arguments = {"session_id": LONG, "offset": offset, "limit": 25, "max_tokens": 2_000}
            reply = structured(await client.call_tool("get_session", arguments))
            assert len(json.dumps(reply, ensure_ascii=False)) <= 2_000 * 2.5
            seen += [row["message_uuid"] for row in reply["messages"]]
            offset = reply.get("next_offset")
        return seen

    seen = installation.ask(era, scenario)

    assert len(seen) == len(set(seen)) == 60


def test_a_text_too_long_for_a_reply_says_how_to_read_more(installation: Installation, era: str) -> None:
    async def scenario(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        found = structured(await client.call_tool("keyword_search", {"query": '"Answer number 7"', "limit": 1}))
        ids = {"message_uuid": found["hits"][0]["message_uuid"], "before": 0, "after": 0}
        short = structured(await client.call_tool("get_context", ids))
        return short, structured(await client.call_tool("get_context", {**ids, "max_tokens": 20_000}))

    short, long = installation.ask(era, scenario)

    (block,) = short["messages"][0]["blocks"]
    assert "max_tokens=20000" in block["truncated"]
    assert short["truncated"] is True
    assert len(block["text"]) < len(long["messages"][0]["blocks"][0]["text"]) <= 45_000


def test_what_was_worked_on_needs_no_search_words(installation: Installation, era: str) -> None:
    reply = structured(installation.call(era, "get_period", {"date_from": "2026-03-02", "date_to": "2026-03-02"}))

    assert {row["session_id"] for row in reply["sessions"]} == {AUTH, LONG}
    assert all(row["opening"] for row in reply["sessions"])


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("keyword_search", {"query": "x", "limit": "10"}, 'Call again with "limit": 10.'),
        ("keyword_search", {"quary": "x"}, 'Did you mean "query"?'),
        ("get_session", {"session_id": "99999999"}, "not_found: "),
        ("keyword_serach", {"query": "x"}, 'Call "keyword_search" instead.'),
        ("keyword_search", {"query": "x", "when": "the day before"}, "invalid_argument: "),
    ],
)
def test_a_wrong_call_is_answered_with_the_way_on(
    installation: Installation, era: str, tool: str, arguments: dict[str, Any], text: str
) -> None:
    said = refused(installation.call(era, tool, arguments))

    assert text in said
    assert len(said) < 2_000
    assert "Traceback" not in said


def test_anything_may_be_asked(installation: Installation, era: str) -> None:
    queries = [
        "don't",
        "a:b",
        "--flag",
        "NEAR(",
        '"unbalanced',
        "汉字 🙂",
        "\0",
        "AND OR NOT",
        "*",
        "x" * 10_000,
    ]

    async def scenario(client: Client) -> list[int]:
        replies = [await client.call_tool("keyword_search", {"query": query}) for query in queries]
        return [structured(reply)["total"] for reply in replies]

    assert len(installation.ask(era, scenario)) == len(queries)


def test_a_limit_over_the_cap_is_answered_as_the_cap(installation: Installation, era: str) -> None:
    reply = structured(installation.call(era, "list_sessions", {"limit": 5_000}))

    assert reply["limit_applied"] == 500
    assert len(reply["sessions"]) == 2


def test_status_tells_of_the_client_that_asks(installation: Installation, era: str) -> None:
    reply = structured(installation.call(era, "status"))

    assert reply["clients"] == 1
    assert reply["engine"]["state"] == "running"


def test_a_decision_is_recorded_with_its_evidence_and_found_again(installation: Installation, era: str) -> None:
    quote = "We settled on rotating refresh tokens"
    record = {
        "kind": "claim",
        "claim_kind": "decision",
        "title": "Refresh tokens rotate",
        "body": "The shop rotates refresh tokens on each use.",
        "attribution": {"by": "Dev"},
        "evidence": [{"quote": quote, "session": AUTH}],
    }

    async def scenario(client: Client) -> tuple[str, dict[str, Any], dict[str, Any]]:
        without = refused(await client.call_tool("knowledge_grep", {"query": "rotate"}))
        written = structured(await client.call_tool("knowledge_create", {"record": record}))
        found = structured(await client.call_tool("knowledge_grep", {"query": "rotates"}))
        return without, written, found

    without, written, found = installation.ask(era, scenario)

    assert without.startswith("store_unavailable: ")
    assert written
    assert [row["title"] for row in found["rows"]] == ["Refresh tokens rotate"]
