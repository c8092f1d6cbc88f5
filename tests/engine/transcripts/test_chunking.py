"""What of a block is indexed, and that no text is too long or too strange for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.models.kinds import Kind, Role
from engine.transcripts import chunking


def test_a_text_within_its_limit_is_left_as_it_is() -> None:
    assert chunking.cut("a b c", 5) == ("a b c", 0)


def test_of_a_longer_text_head_and_tail_are_kept_and_words_stay_whole() -> None:
    text = " ".join(f"word{number:04d}" for number in range(1000))
    shown, removed = chunking.cut(text, 4_000)
    head, tail = shown.split("\n…\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head.endswith("word0221")
    assert removed == len(text) - len(head) - len(tail)
    assert len(shown) <= 4_000 + 3


@given(st.text(max_size=400), st.integers(2, 100))
def test_what_is_shown_and_what_was_removed_make_the_whole(text: str, limit: int) -> None:
    shown, removed = chunking.cut(text, limit)
    assert len(shown) - (3 if removed else 0) + removed == len(text)


@pytest.mark.parametrize(
    ("role", "kind", "tool", "limit"),
    [
        (Role.USER, Kind.TEXT, None, 40_000),
        (Role.ASSISTANT, Kind.TEXT, None, 40_000),
        (Role.ASSISTANT, Kind.THINKING, None, 40_000),
        (Role.SUMMARY, Kind.TEXT, None, 40_000),
        (Role.ASSISTANT, Kind.TOOL_USE, "ExitPlanMode", 40_000),
        (Role.TOOL, Kind.TOOL_RESULT, "AskUserQuestion", 40_000),
        (Role.INJECTED, Kind.TEXT, None, 4_000),
        (Role.TOOL, Kind.TOOL_RESULT, "Bash", 4_000),
        (Role.ASSISTANT, Kind.TOOL_USE, "Write", 4_000),
    ],
)
def test_people_and_answers_have_room_and_machines_little(role: Role, kind: Kind, tool: str | None, limit: int) -> None:
    assert chunking.limit_for(role, kind, tool) == limit


def test_editor_context_is_taken_out_of_a_prompt_wherever_it_stands() -> None:
    prompt = "look <ide_selection>x</ide_selection>at this<system-reminder>\nbe kind\n</system-reminder>"
    assert chunking.prompt_text(prompt) == "look at this"


def test_markup_that_is_never_closed_is_part_of_the_prompt() -> None:
    assert chunking.prompt_text("what does <ide_selection> mean?") == "what does <ide_selection> mean?"
    many = "<ide_selection>" * 20_000
    assert chunking.prompt_text(many) == many


def test_nested_input_is_flattened_and_endless_nesting_cut_off() -> None:
    value: object = "deep"
    for _ in range(500):
        value = {"a": [value]}
    assert chunking.tool_input_text("Any", {"edits": [{"old": "x", "new": "y"}], "value": value, "off": False}) == (
        "edits: old: x\nnew: y"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (["one", {"type": "text", "text": "two"}], "one\ntwo"),
        ({"type": "web_fetch_result", "url": "u", "content": {"type": "document", "title": "t", "source": {}}}, "u\nt"),
        ([{"type": "search_result", "title": "t", "source": "s", "content": [{"type": "text", "text": "x"}]}], "t\nx"),
        ([{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}], "inside"),
        ({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}, "max_uses_exceeded"),
        ([{"type": "image", "source": {"data": "QUFB"}}, None, 7, {"text": 5}], ""),
        (None, ""),
    ],
)
def test_whatever_can_be_read_in_a_result_is_its_text(content: object, text: str) -> None:
    assert chunking.result_text(content) == text


def test_a_result_nested_without_end_is_cut_off() -> None:
    nested: object = "deep"
    for _ in range(5_000):
        nested = {"content": [nested]}
    assert chunking.result_text(nested) == ""


def test_data_is_left_out_of_unknown_blocks() -> None:
    assert chunking.other_text({"type": "x", "text": "seen " + "QUJD" * 200, "data": "hidden"}) == "text: seen "
