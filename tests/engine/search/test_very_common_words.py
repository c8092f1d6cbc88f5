"""Histories in which nearly every chunk matches: the newest are ranked, and the reply says that there are more."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from engine.core.clock import FixedClock
from engine.core.models.asking import SearchFilters, SearchRequest
from engine.core.paths import Paths
from engine.search import keyword, share
from engine.search.share import ShareMemory
from engine.store.connection import open_reader
from tests.helpers.engines import NOON, running_engine
from tests.helpers.history import add_chunk, new_database
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.core.models.hits import SearchReply
    from engine.service import Engine

SESSIONS = 20


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    folder = tmp_path_factory.mktemp("common")
    for number in range(SESSIONS):
        builder = TranscriptBuilder(
            f"{number:08x}-0000-4000-8000-000000000000",
            cwd="/home/dev/old" if number < 3 else "/home/dev/new",
            now=datetime(2026, 2, 1 + number, 9, tzinfo=UTC),
        )
        builder.prompt(f"Common question {number}")
        for answer in range(4):
            builder.answer(f"A common answer {answer} of session{number}")
        builder.write(folder / "projects")
    with running_engine(Paths.below(folder / "home"), folder / "projects") as running:
        yield running


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyword, "RANKED_AT_ONCE", 10)
    monkeypatch.setattr(keyword, "ENOUGH", 2)


def search(engine: Engine, query: str, *, limit: int = 5, offset: int = 0, **options: object) -> SearchReply:
    filters = SearchFilters(**options.pop("filters", {}))  # type: ignore[arg-type] # pyright: ignore[reportCallIssue] - a test's shorthand
    request = SearchRequest(query=query, mode="keyword", filters=filters, limit=limit, offset=offset, **options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - as above
    return engine.api.search(request)


def texts(reply: SearchReply) -> list[str]:
    return [hit.snippet for hit in reply.hits]


def test_every_match_is_counted_while_there_are_not_too_many(engine: Engine) -> None:
    reply = search(engine, "common")
    assert reply.total == SESSIONS * 5
    assert reply.total_is is None


@pytest.mark.usefixtures("few_at_once")
def test_of_very_many_matches_the_newest_are_ranked_and_the_reply_says_so(engine: Engine) -> None:
    reply = search(engine, "common")
    assert reply.total_is == "newest"
    assert 10 <= reply.total < SESSIONS * 5
    assert "only the newest" in str(reply.note)
    assert {text.split()[-1] for text in texts(reply)} <= {"19", "18", "17", "session19", "session18", "session17"}


@pytest.mark.usefixtures("few_at_once")
def test_a_filter_that_none_of_the_newest_pass_still_finds_every_match(engine: Engine) -> None:
    reply = search(engine, "common", filters={"project": "old"})
    assert reply.total == 15
    assert reply.total_is is None


@pytest.mark.usefixtures("few_at_once")
def test_a_filter_of_dates_looks_at_its_own_days_first(engine: Engine) -> None:
    reply = search(engine, "common", filters={"date_from": "2026-02-04", "date_to": "2026-02-06"})
    assert reply.hits
    assert {str(hit.timestamp)[:10] for hit in reply.hits} <= {"2026-02-04", "2026-02-05", "2026-02-06"}


@pytest.mark.usefixtures("few_at_once")
def test_rare_words_beside_common_ones_are_found_wherever_they_stand(engine: Engine) -> None:
    reply = search(engine, "common session2")
    assert reply.total == 4
    assert reply.total_is is None


def test_pages_beyond_the_places_that_are_remembered_cover_every_hit_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword, "FIRST_RANKED", 8)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        reply = search(engine, "common answer", limit=6, offset=offset)
        assert reply.total == SESSIONS * 4
        seen += [hit.chunk_id for hit in reply.hits]
        offset = reply.next_offset
    assert len(seen) == len(set(seen)) == SESSIONS * 4


@pytest.mark.parametrize("typed", ["comm", "common ans", "answer sess", "question"])
def test_a_word_being_typed_is_found_in_the_newest_texts_of_a_large_history(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    every = search(engine, typed, prefix_last=True, limit=100)
    monkeypatch.setattr(keyword, "LARGE", 10)
    newest = search(engine, typed, prefix_last=True)
    assert newest.total_is == "newest"
    assert {hit.chunk_id for hit in newest.hits} <= {hit.chunk_id for hit in every.hits}


def test_a_rare_word_being_typed_is_found_by_the_index_where_the_newest_texts_do_not_hold_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword, "LARGE", 10)
    monkeypatch.setattr(keyword, "TYPED_TEXTS", 10)
    reply = search(engine, "session2", prefix_last=True, limit=6)
    assert reply.total == 4
    assert reply.total_is is None


def test_the_share_is_counted_again_after_a_change_and_of_a_large_history_a_little_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "index.db"
    writer = new_database(database)
    add_chunk(writer, "one")
    clock = FixedClock(NOON)
    memory = ShareMemory(clock)
    reader = open_reader(database)
    assert memory.share(reader)[0] == 1
    add_chunk(writer, "two")
    assert memory.share(reader)[0] == 2
    monkeypatch.setattr(share, "LARGE", 2)
    add_chunk(writer, "three")
    assert memory.share(reader)[0] == 2
    clock.advance(share.FRESH_S)
    assert memory.share(reader)[0] == 3
    reader.close()
    writer.close()
