from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.cli.conftest import Run

SOUND: dict[str, Any] = {
    "ok": True,
    "findings": [{"id": "database", "title": "Index file", "severity": "ok", "found": "All read.", "means": ""}],
}
WRONG: dict[str, Any] = {
    "ok": False,
    "findings": [
        {
            "id": "words",
            "title": "Search by words",
            "severity": "error",
            "found": "5 chunks cannot be found.\x1b[2J",
            "means": "Searches miss them.",
            "fix": "Makes the word index anew.",
        },
        *SOUND["findings"],
    ],
    "note": "fix=true mends what has a fix.",
}
PRUNED: dict[str, Any] = {
    "dry_run": True,
    "chunks": 120,
    "calls": 7,
    "sessions": 2,
    "vectors": 240,
    "bytes_freed": 3_000_000,
    "archive_bytes": 1_000_000,
    "only_copies": [{"session_id": "4fb0d9f2", "title": "Only [b]here[/b]", "last_at": "2026-03-04T09:12:00+00:00"}],
    "note": "1 sessions exist nowhere else and stay.",
}


def test_a_sound_installation_is_exit_code_0(backscroll: Callable[..., Run]) -> None:
    run = backscroll("doctor", doctor=SOUND)

    assert (run.code, run.asked, run.access.wrote) == (0, [("doctor", {})], [False])
    assert "✓ Index file" in run.out
    assert "Everything is as it should be." in run.err


def test_findings_are_exit_code_4_and_say_what_a_fix_would_do(backscroll: Callable[..., Run]) -> None:
    run = backscroll("doctor", doctor=WRONG)

    assert run.code == 4
    assert "✗ Search by words  5 chunks cannot be found." in run.out
    assert "\x1b" not in run.out
    assert "→ Makes the word index anew." in run.out
    assert "1 thing to look at." in run.err
    assert "--fix" in run.err


def test_a_fix_starts_an_engine_and_says_what_was_done(backscroll: Callable[..., Run]) -> None:
    mended = {**WRONG, "ok": True, "findings": [{**WRONG["findings"][0], "fixed": True}]}
    run = backscroll("doctor", "--fix", "--deep", doctor=mended)

    assert (run.code, run.asked, run.access.wrote) == (0, [("doctor", {"fix": True, "deep": True})], [True])
    assert "Done: Makes the word index anew." in run.out


@pytest.mark.parametrize("flags", [(), ("--fix",)])
def test_the_doctors_json_is_the_reply(backscroll: Callable[..., Run], flags: tuple[str, ...]) -> None:
    run = backscroll("doctor", "--json", *flags, doctor=WRONG)

    assert (run.code, json.loads(run.out)) == (4, WRONG)


@pytest.mark.parametrize(("age", "days"), [("90d", 90), ("90", 90), ("12w", 84), ("6m", 180), ("1y", 365), (" 3 D", 3)])
def test_ages_are_said_in_days_weeks_months_and_years(backscroll: Callable[..., Run], age: str, days: int) -> None:
    run = backscroll("prune", "--older-than", age, prune=PRUNED)

    assert run.asked == [("prune", {"older_than_days": days, "dry_run": True})]


@pytest.mark.parametrize("age", ["soon", "0d", "-3d", "3 fortnights", ""])
def test_an_age_that_is_none_is_wrong_use(backscroll: Callable[..., Run], age: str) -> None:
    run = backscroll("prune", f"--older-than={age}", prune=PRUNED)

    assert (run.code, run.asked) == (2, [])


def test_without_apply_a_prune_only_says_what_would_go(backscroll: Callable[..., Run]) -> None:
    run = backscroll("prune", "--older-than", "90d", prune=PRUNED)

    assert (run.code, run.access.wrote) == (0, [False])
    assert "2 sessions would go: 120 chunks, 240 vectors, 7 calls of usage." in run.out
    assert "About 3.0 MB on the disk, 1.0 MB of it in the archive." in run.out
    assert "4fb0d9f2 Only [b]here[/b]" in run.out
    assert "--apply" in run.err


def test_apply_takes_out(backscroll: Callable[..., Run]) -> None:
    flags = ("--project", "shop", "--archive", "--include-only-copies", "--apply")
    run = backscroll("prune", "--older-than", "90d", *flags, prune={**PRUNED, "dry_run": False})

    wanted = {"project": "shop", "archive": True, "include_only_copies": True, "older_than_days": 90, "dry_run": False}
    assert (run.asked, run.access.wrote) == ([("prune", wanted)], [True])
    assert "2 sessions went" in run.out


def test_forgetting_wants_a_yes_where_nobody_can_be_asked(backscroll: Callable[..., Run]) -> None:
    run = backscroll("forget", "4fb0", forget={})

    assert (run.code, run.asked) == (2, [])
    assert "--yes" in run.err


def test_forgetting_says_what_is_left(backscroll: Callable[..., Run]) -> None:
    reply = {"session_id": "4fb0d9f2", "left_on_disk": ["/c/4fb0d9f2.jsonl"], "note": "1 backups were deleted."}
    run = backscroll("forget", "4fb0", "--yes", forget=reply)

    assert (run.code, run.asked, run.access.wrote) == (0, [("forget", {"session_id": "4fb0"})], [True])
    assert "Session 4fb0d9f2 is forgotten" in run.out
    assert "still there: /c/4fb0d9f2.jsonl" in run.err


def test_restoring_names_the_files_and_where_they_came_from(backscroll: Callable[..., Run], tmp_path: Path) -> None:
    files = [{"file": "-home/4fb0d9f2.jsonl", "bytes": 2500, "source": "archive"}]
    run = backscroll("restore", "4fb0", "--to", str(tmp_path), restore={"session_id": "4fb0d9f2", "files": files})

    assert run.asked == [("restore", {"session_id": "4fb0", "to": str(tmp_path)})]
    assert run.out == "2.5 kB  -home/4fb0d9f2.jsonl  (from the archive)\n"
    assert f"1 file in {tmp_path}." in run.err


def test_restore_says_what_is_missing(backscroll: Callable[..., Run]) -> None:
    files = [{"file": "p/4fb0.jsonl", "bytes": 12, "source": "archive", "damaged": True}]
    reply = {"session_id": "4fb0d9f2", "files": files, "note": "1 file cannot be restored whole."}

    for more in ((), ("--json",)):
        run = backscroll("restore", "4fb0", "--to", "x", *more, restore=reply)
        assert run.code == 4
        assert "cannot be restored whole" in (run.out if more else run.err)


def test_restoring_what_is_nowhere_is_nothing_found(backscroll: Callable[..., Run]) -> None:
    assert backscroll("restore", "4fb0", "--to", "x", restore=NotFound("Nothing is left")).code == 1
