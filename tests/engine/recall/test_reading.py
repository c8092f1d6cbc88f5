"""Messages and sessions are read in full, from where they really stand."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from engine.core.errors import NotFound
from engine.core.ids import chunk_id, message_key
from engine.core.models.asking import SearchRequest
from engine.core.models.kinds import Role
from engine.core.paths import Paths
from tests.engine.recall.conftest import LATER, LONG, REPOSITORY, write_history
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.models.sessions import Reading
    from engine.service import Engine

History = tuple["Engine", dict[str, str], "Path"]


def texts(reading: Reading) -> list[str]:
    return [block.text or "" for message in reading.messages for block in message.blocks]


def test_context_returns_the_message_between_its_neighbours(history: History) -> None:
    engine, named, _ = history
    found = engine.api.get_context([named["answer"]], before=1, after=1)

    assert [message.message_uuid for message in found.messages][:2] == [named["thinking"], named["answer"]]
    assert [message.in_hit for message in found.messages] == [None, True, None]
    assert found.position.index == 1
    assert found.session.session_id == LONG


def test_context_is_the_full_text_not_the_cut_one_of_the_index(history: History) -> None:
    engine, named, _ = history
    (text,) = texts(engine.api.get_context([named["answer"]], before=0, after=0))

    assert len(text) > 80_000


def test_a_chunk_id_of_a_hit_leads_to_its_message(history: History) -> None:
    engine, named, _ = history
    hit = engine.api.search(SearchRequest(query="committed", mode="keyword")).hits[0]

    assert engine.api.get_context([hit.chunk_id], before=0, after=0).messages[0].message_uuid == named["end"]


def test_several_ids_are_merged_and_each_message_told_once(history: History) -> None:
    engine, named, _ = history
    found = engine.api.get_context([named["prompt"], named["answer"]], before=1, after=1)

    uuids = [message.message_uuid for message in found.messages]
    assert len(uuids) == len(set(uuids)) == 4
    assert [message.in_hit for message in found.messages] == [True, None, True, None]


def test_ids_of_two_sessions_name_both(history: History) -> None:
    engine, named, _ = history
    other = engine.api.get_session(LATER).messages[0].message_uuid
    found = engine.api.get_context([named["prompt"], other], before=0, after=0)

    assert found.session.session_id == LONG
    assert found.other_sessions is not None
    assert [row.session_id for row in found.other_sessions] == [LATER]


def test_what_sessions_share_is_told_once_and_what_was_asked_for_in_its_own(tmp_path: Path) -> None:
    origin = TranscriptBuilder(LONG, cwd=REPOSITORY)
    first, second = origin.prompt("Shared question"), origin.answer("Shared answer")
    origin.write(tmp_path / "projects")
    fork = TranscriptBuilder(LATER, cwd=REPOSITORY, lines=[line | {"sessionId": LATER} for line in origin.lines])
    third = fork.prompt("Asked in the fork only")
    fork.write(tmp_path / "projects")

    with running_engine(Paths.below(tmp_path / "home"), tmp_path / "projects") as engine:
        for asked in ([third, first], [first, third], [third, second]):
            found = engine.api.get_context(asked, before=3, after=3)
            shown = [message.message_uuid for message in found.messages]
            assert sorted(shown) == sorted({first, second, third})
            assert {message.message_uuid for message in found.messages if message.in_hit} == set(asked)


@pytest.mark.parametrize("unknown", ["nonsense!", "0000000000000", "11111111-0000-4000-8000-00000000ffff", ""])
def test_an_unknown_id_says_where_ids_come_from(history: History, unknown: str) -> None:
    engine, _, _ = history
    with pytest.raises(NotFound, match="search"):
        engine.api.get_context([unknown])


@pytest.mark.parametrize(
    ("other", "tool"), [(LONG, "get_session"), (LONG[:8], "get_session"), ("k_0123456789", "knowledge_record")]
)
def test_an_id_of_another_kind_is_answered_with_the_tool_that_reads_it(history: History, other: str, tool: str) -> None:
    engine, _, _ = history
    with pytest.raises(NotFound, match=f"{tool} reads"):
        engine.api.get_context([other])


def test_the_id_of_a_message_in_place_of_a_session_names_its_session(history: History) -> None:
    engine, named, _ = history
    hit = engine.api.get_context([named["spilled"]]).messages[0]
    chunk = chunk_id(message_key(hit.message_uuid), 0)
    for other in (hit.message_uuid, chunk):
        with pytest.raises(NotFound, match="get_context reads") as caught:
            engine.api.get_session(other)
        assert caught.value.candidates == (hit.session_id,)


def test_spilled_tool_output_is_read_from_beside_the_transcript(history: History) -> None:
    engine, named, _ = history
    (text,) = texts(engine.api.get_context([named["spilled"]], before=0, after=0))

    assert text.endswith("the last row\n")


def test_a_spill_path_never_leads_out_of_the_sessions_folder(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    root.mkdir()
    named = write_history(root)
    (tmp_path / "secret.txt").write_text("must not be read", encoding="utf-8")
    file = next(root.glob(f"*/{LONG}.jsonl"))
    file.write_bytes(file.read_bytes().replace(b"tool-results/toolu_spill.txt", b"tool-results/../../../../secret.txt"))
    with running_engine(Paths.below(tmp_path / "home"), root) as engine:
        (text,) = texts(engine.api.get_context([named["spilled"]], before=0, after=0))

    assert "must not be read" not in text


def test_images_are_named_not_shown(history: History) -> None:
    engine, named, _ = history
    (text,) = texts(engine.api.get_context([named["image"]], before=0, after=0))

    assert text == "[image/png, 29 KB]"


def test_blocks_and_attachments_that_are_no_plain_text_are_shown_as_they_can_be_read(tmp_path: Path) -> None:
    session = TranscriptBuilder(LONG, cwd=REPOSITORY)
    session.prompt("Look it up")
    page = {"type": "web_search_result", "title": "A page", "url": "https://a.example", "encrypted_content": "QUFB"}
    session.answer({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [page]})
    session.answer({"type": "hologram", "text": "readable"}, {"type": "glyph", "data": "QUFB"})
    session.add("attachment", attachment={"type": "diagnostics", "files": [{"uri": "a.py", "message": "unused"}]})
    session.add("attachment", attachment={"type": "hook_non_blocking_error", "stderr": "hook failed"})
    session.write(tmp_path / "projects")

    with running_engine(Paths.below(tmp_path / "home"), tmp_path / "projects") as engine:
        _, found, unknown, listed, hook = [
            [block.text for block in message.blocks] for message in engine.api.get_session(LONG).messages
        ]
    assert found == ["A page\nhttps://a.example"]
    assert unknown == ["text: readable", "[glyph]"]
    assert listed == ["uri: a.py\nmessage: unused"]
    assert hook == ["hook failed"]


def test_tool_calls_show_their_input_as_it_was(history: History) -> None:
    engine, named, _ = history
    found = engine.api.get_context([named["edit"]], before=1, after=0)

    assert found.messages[0].blocks[0].input == {"file_path": "cart.py", "old_string": "a", "new_string": "b"}
    assert found.messages[0].blocks[0].tool == "Edit"


def test_failed_results_say_so(history: History) -> None:
    engine, named, _ = history

    assert engine.api.get_context([named["failed"]], before=0, after=0).messages[0].blocks[0].is_error is True


def test_a_sub_agents_message_is_shown_among_its_own(history: History) -> None:
    engine, named, _ = history
    found = engine.api.get_context([named["agent"]])

    assert texts(found) == ["Look for callers.", "Seven callers found."]
    assert all(message.is_sidechain for message in found.messages)
    assert found.note is not None


def test_a_session_is_paged_completely_and_in_order(history: History) -> None:
    engine, _, _ = history
    whole = [message.message_uuid for message in engine.api.get_session(LONG, limit=500).messages]
    page = engine.api.get_session(LONG, limit=4)
    paged = [message.message_uuid for message in page.messages]
    while page.next_offset is not None:
        page = engine.api.get_session(LONG, offset=page.next_offset, limit=4)
        paged += [message.message_uuid for message in page.messages]

    assert paged == whole
    assert page.position.of == len(whole)


def test_sub_agents_are_left_out_of_a_session_unless_asked(history: History) -> None:
    engine, named, _ = history
    without = {message.message_uuid for message in engine.api.get_session(LONG, limit=500).messages}
    with_them = engine.api.get_session(LONG, limit=500, include_sidechains=True).messages

    assert named["agent"] not in without
    assert with_them[-1].message_uuid == named["agent"]


def test_a_session_can_be_read_by_roles(history: History) -> None:
    engine, named, _ = history
    found = engine.api.get_session(LONG[:4], roles=frozenset({Role.USER}))

    assert [message.message_uuid for message in found.messages] == [named["prompt"], named["second"]]


def test_an_unknown_session_names_the_tool_that_lists_them(history: History) -> None:
    engine, _, _ = history
    with pytest.raises(NotFound, match="list_sessions"):
        engine.api.get_session("nope")


def test_sessions_are_listed_newest_first_with_title_project_and_resume_command(history: History) -> None:
    engine, _, _ = history
    first, second = engine.api.list_sessions().sessions

    assert (first.session_id, first.cwd, second.title) == (LATER, None, "Checkout migration")
    assert second.prompts == 2
    assert second.resume_command == f"cd {REPOSITORY} && claude --resume {LONG}"
    assert second.on_disk


BARE = "<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args></command-args>"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ([BARE], "/init"),
        ([BARE, BARE.replace("init", "clear")], "/init"),
        ([BARE, "Fix the tests"], "Fix the tests"),
        (["Fix the tests", BARE], "Fix the tests"),
        ([BARE, BARE.replace("<command-args>", "<command-args>now")], "/init now"),
        (["/etc/hosts is wrong", "Mend it"], "/etc/hosts is wrong"),
    ],
)
def test_a_command_without_words_is_the_title_only_where_nothing_else_opens_the_session(
    tmp_path: Path, said: list[str], title: str
) -> None:
    session = TranscriptBuilder(LONG, cwd=REPOSITORY)
    for text in said:
        session.prompt(text)
        session.answer("Done.")
    session.write(tmp_path / "projects")

    with running_engine(Paths.below(tmp_path / "home"), tmp_path / "projects") as engine:
        (row,) = engine.api.list_sessions().sessions
    assert row.title == title


def test_a_period_tells_opening_and_highlights_of_each_session(history: History) -> None:
    engine, _, _ = history
    found = engine.api.list_sessions(date_from="2026-03-02", date_to="2026-03-02", with_highlights=True)

    (row,) = found.sessions
    assert row.opening == "Plan the checkout migration, please."
    assert row.highlights is not None
    assert any("git commit" in line for line in row.highlights)
    assert any("Now commit it." in line for line in row.highlights)


def test_export_to_markdown_reads_well_and_fences_tool_calls(history: History) -> None:
    engine, _, _ = history
    text = engine.api.export_session(LONG)

    assert text.startswith("# Checkout migration\n")
    assert "## You · 2026-03-02T09:00:05+00:00" in text
    assert '```json\n{\n  "command": "make test"\n}\n```' in text
    assert text.count("```") % 2 == 0


def test_export_to_json_lines_is_what_claude_code_wrote(history: History) -> None:
    engine, _, root = history
    exported = engine.api.export_session(LONG, form="jsonl").splitlines()
    original = next(root.glob(f"*/{LONG}.jsonl")).read_text(encoding="utf-8").splitlines()

    assert [line for line in exported if json.loads(line)["isSidechain"] is False] == original[:-1]


def test_when_the_transcript_is_gone_the_index_still_answers_and_says_so(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    root.mkdir()
    named = write_history(root)
    with running_engine(Paths.below(tmp_path / "home"), root) as engine:
        shutil.rmtree(root)
        root.mkdir()
        engine.run_once()
        found = engine.api.get_context([named["commit"]], before=1, after=0)
        hit = engine.api.search(SearchRequest(query="committed", mode="keyword")).hits[0]
        row = next(each for each in engine.api.list_sessions().sessions if each.session_id == LONG)

    assert [message.source for message in found.messages] == ["index", "index"]
    assert "git commit" in (found.messages[0].blocks[0].text or "")
    assert not hit.on_disk
    assert not row.on_disk


def test_nul_and_control_characters_do_not_break_a_reading(history: History) -> None:
    engine, named, _ = history
    (text,) = texts(engine.api.get_context([named["end"]], before=0, after=0))

    assert "\x00" not in text
    assert "\x1b[31mred" in text
