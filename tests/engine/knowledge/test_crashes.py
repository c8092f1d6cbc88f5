"""Killed in the middle of a write: the old or the new state, never half of one; and two processes at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.knowledge.service import KnowledgeService
from tests.engine.knowledge.fixture_f import NOW, Store, empty_store, fixture_f, ids, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).with_name("crash_child.py")
CHECKOUT = Path(__file__).resolve().parents[3]

pytestmark = [pytest.mark.integration]


def run_child(store: Store, step: str, *calls: tuple[str, dict[str, Any]]) -> subprocess.Popen[str]:
    arguments = [sys.executable, str(CHILD), str(store.root), step, str(NOW), json.dumps(calls)]
    return subprocess.Popen(arguments, cwd=CHECKOUT, env={"PYTHONPATH": str(CHECKOUT), "PATH": "/usr/bin:/bin"},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")  # fmt: skip


def killed(store: Store, step: str, *calls: tuple[str, dict[str, Any]]) -> bool:
    """Run calls in another process and return whether it was killed at the step."""
    store.service.close()
    child = run_child(store, step, *calls)
    _, errors = child.communicate(timeout=60)
    assert child.returncode in (0, -9), errors
    return child.returncode == -9


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = fixture_f(empty_store(tmp_path_factory.mktemp("crash")))
    store.grep("atlas")
    store.service.close()
    yield store
    store.service.close()


def copy_of(store: Store, folder: Path) -> Store:
    import shutil

    shutil.copytree(store.root, folder / "knowledge")
    clock = FixedClock(NOW)
    service = KnowledgeService(folder / "knowledge", clock)
    paths = {name: folder / "knowledge" / path.relative_to(store.root) for name, path in store.paths.items()}
    return Store(folder / "knowledge", clock, service, paths)


CORRECTION: dict[str, Any] = {
    "requestId": "r-1",
    "id": "C-p2",
    "expectedRevision": 1,
    "reason": "newer",
    "replacement": {
        "claim_kind": "decision",
        "title": "Atlas price of May",
        "body": "Atlas costs sixty.",
        "entities": ["P-ana"],
        "evidence": [{"text": "sixty it is", "attribution": "Ben Okafor"}],
    },
}
STEPS = ["journaled", *(f"{what} {n}" for n in range(4) for what in ("installing", "installed")), "acknowledged",
         "checkpointed"]  # fmt: skip


def correction(store: Store) -> tuple[str, dict[str, Any]]:
    return "knowledge_correct", {**CORRECTION, "expectedHash": sha256(store.paths["C-p2"].read_bytes())}


@pytest.mark.parametrize("step", STEPS)
def test_a_correction_killed_at_any_step_is_whole_afterwards(prepared: Store, tmp_path: Path, step: str) -> None:
    store = copy_of(prepared, tmp_path)
    request = correction(store)
    assert killed(store, step, request)
    assert store.check()["ok"] is True
    receipt = store.call("knowledge_mutation", {"requestId": "r-1"})["receipt"]
    assert receipt["state"] == "complete"
    for row in receipt["records"]:
        assert sha256((store.vault / row["path"]).read_bytes()) == row["hash"]
    again = store.call(*request)["receipt"]
    assert again["records"] == receipt["records"]
    assert again["git"]["state"] == "committed"
    assert ids(store.grep("sixty")) == [receipt["records"][0]["id"]]
    assert store.grep("49")["rows"][0]["via"]["id"] == "C-p2"
    assert not list(store.vault.rglob(".backscroll-*"))
    events = [row["event"] for row in store.call("knowledge_history", {})["rows"]]
    assert events == ["superseded", "created"]
    store.service.close()


def test_killed_before_the_journal_nothing_happened(prepared: Store, tmp_path: Path) -> None:
    store = copy_of(prepared, tmp_path)
    bad = ("knowledge_correct", {**correction(store)[1], "reason": " "})
    child = run_child(store, "journaled", bad)
    child.communicate(timeout=60)
    assert store.call("knowledge_history", {})["total"] == 0
    assert ids(store.grep("49")) == ["C-p2"]
    store.service.close()


@pytest.mark.parametrize("step", ["journaled", "installing 0", "installed 0", "installed 1"])
def test_a_retained_file_survives_a_kill(prepared: Store, tmp_path: Path, step: str) -> None:
    store = copy_of(prepared, tmp_path)
    original = tmp_path / "notes.txt"
    original.write_bytes(b"line\n" * 1_000)
    arguments = {
        "requestId": "r-1",
        "filePath": str(original),
        "sha256": sha256(original.read_bytes()),
        "attribution": "Ben",
    }
    assert killed(store, step, ("knowledge_attach_file", arguments))
    receipt = store.call("knowledge_attach_file", arguments)["receipt"]
    assert (store.vault / receipt["evidence"][0]["path"]).read_bytes() == original.read_bytes()
    assert not list(store.vault.rglob(".backscroll-*"))
    assert store.check()["ok"] is True
    store.service.close()


def test_the_first_write_killed_while_creating_the_store_can_be_repeated(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    store = Store(tmp_path / "knowledge", clock, KnowledgeService(tmp_path / "knowledge", clock))
    page = (
        "knowledge_save_page",
        {"requestId": "r-1", "expectedRevision": 0, "title": "One", "type": "topic", "body": "x"},
    )
    assert killed(store, "installing 0", page)
    assert store.call(*page)["receipt"]["state"] == "complete"
    assert store.lookup("One")["status"] == "found"
    store.service.close()


@pytest.mark.parametrize("parts", [[], ["vault"], ["vault", "state.sqlite"], ["vault", "state.sqlite", "store.yaml"]])
def test_a_creation_that_was_cut_short_starts_again(tmp_path: Path, parts: list[str]) -> None:
    store = empty_store(tmp_path)
    store.service.close()
    (store.root / "store.creating").touch()
    for name in {"store.yaml", "state.sqlite"} - set(parts):
        (store.root / name).unlink()
    if "vault" not in parts:
        store.vault.rmdir()
    assert store.service.exists() is False
    assert store.service.init()["created"] is True
    assert store.check()["ok"] is True
    store.service.close()


def test_two_processes_write_at_once_without_losing_anything(prepared: Store, tmp_path: Path) -> None:
    store = copy_of(prepared, tmp_path)
    page = {"expectedRevision": 0, "type": "topic", "body": "needle"}
    calls = [
        [
            ("knowledge_save_page", {**page, "requestId": f"{name}-{number}", "title": f"{name} {number}"})
            for number in range(8)
        ]
        for name in ("left", "right")
    ]
    children = [run_child(store, "", *batch) for batch in calls]
    outputs = [child.communicate(timeout=100) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    receipts = [json.loads(line)["receipt"] for output, _ in outputs for line in output.splitlines()]
    assert len({row["records"][0]["id"] for row in receipts}) == 16
    assert store.grep("needle", limit=50)["total"] == 16
    assert store.check() | {"coverage": None} == {
        "ok": True, "issues": [], "files": 32, "usable": 31, "waitingForGit": 0, "coverage": None,
    }  # fmt: skip
    store.service.close()


def test_two_processes_fence_each_other(prepared: Store, tmp_path: Path) -> None:
    store = copy_of(prepared, tmp_path)
    digest = sha256(store.paths["P-ana"].read_bytes())
    save = {"id": "P-ana", "expectedRevision": 1, "expectedHash": digest}
    children = [
        run_child(store, "", ("knowledge_save_page", {**save, "requestId": name, "body": f"By {name}."}))
        for name in ("left", "right")
    ]
    errors = [child.communicate(timeout=100)[1] for child in children]
    assert sorted(child.returncode for child in children) == [0, 1]
    assert sum("RevisionConflict" in text for text in errors) == 1
    assert store.call("knowledge_history", {"id": "P-ana"})["total"] == 1
    store.service.close()
