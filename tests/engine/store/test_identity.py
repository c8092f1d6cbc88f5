"""One message, however often and under whatever uuids it is written: who owns it, and what stays apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.core.ids import chunk_id, message_key
from engine.store import named
from tests.helpers.histories import FORK, ORIGINAL, RESUMED, RESUMED_AGAIN, fork, on_disk, resume, sdk_fork
from tests.helpers.indexing import Index, index
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def read(tmp_path: Path, root: Path) -> Iterator[Index]:
    with index(tmp_path / "index.db", root) as opened:
        yield opened


def talk(version: str = "2.1.119", *, ends_with: str | None = None) -> TranscriptBuilder:
    builder = TranscriptBuilder(ORIGINAL, version=version, cwd="/home/dev/api")
    builder.prompt("why is it slow?")
    builder.answer("Because of the cache.")
    builder.prompt("make it fast")
    builder.answer("Done.")
    if ends_with is not None:
        builder.prompt(ends_with)
    return builder


def owners(read: Index) -> dict[str, str]:
    """Return the session that owns each text."""
    return dict(
        read.rows(
            """SELECT plain_text(x.text), s.session_id FROM texts x JOIN chunks c ON c.id = x.id
               JOIN sessions s ON s.id = c.session_id"""
        )
    )


def test_a_fork_that_is_read_first_gives_its_messages_back_to_the_original(root: Path, read: Index) -> None:
    original = talk()
    copy = fork(original, [("prompt", "the fork")])
    on_disk(copy).write(root)
    read.read()
    assert set(owners(read).values()) == {FORK}
    on_disk(original).write(root)
    read.read()
    assert owners(read) == {
        "why is it slow?": ORIGINAL,
        "Because of the cache.": ORIGINAL,
        "make it fast": ORIGINAL,
        "Done.": ORIGINAL,
        "Please explain the fork": FORK,
    }
    assert read.lineage() == {FORK: (ORIGINAL, "forked")}
    assert read.one("SELECT count(*) FROM copies") == 4


def test_of_two_unmarked_sessions_the_one_with_notes_between_its_lines_is_the_original(root: Path, read: Index) -> None:
    original = talk()
    copy = TranscriptBuilder(FORK, cwd=original.cwd, now=original.now)
    copy.lines = [{**line, "sessionId": FORK} for line in original.lines]
    copy.last_uuid = original.last_uuid
    copy.prompt("another way")
    for place in (4, 2, 0):
        original.lines.insert(place, {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}})
    for each in (copy, original):
        on_disk(each).write(root)
        read.read()
    assert owners(read)["Done."] == ORIGINAL
    assert read.lineage() == {FORK: (ORIGINAL, "forked")}


def test_a_handed_over_session_is_a_background_copy(root: Path, read: Index) -> None:
    original = talk()
    copy = TranscriptBuilder(FORK, cwd=original.cwd)
    copy.lines = [{**line, "sessionId": FORK, "sessionKind": "bg"} for line in original.lines]
    copy.answer("Done in the background.", sessionKind="bg")
    for each in (copy, original):
        on_disk(each).write(root)
        read.read()
    assert read.lineage() == {FORK: (ORIGINAL, "background")}
    assert len(read.texts()) == 5


@pytest.mark.parametrize("copy_first", [True, False])
def test_an_old_resume_with_new_uuids_repeats_nothing(root: Path, read: Index, *, copy_first: bool) -> None:
    original = talk("1.0.24", ends_with="and then")
    copy = resume(original, [("prompt", "more")])
    for each in (copy, original) if copy_first else (original, copy):
        on_disk(each).write(root)
        read.read()
    assert sorted(read.texts()) == [
        "Because of the cache.",
        "Done.",
        "Please explain more",
        "and then",
        "make it fast",
        "why is it slow?",
    ]
    assert read.lineage() == {RESUMED: (ORIGINAL, "resumed")}


def test_the_same_words_said_after_two_resumes_are_two_messages(root: Path, read: Index) -> None:
    original = talk("1.0.24")
    one = resume(original, [])
    other = resume(original, [], session_id=RESUMED_AGAIN)
    for each in (original, one, other):
        if each is not original:
            each.prompt("continue")
            each.answer(f"Going on in {each.session_id[:4]}.")
        on_disk(each).write(root)
        read.read()
    assert read.texts().count("continue") == 2
    assert len(read.texts()) == 8


def test_the_same_first_words_of_two_sessions_are_two_messages(root: Path, read: Index) -> None:
    for session_id in (ORIGINAL, FORK):
        builder = TranscriptBuilder(session_id)
        builder.prompt("hello")
        builder.answer(f"Hello from {session_id[:4]}.")
        on_disk(builder).write(root)
    read.read()
    assert read.texts().count("hello") == 2
    assert read.lineage() == {}


def test_lines_that_a_second_compaction_appends_again_are_found_once(root: Path, read: Index) -> None:
    builder = talk()
    builder.lines = builder.lines * 5
    on_disk(builder).write(root)
    read.read()
    again = builder.lines[:4]
    builder.lines += again
    on_disk(builder).write(root)
    read.read()
    assert len(read.texts()) == 4
    assert read.one("SELECT count(*) FROM copies") == 0


def test_an_aside_that_replays_its_parent_adds_only_what_it_says(root: Path, read: Index) -> None:
    original = talk()
    on_disk(original).write(root)
    aside = TranscriptBuilder("aside", cwd=original.cwd)
    told: dict[str, Any] = {"isSidechain": True, "agentId": "aside_question-1f", "sessionId": ORIGINAL}
    parent = None
    for number, line in enumerate(original.lines):
        uuid = aside.uuid(f"replay {number}")
        aside.lines.append({**line, **told, "uuid": uuid, "parentUuid": parent, "requestId": f"req_other{number}"})
        parent = uuid
    aside.last_uuid = parent
    aside.prompt("by the way, what is FTS5?", **told)
    aside.answer("An index of words.", **told)
    path = root / "-home-dev-api" / ORIGINAL / "subagents" / "agent-aside_question-1f.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(aside.data())
    read.read()
    assert sorted(read.texts()) == [
        "An index of words.",
        "Because of the cache.",
        "Done.",
        "by the way, what is FTS5?",
        "make it fast",
        "why is it slow?",
    ]
    assert read.one("SELECT count(*) FROM messages WHERE sidechain = 0") == 4
    assert read.lineage() == {}


def test_the_same_folder_copied_to_another_root_adds_places_and_no_messages(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    on_disk(talk()).write(one)
    on_disk(talk()).write(other)
    with index(tmp_path / "index.db", one, other) as read:
        read.read()
        assert len(read.texts()) == 4
        assert read.one("SELECT count(*) FROM copies") == 4
        assert read.one("SELECT count(*) FROM sessions") == 1
        assert read.lineage() == {}


def test_an_sdk_forks_fork_is_recognised_when_the_original_comes_last(root: Path, read: Index) -> None:
    original = talk(ends_with="unanswered words")
    copy = sdk_fork(original, [("prompt", "one")])
    again = sdk_fork(copy, [("prompt", "two")])
    again.session_id = FORK
    for line in again.lines:
        line["sessionId"] = FORK
    for each in (again, copy, original):
        on_disk(each).write(root)
        read.read()
    assert len(read.texts()) == 7
    assert owners(read)["unanswered words"] == ORIGINAL
    assert {parent for parent, _ in read.lineage().values()} == {ORIGINAL, copy.session_id}


def test_what_is_indexed_of_a_shared_message_is_what_its_owner_says(root: Path, read: Index) -> None:
    """A fork drops parallel calls, so it cannot know which tool a result answers."""
    original = TranscriptBuilder(ORIGINAL, cwd="/home/dev/api")
    original.prompt("choose")
    original.tool("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "The left one. " * 500)
    copy = fork(original, [])
    del copy.lines[2]
    stored = "SELECT t.name, c.signal, c.cut FROM chunks c LEFT JOIN tools t ON t.id = c.tool_id WHERE c.kind = 3"
    on_disk(copy).write(root)
    read.read()
    assert read.rows(stored) == [(None, 2, 3005)]
    on_disk(original).write(root)
    read.read()
    assert read.rows(stored) == [("AskUserQuestion", 0, 0)]


def test_a_message_is_found_by_the_ids_of_all_its_places(root: Path, read: Index) -> None:
    original = talk("1.0.24")
    copy = resume(original, [])
    on_disk(copy).write(root)
    read.read()
    cited = [line["uuid"] for line in copy.lines]
    on_disk(original).write(root)
    read.read()
    for old, new in zip(cited, (line["uuid"] for line in original.lines), strict=True):
        assert len(chunk_id(message_key(old), 0)) <= 14
        found = {read.writer.write(lambda c, uuid=uuid: named.message_by_uuid(c, uuid)) for uuid in (old, new)}
        assert len(found) == 1
        assert None not in found


def test_an_exchange_is_the_prompt_and_all_that_answers_it(root: Path, read: Index) -> None:
    builder = talk()
    builder.tool("Bash", {"command": "make"}, "ok")
    builder.prompt("Look around", isSidechain=True, parentUuid=None)
    builder.answer("Looked.", isSidechain=True)
    builder.prompt("Look again", isSidechain=True, parentUuid=None)
    builder.answer("Looked again.", isSidechain=True)
    on_disk(builder).write(root)
    read.read()
    exchanges = read.rows(
        """SELECT group_concat(plain_text(x.text), ' | ') FROM (SELECT * FROM chunks ORDER BY id) c
           JOIN texts x ON x.id = c.id GROUP BY c.exchange_id ORDER BY c.exchange_id"""
    )
    assert [row[0] for row in exchanges] == [
        "why is it slow? | Because of the cache.",
        "make it fast | Done. | make | ok",
        "Look around | Looked.",
        "Look again | Looked again.",
    ]
