"""The front door by name: usage reaches it whole, long lists are capped, unknown names are explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.errors import EngineNotRunning, InvalidArgument, NotFound
from engine.core.models.asking import Caller
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import open_reader
from tests.helpers.engines import NOON, running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine

from engine.core.clock import FixedClock

SESSION = "dddddddd-0000-4000-8000-000000000001"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    session = TranscriptBuilder(SESSION)
    session.prompt("Count this.")
    for number in range(3):
        session.answer(f"Answer {number}.")
    session.write(tmp_path / "projects")
    with running_engine(Paths.below(tmp_path / "home"), tmp_path / "projects") as engine:
        yield engine


def test_usage_is_counted_with_the_transcript_and_keeps_small_amounts(engine: Engine) -> None:
    reply = engine.api.call("get_usage", {"by": "session"})

    (row,) = reply["rows"]
    assert (row["session_id"], row["input_tokens"], row["output_tokens"], row["calls"]) == (SESSION, 30, 60, 3)
    # 30 tokens at $5 and 60 at $25 a million (Opus 4.6): less than a cent, not rounded away.
    assert row["cost_usd"] == pytest.approx(0.00165)
    assert reply["totals"]["cost_usd"] == row["cost_usd"]


def test_reading_the_same_transcript_again_counts_nothing_twice(engine: Engine) -> None:
    before = engine.api.call("get_usage", {})
    engine.reindex(None, full=True)
    engine.run_once()

    assert engine.api.call("get_usage", {}) == before


def test_calls_in_an_old_sub_agents_file_count_for_the_session_of_each_line(tmp_path: Path) -> None:
    home, projects = Paths.below(tmp_path / "home"), tmp_path / "projects"
    parents = SESSION, SESSION.replace("d", "e")
    for parent in parents:
        session = TranscriptBuilder(parent, version="2.0.77")
        session.prompt("Count this.")
        session.write(projects)
    (folder,) = projects.iterdir()
    agent = TranscriptBuilder(SESSION, version="2.0.77")
    for count, parent in zip((1, 2), parents, strict=True):
        for number in range(count):
            agent.answer("Ready.", message_id=f"msg_{parent}_{number}", isSidechain=True, sessionId=parent)
    (folder / "agent-0a1b2c3d.jsonl").write_bytes(agent.data())

    with running_engine(home, projects) as engine:
        rows = engine.api.call("get_usage", {"by": "session"})["rows"]
        assert {row["session_id"]: row["calls"] for row in rows} == {parents[0]: 1, parents[1]: 2}
        engine.api.call("forget", {"session_id": parents[1]})
        engine.reindex(None, full=True)
        engine.run_once(until="keyword")
        (row,) = engine.api.call("get_usage", {"by": "session"})["rows"]
        assert (row["session_id"], row["calls"]) == (parents[0], 1)


def test_every_method_is_callable_by_its_name_and_unknown_names_list_them(engine: Engine) -> None:
    assert {"keyword_search", "get_context", "status", "coverage", "get_usage"} <= engine.api.methods
    with pytest.raises(InvalidArgument, match="keyword_search"):
        engine.api.call("kyword_search", {})


def test_status_answers_without_a_database_and_says_what_is_missing(paths: Paths) -> None:
    with open_reader(paths, Settings(time_zone="UTC"), FixedClock(NOON)) as api:
        reply = api.call("status", {})
    assert (reply["engine"]["state"], reply["messages"]) == ("stopped", 0)
    (warning,) = reply["warnings"]
    assert warning["text"].startswith("Nothing is indexed yet. ")
    assert "backscroll serve" in warning["hint"]


def test_without_an_engine_status_says_what_waits_for_its_vectors_and_why_nothing_is_done(engine: Engine) -> None:
    with open_reader(engine.paths, Settings(time_zone="UTC"), FixedClock(NOON)) as api:
        waiting = api.call("status", {})["embedding"]
    assert (waiting["state"], waiting["backlog"], waiting["reason"]) == ("waiting", 4, "No engine is running.")
    with open_reader(engine.paths, Settings(time_zone="UTC", embedding_enabled=False), FixedClock(NOON)) as api:
        off = api.call("status", {})["embedding"]
    assert off["state"] == "off"
    assert "embedding.enabled" in off["reason"]


def test_status_says_when_something_was_read_last_also_after_the_engine_has_ended(tmp_path: Path) -> None:
    home, projects = Paths.below(tmp_path / "home"), tmp_path / "projects"
    session = TranscriptBuilder(SESSION)
    session.prompt("Count this.")
    session.write(projects)
    with running_engine(home, projects) as engine:
        running = engine.api.call("status", {})["ingest"]["last_at"]
    with open_reader(home, Settings(time_zone="UTC"), FixedClock(NOON + 3600)) as api:
        ended = api.call("status", {})["ingest"]["last_at"]
    with running_engine(home, projects) as engine:
        again = engine.api.call("status", {})["ingest"]["last_at"]

    assert running == ended == again == "2026-03-04T12:00:00+00:00"


def test_status_names_places_and_counts(engine: Engine) -> None:
    status = engine.api.call("status", {})

    assert status["sessions"] == 1
    assert status["messages"] == 4
    assert status["database_bytes"] > 0
    assert status["paths"]["database"] == str(engine.paths.database)


@pytest.mark.parametrize("by", ["project", "day"])
def test_coverage_is_split_by_project_and_by_day(engine: Engine, by: str) -> None:
    (row,) = engine.api.call("coverage", {"by": by})["by"]

    assert row[by] in ("/home/dev/api", "2026-03-02")
    assert row["messages"] == 4


def test_a_database_that_is_only_read_answers_but_cannot_reindex(engine: Engine) -> None:
    with open_reader(engine.paths, Settings(time_zone="UTC"), FixedClock(NOON)) as api:
        assert api.call("status", {})["engine"]["state"] == "stopped"
        with pytest.raises(EngineNotRunning, match="serve"):
            api.call("reindex", {})


def decide(engine: Engine, title: str) -> None:
    record = {
        "kind": "claim",
        "claim_kind": "decision",
        "title": title,
        "body": f"{title}, because of the audit.",
        "attribution": {"by": "Ana"},
        "assertion_origin": "stated",
        "occurred_at": "2026-03-02",
        "evidence": [{"quote": "Count this."}],
    }
    engine.api.call("knowledge_create", {"record": record})


def test_a_hybrid_search_shows_what_was_decided_beside_what_was_said(engine: Engine) -> None:
    for number in range(5):
        decide(engine, f"Count the ledger way {number}")

    found = engine.api.call("hybrid_search", {"query": "count ledger"})
    second_page = engine.api.call("hybrid_search", {"query": "count ledger", "offset": 1})

    assert len(found["knowledge_hits"]) == 3
    assert set(found["knowledge_hits"][0]) == {"id", "kind", "title", "snippet", "revision"}
    assert "knowledge_hits" not in second_page


def test_a_search_without_a_knowledge_store_creates_none(engine: Engine) -> None:
    assert "knowledge_hits" not in engine.api.call("hybrid_search", {"query": "count"})
    assert not engine.paths.knowledge.exists()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("list_sessions", {}),
        ("get_period", {"when": "7d"}),
        ("get_usage", {}),
        ("prune", {"older_than_days": 1}),
        ("reindex", {}),
        ("reindex", {"full": True}),
        ("keyword_search", {"query": "count"}),
        ("hybrid_search", {"query": "count"}),
    ],
)
def test_a_project_that_is_not_known_is_said_to_be_none(
    engine: Engine, method: str, arguments: dict[str, object]
) -> None:
    known = engine.api.ask(method, {**arguments, "project": "API"})
    unknown = engine.api.ask(method, {**arguments, "project": "no/such/place"})

    assert "No project" not in known.get("note", "")
    assert "No project" in unknown["note"]
    assert not unknown.get("queued_files")


def test_a_dot_reads_the_transcripts_of_the_callers_repository_anew(engine: Engine) -> None:
    def queued(caller: Caller, **more: object) -> object:
        return engine.api.ask("reindex", {"full": True, "project": ".", **more}, caller=caller)["queued_files"]

    assert queued(Caller(cwd="/home/dev/api")) == 1
    assert queued(Caller(cwd="/home/dev/elsewhere")) == 0


def test_an_empty_time_is_told_from_an_unknown_project(engine: Engine) -> None:
    def note(**asked: str) -> str:
        return str(
            engine.api.ask("list_sessions", {"date_from": "2020-01-01", "date_to": "2020-01-31", **asked})["note"]
        )

    assert note().startswith("No session in this time")
    assert note(project="api").startswith("No session of this project in this time")


def test_the_asking_session_is_read_by_its_word(engine: Engine) -> None:
    asking = Caller(cwd="/home/dev/api", session_id=SESSION, is_model=True)

    assert engine.api.ask("get_session", {"session_id": "current"}, caller=asking)["session"]["session_id"] == SESSION
    with pytest.raises(NotFound, match="list_sessions"):
        engine.api.ask("get_session", {"session_id": "current"})
