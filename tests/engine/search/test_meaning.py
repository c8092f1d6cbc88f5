from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.search import meaning
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.engines import NOON
from tests.helpers.hash_worker import command
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from engine.core.paths import Paths

pytestmark = pytest.mark.integration

SESSION = "11111111-1111-4111-8111-111111111111"


def write_history(root: Path) -> None:
    builder = TranscriptBuilder(SESSION, cwd="/home/dev/api")
    builder.prompt("please make the login page faster")
    builder.tool("Bash", {"command": "profile --page login"}, "render took 900 ms")
    builder.answer("The login page waits for a slow database query, so I added an index.")
    builder.prompt("now write the changelog")
    builder.answer("The changelog mentions the index and the faster login page.")
    builder.prompt("what is the capital of Peru")
    builder.answer("Lima is the capital of Peru.")
    builder.write(root)


@pytest.fixture
def started(paths: Paths, tmp_path: Path) -> Generator[Callable[..., Engine]]:
    engines: list[Engine] = []
    write_history(tmp_path / "projects")
    model = tmp_path / "hash"
    model.mkdir()
    (model / "modules.json").write_text("[]", encoding="utf-8")

    def start(*, worker: list[str] | None = None, embed: bool = True, **settings: Any) -> Engine:
        chosen = Settings(time_zone="UTC", embedding_model=str(model), search_semantic_wait_s=5.0, **settings)
        engine = Engine(
            paths, chosen, FixedClock(NOON), roots=(Root(tmp_path / "projects", "t"),), worker=worker or command()
        )
        engines.append(engine)
        engine.start(watch=False)
        engine.run_once(until="all" if embed else "keyword")
        return engine

    yield start
    for engine in engines:
        assert engine.stop() == ()


def ask(engine: Engine, method: str, query: str, **arguments: Any) -> dict[str, Any]:
    return engine.api.call(method, {"query": query, **arguments})


def test_the_nearest_text_comes_first_and_the_reply_says_how_it_was_made(started: Callable[..., Engine]) -> None:
    reply = ask(started(), "semantic_search", "capital Peru")
    assert reply["mode"] == {"requested": "semantic", "realised": "semantic"}
    assert "Peru" in reply["hits"][0]["snippet"]
    assert reply["coverage"]["percent"] == 100.0
    assert reply["total_is"] == "candidates"


def test_hybrid_shows_each_exchange_once_by_its_best_block(started: Callable[..., Engine]) -> None:
    reply = ask(started(), "hybrid_search", "login page slow query index")
    assert reply["mode"] == {"requested": "hybrid", "realised": "hybrid"}
    assert reply["hits"][0]["snippet"].startswith("The login page waits for a slow database query")
    assert len(reply["hits"]) == reply["total"] == 3
    assert reply["hits"][0]["similar"] >= 1


def test_a_question_whose_words_are_nowhere_together_is_answered(started: Callable[..., Engine]) -> None:
    engine = started()
    question = "capital of Bolivia and Peru, Lima or La Paz"
    assert ask(engine, "keyword_search", question)["hits"] == []
    assert "Lima" in ask(engine, "hybrid_search", question)["hits"][0]["snippet"]


def test_filters_hold_for_meaning_too(started: Callable[..., Engine]) -> None:
    engine = started()
    for method in ("semantic_search", "hybrid_search"):
        assert {hit["role"] for hit in ask(engine, method, "login page", role="user")["hits"]} == {"user"}
        assert ask(engine, method, "login page", project="nowhere")["hits"] == []
        assert ask(engine, method, "login page", date_from="2027-01-01")["hits"] == []


def test_low_signal_is_shown_on_request_only(started: Callable[..., Engine]) -> None:
    engine = started()
    usual = ask(engine, "semantic_search", "render took 900 ms", limit=50)
    asked = ask(engine, "semantic_search", "render took 900 ms", limit=50, include_low_signal=True)
    assert "low" not in {hit["signal"] for hit in usual["hits"]}
    assert asked["hits"][0]["snippet"] == "render took 900 ms"


def test_a_typo_is_corrected_and_said(started: Callable[..., Engine]) -> None:
    reply = ask(started(), "hybrid_search", "changelgo")
    assert reply["corrected_query"] == "changelog"
    assert "changelog" in reply["hits"][0]["snippet"]


def test_a_word_that_the_model_knows_is_no_typo_though_it_stands_nowhere(
    started: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = started()
    assert ask(engine, "hybrid_search", "the fastest login")["corrected_query"] == "the faster login"
    (tmp_path / "hash" / "vocab.txt").write_text("[UNK]\nfastest\nlogin\n", encoding="utf-8")
    assert "corrected_query" not in ask(engine, "hybrid_search", "the fastest login")


def test_a_question_without_spaces_is_found_by_pairs_of_its_letters(
    started: Callable[..., Engine], tmp_path: Path
) -> None:
    builder = TranscriptBuilder("33333333-3333-4333-8333-333333333333", cwd="/home/dev/api")
    builder.prompt("商品图片加载太慢，首页要等六秒。")
    builder.write(tmp_path / "projects")
    reply = ask(started(embedding_enabled=False), "hybrid_search", "首页图片加载慢")
    assert "商品图片" in reply["hits"][0]["snippet"]


def test_pages_of_meaning_fit_together(started: Callable[..., Engine]) -> None:
    engine = started()
    everything = [hit["chunk_id"] for hit in ask(engine, "semantic_search", "login page", limit=50)["hits"]]
    paged: list[str] = []
    offset: int | None = 0
    while offset is not None:
        reply = ask(engine, "semantic_search", "login page", limit=2, offset=offset)
        paged += [hit["chunk_id"] for hit in reply["hits"]]
        offset = reply.get("next_offset")
    assert paged == everything


def test_paging_by_meaning_ends_where_vec0_does_and_says_so(
    started: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = started()
    assert meaning.MAX_CANDIDATES == 4_096
    monkeypatch.setattr("engine.search.meaning.FIRST_CANDIDATES", 2)
    monkeypatch.setattr("engine.search.meaning.MAX_CANDIDATES", 4)
    first = ask(engine, "semantic_search", "login page", limit=1)
    assert (first["next_offset"], "4,096" in first.get("note", "")) == (1, False)
    last = ask(engine, "semantic_search", "login page", limit=3, offset=1)
    assert "next_offset" not in last
    assert "nearest 4,096 passages; use filters to go on" in last["note"]


def test_before_anything_is_embedded_words_answer_with_the_reason(started: Callable[..., Engine]) -> None:
    engine = started(embed=False)
    for method in ("semantic_search", "hybrid_search"):
        reply = ask(engine, method, "capital of Peru")
        assert reply["mode"]["realised"] == "keyword"
        assert reply["mode"]["reason"] == "Nothing is embedded yet."
        assert "Peru" in reply["hits"][0]["snippet"]


def test_switched_off_means_words_with_the_reason(started: Callable[..., Engine]) -> None:
    engine = started()
    engine.stop()
    reply = ask(started(embedding_enabled=False), "hybrid_search", "capital of Peru")
    assert reply["mode"]["realised"] == "keyword"
    assert "switched off" in reply["mode"]["reason"]


def test_a_partly_embedded_history_says_its_share(started: Callable[..., Engine], tmp_path: Path) -> None:
    engine = started()
    builder = TranscriptBuilder("22222222-2222-4222-8222-222222222222", cwd="/home/dev/api")
    builder.prompt("a question that came later about zebras")
    builder.write(tmp_path / "projects")
    engine.run_once(until="keyword")
    reply = ask(engine, "hybrid_search", "zebras")
    assert reply["mode"]["realised"] == "hybrid"
    assert "% of the history is embedded" in reply["mode"]["reason"]
    assert "zebras" in reply["hits"][0]["snippet"]
    assert 0 < reply["coverage"]["percent"] < 100
    assert engine.api.call("status", {})["embedding"]["backlog"] == 1


@pytest.mark.expect_log("worker died", "died over")
def test_a_worker_that_always_dies_leaves_words_and_is_said_everywhere(started: Callable[..., Engine]) -> None:
    engine = started(worker=command(deadly="e"))
    reply = ask(engine, "hybrid_search", "capital of Peru, the third death")
    assert reply["mode"]["realised"] == "keyword"
    assert "3 times within ten minutes" in reply["mode"]["reason"]
    assert "Peru" in reply["hits"][0]["snippet"]
    status = engine.api.call("status", {})
    assert status["embedding"]["state"] == "failed"
    assert [warning["id"] for warning in status["warnings"] if warning["id"] == "embedding"] == ["embedding"]
    assert engine.api.call("coverage", {})["failed"] == 8


@pytest.mark.expect_log("worker died", "died over")
def test_the_doctor_embeds_what_was_given_up(started: Callable[..., Engine]) -> None:
    first = started(worker=command(deadly="Lima"))
    given_up = first.api.call("coverage", {})["failed"]
    assert given_up > 0
    assert first.stop() == ()
    engine = started()
    assert engine.api.call("coverage", {})["failed"] == given_up
    engine.api.call("doctor", {"fix": True})
    covered = engine.api.call("coverage", {})
    assert ("failed" in covered, covered["percent"]) == (False, 100.0)


def test_coverage_counts_chunks_and_vectors_by_project_and_day(started: Callable[..., Engine]) -> None:
    engine = started()
    whole = engine.api.call("coverage", {})
    assert (whole["embedded"], whole["percent"]) == (whole["chunks"], 100.0)
    assert whole["vectors"] >= whole["embedded"]
    for by in ("project", "day"):
        rows = engine.api.call("coverage", {"by": by})["by"]
        assert sum(row["embedded"] for row in rows) == whole["embedded"]
        assert {row["percent"] for row in rows} == {100.0}


def test_a_question_of_signs_only_finds_nothing_and_needs_no_model(started: Callable[..., Engine]) -> None:
    assert ask(started(), "hybrid_search", "?!")["hits"] == []


PROGRAM = """
import sys
from pathlib import Path
from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
engine = Engine(Paths.below(Path(sys.argv[1])), Settings(), SystemClock(), roots=())
engine.start(watch=False)
engine.run_once(until="keyword")
engine.api.call("keyword_search", {"query": "anything"})
engine.stop()
print(sorted({"torch", "transformers", "sentence_transformers"} & set(sys.modules)))
"""


def test_the_engine_never_imports_torch(tmp_path: Path) -> None:
    found = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "home")], capture_output=True, check=True)
    assert found.stdout.decode().strip() == "[]"
