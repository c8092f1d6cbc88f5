"""Prunes and forgets at once, clocks that jump between a plan and its prune, restores that the disk refuses."""

from __future__ import annotations

import threading
from typing import IO, TYPE_CHECKING, Any

import pytest

from engine.archive.reader import ArchiveReader
from engine.core.errors import StorageFailure
from tests.engine.maintenance.conftest import History, found, session_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRUNE = {"older_than_days": 30, "dry_run": False, "include_only_copies": True}


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Do several things together and return what each returned."""
    together = threading.Barrier(len(deeds))
    replies: list[Any] = []

    def run(deed: Callable[[], Any]) -> None:
        together.wait()
        replies.append(deed())

    threads = [threading.Thread(target=run, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def test_of_two_prunes_at_once_each_session_goes_with_one(history: History) -> None:
    for number in range(1, 9):
        history.session(number, f"quince{number}", days_ago=60 if number % 2 else 3)
    with history.engine() as engine:
        replies = at_once(
            *[lambda: engine.api.call("prune", {**PRUNE, "archive": True})] * 3,
            lambda: engine.api.call("forget", {"session_id": session_id(2)}),
        )

        assert sum(reply["sessions"] for reply in replies if "sessions" in reply) == 4
        assert {row["session_id"] for row in engine.api.call("list_sessions", {})["sessions"]} == {
            session_id(number) for number in (4, 6, 8)
        }
        for number in range(1, 9):
            assert found(engine, f"quince{number}") == ({session_id(number)} if number in (4, 6, 8) else set())
    for number in (1, 2, 3, 5, 7):
        assert history.traces(f"quince{number}") == []


@pytest.mark.parametrize("jump", [-400 * 86_400.0, -100.0])
def test_a_clock_that_jumps_back_before_a_prune_by_age_takes_nothing_young(history: History, jump: float) -> None:
    history.session(1, "quince", days_ago=60)
    history.session(2, "medlar", days_ago=3)
    with history.engine() as engine:
        assert engine.api.call("prune", {**PRUNE, "dry_run": True})["sessions"] == 1
        history.clock.advance(jump)

        engine.api.call("prune", PRUNE)

        assert found(engine, "medlar") == {session_id(2)}
        assert found(engine, "quince") == ({session_id(1)} if jump < -86_400 else set())
        history.clock.advance(-jump)
        history.session(3, "loquat", days_ago=0)
        engine.run_once()
        assert found(engine, "loquat") == {session_id(3)}


def test_half_a_restored_file_does_not_stay(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history.session(1, "quince", days_ago=3)
    copy = ArchiveReader.copy

    def full(reader: ArchiveReader, label: str, path: str, generation: int, target: IO[bytes]) -> object:
        copy(reader, label, path, generation, target)
        raise OSError(28, "No space left on device")

    with history.engine() as engine:
        history.files[1].unlink()
        engine.run_once()
        with monkeypatch.context() as patched:
            patched.setattr(ArchiveReader, "copy", full)
            with pytest.raises(StorageFailure, match="No space left"):
                engine.api.keeping.restore(session_id(1), tmp_path / "back")
        assert [file for file in (tmp_path / "back").rglob("*") if file.is_file()] == []

        reply = engine.api.keeping.restore(session_id(1), tmp_path / "back")

    assert reply.note is None
