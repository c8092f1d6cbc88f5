"""The store around the records: scopes, the lane, systems without folder descriptors, the CLI's check."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from engine.knowledge import store as lanes
from engine.knowledge.errors import AmbiguousEntity, NotAuthorized, StoreUnavailable, error_reply
from engine.knowledge.queries import GrepQuery, RecordsQuery
from tests.engine.knowledge.fixture_f import Store, empty_store, fixture_f, ids

if TYPE_CHECKING:
    from pathlib import Path

    from engine.knowledge.yamltext import YamlValue


def test_scopes_are_searched_apart(tmp_path: Path) -> None:
    store = fixture_f(empty_store(tmp_path, scopes=frozenset({"default", "other"})))
    store.page("X-1", "topic", "Atlas elsewhere", "price", scope="other")
    ana: dict[str, YamlValue] = {
        "id": "P-ana",
        "kind": "page",
        "type": "person",
        "title": "Another Ana",
        "scope": "other",
    }
    store.write("other/ana.md", ana, "price")
    assert set(ids(store.service.grep(GrepQuery("price"), scope="other"))) == {"X-1", "P-ana"}
    assert set(ids(store.grep("price"))) == {"C-p2", "M-rev"}
    assert ids(store.service.records(RecordsQuery(), scope="other")) == ["P-ana", "X-1"]
    assert store.lookup("P-ana")["total"] == 0 or store.lookup("P-ana")["status"] == "found"
    with pytest.raises(NotAuthorized):
        store.service.records(RecordsQuery(), scope="third")
    store.service.close()


def test_a_file_too_broken_to_say_its_scope_is_listed_in_each(tmp_path: Path) -> None:
    store = fixture_f(empty_store(tmp_path, scopes=frozenset({"default", "other"})))
    snapshots = [store.service.records(RecordsQuery(), scope=scope)["snapshot"] for scope in ("default", "other")]
    (store.vault / "broken.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    for scope, snapshot in zip(("default", "other"), snapshots, strict=True):
        reply: Any = store.service.records(RecordsQuery(), scope=scope)
        assert reply["snapshot"] == snapshot
        assert "broken.md" in [row["path"] for row in reply["rows"]]
    store.service.close()


def test_an_error_has_the_form_of_the_contract(f: Store) -> None:
    with pytest.raises(AmbiguousEntity) as refused:
        f.tl(entity="Ben")
    body: Any = error_reply(refused.value)["error"]
    assert (body["code"], body["details"]) == ("ambiguous_entity", {"candidates": ["P-ben", "P-ben2"]})
    assert body["message"]


def test_a_store_held_by_another_program_is_reported(f: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    f.grep("atlas")
    monkeypatch.setattr(lanes, "LANE_TIMEOUT_S", 0.05)
    with FileLock(f.root / "store.lock"), pytest.raises(StoreUnavailable) as refused:
        f.grep("atlas")
    assert "Another program" in str(refused.value)
    assert ids(f.grep("forty")) == ["C-p2"]


def test_changes_are_seen_where_folders_cannot_be_opened(f: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set[object]())
    assert ids(f.grep("lawyer")) == ["P-ben2"]
    assert ids(f.grep("lawyer")) == ["P-ben2"]
    f.edit("P-ben2", body="\nDoctor.\n")
    assert ids(f.grep("doctor")) == ["P-ben2"]
    f.paths["P-ben2"].unlink()
    assert ids(f.grep("doctor")) == []


def test_a_folder_that_comes_and_goes_is_followed(f: Store) -> None:
    folder = f.vault / "company"
    away = f.root / "away"
    assert f.lookup("P-acme")["status"] == "found"
    folder.rename(away)
    assert f.lookup("P-acme")["status"] == "missing"
    assert f.lookup("R-emp")["status"] == "missing"
    away.rename(folder)
    assert f.lookup("R-emp")["status"] == "found"


def test_a_replaced_store_is_opened_anew(f: Store, tmp_path: Path) -> None:
    assert f.records()["total"] == 16
    other = empty_store(tmp_path / "second")
    other.page("P-only", "topic", "Only one")
    other.service.close()
    f.root.rename(tmp_path / "aside")
    other.root.rename(f.root)
    assert ids(f.records()) == ["P-only"]
