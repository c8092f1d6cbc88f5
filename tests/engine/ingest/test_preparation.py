"""The second process: what it makes of texts, when it is asked, and that nothing changes when it dies."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from engine.core.text import index_columns
from engine.ingest import preparation
from engine.ingest.prepare import prepare, receive, send, serve
from engine.ingest.second_process import FROZEN_VERB, SecondProcess, command
from engine.maintenance.removals import Removals
from engine.maintenance.screen import Screen
from engine.store.batches import FileBatch, FilePosition, Occurrence
from engine.transcripts.parser import TranscriptParser
from engine.transcripts.records import ParsedMessage
from tests.helpers.corpus import ROOT
from tests.helpers.indexing import index
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from engine.ingest.prepare import Answer

WAIT_S = 60.0
ENGINE = """
from engine.ingest.second_process import SecondProcess
process = SecondProcess()
assert process.wait(60)
print(process.pid, flush=True)
input()
"""
KEY = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"


class Beside:
    """An assistant without a process, which may die over what it is asked."""

    def __init__(self, *, is_ready: bool = True, takes: int = 1000, answers: int = 1000) -> None:
        self.is_ready = is_ready
        self.takes = takes
        self.answers = answers
        self.asked: list[list[str]] = []
        self.answered = 0
        self.most_waiting = 0
        self.closed = 0

    def ask(self, texts: Sequence[str], *, redacts: bool) -> bool:
        self.asked.append(list(texts))
        self._redacts = redacts
        self.most_waiting = max(self.most_waiting, len(self.asked) - self.answered)
        return len(self.asked) <= self.takes

    @property
    def has_answered(self) -> bool:
        return False

    def answer(self) -> list[Answer] | None:
        self.answered += 1
        if self.answered > self.answers:
            return None
        return prepare(self.asked[self.answered - 1], redacts=self._redacts)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Give a history of several files with secrets, cut texts and repetitions."""
    root = tmp_path / "projects"
    for number in range(6):
        built = TranscriptBuilder(f"{number:08d}-1111-4111-8111-111111111111")
        built.prompt(f"How do the parsers of getUserName number {number} behave?")
        built.answer(f"They use token = {KEY}{number} and nothing else.")
        built.answer("Naïve words, 日本語, and an emptyHandlerName.")
        built.write(root)
    return root


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every history be worth a second process."""
    monkeypatch.setattr(preparation, "WORTH_BYTES", 0)


def test_a_text_without_secrets_becomes_what_both_columns_hold_of_it() -> None:
    assert prepare(["two getUserName"], redacts=True) == [index_columns("two getUserName")]


def test_a_text_with_secrets_becomes_another_one_with_their_counts() -> None:
    (columns, text, counts), plain = *prepare([f"it is {KEY}"], redacts=True), *prepare([KEY], redacts=False)
    assert text == "it is [redacted:github]"
    assert columns == index_columns(text)
    assert counts == {"github": 1}
    assert plain == index_columns(KEY)


def test_the_process_answers_until_nobody_asks_any_more() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    for texts in (["one"], ["two", "three"]):
        send(requests, [True, texts])
    requests.write(b"\x05\0\0\0[tr")  # the engine was killed in the middle of a message
    requests.seek(0)

    serve(requests, answers)

    answers.seek(0)
    assert receive(answers) is True
    assert receive(answers) == [index_columns("one")]
    assert receive(answers) == [index_columns("two"), index_columns("three")]
    with pytest.raises(EOFError):
        receive(answers)


GIVES_UP = pytest.mark.expect_log("goes on without a second process")


@pytest.mark.parametrize(
    "assistant",
    [
        pytest.param(Beside(), id="lives"),
        pytest.param(Beside(is_ready=False), id="never comes up"),
        pytest.param(Beside(takes=2), id="takes no more", marks=GIVES_UP),
        pytest.param(Beside(answers=0), id="dies at once", marks=GIVES_UP),
        pytest.param(Beside(answers=3), id="dies later", marks=GIVES_UP),
    ],
)
def test_the_database_is_the_same_whatever_becomes_of_the_second_process(
    tmp_path: Path, projects: Path, assistant: Beside
) -> None:
    with index(tmp_path / "alone.db", projects) as alone:
        alone.read()
        expected = alone.dump()

    with index(tmp_path / "beside.db", projects, assistant=lambda: assistant) as beside:
        beside.read()
        assert beside.dump() == expected

    assert assistant.closed == 1, "it rests once there is nothing to read"
    assert bool(assistant.asked) is assistant.is_ready


def test_secrets_are_replaced_and_counted_by_either_process(tmp_path: Path, projects: Path) -> None:
    found: list[Any] = []
    for name, assistant in (("alone", None), ("beside", Beside)):
        screen = Screen(Removals(tmp_path / f"{name}.json"), redacts=True)
        with index(tmp_path / f"{name}.db", projects, assistant=assistant, screen=screen) as read:
            read.read()
            found.append((read.dump(), read.rows("SELECT kind, sum(count) FROM redactions GROUP BY kind")))
            assert not any(KEY in text for text in read.texts())

    assert found[0] == found[1]
    assert found[0][1] == [("github", 6)]


@pytest.mark.expect_log("cannot be started")
def test_a_process_that_cannot_be_started_is_done_without(tmp_path: Path, projects: Path) -> None:
    tried: list[int] = []

    def refuse() -> Beside:
        tried.append(1)
        raise OSError("no more processes")

    with index(tmp_path / "index.db", projects, assistant=refuse) as read:
        read.read()
        assert len(read.texts()) == 18

    assert len(tried) == 1, "it is not tried with every file"


def test_a_short_history_and_a_large_file_that_grew_by_a_line_are_read_without_a_second_process(
    tmp_path: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Beside] = []

    def start() -> Beside:
        started.append(Beside())
        return started[-1]

    size = sum(file.stat().st_size for file in projects.rglob("*.jsonl"))
    monkeypatch.setattr(preparation, "WORTH_BYTES", size + 1)
    with index(tmp_path / "short.db", projects, assistant=start) as read:
        read.read()
        assert not started
        monkeypatch.setattr(preparation, "WORTH_BYTES", 1000)
        grown = next(projects.rglob("*.jsonl"))
        assert grown.stat().st_size > 1000
        with grown.open("ab") as file:
            file.write(b'{"type":"ai-title","aiTitle":"grown"}\n')
        read.read()
        read.ingestor.changed(grown)
        read.ingestor.drain()
        assert not started
        read.read(force=True)
        assert len(started) == 1, "for all of them again it pays"


def test_it_comes_up_before_the_first_file_is_read(tmp_path: Path, projects: Path) -> None:
    assistant = Beside()
    with index(tmp_path / "index.db", projects, assistant=lambda: assistant) as read:
        read.read()
    assert len(assistant.asked) == 6, "every file"


def test_it_may_be_some_batches_behind_but_not_many(tmp_path: Path, projects: Path) -> None:
    assistant = Beside()
    with index(tmp_path / "index.db", projects, assistant=lambda: assistant) as read:
        read.read()
    assert assistant.most_waiting == preparation.MOST_ASKED
    assert assistant.answered == len(assistant.asked)


def said(file: int) -> FileBatch:
    """Return a batch of one message."""
    record = {"type": "user", "uuid": f"u{file}", "message": {"role": "user", "content": f"file {file}"}}
    message = TranscriptParser("s").parse(record, b"")
    assert isinstance(message, ParsedMessage)
    return FileBatch(
        file_id=file, start=0, session_id="s", generation=0, occurrences=(Occurrence(message, 0, 10),), facts=(),
        agents=(), kept={}, problems=(), position=FilePosition(10, 10, 0, 0, b"", 0, ""),
    )  # fmt: skip


def test_what_is_dropped_on_its_way_is_named_and_later_batches_get_their_own_words() -> None:
    assistant = Beside()
    preparing = preparation.Preparation(None, lambda: assistant)
    preparing.expect(0)
    for number in range(3):
        assert preparing.put(said(number)) == []

    assert preparing.drop() == {0, 1, 2}

    (ready,) = preparing.put(said(3)) + preparing.drain()
    assert ready.file_id == 3
    assert ready.words == {"file 3": index_columns("file 3")}


@GIVES_UP
def test_what_a_process_had_when_it_died_is_prepared_here_in_the_same_order() -> None:
    assistant = Beside(answers=1)
    preparing = preparation.Preparation(None, lambda: assistant)
    preparing.expect(0)
    for number in range(3):
        preparing.put(said(number))

    assert [each.file_id for each in preparing.drain()] == [0, 1, 2]

    assert assistant.closed == 1
    preparing.expect(10**9)
    assert [each.file_id for each in preparing.put(said(3))] == [3], "it is not started again"


def test_the_frozen_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert command()[1:] == [FROZEN_VERB]


@pytest.mark.integration
class TestProcess:
    """The real one."""

    @pytest.fixture
    def started(self) -> Iterator[Callable[[], SecondProcess]]:
        made: list[SecondProcess] = []

        def start() -> SecondProcess:
            made.append(SecondProcess())
            assert made[-1].wait(WAIT_S)
            return made[-1]

        yield start
        for each in made:
            each.close()

    def test_it_prepares_what_a_whole_history_says(
        self, tmp_path: Path, projects: Path, started: Callable[[], SecondProcess]
    ) -> None:
        with index(tmp_path / "alone.db", projects) as alone:
            alone.read()
            expected = alone.dump()
        with index(tmp_path / "beside.db", projects, assistant=started) as beside:
            beside.read()
            assert beside.dump() == expected

    @pytest.mark.expect_log("took no texts")
    def test_it_ends_with_its_input(self, started: Callable[[], SecondProcess]) -> None:
        process = started()
        assert process.ask(["a word"], redacts=True)
        assert process.answer() == [index_columns("a word")]

        process.close()

        assert not process.ask(["more"], redacts=True)
        assert process.answer() is None

    def test_it_takes_more_than_a_pipe_holds_before_it_answered(self, started: Callable[[], SecondProcess]) -> None:
        process = started()
        texts = [[f"word{number} " * 40_000] for number in range(3)]
        for each in texts:
            assert process.ask(each, redacts=True)
        assert [process.answer() for _ in texts] == [prepare(each, redacts=True) for each in texts]
        assert not process.has_answered

    def test_a_killed_one_is_noticed(self, started: Callable[[], SecondProcess]) -> None:
        process = started()
        process.kill()
        assert process.answer() is None

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9")
    def test_none_is_left_behind_by_an_engine_that_is_killed(self) -> None:
        engine = subprocess.Popen(
            [sys.executable, "-c", ENGINE], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        assert engine.stdout is not None
        child = psutil.Process(int(engine.stdout.readline()))

        engine.kill()
        engine.communicate()

        psutil.wait_procs([child], timeout=WAIT_S)
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
