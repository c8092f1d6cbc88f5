"""Which session asks is told by its transcript, and what it still has in view is left out of its own searches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.models.asking import Caller
from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine

OLD = "aaaa1111-0000-4000-8000-000000000001"
ASKING = "bbbb2222-0000-4000-8000-000000000002"
OTHER = "cccc3333-0000-4000-8000-000000000003"
HERE = "/home/dev/shop"
QUESTION = {"query": "ledger rounding"}


def call(query: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_ask{number}", "name": "mcp__backscroll__keyword_search", "input": query}


class Scene:
    """An old session, one that is asking right now, and another live one in the same repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        old = TranscriptBuilder(OLD, cwd=HERE)
        old.prompt("Why is the ledger rounding off by a cent?")
        old.answer("The ledger rounding happened twice.")
        old.write(root)
        self.asking = TranscriptBuilder(ASKING, cwd=f"{HERE}/.worktrees/fix")
        self.asking.prompt("An early remark on ledger rounding before the compaction.")
        self.asking.add(
            "user", message={"role": "user", "content": "Summary: ledger rounding was seen."}, isCompactSummary=True
        )
        self.asking.prompt("What did we say about ledger rounding?")
        self.other = TranscriptBuilder(OTHER, cwd=HERE)
        self.other.prompt("Unrelated ledger rounding chatter.")

    def write(self) -> None:
        self.asking.write(self.root)
        self.other.write(self.root)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "projects")


@pytest.fixture
def engine(scene: Scene, tmp_path: Path) -> Iterator[Engine]:
    scene.asking.answer(call(QUESTION))
    scene.write()
    with running_engine(Paths.below(tmp_path / "home"), scene.root) as engine:
        yield engine


def ask(engine: Engine, arguments: dict[str, Any], *, session_id: str | None = None, cwd: str = HERE) -> dict[str, Any]:
    caller = Caller(cwd=cwd, project_dir=cwd, session_id=session_id, is_model=True)
    return engine.api.call("keyword_search", arguments, caller=caller)


def sessions(reply: dict[str, Any]) -> set[str]:
    return {hit["session_id"] for hit in reply["hits"]}


def test_what_the_asking_session_has_in_view_is_left_out_and_counted(engine: Engine) -> None:
    reply = ask(engine, QUESTION, session_id="stale-id-of-another-session")

    assert sessions(reply) == {OLD, OTHER, ASKING}
    assert reply["excluded"] == 1
    assert not any("What did we say" in hit["snippet"] for hit in reply["hits"])
    assert any("before the compaction" in hit["snippet"] for hit in reply["hits"])


def test_include_current_shows_it(engine: Engine) -> None:
    reply = ask(engine, {**QUESTION, "include_current": True})

    assert any("What did we say" in hit["snippet"] for hit in reply["hits"])
    assert "excluded" not in reply


def test_the_word_current_names_the_asking_session(engine: Engine) -> None:
    assert sessions(ask(engine, {**QUESTION, "session": "current"})) == {ASKING}


def test_a_person_at_a_terminal_has_nothing_in_view(engine: Engine) -> None:
    reply = engine.api.call("keyword_search", QUESTION, caller=Caller(cwd=HERE))

    assert any("What did we say" in hit["snippet"] for hit in reply["hits"])


def test_an_undecided_caller_is_told_that_nothing_was_left_out(engine: Engine) -> None:
    reply = ask(engine, {"query": "ledger"})

    assert "excluded" not in reply
    assert "nothing was left out" in reply["note"]


def test_a_client_without_transcripts_here_is_not_bothered(engine: Engine) -> None:
    assert "note" not in ask(engine, QUESTION, cwd="/home/dev/elsewhere")


def test_a_dot_means_the_callers_repository_with_its_worktrees(engine: Engine) -> None:
    reply = ask(engine, {**QUESTION, "project": "."}, cwd=f"{HERE}/.worktrees/fix")

    assert sessions(reply) == {OLD, OTHER, ASKING}


def test_the_same_question_asked_twice_from_a_live_session_gets_the_same_answer(engine: Engine, scene: Scene) -> None:
    first = ask(engine, QUESTION)
    result = {"type": "tool_result", "tool_use_id": "toolu_ask1", "content": json.dumps(first)}
    scene.asking.add("user", message={"role": "user", "content": [result]})
    scene.asking.answer(call(QUESTION, 2))
    scene.write()
    engine.run_once()

    second = ask(engine, QUESTION)

    assert [hit["chunk_id"] for hit in second["hits"]] == [hit["chunk_id"] for hit in first["hits"]]
    assert second["excluded"] == first["excluded"]


def test_a_call_that_was_answered_long_ago_does_not_make_a_session_current(engine: Engine, scene: Scene) -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_ask1", "content": "{}"}
    scene.asking.add("user", message={"role": "user", "content": [result]})
    scene.other.answer(call(QUESTION, 7))
    scene.write()
    engine.run_once()

    assert sessions(ask(engine, {**QUESTION, "session": "current"})) == {OTHER}


def test_between_two_sessions_that_make_the_same_call_the_environment_decides(engine: Engine, scene: Scene) -> None:
    scene.other.answer(call(QUESTION, 7))
    scene.write()
    engine.run_once()

    assert sessions(ask(engine, {**QUESTION, "session": "current"}, session_id=ASKING)) == {ASKING}
    assert sessions(ask(engine, {**QUESTION, "session": "current"}, session_id=OTHER)) == {OTHER}
