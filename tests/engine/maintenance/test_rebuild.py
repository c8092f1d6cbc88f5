from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from engine.core.errors import NotFound, StorageFailure
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.engine.maintenance.conftest import History, found, session_id

if TYPE_CHECKING:
    from pathlib import Path

SPILLED = (
    "<persisted-output>\nOutput too large. Full output saved to: /x/{0}/tool-results/toolu_big.txt\n\nPreview:\nrow"
)


def write_history(history: History) -> dict[str, bytes]:
    """Write three sessions, one with everything a session can have beside it, and return all bytes by path."""
    builder = history.session(1, "quince", days_ago=40)
    builder.tool("Bash", {"command": "cat big"}, SPILLED.format(session_id(1)))
    beside = builder.write(history.root).with_suffix("")
    (beside / "tool-results").mkdir(parents=True)
    (beside / "tool-results" / "toolu_big.txt").write_text("row of sorbs\n" * 500, encoding="utf-8")
    (beside / "subagents").mkdir()
    agent = history.session(7, "cornel", days_ago=40)
    for line in agent.lines:
        line.update(sessionId=session_id(1), isSidechain=True, agentId="a1b2c3")
    (beside / "subagents" / "agent-a1b2c3.jsonl").write_bytes(agent.data())
    (beside / "subagents" / "agent-a1b2c3.meta.json").write_text('{"agentType":"Explore"}', encoding="utf-8")
    history.files.pop(7).unlink()
    history.session(2, "medlar", days_ago=3)
    history.session(3, "bullace", days_ago=2, cwd="/home/dev/blog")
    return {
        file.relative_to(history.root).as_posix(): file.read_bytes()
        for file in history.root.rglob("*")
        if file.is_file()
    }


def remove_all(history: History) -> None:
    for file in sorted(history.root.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()


def everything(engine: Engine) -> dict[str, object]:
    """Return what must be the same after a rebuild: lists, hits with their ids, whole sessions."""
    sessions = engine.api.call("list_sessions", {"limit": 50})["sessions"]
    told: dict[str, object] = {}
    for row in sessions:
        reading = engine.api.call(
            "get_session", {"session_id": row["session_id"], "include_sidechains": True, "limit": 100}
        )
        told[row["session_id"]] = [(each["message_uuid"], each["role"], each["blocks"]) for each in reading["messages"]]
        told[f"row {row['session_id']}"] = {key: value for key, value in row.items() if key != "on_disk"}
    for query in ("quince", "cornel", "medlar", "bullace", "schema callers"):
        arguments = {"query": query, "limit": 100, "include_low_signal": True, "include_sidechains": True}
        hits = engine.api.call("keyword_search", arguments)["hits"]
        told[query] = sorted((hit["chunk_id"], hit["message_uuid"], hit["snippet"], hit["score"]) for hit in hits)
    return told


def test_a_full_rebuild_without_any_transcript_brings_everything_back(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        before = everything(engine)
        remove_all(history)
        engine.run_once()
        engine.api.call("reindex", {"full": True})
        engine.run_once()

        assert everything(engine) == before
        rows = engine.api.call("list_sessions", {"limit": 50})["sessions"]
        assert [(row["on_disk"], row["archived"]) for row in rows] == [(False, True)] * 3


def test_a_new_database_without_any_transcript_brings_everything_back(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        before = everything(engine)
    remove_all(history)
    history.paths.database.unlink()

    with history.engine() as engine:
        assert everything(engine) == before
        hits = engine.api.call("keyword_search", {"query": "quince"})["hits"]
        assert [hit["on_disk"] for hit in hits] == [False] * len(hits)
        messages = engine.api.call("get_session", {"session_id": session_id(1)})["messages"]
        assert {message["source"] for message in messages} == {"archive"}


def test_a_spilled_output_is_read_from_the_archive(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        remove_all(history)
        engine.run_once()
        messages = engine.api.get_session(session_id(1)).messages

        texts = [block.text or "" for message in messages for block in message.blocks]
        assert any(text.startswith("row of sorbs") and len(text) > 5000 for text in texts)


@pytest.mark.parametrize("gone", [False, True], ids=["on disk", "archive only"])
def test_restore_gives_every_byte_back(history: History, tmp_path: Path, *, gone: bool) -> None:
    files = write_history(history)
    with history.engine() as engine:
        if gone:
            remove_all(history)
            engine.run_once()
        for number in (1, 2, 3):
            reply = engine.api.keeping.restore(session_id(number), tmp_path / "back")
            assert {each.source for each in reply.files} == {"archive" if gone else "transcript"}

    back = {
        file.relative_to(tmp_path / "back").as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (tmp_path / "back").rglob("*")
        if file.is_file()
    }
    assert back == {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_session_that_was_pruned_from_the_index_is_restored_and_forgotten(
    history: History, tmp_path: Path, *, rebuilt: bool
) -> None:
    files = write_history(history)
    with history.engine() as engine:
        remove_all(history)
        engine.run_once()
        history.clock.advance(400 * 86_400)
        assert engine.api.call("prune", {"older_than_days": 90, "dry_run": False})["sessions"]
    if rebuilt:
        history.paths.database.unlink()
    with history.engine() as engine:
        for number in (1, 2, 3):
            engine.api.keeping.restore(session_id(number), tmp_path / "back")
        back = {
            file.relative_to(tmp_path / "back").as_posix(): file.read_bytes()
            for file in (tmp_path / "back").rglob("*")
            if file.is_file()
        }
        assert back == files

        engine.api.call("forget", {"session_id": session_id(1)})
        assert [file for file in history.paths.archive.rglob("*") if session_id(1) in str(file)] == []
        assert [path for (path,) in history.sql("SELECT path FROM files") if session_id(1) in path] == []
        with pytest.raises(NotFound):
            engine.api.keeping.restore(session_id(1), tmp_path / "again")


def test_what_cannot_be_exported_says_what_can_be_done(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        remove_all(history)
        engine.run_once()
        for file in history.paths.archive.rglob("*.zst"):
            file.unlink()
        assert "quince" in engine.api.export_session(session_id(1))
        with pytest.raises(NotFound, match="No line of session") as no_lines:
            engine.api.export_session(session_id(1), form="jsonl")
        assert "--format markdown" in no_lines.value.hint
        engine.api.call("prune", {"older_than_days": 30, "dry_run": False, "include_only_copies": True})
        for form in ("markdown", "jsonl"):
            with pytest.raises(NotFound, match="has nothing of session") as pruned:
                engine.api.export_session(session_id(1), form=form)
            assert "backscroll restore" in pruned.value.hint


@pytest.mark.expect_log("An archive file is damaged")
def test_what_the_archive_cannot_give_back_whole_is_said(history: History, tmp_path: Path) -> None:
    write_history(history)
    with history.engine() as engine:
        remove_all(history)
        engine.run_once()
        stored = next(history.paths.archive.rglob(f"{session_id(1)}.jsonl.zst"))
        data = bytearray(stored.read_bytes())
        data[-20] ^= 0xFF
        stored.write_bytes(data)

        reply = engine.api.keeping.restore(session_id(1), tmp_path / "back")

    assert [each.damaged for each in reply.files if each.file.endswith(f"{session_id(1)}.jsonl")] == [True]
    assert "cannot be restored whole" in (reply.note or "")


def test_a_session_that_lies_in_two_roots_is_restored_from_both(history: History, tmp_path: Path) -> None:
    files = write_history(history)
    other = tmp_path / "synced"
    shutil.copytree(history.root, other)
    roots = (Root(history.root, "claude"), Root(other, "synced"))
    engine = Engine(history.paths, history.settings, history.clock, roots=roots)
    engine.start(watch=False)
    try:
        engine.run_once()
        engine.api.keeping.restore(session_id(1), tmp_path / "back")
    finally:
        engine.stop()

    path = next(path for path in files if path.endswith(f"{session_id(1)}.jsonl"))
    assert {(tmp_path / "back" / label / path).read_bytes() for label in ("claude", "synced")} == {files[path]}


def test_restore_overwrites_nothing(history: History, tmp_path: Path) -> None:
    write_history(history)
    with history.engine() as engine:
        engine.api.keeping.restore(session_id(2), tmp_path)
        with pytest.raises(StorageFailure, match="exists"):
            engine.api.keeping.restore(session_id(2), tmp_path)


def test_restore_of_what_is_nowhere_says_so(history: History, tmp_path: Path) -> None:
    write_history(history)
    with history.engine() as engine:
        remove_all(history)
        for file in history.paths.archive.rglob("*.zst"):
            file.unlink()
        engine.run_once()
        with pytest.raises(NotFound, match="not archived"):
            engine.api.keeping.restore(session_id(2), tmp_path)


def test_export_works_from_the_archive(history: History) -> None:
    files = write_history(history)
    with history.engine() as engine:
        remove_all(history)
        engine.run_once()
        lines = engine.api.export_session(session_id(2), form="jsonl")

    assert lines.encode() == next(data for path, data in files.items() if session_id(2) in path)


def test_text_that_a_rewrite_removed_survives_a_new_database(history: History) -> None:
    builder = history.session(1, "quince", "medlar", days_ago=3)
    with history.engine() as engine:
        assert found(engine, "medlar") == {session_id(1)}
        builder.lines = [line for line in builder.lines if "medlar" not in str(line)]
        builder.write(history.root)
        engine.run_once()
        assert found(engine, "medlar") == {session_id(1)}
    history.paths.database.unlink()

    with history.engine() as engine:
        assert found(engine, "medlar") == {session_id(1)}
        hit = engine.api.call("keyword_search", {"query": "medlar"})["hits"][0]
        message = engine.api.get_context([hit["chunk_id"]], before=0, after=0).messages[0]
        assert (message.removed, message.source) == (True, "archive")


def test_labels_of_roots_are_taken_from_the_archive(history: History, tmp_path: Path) -> None:
    write_history(history)
    with history.engine():
        pass
    history.paths.database.unlink()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    other = History(history.paths, moved)
    with other.engine() as engine:
        assert found(engine, "medlar") == {session_id(2)}
        roots = {row[0] for row in history.sql("SELECT path FROM roots")}
        assert roots == {str(history.root), str(moved)}
