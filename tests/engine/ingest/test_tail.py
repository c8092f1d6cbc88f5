"""Reading one file: lines of any length, batches of bounded size, what a half-read file looks like."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from engine.core.repository import Grouping
from engine.ingest import tail as tails
from engine.ingest.tail import FileStat, FileTail, is_rewritten, is_unchanged, session_by_content
from engine.store.files import FileRow
from engine.transcripts.discovery import identify
from tests.helpers.corpus import ROOT
from tests.helpers.histories import as_lines
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from engine.store.batches import FileBatch
    from engine.transcripts.lines import Record

SESSION = "11111111-1111-4111-8111-111111111111"


class Rules:
    """Nothing is excluded, every folder is its own project, nobody reads along."""

    def grouping(self, cwd: str) -> Grouping:
        return Grouping(cwd, 0)

    def is_excluded(self, cwd: str | None) -> bool:
        return cwd == "/nowhere"

    def observe(self, record: Record, last_ms: int) -> object | None:
        return None if last_ms >= 0 else record


def unread(path: Path) -> FileRow:
    return FileRow(1, 1, f"-p/{path.name}", None, 0, 0, 0, 0, None, 0, None, 0, None, gone=False, error=None)


def read(path: Path, row: FileRow | None = None, *, max_line: int = tails.MAX_LINE_BYTES) -> list[FileBatch]:
    row = row or unread(path)
    identity = identify(PurePosixPath(row.path))
    assert identity is not None
    stat = FileStat.of(path.stat())
    return list(FileTail(path, row, identity, stat, session_id=SESSION, rules=Rules(), max_line=max_line).batches())


def after(path: Path, batches: list[FileBatch]) -> FileRow:
    """Return the file's row once the batches are committed."""
    batch = batches[-1]
    at = batch.position
    return replace(
        unread(path), session_id=batch.session_id, inode=at.inode, size=at.size, mtime_ns=at.mtime_ns, offset=at.offset,
        tail=at.tail, lines=at.lines, first_ms=batch.first_ms, parser=at.parser,
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def test_a_line_over_the_limit_is_skipped_as_a_stream_and_counted_with_its_place(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "READ_BYTES", 64)
    builder = TranscriptBuilder(SESSION)
    for prompt in ("before", "x" * 5_000, "after"):
        builder.prompt(prompt)
    file.write_bytes(builder.data())
    (batch,) = read(file, max_line=2_000)
    assert [each.message.blocks[0].text for each in batch.occurrences] == ["before", "after"]
    assert [(each.line, each.what, each.salvaged) for each in batch.problems] == [
        (2, "longer than 0 MiB, skipped", False)
    ]
    lengths = [len(line) + 1 for line in builder.data().split(b"\n")]
    assert batch.problems[0].offset == lengths[0]
    assert batch.position.offset == batch.position.size == sum(lengths[:3])


def test_the_place_of_each_line_is_noted(file: Path) -> None:
    builder = TranscriptBuilder(SESSION)
    builder.prompt("zwölf Boxkämpfer")
    builder.prompt("日本語")
    file.write_bytes(builder.data())
    (batch,) = read(file)
    data = file.read_bytes()
    lines = [data[each.offset : each.offset + each.length] for each in batch.occurrences]
    assert lines == [line + b"\n" for line in data.split(b"\n")[:-1]]


def test_a_large_file_comes_in_batches_and_looks_half_read_until_the_last(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "READ_BYTES", 500)
    monkeypatch.setattr(tails, "BATCH_BYTES", 1_000)
    builder = TranscriptBuilder(SESSION)
    for number in range(12):
        builder.prompt(f"prompt {number}")
    file.write_bytes(builder.data())
    batches = read(file)
    assert len(batches) > 3
    stat = FileStat.of(file.stat())
    offset = 0
    for number, batch in enumerate(batches):
        assert batch.start == offset
        offset = batch.position.offset
        assert is_unchanged(after(file, batches[: number + 1]), stat) == (batch is batches[-1])
    half = after(file, batches[:2])
    rest = read(file, half)
    texts = [each.message.blocks[0].text for batch in [*batches[:2], *rest] for each in batch.occurrences]
    assert texts == [f"prompt {number}" for number in range(12)]
    assert rest[-1].position == batches[-1].position


def test_bytes_that_are_written_while_a_file_is_read_are_left_for_the_next_time(file: Path) -> None:
    builder = TranscriptBuilder(SESSION)
    builder.prompt("first")
    file.write_bytes(builder.data())
    row, identity, stat = unread(file), identify(PurePosixPath("-p/x.jsonl")), FileStat.of(file.stat())
    assert identity is not None
    builder.prompt("second")
    file.write_bytes(builder.data())
    (batch,) = FileTail(file, row, identity, stat, session_id=SESSION, rules=Rules()).batches()
    assert [each.message.blocks[0].text for each in batch.occurrences] == ["first"]
    assert not is_unchanged(after(file, [batch]), FileStat.of(file.stat()))


def test_an_empty_file_gives_one_empty_batch(file: Path) -> None:
    file.touch()
    (batch,) = read(file)
    assert (batch.occurrences, batch.position.offset) == ((), 0)


def test_a_grown_file_is_no_rewrite_and_a_changed_one_is(file: Path) -> None:
    file.write_bytes(as_lines({"type": "tag", "tag": "one"}, {"type": "tag", "tag": "two"}))
    row = after(file, read(file))
    with file.open("ab") as appended:
        appended.write(as_lines({"type": "tag", "tag": "three"}))
    assert not is_rewritten(file, row, FileStat.of(file.stat()))
    file.write_bytes(file.read_bytes().replace(b"two", b"2 !"))
    assert is_rewritten(file, row, FileStat.of(file.stat()))


@pytest.mark.parametrize(
    ("lines", "session"),
    [
        ([{"sessionId": "a"}, {"sessionId": "b"}, {"sessionId": "b"}], "b"),
        ([{"sessionId": "a"}, {"sessionId": "b"}], "a"),
        ([{"text": 'quoted: "sessionId": "b"'}, {"sessionId": "a"}], "a"),
        ([{"type": "user"}], "chat"),
        ([], "chat"),
    ],
)
def test_the_session_that_most_lines_name(tmp_path: Path, lines: list[dict[str, str]], session: str) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(as_lines(*lines))
    assert session_by_content(path) == session


def test_what_a_sub_agents_meta_file_says_is_noted_once(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    path.write_bytes(as_lines({"type": "user", "uuid": "u", "message": {"content": "look"}}))
    path.with_name("agent-a1.meta.json").write_text(
        '{"agentType": "Explore", "description": "Find it", "toolUseId": "t"}', encoding="utf-8"
    )
    row = replace(unread(path), path=f"-p/{SESSION}/subagents/agent-a1.jsonl")
    (batch,) = read(path, row)
    (agent,) = batch.agents
    assert (agent.agent_id, agent.agent_type, agent.description, agent.tool_use_id) == ("a1", "Explore", "Find it", "t")
    assert batch.occurrences[0].message.is_sidechain
    path.with_name("agent-a1.meta.json").write_text("not JSON", encoding="utf-8")
    assert read(path, row)[0].agents == ()


LONG_LINE = """
import resource, sys
from pathlib import Path
from tests.helpers.indexing import index

with index(Path(sys.argv[1]) / "index.db", Path(sys.argv[1]) / "projects") as read:
    read.read()
    print(read.one("SELECT count(*) FROM messages"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
@pytest.mark.parametrize("begin", [b"", b"\0" * 9])
def test_a_line_of_nearly_64_mib_takes_less_than_600_mb(tmp_path: Path, begin: bytes) -> None:
    """Characters beyond the basic plane take the most room, and a damaged line is parsed by the slower parser."""
    file = tmp_path / "projects" / "-p" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    with file.open("wb") as written:
        written.write(begin + b'{"type":"user","uuid":"u","message":{"content":"')
        for _ in range(62):
            written.write("\U0001f600 ok ".encode() * (1024 * 1024 // 8))
        written.write(b'"}}\n')
    done = subprocess.run(
        [sys.executable, "-c", LONG_LINE, str(tmp_path)],
        cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    messages, kilobytes = map(int, done.stdout.split())
    assert messages == 1
    assert kilobytes < 600_000
