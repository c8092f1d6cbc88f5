"""What happens to files, and what becomes of what was read from them: the table in docs/transcripts.md."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.store import coverage, files
from tests.helpers.histories import as_lines
from tests.helpers.indexing import Index, index
from tests.helpers.transcripts import TranscriptBuilder, encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def read(tmp_path: Path, root: Path) -> Iterator[Index]:
    with index(tmp_path / "index.db", root) as opened:
        yield opened


def session(*prompts: str, session_id: str = SESSION, cwd: str = "/home/dev/api") -> TranscriptBuilder:
    builder = TranscriptBuilder(session_id, cwd=cwd)
    for prompt in prompts:
        builder.prompt(prompt)
    return builder


def again(file: Path, data: bytes) -> None:
    """Write a file anew, as an editor does that keeps the file, at another time."""
    before = file.stat().st_mtime_ns
    file.write_bytes(data)
    os.utime(file, ns=(before + 1_000_000, before + 1_000_000))


def removed(read: Index) -> list[str]:
    """Return the texts that a rewrite took out of their files."""
    return [
        row[0]
        for row in read.rows(
            """SELECT plain_text(x.text) FROM texts x JOIN chunks c ON c.id = x.id
               JOIN messages m ON m.id = c.message_id JOIN files f ON f.id = m.file_id
               WHERE m.generation < f.generation ORDER BY x.id"""
        )
    ]


def test_a_file_that_grows_is_read_on_from_where_it_stopped(root: Path, read: Index) -> None:
    builder = session("first words")
    file = builder.write(root)
    assert read.read() == 1
    builder.prompt("second words")
    with file.open("ab") as appended:
        appended.write(builder.data()[file.stat().st_size :])
    read.committed.clear()
    assert read.read() == 1
    assert read.texts() == ["first words", "second words"]
    assert read.committed == [1]


def test_an_unchanged_file_is_not_even_opened(root: Path, read: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        session(f"words {number}", session_id=f"{number:08d}-1111-4111-8111-111111111111").write(root)
    assert read.read() == 200
    changes = read.one("SELECT total_changes()")

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise AssertionError(f"{path.name} was opened")

    monkeypatch.setattr(Path, "open", refuse)
    assert read.read() == 0
    assert read.one("SELECT total_changes()") == changes


def test_partial_last_line_is_left_for_the_next_read(root: Path, read: Index) -> None:
    builder = session("first words", "second words")
    file = builder.write(root)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    read.read()
    assert read.texts() == ["first words"]
    assert read.rows("SELECT * FROM problems") == []
    file.write_bytes(whole)
    read.read()
    assert read.texts() == ["first words", "second words"]


def test_a_last_line_without_its_line_feed_is_indexed_and_counted_once(root: Path, read: Index) -> None:
    builder = session("first words")
    builder.record("from-the-future")
    whole = builder.data()
    file = builder.write(root)
    counts: list[object] = []
    for data in (whole[:-1], whole[:-1] + b"\n", whole + whole[-30:-1]):
        file.write_bytes(data)
        read.read()
        counts.append(read.rows("SELECT type, lines FROM kept_types"))
    assert counts == [[("from-the-future", 1)]] * 3
    assert read.texts() == ["first words"]
    assert read.one("SELECT lines FROM files") == 2


def test_an_unfinished_line_that_grows_into_another_record_is_indexed_as_it_is_then(root: Path, read: Index) -> None:
    builder = session("a few words")
    file = builder.write(root)
    line = file.read_bytes()[:-1]
    file.write_bytes(line)
    read.read()
    second = session("more words", session_id=OTHER)
    second.lines[0]["sessionId"] = SESSION
    file.write_bytes(line + second.data())
    read.read()
    assert sorted(read.texts()) == ["a few words", "more words"]
    assert read.rows("SELECT what, salvaged, line FROM problems") == [("several records in one line", 1, 1)]


def test_turns_that_a_rewrite_removed_stay_findable_and_are_marked(root: Path, read: Index) -> None:
    builder = session("keep this", "drop that", "and keep this")
    file = builder.write(root)
    read.read()
    del builder.lines[1]
    again(file, builder.data())
    read.read()
    assert read.found("drop") == ["drop that"]
    assert removed(read) == ["drop that"]
    assert sorted(read.texts()) == ["and keep this", "drop that", "keep this"]


def test_a_shortened_file_is_read_anew_and_keeps_what_it_said(root: Path, read: Index) -> None:
    file = session("one", "two", "three").write(root)
    read.read()
    again(file, session("one").data())
    read.read()
    assert removed(read) == ["two", "three"]
    again(file, b"")
    read.read()
    assert removed(read) == ["one", "two", "three"]
    assert read.one("SELECT opening FROM sessions") == "one"


def test_an_edit_in_place_of_the_same_length_is_found(root: Path, read: Index) -> None:
    file = session("the cat sat").write(root)
    read.read()
    again(file, file.read_bytes().replace(b"cat", b"dog"))
    read.read()
    assert read.texts() == ["the dog sat"]
    assert read.found("cat") == []


def test_a_file_that_was_replaced_by_a_longer_one_is_read_anew(root: Path, read: Index, tmp_path: Path) -> None:
    file = session("old words").write(root)
    read.read()
    other = session("new words", "and many more of them, so that it is longer than before")
    other.lines[0]["uuid"] = other.uuid("another")
    replacement = tmp_path / "replacement"
    replacement.write_bytes(other.data())
    replacement.replace(file)
    read.read()
    assert removed(read) == ["old words"]
    assert read.found("many") != []


def test_a_rewritten_file_that_grew_is_told_by_the_bytes_before_its_end(root: Path, read: Index) -> None:
    builder = session("first", "second")
    file = builder.write(root)
    read.read()
    builder.lines[1]["message"]["content"] = "changed"
    builder.prompt("third")
    again(file, builder.data())
    read.read()
    assert sorted(read.texts()) == ["changed", "first", "third"]


def test_a_file_that_was_only_touched_gains_nothing(root: Path, read: Index) -> None:
    file = session("some words").write(root)
    read.read()
    before = read.dump()
    os.utime(file, ns=(1, 1))
    read.read()
    after = read.dump()
    assert [name for name in before if before[name] != after[name]] == []


def test_a_vanished_file_is_marked_and_its_rows_stay(root: Path, read: Index) -> None:
    file = session("rare words").write(root)
    read.read()
    data, times = file.read_bytes(), (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.unlink()
    assert read.read() == 0
    assert read.one("SELECT gone_ms FROM files") == int(read.clock.now() * 1000)
    assert read.texts() == ["rare words"]
    file.write_bytes(data)
    os.utime(file, ns=times)
    read.read()
    assert read.one("SELECT gone_ms FROM files") is None
    assert read.texts() == ["rare words"]
    assert removed(read) == []


def test_a_root_that_vanishes_takes_its_files_along_and_brings_them_back(root: Path, read: Index) -> None:
    session("some words").write(root)
    read.read()
    root.rename(root.with_name("elsewhere"))
    read.read()
    assert read.one("SELECT count(*) FROM files WHERE gone_ms IS NOT NULL") == 1
    root.with_name("elsewhere").rename(root)
    read.read()
    assert read.one("SELECT count(*) FROM files WHERE gone_ms IS NOT NULL") == 0
    assert read.texts() == ["some words"]


def test_a_root_that_appears_later_is_read(tmp_path: Path) -> None:
    later = tmp_path / "later"
    with index(tmp_path / "index.db", tmp_path / "first", later) as read:
        assert read.read() == 0
        session("late words").write(later)
        assert read.read() == 1
        assert read.texts() == ["late words"]


def test_a_root_that_is_not_named_any_more_is_not_gone(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    session("one").write(one)
    session("other", session_id=OTHER).write(other)
    with index(tmp_path / "index.db", one, other) as read:
        read.read()
    with index(tmp_path / "index.db", one) as read:
        read.read()
        assert read.one("SELECT count(*) FROM files WHERE gone_ms IS NOT NULL") == 0


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_links_and_roots_inside_roots_show_every_file_once(tmp_path: Path) -> None:
    real, outside = tmp_path / "real", tmp_path / "outside"
    file = session("the words").write(real)
    session("the linked words", session_id=OTHER).write(outside)
    (tmp_path / "link").symlink_to(real, target_is_directory=True)
    (real / "-other-project").symlink_to(outside / encoded("/home/dev/api"), target_is_directory=True)
    (real / "-same-project").symlink_to(file.parent, target_is_directory=True)
    (real / "-circle").symlink_to(real, target_is_directory=True)
    (file.parent / "copy.jsonl").symlink_to(file)
    roots = (tmp_path / "link", real, real / encoded("/home/dev/api"), real)
    with index(tmp_path / "index.db", *roots) as read:
        read.read()
        assert sorted(read.texts()) == ["the linked words", "the words"]
        assert read.one("SELECT count(*) FROM files") == 2
        assert read.one("SELECT count(*) FROM copies") == 0
        assert read.read() == 0
        linked = outside / encoded("/home/dev/api") / f"{OTHER}.jsonl"
        assert read.ingestor.changed(linked)
        assert set(read.ingestor.folders) == {real, linked.parent}


@pytest.mark.parametrize("name", ["with space", 'it\'s "quoted"', "プロジェクト", "-été-", "%20;&$(x)", "\uc9d1"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    if os.name == "nt" and '"' in name:
        pytest.skip("no such name on Windows")
    root = tmp_path / name
    session("words").write(root / name)
    shutil.move(root / name / encoded("/home/dev/api"), root / f"project {name}")
    with index(tmp_path / "index.db", root) as read:
        read.read()
        assert read.texts() == ["words"]


@pytest.mark.expect_log("cannot be read")
def test_a_file_without_permission_is_shown_and_read_once_it_is_allowed(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = session("hidden words").write(root)
    session("open words", session_id=OTHER).write(root)
    opens = Path.open

    def refuse(path: Path, *arguments: object, **named: object) -> object:
        if path == hidden:
            raise PermissionError(13, "Permission denied", str(path))
        return opens(path, *arguments, **named)  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType] - passed on

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        read.read()
        counted = read.writer.write(coverage.counts)
        assert (counted.files_seen, counted.files_indexed, counted.files_unreadable) == (2, 1, 1)
        shown = read.writer.write(lambda connection: coverage.problems(connection, 10))
        assert [(Path(file).name, what) for file, what, *_ in shown] == [(hidden.name, "Permission denied")]
        changes = read.one("SELECT total_changes()")
        assert read.read() == 1
        assert read.one("SELECT total_changes()") == changes
    read.read()
    assert sorted(read.texts()) == ["hidden words", "open words"]
    assert read.writer.write(coverage.counts).files_unreadable == 0


@pytest.mark.expect_log("1 folders below the roots cannot be read")
def test_a_folder_without_permission_is_told_once_and_its_files_are_not_gone(
    root: Path, read: Index, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hidden = session("hidden words").write(root).parent
    read.read()
    scandir = os.scandir

    def refuse(folder: str) -> object:
        if Path(folder) == hidden:
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    read.read()
    read.read()
    assert len(caplog.records) == 1
    assert read.one("SELECT gone_ms FROM files") is None
    shown = read.writer.write(lambda connection: coverage.problems(connection, 10))
    assert shown == ((str(hidden), "folder: Permission denied", None, None),)

    monkeypatch.undo()
    read.read()
    assert read.writer.write(lambda connection: coverage.problems(connection, 10)) == ()


@pytest.mark.expect_log("1 folders below the roots cannot be read")
def test_a_folder_without_permission_is_shown_by_a_database_made_anew(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = session("hidden words").write(root).parent
    scandir = os.scandir

    def refuse(folder: str) -> object:
        if Path(folder) == hidden:
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with index(tmp_path / "index.db", root) as read:
        read.read()
        read.rows("DELETE FROM meta")
        read.read()
        assert read.writer.write(files.refused_folders) == {str(hidden): "Permission denied"}


def test_damaged_lines_are_shown_with_file_and_line(root: Path, read: Index) -> None:
    builder = session("one", "two", "three")
    lines = builder.data().split(b"\n")
    file = builder.write(root)
    file.write_bytes(b"\n".join([lines[0], b"\0" * 50, lines[1][:60], b"\0" * 5 + lines[2], b""]))
    read.read()
    shown = read.writer.write(lambda connection: coverage.problems(connection, 10))
    assert [(Path(each[0]).name, *each[1:3]) for each in shown] == [
        (file.name, "NUL bytes", 2),
        (file.name, "cut or unreadable", 3),
        (file.name, "NUL padding", 4),
    ]
    counted = read.writer.write(coverage.counts)
    assert (counted.damaged, counted.salvaged) == (2, 1)
    assert read.texts() == ["one", "three"]


def test_unknown_types_and_blocks_are_counted(root: Path, read: Index) -> None:
    builder = session("words")
    builder.record("from-the-future")
    builder.record("from-the-future")
    builder.answer({"type": "hologram", "text": "seen"})
    builder.add("attachment", attachment={"type": "telepathy"})
    builder.write(root)
    read.read()
    assert read.writer.write(coverage.unknown_types) == {
        "attachment/telepathy": 1,
        "block/hologram": 1,
        "from-the-future": 2,
    }


def test_stubs_journals_and_other_files_are_no_sessions(root: Path, read: Index) -> None:
    folder = root / "-p"
    (folder / SESSION / "subagents" / "workflows" / "wf_1").mkdir(parents=True)
    (folder / SESSION / "tool-results").mkdir()
    (folder / f"{OTHER}.jsonl").touch()
    (folder / SESSION / "subagents" / "workflows" / "wf_1" / "journal.jsonl").write_text(
        '{"type":"started"}\n', encoding="utf-8"
    )
    (folder / SESSION / "tool-results" / "toolu_1.jsonl").write_text("x\n", encoding="utf-8")
    (folder / "sessions-index.json").write_text("{}", encoding="utf-8")
    read.read()
    assert read.rows("SELECT path, error FROM files") == [(f"-p/{OTHER}.jsonl", None)]
    assert read.rows("SELECT * FROM sessions") == []
    assert read.read() == 0


def test_the_session_of_a_file_without_a_uuid_is_the_one_most_lines_name(root: Path, read: Index) -> None:
    builder = session("one", "two", "three")
    builder.lines[0]["sessionId"] = OTHER
    builder.write(root, name="export.jsonl")
    read.read()
    assert read.rows("SELECT DISTINCT s.session_id FROM messages m JOIN sessions s ON s.id = m.session_id") == [
        (SESSION,)
    ]


def test_the_majority_may_change_while_the_file_grows(root: Path, read: Index) -> None:
    builder = session("one", "two", "three")
    builder.lines[0]["sessionId"] = OTHER
    file = builder.write(root, name="export.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"\n") + 1])
    read.read()
    file.write_bytes(whole)
    read.read()
    assert read.rows("SELECT DISTINCT s.session_id FROM messages m JOIN sessions s ON s.id = m.session_id") == [
        (SESSION,)
    ]
    assert read.texts() == ["one", "two", "three"]
    assert removed(read) == []


def test_a_file_that_names_no_session_is_a_session_by_its_name(root: Path, read: Index) -> None:
    folder = root / "-p"
    folder.mkdir()
    (folder / "chat.jsonl").write_bytes(as_lines({"type": "user", "message": {"content": "words"}}))
    read.read()
    assert read.rows("SELECT session_id FROM sessions") == [("chat",)]


def test_nothing_of_an_excluded_project_is_indexed(tmp_path: Path, root: Path) -> None:
    secret = session("secret words", cwd="/home/dev/secret")
    secret.record("ai-title", aiTitle="A secret title")
    secret.record("last-prompt", lastPrompt="secret words")
    secret.answer("a secret answer")
    secret.lines.insert(0, {"type": "custom-title", "customTitle": "Secret from the first line on"})
    secret.cwd = "/home/dev/open"
    secret.prompt("open words")
    secret.write(root)
    with index(tmp_path / "index.db", root, is_excluded=lambda cwd: cwd is not None and "secret" in cwd) as read:
        read.read()
        assert read.texts() == ["open words"]
        assert read.rows("SELECT opening, custom_title, ai_title, last_prompt FROM sessions") == [
            ("open words", None, None, None)
        ]
        assert read.one("SELECT count(*) FROM api_calls") == 0


def test_reading_everything_anew_mends_what_the_index_lost(root: Path, read: Index) -> None:
    builder = session("first words", "second words")
    builder.answer("an answer")
    builder.write(root)
    read.read()
    before = read.dump()
    read.rows("DELETE FROM search")
    read.rows("UPDATE texts SET text = 'nonsense' WHERE id = 2")
    assert read.found("first") == []
    assert read.read(force=True) == 1
    assert sorted(read.texts()) == ["an answer", "first words", "second words"]
    assert read.dump() == before
    assert removed(read) == []


def test_a_reindex_of_one_project_leaves_the_others_alone(root: Path, read: Index) -> None:
    session("one", cwd="/home/dev/api").write(root)
    session("other", session_id=OTHER, cwd="/home/dev/web").write(root)
    read.read()
    assert read.ingestor.scan(force=True, project="dev/API") == 1
    read.ingestor.drain()
    generations = dict(read.rows("SELECT path, generation FROM files"))
    assert generations == {f"-home-dev-api/{SESSION}.jsonl": 1, f"-home-dev-web/{OTHER}.jsonl": 0}
