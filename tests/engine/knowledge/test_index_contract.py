"""Contract 2.7: the index follows the files, and what it must never lose."""

from __future__ import annotations

import dataclasses
import os
import shutil
import threading
from typing import TYPE_CHECKING, Any

import apsw
import psutil
import pytest

from engine.knowledge.errors import (
    NotAuthorized,
    PublicationConflict,
    ScanLimitReached,
    StoreIdentityMismatch,
    StoreUnavailable,
)
from engine.knowledge.queries import GrepQuery
from engine.knowledge.scan import ScanLimits
from engine.knowledge.service import KnowledgeService
from engine.store import knowledge_index
from tests.engine.knowledge.fixture_f import Store, empty_store, fixture_f, ids

if TYPE_CHECKING:
    from pathlib import Path


def sql(store: Store, statement: str, *values: Any) -> list[Any]:
    """Run a statement on the database with a connection of its own."""
    store.service.close()
    connection = apsw.Connection(str(store.root / "state.sqlite"))
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def tables(store: Store) -> set[str]:
    return {row[0] for row in sql(store, "SELECT name FROM sqlite_schema WHERE type = 'table'")}


def withdraw(store: Store, name: str) -> None:
    row = store.record(name)["record"]
    store.call(
        "knowledge_withdraw",
        {"id": name, "expectedRevision": row["revision"], "expectedHash": row["hash"], "reason": "was wrong"},
    )


def correct(store: Store, name: str, title: str, body: str) -> str:
    row = store.record(name)["record"]
    reply = store.call(
        "knowledge_correct",
        {
            "id": name,
            "expectedRevision": row["revision"],
            "expectedHash": row["hash"],
            "reason": "newer",
            "replacement": {
                "claim_kind": "decision",
                "title": title,
                "body": body,
                "evidence": [{"id": store.evidence()}],
            },
        },
    )
    return reply["receipt"]["records"][0]["id"]


def test_r069_markdown_is_authoritative(f: Store) -> None:
    assert ids(f.grep("49")) == ["C-p2"]
    f.edit("C-p2", body="\nAtlas lists at 51 EUR.\n")
    assert ids(f.grep("51")) == ["C-p2"]
    assert ids(f.grep("49")) == []


def test_r070_every_search_reconciles_first(f: Store) -> None:
    assert ids(f.grep("lawyer")) == ["P-ben2"]
    f.paths["P-ben2"].unlink()
    assert ids(f.grep("lawyer")) == []
    f.grep("forty")
    history = next(name for name in tables(f) if name.startswith("keyword_history_rows_v1_"))
    assert sql(f, f"SELECT id FROM {history}") == [("C-p1",)]  # noqa: S608 - a table of the store
    f.edit("C-p1", dependencies=["C-wd"])
    f.grep("forty")
    assert sql(f, f"SELECT id FROM {history}") == []  # noqa: S608 - a table of the store


def test_r071_only_changed_files_are_indexed_again(f: Store) -> None:
    assert f.grep("atlas")["index"]["reindexed"] == 16
    f.edit("P-ben", body="\nEngineer of Atlas.\n")
    assert f.grep("atlas")["index"]["reindexed"] == 1
    for path in f.paths.values():
        path.touch()
    assert f.grep("atlas")["index"]["reindexed"] == 0


def test_r072_the_index_touches_its_own_tables_only(f: Store) -> None:
    sql(f, "CREATE TABLE foreign_table (x)")
    sql(f, "INSERT INTO foreign_table VALUES (1)")
    before = tables(f)
    f.grep("atlas")
    prefixes = ("keyword_fts_v1_", "keyword_rows_v1_", "keyword_history_fts_v1_", "keyword_history_rows_v1_")
    new = tables(f) - before
    assert new
    assert all(name.startswith(prefixes) or name == "keyword_state_v1" for name in new)
    assert sql(f, "SELECT x FROM foreign_table") == [(1,)]


def test_r073_indexed_false_means_pending_until_the_next_search(f: Store) -> None:
    f.grep("atlas")
    receipt = f.call(
        "knowledge_save_page",
        {"expectedRevision": 0, "title": "Zebra", "type": "topic", "body": "striped", "requestId": "r-1"},
    )["receipt"]
    assert (receipt["state"], receipt["indexed"]) == ("complete", False)
    name = receipt["records"][0]["id"]
    assert f.call("knowledge_history", {"id": name})["rows"][0]["indexed"] is False
    assert ids(f.grep("striped")) == [name]
    assert f.call("knowledge_mutation", {"requestId": "r-1"})["receipt"]["indexed"] is True
    assert f.call("knowledge_history", {"id": name})["rows"][0]["indexed"] is True


def test_r074_ready_without_lag_means_in_step(f: Store) -> None:
    index = f.grep("atlas")["index"]
    assert (index["state"], index["lag"]) == ("ready", False)


def test_r075_the_snapshot_names_the_state_of_the_scope(f: Store) -> None:
    first = f.grep("atlas", limit=1)["snapshot"]
    assert f.grep("atlas", limit=1, offset=1)["snapshot"] == first
    f.page("X-1", "topic", "Elsewhere", scope="other")
    assert f.grep("atlas")["snapshot"] == first
    f.edit("C-p1", body="\nForty euros it was.\n")
    assert f.grep("atlas")["snapshot"] != first


@pytest.mark.expect_log("(?i)keyword")
def test_r076_an_index_that_cannot_be_rebuilt_is_unavailable_not_empty(
    f: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    f.grep("atlas")
    fts = next(name for name in tables(f) if name.startswith("keyword_fts_v1_") and name.endswith("_data"))
    sql(f, f"UPDATE {fts} SET block = x'00'")  # noqa: S608 - a table of the store
    monkeypatch.setattr(knowledge_index, "TOKENIZER", "no_such_tokenizer")
    reply = f.grep("atlas")
    assert (reply["rows"], reply["total"], reply["index"]) == ([], None, {"state": "unavailable"})
    assert f.lookup("P-ana")["status"] == "found"
    assert f.records()["total"] == 16


@pytest.mark.expect_log("(?i)keyword")
def test_r076_a_damaged_index_is_rebuilt_when_it_can_be(f: Store) -> None:
    before = f.grep("atlas")["rows"]
    fts = next(name for name in tables(f) if name.startswith("keyword_fts_v1_") and name.endswith("_data"))
    sql(f, f"UPDATE {fts} SET block = x'00'")  # noqa: S608 - a table of the store
    f.edit("P-ben", body="\nEngineer still.\n")
    f.grep("atlas")
    assert f.grep("atlas")["rows"] == before


def test_r077_a_scope_without_grant_is_refused(f: Store) -> None:
    with pytest.raises(NotAuthorized):
        f.service.grep(GrepQuery("atlas"), scope="other")


def test_r077_a_foreign_database_is_refused(f: Store) -> None:
    sql(f, "UPDATE store_identity_v1 SET value = 'store_other' WHERE key = 'store_id'")
    for call in (lambda: f.grep("atlas"), f.records, f.tl):
        with pytest.raises(StoreIdentityMismatch):
            call()


class Crash(BaseException):
    """Stands for the end of the process."""


class CrashAt:
    """Ends the call at a step."""

    def __init__(self, step: str) -> None:
        self._step = step

    def reached(self, step: str) -> None:
        if step == self._step:
            raise Crash


def test_r077_a_publication_that_conflicts_with_the_files_is_refused(tmp_path: Path) -> None:
    store = fixture_f(empty_store(tmp_path))
    store.service.close()
    crashing = dataclasses.replace(store, service=KnowledgeService(store.root, store.clock, steps=CrashAt("journaled")))
    with pytest.raises(Crash):
        withdraw(crashing, "P-ben")
    crashing.service.close()
    store.edit("P-ben", body="\nEdited in the meantime.\n")
    for call in (lambda: store.grep("atlas"), store.records, store.tl):
        with pytest.raises(PublicationConflict):
            call()
    request = sql(store, "SELECT request_id FROM journal_v1 WHERE state = 'pending'")[0][0]
    store.service.abandon(request)
    assert store.records()["total"] == 16
    store.service.close()


def test_r077_too_many_files_are_refused(tmp_path: Path) -> None:
    store = fixture_f(empty_store(tmp_path, limits=ScanLimits(records=15)))
    for call in (lambda: store.grep("atlas"), store.records, store.tl, lambda: store.lookup("P-ana")):
        with pytest.raises(ScanLimitReached):
            call()
    store.service.close()


def test_r077_too_many_bytes_are_refused(tmp_path: Path) -> None:
    store = fixture_f(empty_store(tmp_path, limits=ScanLimits(total_bytes=2_000)))
    with pytest.raises(ScanLimitReached):
        store.grep("atlas")
    store.service.close()


def test_r078_a_broken_file_lowers_coverage_and_blocks_nothing(empty: Store) -> None:
    for number in range(99):
        empty.page(f"P-{number:02}", "topic", f"Note {number}", "needle")
    broken = empty.vault / "broken.md"
    good = empty.page("P-good", "topic", "Good", "needle").read_bytes()
    empty.paths["P-good"].unlink()
    broken.write_bytes(good.replace(b"revision: 1", b"revision: [1"))
    reply = empty.grep("needle", limit=50)
    assert (reply["total"], reply["coverage"]["complete"]) == (99, False)
    issue = reply["coverage"]["issues"][0]
    assert issue["path"] == "broken.md"
    assert issue["line"] in (4, 5)
    broken.write_bytes(good)
    reply = empty.grep("needle")
    assert (reply["total"], reply["coverage"]["complete"]) == (100, True)


def test_r079_nothing_runs_after_a_search(f: Store) -> None:
    threads = set(threading.enumerate())
    children = psutil.Process().children()
    f.grep("atlas")
    assert set(threading.enumerate()) == threads
    assert psutil.Process().children() == children
    before = sql(f, "SELECT snapshot FROM keyword_state_v1")
    f.edit("P-ben", body="\nNew.\n")
    assert sql(f, "SELECT snapshot FROM keyword_state_v1") == before


def drop_projections(store: Store) -> None:
    for name in sorted(tables(store)):
        if name.startswith("keyword_") and "withdrawals" not in name and "_v1" in name:
            sql(store, f"DROP TABLE IF EXISTS {name}") if not name.endswith(
                ("_data", "_idx", "_docsize", "_config", "_content")
            ) else None


def test_r080_dropped_projections_are_rebuilt(f: Store) -> None:
    keyword, dated = f.grep("atlas"), f.tl()
    drop_projections(f)
    assert not any(name.startswith("keyword_fts") for name in tables(f))
    again = f.grep("atlas")
    assert (again["rows"], again["total"], again["snapshot"]) == (
        keyword["rows"],
        keyword["total"],
        keyword["snapshot"],
    )
    assert f.tl() == dated


def test_r080_a_new_tokenizer_fingerprint_rebuilds_everything(f: Store) -> None:
    f.grep("atlas")
    sql(f, "UPDATE keyword_state_v1 SET fingerprint = 'older'")
    assert f.grep("atlas")["index"]["reindexed"] == 16


def test_r081_a_stale_copy_of_a_withdrawn_record_stays_out(f: Store) -> None:
    old = f.paths["C-exp"].read_bytes()
    withdraw(f, "C-exp")
    f.paths["C-exp"].write_bytes(old)
    assert ids(f.grep("noon", lifecycle="all")) == []
    assert f.lookup("C-exp")["status"] == "missing"
    assert "C-exp" not in ids(f.tl(eligibility="include_inactive"))
    issues = [issue for issue in f.check()["issues"] if issue["id"] == "C-exp"]
    assert issues[0]["code"] == "stale_withdrawn"
    assert "repair" in issues[0]


def test_r081_a_stale_copy_of_a_corrected_record_is_not_active(f: Store) -> None:
    old = f.paths["C-p2"].read_bytes()
    new = correct(f, "C-p2", "Atlas price of May", "Atlas costs sixty.")
    f.paths["C-p2"].write_bytes(old)
    assert "C-p2" not in ids(f.grep("49", lifecycle="all"))
    assert ids(f.grep("sixty")) == [new]
    assert "stale_superseded" in {issue["code"] for issue in f.check()["issues"]}


def test_r082_safeguards_survive_a_rebuild_and_are_in_no_file(f: Store) -> None:
    old = f.paths["C-exp"].read_bytes()
    withdraw(f, "C-exp")
    kept = ("journal_v1", "history_v1", "store_identity_v1", "git_outbox_v1", "keyword_withdrawals_v1")
    before = [sql(f, f"SELECT * FROM {name}") for name in kept]  # noqa: S608 - a table of the store
    drop_projections(f)
    f.paths["C-exp"].write_bytes(old)
    assert ids(f.grep("noon", lifecycle="all")) == []
    assert [sql(f, f"SELECT * FROM {name}") for name in kept] == before  # noqa: S608 - a table of the store


def test_r082_a_store_without_its_database_is_unavailable_and_not_re_created(f: Store) -> None:
    f.service.close()
    for suffix in ("", "-wal", "-shm"):
        (f.root / f"state.sqlite{suffix}").unlink(missing_ok=True)
    with pytest.raises(StoreUnavailable):
        f.grep("atlas")
    with pytest.raises(StoreUnavailable):
        f.call("knowledge_save_page", {"expectedRevision": 0, "title": "X", "type": "topic"})
    assert not (f.root / "state.sqlite").exists()


def test_r082_a_store_without_its_vault_is_unavailable_and_not_re_created(f: Store) -> None:
    f.grep("atlas")
    shutil.rmtree(f.vault)
    for call in (lambda: f.grep("atlas"), f.records):
        with pytest.raises(StoreUnavailable):
            call()
    assert not os.path.lexists(f.vault)
