from __future__ import annotations

import os
import threading
from datetime import timedelta

import pytest

from engine.core.errors import Cancelled, EngineNotRunning
from engine.core.models.asking import SearchRequest
from engine.service import open_reader
from tests.engine.maintenance.conftest import NOW, SETTINGS, History, found, session_id
from tests.helpers.transcripts import TranscriptBuilder

PRUNE = {"older_than_days": 90}
APPLY = {**PRUNE, "dry_run": False}


def test_a_plan_says_what_would_go_and_changes_nothing(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    history.session(2, "medlar", days_ago=10)
    with history.engine() as engine:
        plan = engine.api.call("prune", PRUNE)

        assert plan["dry_run"]
        assert (plan["sessions"], plan["only_copies"]) == (1, [])
        assert plan["chunks"] >= 3
        assert plan["bytes_freed"] > 0
        assert "nothing was changed" in plan["note"].lower()
        assert found(engine, "quince") == {session_id(1)}


def test_without_an_engine_a_plan_can_be_drawn_but_not_applied(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    with history.engine():
        pass
    with open_reader(history.paths, SETTINGS, history.clock) as api:
        assert api.call("prune", PRUNE)["sessions"] == 1
        with pytest.raises(EngineNotRunning):
            api.call("prune", APPLY)


def test_pruned_text_is_found_no_more_and_leaves_no_trace_in_the_database(history: History) -> None:
    history.session(1, "quincemarker", days_ago=200)
    history.session(2, "medlar", days_ago=10)
    with history.engine() as engine:
        done = engine.api.call("prune", APPLY)

        assert (done["dry_run"], done["sessions"]) == (False, 1)
        assert found(engine, "quincemarker") == set()
        assert found(engine, "medlar") == {session_id(2)}
        assert [row["session_id"] for row in engine.api.call("list_sessions", {})["sessions"]] == [session_id(2)]
        assert history.traces("quincemarker") == []


def test_pruned_text_does_not_come_back_with_a_scan_a_full_reindex_or_a_new_database(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    with history.engine() as engine:
        engine.api.call("prune", APPLY)
        engine.run_once()
        assert found(engine, "quince") == set()
        engine.api.call("reindex", {"full": True})
        engine.run_once()
        assert found(engine, "quince") == set()
    history.paths.database.unlink()
    with history.engine() as engine:
        assert found(engine, "quince") == set()


def test_what_a_pruned_session_says_later_is_indexed(history: History) -> None:
    builder = history.session(1, "quince", days_ago=200)
    with history.engine() as engine:
        engine.api.call("prune", APPLY)
        later = TranscriptBuilder(session_id(1), now=history.session(9, "x", days_ago=1).now)
        later.lines = list(builder.lines)
        later.prompt("And now the medlar.")
        history.files[1].write_bytes(later.data())
        engine.run_once()

        assert found(engine, "medlar") == {session_id(1)}
        assert found(engine, "quince") == set()


def test_only_the_project_that_was_asked_for_is_pruned(history: History) -> None:
    history.session(1, "quince", days_ago=200, cwd="/home/dev/shop")
    history.session(2, "quince", days_ago=200, cwd="/home/dev/blog")
    with history.engine() as engine:
        assert engine.api.call("prune", {**APPLY, "project": "blog"})["sessions"] == 1
        assert found(engine, "quince") == {session_id(1)}


def test_the_archive_is_pruned_only_when_asked(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    archived = history.paths.archive / "claude" / history.files[1].relative_to(history.root)
    archived = archived.with_name(archived.name + ".zst")
    with history.engine() as engine:
        kept = engine.api.call("prune", APPLY)
        assert kept["archive_bytes"] == 0
        assert archived.exists()
    history.session(2, "medlar", days_ago=200)
    with history.engine() as engine:
        plan = engine.api.call("prune", {**PRUNE, "archive": True})
        done = engine.api.call("prune", {**APPLY, "archive": True})

        assert plan["archive_bytes"] == done["archive_bytes"] > 0
        assert not archived.with_name(f"{session_id(2)}.jsonl.zst").exists()
        engine.run_once()
        assert not archived.with_name(f"{session_id(2)}.jsonl.zst").exists()


@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_the_archive_can_be_pruned_after_the_index(history: History, *, gone: bool, rebuilt: bool) -> None:
    history.session(1, "quince", days_ago=200, cwd="/home/dev/shop")
    history.session(2, "medlar", days_ago=200, cwd="/home/dev/blog")
    history.session(3, "sorb", days_ago=10, cwd="/home/dev/shop")
    said = (NOW - timedelta(days=200)).timestamp()
    for number in (1, 2):
        os.utime(history.files[number], (said, said))
    archive = {**APPLY, "archive": True}
    with history.engine() as engine:
        assert engine.api.call("prune", APPLY)["sessions"] == 2
        if gone:
            for file in history.files.values():
                file.unlink()
            engine.run_once()
    if rebuilt:
        history.paths.database.unlink()
    with history.engine() as engine:
        plan = engine.api.call("prune", {**PRUNE, "archive": True})
        assert (plan["sessions"], len(plan["only_copies"])) == ((0, 2) if gone else (2, 0))
        if gone:
            archive["include_only_copies"] = True
        if not rebuilt:
            # A new index has no name of a folder in which nothing is left.
            assert engine.api.call("prune", {**archive, "project": "blog"})["sessions"] == 1
            assert stored(history) == {session_id(1), session_id(3)}
        done = engine.api.call("prune", archive)

        assert done["bytes_freed"] == done["archive_bytes"] > 0
        assert stored(history) == {session_id(3)}
        engine.run_once()
        assert stored(history) == {session_id(3)}


def stored(history: History) -> set[str]:
    """Return the sessions in the archive."""
    return {file.name.partition(".")[0] for file in history.paths.archive.rglob("*.zst")}


def test_an_only_copy_needs_a_second_word(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    history.session(2, "medlar", days_ago=10)
    with history.engine() as engine:
        history.files[1].unlink()
        engine.run_once()
        plan = engine.api.call("prune", {**PRUNE, "archive": True})
        engine.api.call("prune", {**APPLY, "archive": True})

        assert [each["session_id"] for each in plan["only_copies"]] == [session_id(1)]
        assert (plan["sessions"], found(engine, "quince")) == (0, {session_id(1)})

        engine.api.call("prune", {**APPLY, "archive": True, "include_only_copies": True})
        assert found(engine, "quince") == set()
        assert history.traces("quince") == []


def test_an_archived_session_is_no_only_copy_for_a_prune_of_the_index(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    with history.engine() as engine:
        history.files[1].unlink()
        engine.run_once()
        done = engine.api.call("prune", APPLY)

        assert (done["sessions"], done["only_copies"]) == (1, [])


def test_a_message_that_a_newer_session_copied_stays_there(history: History) -> None:
    old = history.session(1, "quince", days_ago=200)
    fork = TranscriptBuilder(session_id(2), cwd=old.cwd, now=old.now)
    fork.lines = [
        {**line, "sessionId": session_id(2), "forkedFrom": {"sessionId": session_id(1), "messageUuid": line["uuid"]}}
        for line in old.lines
    ]
    fork.now = history.session(3, "x", days_ago=2).now
    fork.last_uuid = old.last_uuid
    fork.prompt("What about the medlar?")
    fork.write(history.root)
    with history.engine() as engine:
        assert found(engine, "quince") == {session_id(1)}

        engine.api.call("prune", APPLY)

        assert found(engine, "quince") == {session_id(2)}
        assert found(engine, "medlar") == {session_id(2)}
        first = engine.api.get_session(session_id(2)).messages[0]
        assert "quince" in (first.blocks[0].text or "")


def test_usage_of_that_time_goes_and_is_said_to_be_gone(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    history.session(2, "medlar", days_ago=10)
    with history.engine() as engine:
        before = engine.api.call("get_usage", {"by": "month"})["totals"]
        done = engine.api.call("prune", APPLY)
        after = engine.api.call("get_usage", {"by": "month"})["totals"]

        assert done["calls"] == 2
        assert after["calls"] == before["calls"] - 2
        assert "pruned" in engine.api.call("get_usage", {"by": "month"})["note"]
        engine.api.call("reindex", {"full": True})
        engine.run_once()
        assert engine.api.call("get_usage", {"by": "month"})["totals"] == after


def test_a_cancelled_prune_says_so_and_goes_on_later(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    cancelled = threading.Event()
    cancelled.set()
    with history.engine() as engine:
        with pytest.raises(Cancelled):
            engine.api.call("prune", APPLY, cancelled=cancelled)
        engine.api.call("prune", APPLY)
        assert found(engine, "quince") == set()


def test_progress_is_told(history: History) -> None:
    history.session(1, "quince", days_ago=200)
    told: list[str] = []
    with history.engine() as engine:
        engine.api.call("prune", APPLY, progress=lambda _done, _all, what: told.append(what))

    assert told[0] == "Taking out sessions"
    assert "Returning space to the disk" in told


def test_half_of_the_history_pruned_shrinks_the_file_and_answers_like_a_fresh_index(
    history: History, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = ["quince", "medlar", "sorb", "cornel"]
    for number in range(40):
        history.session(number, *[f"{word}{number % 3}" for word in words] * 4, days_ago=200 if number % 2 else 10)
    with history.engine() as engine:
        history.session(99, "zzz", days_ago=2000)
        engine.run_once()
        engine.api.call("prune", {"older_than_days": 1000, "dry_run": False})
        before = engine.api.status().database_bytes
        freed = engine.api.call("prune", APPLY)["bytes_freed"]
        after = engine.api.status().database_bytes
        pruned = answers(engine, words)
    other = tmp_path_factory.mktemp("fresh")
    (other / "projects").mkdir()
    fresh = History(type(history.paths).below(other / "home"), other / "projects")
    for number in range(0, 40, 2):
        fresh.session(number, *[f"{word}{number % 3}" for word in words] * 4, days_ago=10)
    with fresh.engine() as engine:
        expected = answers(engine, words)

    assert after < 0.7 * before
    assert freed > 0.3 * before
    assert pruned == expected


VECTORS = """
INSERT INTO generations (name, revision, dimension, pooling, folder, precision, answers)
    VALUES ('m', '1', 384, 'mean', '/m', 'float32', 1);
CREATE VIRTUAL TABLE bits_1 USING vec0(bits bit[384]);
CREATE TRIGGER passage_forgotten_1 AFTER DELETE ON passages WHEN old.generation = 1 BEGIN
    DELETE FROM bits_1 WHERE rowid = old.id;
    UPDATE generations SET removed = removed + 1 WHERE id = 1;
END;
WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 60)
    INSERT INTO passages SELECT c.id * 100 + n.value, 1, c.id, 0, 9, 1.0, randomblob(384) FROM chunks c, n;
INSERT INTO bits_1 (rowid, bits) SELECT id, vec_bit(randomblob(48)) FROM passages;
INSERT INTO embedded SELECT 1, id, 0, 0 FROM chunks;
"""
"""60 vectors for each chunk, as `engine/store/generations.py` keeps them."""


def test_vectors_go_with_their_chunks_and_give_their_space_back(history: History) -> None:
    for number in range(20):
        history.session(number, "quince", "medlar", days_ago=200 if number % 2 else 10)
    with history.engine() as engine:
        history.sql(VECTORS)
        history.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        before = history.paths.database.stat().st_size
        (all_vectors,) = history.sql("SELECT count(*) FROM passages")[0]

        done = engine.api.call("prune", APPLY)

        assert done["vectors"] == all_vectors // 2
        assert history.sql("SELECT count(*) FROM passages") == [(all_vectors // 2,)]
        assert history.sql("SELECT count(*) FROM bits_1_rowids") == [(all_vectors // 2,)]
        assert history.sql(
            "SELECT count(*) FROM embedded e LEFT JOIN chunks c ON c.id = e.chunk_id WHERE c.id IS NULL"
        ) == [(0,)]
        assert history.paths.database.stat().st_size < 0.65 * before
        assert {each.id: each.severity for each in engine.api.keeping.doctor().findings}["vectors"] == "ok"


def answers(engine: object, words: list[str]) -> list[tuple[str, float]]:
    from engine.service import Engine

    assert isinstance(engine, Engine)
    hits = [
        hit
        for word in words
        for number in range(3)
        for hit in engine.api.search(SearchRequest(query=f"{word}{number}", mode="keyword", limit=50)).hits
    ]
    return sorted((hit.chunk_id, round(hit.score, 3)) for hit in hits)
