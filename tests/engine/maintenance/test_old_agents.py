"""Sub-agents' transcripts of old versions lie beside the sessions and are named by nothing but their lines."""

from __future__ import annotations

import pytest

from tests.engine.maintenance.conftest import History, found, session_id
from tests.engine.maintenance.test_forget import archive_holds
from tests.helpers.transcripts import TranscriptBuilder

PRUNE = {"older_than_days": 30, "dry_run": False, "include_only_copies": True}


def write_old_agent(history: History) -> None:
    """Write an old session, a file of its sub-agent beside it, and another session with one."""
    for number, word, days_ago in ((1, "quince", 60), (2, "medlar", 3)):
        session = history.session(number, word, days_ago=days_ago)
        agent = TranscriptBuilder(session_id(number), cwd=session.cwd, now=session.now)
        agent.prompt(f"Explore the {word}grove.", isSidechain=True, agentId=f"a{number}")
        agent.answer(f"The {word}grove is large.", isSidechain=True, agentId=f"a{number}")
        agent.write(history.root, name=f"agent-a{number}.jsonl")


def test_an_archive_that_is_pruned_after_the_index_loses_them_too(history: History) -> None:
    write_old_agent(history)
    with history.engine() as engine:
        engine.api.call("prune", PRUNE)
        assert found(engine, "quincegrove") == set()
        assert archive_holds(history, "quincegrove")

        engine.api.call("prune", {**PRUNE, "archive": True})

        assert not archive_holds(history, "quince")
        assert archive_holds(history, "medlargrove")
    with history.engine():
        assert not archive_holds(history, "quince")


@pytest.mark.parametrize("first", ["nothing", "index"])
def test_they_are_forgotten_with_their_session_and_not_stored_again(history: History, first: str) -> None:
    write_old_agent(history)
    with history.engine() as engine:
        if first == "index":
            engine.api.call("prune", PRUNE)
        engine.api.call("forget", {"session_id": session_id(1)})
        engine.run_once()
        assert not archive_holds(history, "quince")
        assert archive_holds(history, "medlargrove")
    with history.engine() as engine:
        assert found(engine, "quincegrove") == set()
        assert not archive_holds(history, "quince")
    assert history.traces("quincegrove") == []


def test_they_are_restored_with_a_session_that_was_pruned_from_the_index(history: History) -> None:
    write_old_agent(history)
    with history.engine() as engine:
        engine.api.call("prune", PRUNE)
        for file in history.root.rglob("*.jsonl"):
            file.unlink()
        engine.run_once()
        reply = engine.api.keeping.restore(session_id(1), history.root.parent / "back")

    assert sorted(each.file.rpartition("/")[2] for each in reply.files) == [f"{session_id(1)}.jsonl", "agent-a1.jsonl"]
