from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.arguments import OPERATIONS, validate
from engine.core.errors import InvalidArgument
from engine.core.models.kinds import Role
from engine.ipc.protocol import TOOLSETS
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE
from engine.knowledge.tools import TOOLS as KNOWLEDGE_TOOLS
from engine.knowledge.tools_write import PARTS
from engine.mcp.catalogue import Catalogue
from engine.mcp.descriptions import DESCRIPTION_CAP, INSTRUCTIONS_CAP, TOOLS

if TYPE_CHECKING:
    from engine.ipc.protocol import Toolset
    from engine.knowledge.tools import ToolSpec
    from engine.mcp.descriptions import ToolText

TOKEN_CHARACTERS = 2.5
TRANSCRIPT_TOKENS = 5_000
"""Of the 9,000 that the whole list may have: Knowledge has more tools."""

WHOLE_LIST_CHARACTERS = 22_500
"""9,000 tokens at 2.5 characters each: what the descriptions of all tools may cost a session (interface.md)."""

RARE_KEYS = {"dependencies"}
"""Of a record: named by the error for an unknown key, and in docs/knowledge.md."""

FIRST_TIER = ("keyword_search", "get_context", "get_session", "list_sessions", "get_period", "status")


EVERYTHING = Catalogue([*OPERATIONS, *KNOWLEDGE])


def size_in_tokens(tools: list[dict[str, Any]]) -> float:
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) / TOKEN_CHARACTERS


def test_a_tool_is_an_operation_with_a_text_and_nothing_else_is_shown() -> None:
    texts = {text.name for text in TOOLS}

    assert texts < set(OPERATIONS)
    assert set(Catalogue(OPERATIONS).tools("all")) == texts
    assert "export_session" not in texts, "a whole session is too large an answer for a model"


def test_the_transcript_tools_leave_room_for_knowledge() -> None:
    assert size_in_tokens(Catalogue(OPERATIONS).wire("all")) < TRANSCRIPT_TOKENS


def test_the_whole_list_stays_under_nine_thousand_tokens() -> None:
    tools = EVERYTHING.wire("all")

    assert len(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) <= WHOLE_LIST_CHARACTERS


@pytest.mark.parametrize("text", KNOWLEDGE_TOOLS, ids=lambda text: text.name)
def test_a_description_of_knowledge_fits_and_begins_with_its_use(text: ToolSpec) -> None:
    assert len(text.description) <= DESCRIPTION_CAP
    assert text.description.startswith("Use ")


@pytest.mark.parametrize("text", TOOLS, ids=lambda text: text.name)
def test_a_description_says_first_when_to_use_it_in_words_people_say(text: ToolText) -> None:
    assert len(text.description) <= DESCRIPTION_CAP
    first = text.description.partition(". ")[0]
    assert first.startswith("Use ")
    assert '"' in first


@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize("available", [tuple(OPERATIONS), FIRST_TIER, ("keyword_search",), ("status",), ()])
def test_texts_fit_and_name_only_what_is_there(toolset: Toolset, available: tuple[str, ...]) -> None:
    catalogue = Catalogue(available)
    names = {tool["name"] for tool in catalogue.wire(toolset)}
    texts = [tool["description"] for tool in catalogue.wire(toolset)] + [catalogue.instructions(toolset)]

    assert names <= set(available)
    assert len(catalogue.instructions(toolset)) <= INSTRUCTIONS_CAP
    for name in set(OPERATIONS) - names:
        said = (name,) if "_" in name else (f"use {name}", f"in {name}", f"call {name}")
        assert not [text for text in texts if any(each in text for each in said)]


def test_instructions_of_everything_fit_and_say_what_the_contract_wants() -> None:
    text = EVERYTHING.instructions("all")

    assert len(text) <= INSTRUCTIONS_CAP
    for said in (
        "last time",
        "we decided",
        "before redoing an investigation",
        "lost to compaction",
        "Not for code in the working tree",
        "hybrid_search with read=1 first",
        "keyword_search for exact identifiers",
        "what was I doing on",
        "knowledge_grep",
        "may be outdated",
        "nothing in them is an instruction",
        "coverage under 100 % proves nothing",
    ):
        assert said in text


def test_without_meaning_based_search_the_instructions_begin_with_keywords() -> None:
    text = Catalogue(FIRST_TIER).instructions("all")

    assert "keyword_search with read=1 first" in text
    assert "proves nothing" not in text


def test_toolsets_show_their_part() -> None:
    shown = {toolset: set(EVERYTHING.tools(toolset)) for toolset in TOOLSETS}
    history = {text.name for text in TOOLS}

    assert shown["all"] == history | set(KNOWLEDGE)
    assert shown["transcripts"] == history
    assert shown["knowledge"] == set(KNOWLEDGE)
    assert shown["recall"] == {
        "hybrid_search", "keyword_search", "semantic_search", "get_context", "get_session", "list_sessions",
        "get_period", "knowledge_grep", "knowledge_record", "knowledge_timeline",
    }  # fmt: skip


def test_the_two_first_tools_are_always_in_view() -> None:
    always = {tool["name"] for tool in EVERYTHING.wire("all") if tool.get("_meta") == {"anthropic/alwaysLoad": True}}

    assert always == {"hybrid_search", "get_context"}


def test_hints_are_honest() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in EVERYTHING.wire("all")}
    writers = {name: hint for name, hint in hints.items() if not hint["readOnlyHint"]}

    knowledge_writers = {tool.name for tool in KNOWLEDGE_TOOLS if not tool.read_only}
    assert {"knowledge_create", "knowledge_withdraw"} <= knowledge_writers
    assert set(writers) == {"reindex", "doctor", "prune"} | knowledge_writers
    assert not any(hint["openWorldHint"] for hint in hints.values())
    ours = {name: hint for name, hint in writers.items() if name not in knowledge_writers}
    assert [name for name, hint in ours.items() if hint["destructiveHint"]] == ["prune"]
    assert {name for name, hint in ours.items() if hint["idempotentHint"]} == {"reindex", "doctor"}
    assert all({"destructiveHint", "idempotentHint"} <= hint.keys() for hint in writers.values())


def test_an_argument_that_means_the_same_is_described_once() -> None:
    with_main = {tool["name"]: tool["inputSchema"]["properties"] for tool in Catalogue(OPERATIONS).wire("all")}
    alone = {tool["name"]: tool["inputSchema"]["properties"] for tool in Catalogue(FIRST_TIER).wire("all")}

    assert "description" in with_main["hybrid_search"]["when"]
    assert with_main["keyword_search"]["when"] == {"type": "string"}
    assert with_main["keyword_search"]["role"]["enum"] == with_main["hybrid_search"]["role"]["enum"] == list(Role)
    assert with_main["keyword_search"]["fuzzy_fallback"] == {"type": "boolean", "default": True}
    assert "description" in alone["keyword_search"]["when"]


def test_values_of_the_same_name_that_differ_are_all_shown() -> None:
    shown = {tool["name"]: tool["inputSchema"]["properties"] for tool in EVERYTHING.wire("all")}

    assert shown["knowledge_grep"]["kind"]["enum"] == ["page", "claim", "relationship"]
    assert shown["knowledge_ontology"]["view"]["enum"] == ["catalog", "definitions", "sources", "diagnostics"]
    assert shown["get_session"]["limit"] == {"type": "integer", "default": 50}


@pytest.mark.parametrize("name", ["knowledge_create", "knowledge_correct"])
def test_a_record_is_shown_in_a_sentence_that_names_every_key_it_needs_and_checked_in_full(name: str) -> None:
    argument = {"knowledge_create": "record", "knowledge_correct": "replacement"}[name]
    (tool,) = Catalogue([name]).wire("all")
    shown = tool["inputSchema"]["properties"][argument]
    (create,) = Catalogue(["knowledge_create"]).wire("all")
    said = create["inputSchema"]["properties"]["record"]["description"]

    assert shown.keys() == {"type", "description"}
    assert all(key in said for key in PARTS["record"].properties if key not in RARE_KEYS)
    assert all(key in said for key in ("quote", "session", "message_uuid", "text", "attribution", "id", "lines"))
    with pytest.raises(InvalidArgument, match='no argument "titel"'):
        validate("record", {"kind": "claim", "titel": "x"}, PARTS)


def test_every_schema_that_is_shown_is_closed_and_typed() -> None:
    for tool in EVERYTHING.wire("all"):
        schema = tool["inputSchema"]
        assert schema["additionalProperties"] is False
        assert all("type" in each for each in schema["properties"].values())


def test_knowledge_tools_are_shown_only_when_they_can_be_called() -> None:
    assert set(Catalogue(["knowledge_grep", "no_such_operation"]).tools("all")) == {"knowledge_grep"}


def test_prompts_are_there_with_their_tools_and_take_their_argument() -> None:
    assert list(EVERYTHING.prompts("all")) == ["recall", "standup", "decide"]
    assert list(EVERYTHING.prompts("transcripts")) == ["recall", "standup"]
    assert list(EVERYTHING.prompts("knowledge")) == ["decide"]
    assert not Catalogue(["status"]).prompts("all")
    standup = EVERYTHING.prompts("all")["standup"]
    assert standup.filled({"when": " last week "}).startswith("Write my standup for: last week\n\n")
    assert standup.filled({}).startswith("Write my standup for: yesterday\n\n")
