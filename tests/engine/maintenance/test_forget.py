from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

import pytest
import zstandard

from engine.core.errors import NotFound, StorageFailure
from engine.maintenance.backup import Backups
from engine.maintenance.removals import FILE_NAME, Removals
from tests.engine.maintenance.conftest import History, found, session_id
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKER = "xylocarpmarker"


def archive_holds(history: History, text: str) -> bool:
    for file in history.paths.archive.rglob("*.zst"):
        with zstandard.ZstdDecompressor().stream_reader(file.read_bytes(), read_across_frames=True) as stream:
            if text.encode() in stream.read():
                return True
    return False


def test_a_forgotten_session_leaves_no_trace_anywhere(history: History) -> None:
    history.session(1, MARKER, days_ago=3).record("custom-title", customTitle="unused")
    history.session(2, "medlar", days_ago=3)
    spill = history.files[1].with_suffix("") / "tool-results" / "toolu_x.txt"
    spill.parent.mkdir(parents=True)
    spill.write_text(MARKER, encoding="utf-8")
    with history.engine() as engine:
        Backups(history.paths.database, history.clock).make("fix")
        assert history.traces(MARKER)
        assert archive_holds(history, MARKER)

        reply = engine.api.call("forget", {"session_id": session_id(1)})

        assert reply["left_on_disk"] == [history.files[1].as_posix()]
        assert reply["note"] == "1 copy of the index that held it, deleted."
        assert history.traces(MARKER) == []
        assert not archive_holds(history, MARKER)
        assert found(engine, MARKER) == set()
        assert found(engine, "medlar") == {session_id(2)}
        with pytest.raises(NotFound):
            engine.api.get_session(session_id(1))


def everything_below(history: History) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every file and folder of the installation, what is compressed decompressed."""
    for file in history.paths.data.parent.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        if ".zst" in file.name:
            with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as stream:
                content = stream.read()
        yield str(file.relative_to(history.paths.data.parent)), content.lower()


def test_whatever_was_kept_of_a_forgotten_session_is_gone(history: History) -> None:
    """Its folder's name, sub-agents, spilled outputs, damaged copies, backups, log; and Knowledge holds none of it."""
    builder = history.session(1, MARKER, days_ago=3, cwd=f"/home/dev/{MARKER}")
    history.session(2, "medlar", days_ago=3)
    beside = history.files[1].with_suffix("")
    agent = beside / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    lines = [{**line, "isSidechain": True, "agentId": "a1", "uuid": f"s{n}"} for n, line in enumerate(builder.lines)]
    agent.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    meta = {"agentType": "Explore", "description": MARKER}
    agent.with_name("agent-a1.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (beside / "tool-results").mkdir()
    (beside / "tool-results" / "toolu_x.txt").write_text(MARKER, encoding="utf-8")
    with history.engine() as engine:
        engine.api.call(
            "knowledge_save_page", {"title": "Medlar", "type": "topic", "body": "Ripe.", "expectedRevision": 0}
        )
        for generation in range(2):
            stored = next(history.paths.archive.rglob(f"{session_id(1)}.jsonl*.zst"))
            stored.with_name(f"{session_id(1)}.jsonl~{generation + 5}.zst.damaged").write_bytes(stored.read_bytes())
        Backups(history.paths.database, history.clock).make("fix")
        history.files[1].write_bytes(builder.data()[:900])
        engine.run_once()
        held = {name for name, content in everything_below(history) if MARKER.encode() in name.encode() + content}
        assert len(held) > 6

        engine.api.call("forget", {"session_id": session_id(1)})

        assert [
            name for name, content in everything_below(history) if MARKER.encode() in name.lower().encode() + content
        ] == []
        assert session_id(1) not in " ".join(name for name, _ in everything_below(history))
        assert {row["project"] for row in engine.api.call("list_sessions", {})["sessions"]} == {"/home/dev/shop"}


def test_a_forgotten_session_never_comes_back(history: History) -> None:
    builder = history.session(1, MARKER, days_ago=3)
    with history.engine() as engine:
        engine.api.call("forget", {"session_id": session_id(1)})
        builder.prompt(f"More {MARKER} later.")
        builder.write(history.root)
        engine.run_once()
        engine.api.call("reindex", {"full": True})
        engine.run_once()
        assert found(engine, MARKER) == set()
    history.paths.database.unlink()
    with history.engine() as engine:
        assert found(engine, MARKER) == set()
    assert not archive_holds(history, MARKER)
    assert history.traces(MARKER) == []


def test_calls_that_a_fork_copied_from_a_forgotten_session_are_counted_for_the_fork(history: History) -> None:
    original = history.session(1, "quince", days_ago=20)
    fork = TranscriptBuilder(session_id(2), cwd=original.cwd, now=original.now, last_uuid=original.last_uuid)
    fork.lines = [
        {**line, "sessionId": session_id(2), "forkedFrom": {"sessionId": session_id(1), "messageUuid": line["uuid"]}}
        for line in original.lines
    ]
    fork.answer("The medlar is ripe.")
    fork.write(history.root)
    with history.engine() as engine:
        before = engine.api.call("get_usage", {"by": "session"})
        assert {row["session_id"]: row["calls"] for row in before["rows"]} == {session_id(1): 2, session_id(2): 1}

        engine.api.call("forget", {"session_id": session_id(1)})

        after = engine.api.call("get_usage", {"by": "session"})
        assert {row["session_id"]: row["calls"] for row in after["rows"]} == {session_id(2): 3}
        assert after["totals"] == before["totals"]


def test_a_database_set_aside_that_holds_it_goes_too(history: History) -> None:
    history.session(1, MARKER, days_ago=3)
    with history.engine():
        pass
    old = history.paths.data / "quarantine" / "20260101-000000"
    old.mkdir(parents=True)
    (old / "index.db").write_bytes(history.paths.database.read_bytes())
    with history.engine() as engine:
        engine.api.call("forget", {"session_id": session_id(1)})

    assert not old.exists()


def test_the_list_of_what_is_out_holds_no_ids(tmp_path: Path) -> None:
    removals = Removals(tmp_path / FILE_NAME)
    removals.forget(session_id(7))
    removals.prune({session_id(8): 1000}, archive=False)

    read = Removals(tmp_path / FILE_NAME)

    assert session_id(7).encode() not in (tmp_path / FILE_NAME).read_bytes()
    assert read.is_forgotten(session_id(7).upper())
    assert not read.is_forgotten(session_id(8))
    assert (kept := read.of(session_id(8))) is not None
    assert kept.before_ms == 1000


def test_an_unreadable_list_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(zlib.compress(b"{}"))

    with pytest.raises(StorageFailure, match="would come back"):
        Removals(tmp_path / FILE_NAME)
