"""Local Git checkpoints: exact bytes, in order, in the vault's own repository only."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from engine.knowledge.service import CHECKPOINT_PAUSE_S, KnowledgeService

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.knowledge.fixture_f import Store

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    options = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "core.quotePath=false"]
    done = subprocess.run(["git", *options, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout.decode().strip()


def save(store: Store, title: str, body: str = "x") -> dict[str, Any]:
    arguments = {"expectedRevision": 0, "title": title, "type": "topic", "body": body}
    return store.call("knowledge_save_page", arguments)["receipt"]


def with_program(store: Store, program: str) -> Store:
    """Return the same store served with another git program."""
    store.service.close()
    return dataclasses.replace(store, service=KnowledgeService(store.root, store.clock, git=program))


def test_a_publication_gets_a_commit_of_exactly_its_bytes(f: Store) -> None:
    receipt = save(f, "First Zoë 😀")
    assert receipt["git"] == {"state": "committed", "commit": git(f.vault, "rev-parse", "HEAD")}
    path = receipt["records"][0]["path"]
    assert git(f.vault, "show", f"HEAD:{path}") == (f.vault / path).read_text(encoding="utf-8").strip()
    assert git(f.vault, "log", "-1", "--format=%s|%an|%aI") == "Add First Zoë 😀|Backscroll|2026-05-01T12:00:00+00:00"
    assert path not in git(f.vault, "status", "--short")
    assert git(f.vault, "remote") == ""


def test_versions_made_without_git_are_committed_later_in_order(f: Store) -> None:
    without = with_program(f, "no-such-git")
    first = save(without, "One", "version one")
    assert first["git"] == {"state": "unavailable"}
    row = first["records"][0]
    without.call(
        "knowledge_save_page",
        {
            "requestId": "r-2",
            "id": row["id"],
            "expectedRevision": 1,
            "expectedHash": row["hash"],
            "body": "version two",
        },
    )
    assert not (f.vault / ".git").exists()
    without.service.close()
    receipt = f.call("knowledge_resume", {"requestId": "r-2"})["receipt"]
    assert receipt["git"]["state"] == "committed"
    assert git(f.vault, "log", "--format=%s", "--reverse").splitlines() == ["Add One", "Save One"]
    assert "version one" in git(f.vault, "show", f"HEAD~1:{row['path']}")
    first_receipt = f.call("knowledge_mutation", {"requestId": first["requestId"]})["receipt"]
    assert first_receipt["git"]["commit"] == git(f.vault, "rev-parse", "HEAD~1")


@pytest.mark.expect_log("checkpoint")
def test_a_git_that_fails_does_not_fail_the_publication(f: Store) -> None:
    save(f, "One")
    lock = f.vault / ".git" / "index.lock"
    lock.touch()
    receipt = save(f, "Two")
    assert (receipt["state"], receipt["git"]["state"]) == ("complete", "pending")
    lock.unlink()
    resumed = f.call("knowledge_resume", {"requestId": receipt["requestId"]})["receipt"]
    assert resumed["git"]["state"] == "committed"
    # The commit was made before the lock stopped the index: both know the file now.
    assert git(f.vault, "log", "--format=%s").splitlines() == ["Add Two", "Add One"]
    assert "Two" not in git(f.vault, "status", "--short")


@pytest.mark.expect_log("checkpoint")
def test_a_read_tries_a_failed_checkpoint_again_and_then_pauses(f: Store) -> None:
    save(f, "One")
    lock = f.vault / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    request = save(f, "Two")["requestId"]
    receipt = f.call("knowledge_mutation", {"requestId": request})["receipt"]
    assert receipt["git"]["state"] == "pending"
    lock.unlink()
    f.grep("two")
    assert git(f.vault, "log", "--format=%s").splitlines() == ["Add One"], "the read before was in vain: a pause"
    f.clock.advance(CHECKPOINT_PAUSE_S)
    f.grep("two")
    receipt = f.call("knowledge_mutation", {"requestId": request})["receipt"]
    assert receipt["git"] == {"state": "committed", "commit": git(f.vault, "rev-parse", "HEAD")}


def test_r155_reads_alone_leave_a_hand_edit_to_the_person(f: Store) -> None:
    row = save(f, "One", "by tool")["records"][0]
    path = f.vault / row["path"]
    path.write_bytes(path.read_bytes().replace(b"by tool", b"by hand"))
    before = git(f.vault, "status", "--short"), git(f.vault, "rev-parse", "HEAD")
    f.grep("hand")
    f.tl()
    assert (git(f.vault, "status", "--short"), git(f.vault, "rev-parse", "HEAD")) == before


def test_a_repository_around_the_vault_is_never_touched(f: Store) -> None:
    git(f.root, "init", "--quiet", ".")
    (f.root / "own.txt").write_text("mine", encoding="utf-8")
    git(f.root, "add", "own.txt")
    git(f.root, "commit", "--quiet", "-m", "mine")
    before = git(f.root, "rev-parse", "HEAD")
    assert save(f, "One")["git"]["state"] == "committed"
    assert git(f.root, "rev-parse", "HEAD") == before
    assert (f.vault / ".git").is_dir()


def test_a_git_file_that_points_elsewhere_is_never_followed(f: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet", ".")
    (f.vault / ".git").write_text(f"gitdir: {other / '.git'}\n", encoding="utf-8")
    assert save(f, "One")["git"] == {"state": "unavailable"}
    assert not list((other / ".git" / "refs" / "heads").iterdir())


def test_the_persons_own_history_and_staged_work_stay(f: Store) -> None:
    git(f.vault, "init", "--quiet", "--initial-branch=mine", ".")
    (f.vault / "own.txt").write_text("mine", encoding="utf-8")
    git(f.vault, "add", "own.txt")
    git(f.vault, "commit", "--quiet", "-m", "mine")
    (f.vault / "staged.txt").write_text("later", encoding="utf-8")
    git(f.vault, "add", "staged.txt")
    hook = f.vault / ".git" / "hooks" / "reference-transaction"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    save(f, "One")
    assert git(f.vault, "log", "--format=%s").splitlines() == ["Add One", "mine"]
    assert "staged.txt" not in git(f.vault, "ls-tree", "-r", "--name-only", "HEAD")
    assert "A  staged.txt" in git(f.vault, "status", "--short")
    assert git(f.vault, "symbolic-ref", "HEAD") == "refs/heads/mine"


def test_a_hand_edit_gets_a_commit_of_its_own(f: Store) -> None:
    row = save(f, "One", "by tool")["records"][0]
    path = f.vault / row["path"]
    path.write_bytes(path.read_bytes().replace(b"by tool", b"by hand"))
    f.grep("hand")
    save(f, "Two")
    assert git(f.vault, "log", "--format=%s", "--reverse").splitlines() == [
        "Add One",
        f"Edited by hand: {row['path']}",
        "Add Two",
    ]


def test_what_a_person_wrote_is_kept_before_a_tool_replaces_it(f: Store) -> None:
    by_hand = f.paths["P-ana"].read_bytes()
    row = f.record("P-ana")["record"]
    change = {"id": "P-ana", "expectedRevision": 1, "expectedHash": row["hash"], "body": "By tool."}
    without = with_program(f, "no-such-git")
    without.call("knowledge_save_page", change)
    without.service.close()
    assert save(f, "Later")["git"]["state"] == "committed"
    assert git(f.vault, "log", "--format=%s", "--reverse").splitlines() == [
        f"Edited by hand: {row['path']}",
        "Save Ana Ruiz",
        "Add Later",
    ]
    assert git(f.vault, "show", f"HEAD~2:{row['path']}").encode() == by_hand.strip()


def test_a_title_that_git_would_refuse_holds_up_no_checkpoint(f: Store) -> None:
    row = save(f, "One")["records"][0]
    path = f.vault / row["path"]
    path.write_bytes(path.read_bytes().replace(b"title: One", b'title: "O\\0ne"'))
    found = f.record(row["id"])["record"]
    fence = {"id": row["id"], "expectedRevision": found["revision"], "expectedHash": found["hash"]}
    withdrawn = f.call("knowledge_withdraw", {**fence, "reason": "Wrong"})["receipt"]
    assert withdrawn["git"]["state"] == "committed"
    assert save(f, "Two")["git"]["state"] == "committed"
