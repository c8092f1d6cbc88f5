"""The front door by name: usage reaches it whole, long lists are capped, unknown names are explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.errors import EngineNotRunning, InvalidArgument
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
