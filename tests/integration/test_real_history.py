"""On real transcripts: replies keep their budget, pages follow one another, the official client is served."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from engine.arguments import validate
from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.mcp.budget import CHARACTER_CAP
from engine.mcp.render import render
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.corpus import ROOT, corpus_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CHARACTERS_A_TOKEN = 2.5
DEFAULT_TOKENS = 6_000


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    projects = corpus_folder() / "projects"
    paths = Paths.below(tmp_path_factory.mktemp("real"))
    engine = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(Root(projects, "corpus"),))
    engine.start(watch=False, serve=True)
    engine.run_once(until="keyword")
    yield engine
    engine.stop()


def ask(engine: Engine, method: str, **arguments: Any) -> dict[str, Any]:
    checked = validate(method, arguments)
    return render(method, engine.api.call(method, checked), checked).structured


def longest_session(engine: Engine) -> str:
    sessions = engine.api.list_sessions(limit=500).sessions
    return max(sessions, key=lambda row: row.messages).session_id


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("keyword_search", {"query": "the", "limit": 500}),
    ("keyword_search", {"query": "test", "limit": 500, "include_low_signal": True, "include_sidechains": True}),
    ("keyword_search", {"query": "commit", "limit": 5, "read": 5}),
    ("keyword_search", {"query": "commit", "limit": 50, "read": 5, "max_tokens": 20_000}),
    ("keyword_search", {"query": "error", "limit": 500, "max_tokens": 1_000}),
    ("list_sessions", {"limit": 500}),
    ("get_period", {"date_from": "2026-01-01", "date_to": "2026-12-31", "limit": 500}),
    ("get_usage", {"by": "session", "limit": 500}),
    ("get_usage", {"by": "day", "limit": 500}),
    ("get_usage", {"by": "project", "limit": 500}),
    ("coverage", {"by": "project", "limit": 500}),
    ("coverage", {"by": "day", "limit": 500}),
    ("status", {}),
]


@pytest.mark.parametrize(("method", "arguments"), CALLS, ids=[f"{m}-{i}" for i, (m, _) in enumerate(CALLS)])
def test_every_reply_stays_inside_its_budget(engine: Engine, method: str, arguments: dict[str, Any]) -> None:
    text = json.dumps(ask(engine, method, **arguments), ensure_ascii=False)

    assert len(text) <= CHARACTER_CAP
    assert len(text) / CHARACTERS_A_TOKEN <= arguments.get("max_tokens", DEFAULT_TOKENS) * 1.02


def test_whole_sessions_and_contexts_stay_inside_their_budget(engine: Engine) -> None:
    session = longest_session(engine)
    hits = ask(engine, "keyword_search", query="error", limit=40, include_low_signal=True)["hits"]
    replies = [
        ask(engine, "get_session", session_id=session, limit=500),
        ask(engine, "get_session", session_id=session, limit=500, max_tokens=20_000, include_sidechains=True),
        *(ask(engine, "get_context", chunk_id=hit["chunk_id"], before=50, after=50) for hit in hits),
        *(ask(engine, "get_context", chunk_id=hit["chunk_id"], max_tokens=500) for hit in hits),
    ]

    assert all(reply["messages"] for reply in replies)
    assert max(len(json.dumps(reply, ensure_ascii=False)) for reply in replies) <= CHARACTER_CAP


@pytest.mark.parametrize(
    ("method", "rows", "identity", "arguments"),
    [
        ("keyword_search", "hits", "chunk_id", {"query": "checkpoint", "limit": 500}),
        ("list_sessions", "sessions", "session_id", {"limit": 500}),
        ("get_usage", "rows", "session_id", {"by": "session", "limit": 500}),
        ("coverage", "by", "day", {"by": "day", "limit": 500}),
    ],
)
def test_following_next_offset_gives_each_row_once(
    engine: Engine, method: str, rows: str, identity: str, arguments: dict[str, Any]
) -> None:
    seen: list[str] = []
    offset: int | None = 0
    total = 0
    while offset is not None:
        reply = ask(engine, method, **arguments, offset=offset)
        assert reply[rows]
        seen += [row[identity] for row in reply[rows]]
        total, offset = reply["total"], reply.get("next_offset")

    assert len(seen) == len(set(seen)) == total > 10


def test_a_long_session_is_read_page_by_page_without_a_gap(engine: Engine) -> None:
    session = longest_session(engine)
    expected = [message.message_uuid for message in engine.api.get_session(session, limit=500).messages]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None and len(seen) < len(expected):
        reply = ask(engine, "get_session", session_id=session, limit=100, offset=offset, max_tokens=20_000)
        seen += [message["message_uuid"] for message in reply["messages"]]
        offset = reply.get("next_offset")

    assert seen[: len(expected)] == expected


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_the_official_client_searches_and_reads_real_history_through_the_shim(engine: Engine, era: str) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "engine.shim"],
        env={**os.environ, "BACKSCROLL_HOME": str(engine.paths.home), "PYTHONPATH": str(ROOT)},
    )

    async def scenario() -> None:
        async with Client(server, mode=era) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert {"keyword_search", "get_context", "get_session", "list_sessions"} <= tools
            found = await client.call_tool("keyword_search", {"query": "commit", "limit": 3})
            hit = cast("dict[str, Any]", found.structured_content)["hits"][0]
            context = await client.call_tool("get_context", {"chunk_id": hit["chunk_id"]})
            messages = cast("dict[str, Any]", context.structured_content)["messages"]
            assert hit["message_uuid"] in {message["message_uuid"] for message in messages}
            session = await client.call_tool("get_session", {"session_id": hit["session_id"], "limit": 2})
            assert cast("dict[str, Any]", session.structured_content)["session"]["session_id"] == hit["session_id"]

    asyncio.run(asyncio.wait_for(scenario(), 60))
