"""Further pages belong to the first one, while sessions go on being written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.core.clock import FixedClock
from engine.core.models.asking import SearchFilters, SearchRequest
from engine.core.paths import Paths
from engine.search.ranking import RANKING_LIFE_S
from tests.helpers.engines import NOON, running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.models.hits import SearchReply
    from engine.service import Engine

REQUEST = SearchRequest(query="ledger", mode="keyword", filters=SearchFilters(when="7d"), limit=4)


def session(number: int) -> TranscriptBuilder:
    builder = TranscriptBuilder(
        f"{number:08x}-0000-4000-8000-000000000000", now=datetime(2026, 3, 3, number, tzinfo=UTC)
    )
    builder.prompt(f"Question {number} about the ledger" + " ledger" * number)
    builder.answer(f"Answer {number}")
    return builder


def page(engine: Engine, offset: int) -> SearchReply:
    return engine.api.search(
        SearchRequest(query="ledger", mode="keyword", filters=REQUEST.filters, limit=4, offset=offset)
    )


def test_pages_stay_complete_and_without_doubles_while_the_index_grows(tmp_path: Path) -> None:
    root, clock = tmp_path / "projects", FixedClock(NOON)
    for number in range(10):
        session(number).write(root)
    with running_engine(Paths.below(tmp_path / "home"), root, clock=clock) as engine:
        seen = [hit.chunk_id for hit in page(engine, 0).hits]
        for number in range(10, 16):
            session(number).write(root)
        engine.run_once()
        clock.advance(30)
        seen += [hit.chunk_id for hit in page(engine, 4).hits]
        last = page(engine, 8)
        seen += [hit.chunk_id for hit in last.hits]
        fresh = page(engine, 0)

    assert len(seen) == len(set(seen)) == 10
    assert last.next_offset is None
    assert fresh.total == 16


def test_a_page_asked_for_much_later_is_ranked_anew(tmp_path: Path) -> None:
    root, clock = tmp_path / "projects", FixedClock(NOON)
    for number in range(6):
        session(number).write(root)
    with running_engine(Paths.below(tmp_path / "home"), root, clock=clock) as engine:
        page(engine, 0)
        for number in range(6, 9):
            session(number).write(root)
        engine.run_once()
        clock.advance(RANKING_LIFE_S + 1)

        assert page(engine, 4).total == 9


def test_a_question_asked_twice_has_the_same_answer_though_the_first_one_was_indexed_in_between(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    old = TranscriptBuilder("0000000a-0000-4000-8000-000000000000", now=datetime(2025, 3, 3, tzinfo=UTC))
    old.prompt("the ledger")
    old.write(root)
    recent = TranscriptBuilder("0000000b-0000-4000-8000-000000000000", now=datetime(2026, 3, 4, tzinfo=UTC))
    recent.prompt("the ledger, please")
    recent.write(root)
    asking = TranscriptBuilder("0000000c-0000-4000-8000-000000000000", now=datetime(2026, 3, 4, tzinfo=UTC))
    with running_engine(Paths.below(tmp_path / "home"), root) as engine:
        first = engine.api.search(SearchRequest(query="ledger", mode="keyword"))
        asking.tool("mcp__backscroll__keyword_search", {"query": "ledger"}, "quoted history " * 200)
        asking.write(root)
        engine.run_once()
        second = engine.api.search(SearchRequest(query="ledger", mode="keyword"))
        recent.answer("The ledger is there.")
        recent.write(root)
        engine.run_once()
        third = engine.api.search(SearchRequest(query="ledger", mode="keyword"))

    assert [hit.chunk_id for hit in second.hits] == [hit.chunk_id for hit in first.hits]
    assert second.total == first.total == 2
    assert third.total == 3
