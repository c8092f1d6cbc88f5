"""What a parser remembers between lines, what identifies a message, and that no JSON object is too strange."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.models.kinds import Role
from engine.transcripts.fields import milliseconds
from engine.transcripts.lines import parse_line
from engine.transcripts.parser import ParserState, TranscriptParser
from engine.transcripts.records import AgentFact, ParsedMessage

SESSION = "11111111-1111-4111-8111-111111111111"
NONE: dict[str, Any] = {}
OTHER = "22222222-2222-4222-8222-222222222222"


def record(kind: str = "user", content: object = "hello", **fields: Any) -> dict[str, Any]:
    base = {"type": kind, "uuid": "u", "sessionId": SESSION, "message": {"content": content}, "version": "2.1.119"}
    return base | fields


def message(fields: dict[str, Any], parser: TranscriptParser | None = None) -> ParsedMessage:
    parsed = (parser or TranscriptParser(SESSION)).parse(fields, json.dumps(fields).encode())
    assert isinstance(parsed, ParsedMessage)
    return parsed


def test_a_result_is_named_after_its_call_also_after_a_restart() -> None:
    parser = TranscriptParser(SESSION)
    message(record("assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": NONE}]), parser)
    resumed = TranscriptParser(SESSION, state=ParserState.load(parser.state.dump()))
    answer = message(record(content=[{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]), resumed)
    assert answer.blocks[0].tool == "Bash"
    assert resumed.state.open_tools == {}


def test_calls_without_a_result_are_forgotten_oldest_first() -> None:
    parser = TranscriptParser(SESSION)
    for number in range(500):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": NONE}
        message(record("assistant", [block]), parser)
    assert list(parser.state.open_tools) == [f"toolu_{number}" for number in range(100, 500)]


def test_a_line_without_a_time_takes_that_of_the_line_before_it() -> None:
    parser = TranscriptParser(SESSION)
    assert message(record(), parser).timestamp_ms is None
    assert message(record(timestamp="2026-03-02T09:00:00.001Z"), parser).timestamp_ms == 1_772_442_000_001
    assert message(record(timestamp="yesterday"), parser).timestamp_ms == 1_772_442_000_001


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T09:00:00.001Z", 1_772_442_000_001),
        ("2026-03-02T09:00:00.001", 1_772_442_000_001),
        ("2026-03-02T10:00:00.001+01:00", 1_772_442_000_001),
        (1_772_442_000_001, 1_772_442_000_001),
        (1_772_442_000.001, 1_772_442_000_001),
        ("9999-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("1969-12-31T23:59:59Z", None),
        (True, None),
        (None, None),
        ({}, None),
    ],
)
def test_times_are_milliseconds_or_damage(value: object, expected: int | None) -> None:
    assert milliseconds(value) == expected


def test_the_sub_agent_that_a_call_started_is_told_by_its_result() -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}
    parser = TranscriptParser(SESSION)
    told = parser.started_agent(record(content=[block], toolUseResult={"agentId": "a1"}))
    assert told == AgentFact(SESSION, "a1", tool_use_id="toolu_1")
    assert parser.started_agent(record(content=[block], toolUseResult={"stdout": ""})) is None
    assert parser.started_agent(record(content=[block], toolUseResult="Error")) is None
    assert parser.started_agent(record(content="text", toolUseResult={"agentId": "a1"})) is None


def test_a_copy_with_a_new_uuid_has_the_fingerprint_of_its_original() -> None:
    said = {"id": "msg_1", "model": "m", "content": [{"type": "text", "text": "Because."}]}
    original = message(record("assistant", message=said, requestId="r", timestamp="2026-03-02T09:00:00Z"))
    copy = message(record("assistant", message=said, uuid="v", timestamp="2026-03-03T09:00:00Z"))
    assert original.has_strong_id
    assert copy.fingerprint == original.fingerprint


def test_a_text_and_a_list_of_one_text_are_the_same_prompt() -> None:
    one, other = message(record(content="go")), message(record(content=[{"type": "text", "text": "go"}]))
    assert one.fingerprint == other.fingerprint
    assert not one.has_strong_id


def test_blocks_of_one_call_have_fingerprints_of_their_own() -> None:
    texts = ["Because.", "Therefore.", "x" * 5_000, "x" * 5_001]
    lines = [
        message(record("assistant", message={"id": "msg_1", "content": [{"type": "text", "text": text}]}))
        for text in texts
    ]
    assert len({each.fingerprint for each in lines}) == len(texts)


def test_answers_that_claude_code_wrote_itself_are_never_the_same() -> None:
    said = {"id": "msg_1", "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
    assert not message(record("assistant", message=said)).has_strong_id


@pytest.mark.parametrize(
    ("fields", "copied_from", "kind"),
    [
        ({}, None, "forked"),
        ({"version": "1.0.110"}, None, "resumed"),
        ({"version": "1.0.128"}, None, "forked"),
        ({"version": "0.2.126"}, None, "resumed"),
        ({"version": "next"}, None, "forked"),
        ({"sessionId": OTHER}, OTHER, "forked"),
        ({"requestSessionId": OTHER}, OTHER, "forked"),
        ({"forkedFrom": {"sessionId": OTHER, "messageUuid": "o"}}, OTHER, "forked"),
        ({"sessionKind": "bg"}, None, "background"),
    ],
)
def test_lines_that_were_copied_say_so(fields: dict[str, Any], copied_from: str | None, kind: str) -> None:
    found = message(record(**fields))
    assert (found.copied_from, found.copy_kind) == (copied_from, kind)


def test_an_sdk_copy_names_its_original() -> None:
    assert message(record(forkedFrom={"sessionId": OTHER, "messageUuid": "o"})).original_uuid == "o"


def test_a_sub_agents_file_is_a_sidechain_whatever_its_lines_say() -> None:
    found = message(record(parentUuid="p"), TranscriptParser(SESSION, is_agent_file=True, agent_id="a1"))
    assert (found.is_sidechain, found.agent_id, found.role) == (True, "a1", Role.INJECTED)


def test_old_sub_agent_files_belong_to_the_session_that_each_line_names() -> None:
    parser = TranscriptParser(SESSION, is_agent_file=True, trust_line_session=True)
    assert message(record(sessionId=OTHER), parser).session_id == OTHER
    assert message(record(sessionId=None), parser).session_id == SESSION


def test_a_message_without_a_uuid_is_known_by_its_content() -> None:
    line = orjson.dumps(record(uuid=None))
    parser = TranscriptParser(SESSION)
    uuids = set[str]()
    for written in (line, line + b"\r", b" " + line):
        found = parser.parse(parse_line(written).records[0], written)
        assert isinstance(found, ParsedMessage)
        uuids.add(found.uuid)
    assert len(uuids) == 1
    assert uuids != {message(record(uuid=None, content="other")).uuid}


def test_names_that_cannot_be_stored_are_made_storable() -> None:
    found = message(record(cwd="/a\ud800\0b", gitBranch="x" * 10_000, uuid="u\ud800"))
    assert (found.cwd, len(found.branch or ""), found.uuid) == ("/a\ufffdb", 300, "u\ufffd")


def test_the_first_words_of_a_prompt_stand_for_its_session() -> None:
    assert message(record(content="fix\n\nthe  tests")).opening == "fix the tests"
    assert message(record("assistant")).opening is None


KEYS = st.sampled_from(
    ("type", "message", "content", "id", "name", "input", "tool_use_id", "uuid", "parentUuid", "sessionId", "text",
     "isSidechain", "isMeta", "attachment", "prompt", "commandMode", "subtype", "thinking", "source", "origin", "kind",
     "forkedFrom", "messageUuid", "toolUseResult", "agentId", "timestamp", "cwd", "worktreeSession", "originalCwd",
     "worktreePath", "summary", "leafUuid", "aiTitle", "customTitle", "lastPrompt", "usage", "model", "version")
)  # fmt: skip
TYPES = st.sampled_from(
    ("user", "assistant", "attachment", "system", "summary", "ai-title", "last-prompt", "worktree-state",
     "continued-in", "fork-context-ref", "cost-state", "text", "thinking", "tool_use", "tool_result",
     "image", "queued_command", "file")
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=14,
)


@given(st.lists(st.dictionaries(KEYS | st.text(max_size=4), VALUES, max_size=9), max_size=4), st.booleans())
def test_any_json_objects_at_all_are_parsed_and_storable(records: list[dict[str, Any]], agent: bool) -> None:  # noqa: FBT001 - drawn
    parser = TranscriptParser(SESSION, is_agent_file=agent, trust_line_session=agent)
    for each in records:
        line = json.dumps(each).encode("utf-8", "surrogatepass")
        for found in parse_line(line).records:
            parsed = parser.parse(found, line)
            parser.started_agent(found)
            assert repr(parsed).encode()  # no lone surrogates
            again = ParserState.load(parser.state.dump())
            assert again.dump() == parser.state.dump()
            parser.state = again
