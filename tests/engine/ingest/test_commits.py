"""Batches on their way to the writer: how many at a time, and what is lost when a transaction fails."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

import pytest

from engine.core.clock import FixedClock
from engine.ingest import commits
from engine.ingest.commits import CommitFailed, Committer
from engine.ingest.preparation import Preparation
from engine.store.batches import BatchResult, FileBatch, FilePosition
from engine.store.errors import StoreFull
from engine.usage.recorder import UsageRecorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.store.writer import StoreWriter


class Writer:
    """Takes transactions and does none of them: each ends as the test says."""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends = list(ends)
        self.taken = 0

    def submit(self, task: Callable[[Any], Any]) -> Future[tuple[BatchResult, ...]]:
        assert callable(task)
        self.taken += 1
        future: Future[tuple[BatchResult, ...]] = Future()
        end = self.ends.pop(0) if self.ends else None
        if end is None:
            future.set_result((BatchResult(1, 1, (1,)),))
        else:
            future.set_exception(end)
        return future


def batch(file: int, size: int = 10) -> FileBatch:
    return FileBatch(
        file_id=file, start=0, session_id="s", generation=0, occurrences=(), facts=(), agents=(), kept={}, problems=(),
        position=FilePosition(size, size, 0, 0, b"", 0, ""),
    )  # fmt: skip


def committer(writer: Writer, committed: list[int]) -> Committer:
    return Committer(
        cast("StoreWriter", writer),
        UsageRecorder(),
        Preparation(None, None),
        lambda results: committed.append(len(results)),
        FixedClock(0),
    )


def send(sending: Committer, count: int) -> None:
    for file in range(count):
        sending.add(batch(file))
    sending.settle()


def test_small_files_are_committed_together() -> None:
    writer, committed = Writer(), list[int]()
    sending = committer(writer, committed)
    for file in range(commits.GROUP_FILES * 2 + 5):
        sending.add(batch(file))
    assert writer.taken == 2
    sending.settle()
    assert writer.taken == 3
    assert committed == [1, 1, 1]
    sending.settle()
    assert writer.taken == 3


def test_a_large_file_is_committed_in_pieces() -> None:
    writer = Writer()
    sending = committer(writer, [])
    sending.add(batch(1, commits.GROUP_BYTES))
    assert writer.taken == 1


def test_a_transaction_that_cannot_even_begin_is_told_with_all_files_that_wait() -> None:
    """The reader waits for the writer to be through with Python, which it never is when the disk refuses at once."""
    full = StoreFull("the disk is full")
    writer, committed = Writer(None, full, full, None), list[int]()
    sending = committer(writer, committed)
    with pytest.raises(CommitFailed) as failed:
        send(sending, commits.GROUP_FILES * 4)
    assert failed.value.cause is full
    assert {commits.GROUP_FILES, commits.GROUP_FILES + 1} <= failed.value.files
    assert 0 not in failed.value.files
    sending.settle()
    assert committed == [1]
