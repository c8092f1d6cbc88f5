"""Noticing changes: what the system tells, what it drops, and what happens when it tells nothing."""

from __future__ import annotations

import errno
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from engine.core.clock import FixedClock, SystemClock
from engine.core.errors import StorageFailure
from engine.ingest import watcher
from engine.ingest.scanner import existing_roots
from engine.ingest.watcher import RECONCILE_S, SLEPT_S, Watcher
from engine.transcripts.discovery import Root
from tests.helpers.indexing import Index, index
from tests.helpers.transcripts import TranscriptBuilder, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    from engine.ingest.watcher import Events

Found = set[tuple[int, str]] | Literal["signal", "stop", "timeout"]

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


class Script:
    """Events as a test tells them. When it is through, watching is stopped."""

    def __init__(self, stopping: threading.Event, *steps: Found | Callable[[], Found] | Exception) -> None:
        self.stopping = stopping
        self.steps = list(steps)
        self.watched: list[tuple[Path, ...]] = []
        self.asked: list[int] = []

    @contextmanager
    def __call__(self, folders: tuple[Path, ...]) -> Generator[Events]:
        self.watched.append(folders)
        yield self

    def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None) -> Found:
        assert debounce_ms >= step_ms
        assert timeout_ms > 0
        assert stop_event is self.stopping
        self.asked.append(step_ms)
        if not self.steps:
            self.stopping.set()
            return "stop"
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step() if callable(step) else step


class Indexer:
    """Takes changes and remembers them."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.scans = 0
        self.files: list[Path] = []
        self.vanished: list[Path] = []

    def scan(self) -> int:
        self.scans += 1
        return 0

    def changed(self, path: Path) -> bool:
        if path.suffix != ".jsonl":
            return False
        self.files.append(path)
        return True

    def folder_vanished(self, path: Path) -> None:
        self.vanished.append(path)


def watch(
    *steps: Found | Callable[[], Found] | Exception,
    clock: FixedClock | None = None,
    roots: Callable[[], object] = lambda: "roots",
) -> tuple[Indexer, Script, Watcher]:
    stopping = threading.Event()
    script = Script(stopping, *steps)
    indexer = Indexer(Path("/root"))
    watching = Watcher(indexer, roots, clock or FixedClock(1_000_000.0), script)
    watching.run(stopping)
    return indexer, script, watching


def test_a_changed_transcript_is_handed_on_and_everything_is_looked_at_twice_at_the_start() -> None:
    indexer, script, _ = watch("timeout", {(2, "/root/-p/a.jsonl"), (1, "/root/-p/a/tool-results/b.txt")})
    assert indexer.files == [Path("/root/-p/a.jsonl")]
    assert indexer.scans == 2
    assert script.watched == [(Path("/root"),)]


def test_events_are_looked_for_more_often_while_something_happens() -> None:
    clock = FixedClock(1_000_000.0)

    def later() -> Found:
        clock.advance(31)
        return "timeout"

    _, script, _ = watch(later, "timeout", {(2, "/root/-p/a.jsonl")}, "timeout", clock=clock)
    assert script.asked == [50, 250, 250, 50, 50]


def test_a_folder_that_was_moved_in_brings_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "-project" / SESSION / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").touch()
    (folder / "agent-a1.meta.json").touch()
    indexer, _, _ = watch({(1, str(tmp_path / "-project"))})
    assert indexer.files == [folder / "agent-a1.jsonl"]


def test_a_folder_that_is_not_there_any_more_is_told() -> None:
    indexer, _, _ = watch({(3, "/root/-project"), (3, "/root/-p/sessions-index.json")})
    assert indexer.vanished == [Path("/root/-project")]


def test_everything_is_looked_at_now_and_then() -> None:
    clock = FixedClock(1_000_000.0)
    steps: list[Callable[[], Found]] = []

    def wait() -> Found:
        clock.advance(50)
        return "timeout"

    steps += [wait] * int(RECONCILE_S // 50 * 2 + 2)
    indexer, _, _ = watch(*steps, clock=clock)
    assert indexer.scans == 2 + 2


def test_everything_is_looked_at_after_sleep() -> None:
    """While a machine sleeps wall time goes on and monotonic time may stand still."""

    class Sleeping(FixedClock):
        slept = 0.0

        def now(self) -> float:
            return self.seconds + self.slept

    clock = Sleeping(1_000_000.0)

    def sleep() -> Found:
        clock.slept += SLEPT_S + 1
        return "timeout"

    indexer, _, _ = watch("timeout", sleep, "timeout", clock=clock)
    assert indexer.scans == 2 + 1


def test_very_many_changes_at_once_may_not_be_all() -> None:
    indexer, _, _ = watch({(2, f"/root/-p/{number}.jsonl") for number in range(watcher.MANY_CHANGES)})
    assert indexer.scans == 2 + 1


def test_roots_that_change_are_watched_anew() -> None:
    answers = iter(["one", "one", "two", "two", "two", "two"])
    indexer, script, _ = watch("timeout", "timeout", "timeout", roots=lambda: next(answers))
    assert len(script.watched) == 2
    assert indexer.scans == 4


@pytest.mark.expect_log("What changed could not be noted: the disk is full")
def test_a_disk_that_refuses_does_not_end_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    stopping = threading.Event()
    indexer = Indexer(Path("/root"))
    refusals = 3
    scan = indexer.scan

    def refused() -> int:
        if scan() < refusals and indexer.scans <= refusals:
            raise StorageFailure("the disk is full")
        return 0

    indexer.scan = refused
    clock = AdvancingClock(1_000_000.0, step=RECONCILE_S)
    Watcher(indexer, lambda: "roots", clock, Script(stopping, "timeout", "timeout", "timeout", "timeout")).run(stopping)
    assert indexer.scans > refusals
    assert len(caplog.records) == 1


def refuse(problem: Exception) -> Callable[[tuple[Path, ...]], AbstractContextManager[Events]]:
    def events(folders: tuple[Path, ...]) -> AbstractContextManager[Events]:
        assert folders
        raise problem

    return events


@pytest.mark.expect_log("Watching by polling")
@pytest.mark.parametrize(
    ("problem", "name"),
    [
        (OSError("OS file watch limit reached. (os error 28)"), "max_user_watches"),
        (OSError("Too many open files (os error 24)"), "max_user_instances"),
        (OSError(errno.EMFILE, "Too many open files"), "max_user_instances"),
        (RuntimeError("error in underlying watcher"), "max_user_watches"),
    ],
)
def test_without_events_it_looks_more_often_and_says_the_number_and_the_command(
    problem: Exception, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(watcher, "POLLING_S", 0.001)
    monkeypatch.setattr(watcher, "_system_limit", {name: 8_192}.get)
    indexer = Indexer(tmp_path)
    stopping = threading.Event()
    watching = Watcher(indexer, lambda: "roots", SystemClock(), refuse(problem))
    thread = threading.Thread(target=watching.run, args=(stopping,))
    polled = threading.Event()
    scan = indexer.scan

    def counted() -> int:
        if indexer.scans >= 3:
            polled.set()
        return scan()

    indexer.scan = counted
    thread.start()
    assert polled.wait(60)
    stopping.set()
    thread.join(60)
    assert not thread.is_alive()
    assert watching.state.polling
    assert f"fs.inotify.{name} is 8,192" in (watching.state.reason or "")
    raised = 524_288 if name == "max_user_watches" else 16_384
    assert f"sudo sysctl fs.inotify.{name}={raised}" in (watching.state.hint or "")


@pytest.mark.expect_log("Watching by polling")
def test_a_failing_watch_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "POLLING_S", 0.0)
    clock = AdvancingClock(1_000_000.0, step=RECONCILE_S)
    _, script, watching = watch(OSError("queue overflow"), "timeout", clock=clock)
    assert len(script.watched) == 2
    assert not watching.state.polling


class AdvancingClock(FixedClock):
    """Each look at it takes a while."""

    def __init__(self, seconds: float, *, step: float) -> None:
        super().__init__(seconds)
        self.step = step

    def monotonic(self) -> float:
        self.advance(self.step)
        return self.seconds


# With the operating system's own events ------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def watched(tmp_path: Path, root: Path) -> Iterator[Index]:
    """Give an index that watches and reads in threads of its own."""
    with index(tmp_path / "index.db", root) as read:
        stopping = threading.Event()
        roots = (Root(root, "test"),)
        watching = Watcher(read.ingestor, lambda: existing_roots(roots), SystemClock())
        threads = [
            threading.Thread(target=read.ingestor.run, args=(stopping,)),
            threading.Thread(target=watching.run, args=(stopping,)),
        ]
        TranscriptBuilder(SESSION, cwd="/home/dev/api").write(root)
        for thread in threads:
            thread.start()
        try:
            yield read
        finally:
            stopping.set()
            read.ingestor.close()
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive()


def until(read: Index, condition: Callable[[], bool]) -> None:
    """Wait until something committed makes a condition true."""
    for _ in range(600):
        if condition():
            return
        read.has_committed.wait(0.1)
        read.has_committed.clear()
    pytest.fail("it did not happen within a minute")


def test_an_appended_line_is_found(root: Path, watched: Index) -> None:
    builder = TranscriptBuilder(SESSION, cwd="/home/dev/api")
    for number in range(3):
        builder.prompt(f"number{number}")
        builder.write(root)
        until(watched, lambda: watched.found(f"number{number}") != [])  # noqa: B023 - awaited at once
    assert watched.one("SELECT count(*) FROM files") == 1


def test_new_folders_and_folders_that_are_moved_in_are_found(root: Path, watched: Index, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    builder = TranscriptBuilder(OTHER, cwd="/home/dev/web")
    builder.prompt("brought along")
    builder.write(outside)
    until(watched, lambda: watched.one("SELECT count(*) FROM files") == 1)
    shutil.move(outside / encoded("/home/dev/web"), root)
    until(watched, lambda: watched.found("brought") != [])
    deep = root / encoded("/home/dev/web") / OTHER / "subagents" / "agent-a1.jsonl"
    deep.parent.mkdir(parents=True)
    agent = TranscriptBuilder("agent", cwd="/home/dev/web")
    agent.prompt("deep down", isSidechain=True, agentId="a1", sessionId=OTHER)
    deep.write_bytes(agent.data())
    until(watched, lambda: watched.found("deep") != [])
    assert watched.one("SELECT count(*) FROM files") == 3


def test_deleted_files_and_renamed_folders_are_marked_gone(root: Path, watched: Index) -> None:
    builder = TranscriptBuilder(OTHER, cwd="/home/dev/web")
    builder.prompt("here and there")
    builder.write(root)
    until(watched, lambda: watched.found("here") != [])
    gone = "SELECT count(*) FROM files WHERE gone_ms IS NOT NULL"
    (root / encoded("/home/dev/web")).rename(root / "-renamed")
    until(watched, lambda: watched.one(gone) == 1)
    until(watched, lambda: watched.one("SELECT count(*) FROM files WHERE path LIKE '-renamed/%'") == 1)
    (root / "-renamed" / f"{OTHER}.jsonl").unlink()
    until(watched, lambda: watched.one(gone) == 2)
    assert watched.texts() == ["here and there"]
