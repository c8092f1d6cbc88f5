"""What can go wrong while reading: the disk refuses, a transcript is too much for the program, the engine closes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from engine.ingest import pipeline
from engine.ingest.queue import FileTask
from engine.store.errors import StoreFull
from engine.store.history import HistoryWriter
from engine.transcripts.parser import TranscriptParser
from tests.helpers.indexing import Index, index
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.store.batches import BatchResult, FileBatch

NAMES = tuple(f"{number:08d}-1111-4111-8111-111111111111" for number in range(30))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def read(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.setattr(pipeline, "RETRY_S", 0.0)
    with index(tmp_path / "index.db", root) as opened:
        yield opened


def write(root: Path, *names: str) -> list[str]:
    prompts: list[str] = []
    for name in names:
        builder = TranscriptBuilder(name)
        for number in range(3):
            prompts.append(f"{name[:8]} said {number}")
            builder.prompt(prompts[-1])
        builder.write(root)
    return prompts


def full() -> StoreFull:
    return StoreFull("Writing the index stopped: the disk is full", "Nothing was lost.", "Free some space.")


@pytest.mark.expect_log("Indexing paused")
def test_what_a_full_disk_refused_is_read_again_when_there_is_room(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = write(root, *NAMES[:5])
    apply = HistoryWriter.apply
    refusals = [full(), full()]

    def refuse(writer: HistoryWriter, batch: FileBatch) -> BatchResult:
        if refusals and batch.session_id == NAMES[2]:
            raise refusals.pop()
        return apply(writer, batch)

    monkeypatch.setattr(HistoryWriter, "apply", refuse)
    read.ingestor.scan()
    read.ingestor.drain()
    problem = read.ingestor.progress.problem
    assert isinstance(problem, StoreFull)
    assert read.texts() == []
    read.ingestor.settle()
    while (task := read.ingestor.queue.get(0)) is not None:
        read.ingestor.process(task)
        read.ingestor.settle()
    assert read.ingestor.progress.problem is None
    assert sorted(read.texts()) == sorted(prompts)


@pytest.mark.expect_log("A transaction failed", "cannot be read")
def test_a_transcript_that_cannot_be_written_does_not_keep_the_others_out(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = write(root, *NAMES[:5])
    apply = HistoryWriter.apply

    def fail(writer: HistoryWriter, batch: FileBatch) -> BatchResult:
        if batch.session_id == NAMES[2]:
            raise KeyError("a bug")
        return apply(writer, batch)

    with monkeypatch.context() as patched:
        patched.setattr(HistoryWriter, "apply", fail)
        read.read()
        assert sorted(read.texts()) == sorted(each for each in prompts if not each.startswith(NAMES[2][:8]))
        assert read.rows("SELECT error FROM files WHERE error IS NOT NULL") == [("not understood (KeyError)",)]
        read.read()  # unchanged: it is not tried again, so nothing is logged again
    file = next(root.rglob(f"{NAMES[2]}.jsonl"))
    with file.open("ab") as appended:
        appended.write(b"\n")
    read.read()
    assert sorted(read.texts()) == sorted(prompts)
    assert read.rows("SELECT error FROM files WHERE error IS NOT NULL") == []


@pytest.mark.expect_log("A transcript could not be read", "cannot be read")
def test_a_transcript_that_cannot_be_parsed_does_not_keep_the_others_out(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = write(root, *NAMES[:3])
    parse = TranscriptParser.parse

    def fail(parser: TranscriptParser, record: dict[str, Any], line: bytes) -> object:
        if record["sessionId"] == NAMES[1]:
            raise ValueError("a bug")
        return parse(parser, record, line)

    monkeypatch.setattr(TranscriptParser, "parse", fail)
    read.read()
    assert sorted(read.texts()) == sorted(each for each in prompts if not each.startswith(NAMES[1][:8]))


@pytest.mark.expect_log("A transcript could not be read", "cannot be read")
def test_a_program_that_understands_nothing_fails_loudly(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, *NAMES)

    def fail(*_: object) -> None:
        raise ValueError("a bug in everything")

    monkeypatch.setattr(TranscriptParser, "parse", fail)
    read.ingestor.scan()
    with pytest.raises(ValueError, match="a bug in everything"):
        read.ingestor.drain()


def test_batches_of_a_file_that_was_moved_behind_our_back_are_refused_and_read_again(root: Path, read: Index) -> None:
    (name,) = NAMES[:1]
    prompts = write(root, name)
    read.read()
    read.rows("UPDATE files SET offset = 0, size = 0, generation = generation + 1")
    with next(root.rglob("*.jsonl")).open("ab") as appended:
        appended.write(b"\n")
    read.read()
    assert read.texts() == prompts
    assert read.one("SELECT offset = size FROM files") == 1


def test_a_closing_engine_stops_reading_without_a_word(root: Path, read: Index) -> None:
    write(root, *NAMES[:3])
    read.ingestor.scan()
    stopping = threading.Event()
    reading = threading.Thread(target=read.ingestor.run, args=(stopping,))
    reading.start()
    stopping.set()
    read.ingestor.close()
    reading.join(60)
    assert not reading.is_alive()


def test_a_paused_engine_reads_nothing_until_it_goes_on(root: Path, read: Index) -> None:
    prompts = write(root, *NAMES[:2])
    read.ingestor.pause()
    read.ingestor.scan()
    stopping = threading.Event()
    reading = threading.Thread(target=read.ingestor.run, args=(stopping,))
    reading.start()
    assert read.ingestor.is_paused
    assert read.texts() == []
    assert read.ingestor.progress.files_pending == 2
    read.ingestor.resume()
    assert read.has_committed.wait(60)
    stopping.set()
    read.ingestor.close()
    reading.join(60)
    assert sorted(read.texts()) == sorted(prompts)


def test_a_file_that_vanishes_between_look_and_reading_is_marked(root: Path, read: Index) -> None:
    write(root, NAMES[0])
    read.ingestor.scan()
    next(root.rglob("*.jsonl")).unlink()
    read.ingestor.drain()
    assert read.one("SELECT gone_ms IS NOT NULL FROM files") == 1


def test_a_task_of_an_unknown_root_is_dropped(read: Index) -> None:
    read.ingestor.scan()
    read.ingestor.process(FileTask(0, 99, "-p/x.jsonl"))
    assert read.rows("SELECT * FROM files") == []
