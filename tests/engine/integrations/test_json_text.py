from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.integrations.json_text import (
    UnexpectedJson,
    append_items,
    look_up,
    parse,
    remove_items,
    remove_value,
    set_value,
)

ENTRY: dict[str, Any] = {"type": "stdio", "command": "/opt/bin/backscroll-mcp", "args": [], "env": {}}
PLACE = ("mcpServers", "backscroll")

CLAUDE = """{
  "numStartups": 12,
  "ratio": 1.10,
  "note": "caf\\u00e9 \\ud83d",
  "mcpServers": {
    "other": {
      "command": "npx",
      "args": ["-y",   "thing"]
    }
  },
  "projects": {"/home/u/日本": {"history": []}}
}"""


def test_adding_a_member_touches_only_its_place() -> None:
    edited = set_value(CLAUDE, PLACE, {"command": "x"})
    added = ',\n    "backscroll": {\n      "command": "x"\n    }'
    assert edited.replace(added, "") == CLAUDE
    assert parse(edited)["mcpServers"]["backscroll"] == {"command": "x"}


def test_replacing_a_member_keeps_its_neighbours_bytes() -> None:
    once = set_value(CLAUDE, PLACE, {"command": "x"})
    assert set_value(once, PLACE, {"command": "longer than before"}) == once.replace('"x"', '"longer than before"')


@pytest.mark.parametrize(
    "text",
    [
        CLAUDE,
        CLAUDE + "\n",
        CLAUDE.replace("\n", "\r\n"),
        CLAUDE.replace("  ", "\t"),
        '{"mcpServers":{"other":{}},"a":1}',
        '{"mcpServers": {}, "a": 1}',
        '{\n  "mcpServers": {}\n}\n',
        ' { "mcpServers" : { "z" : 1 } } ',
    ],
)
def test_taking_out_what_was_added_gives_the_old_bytes(text: str) -> None:
    edited = set_value(text, PLACE, ENTRY)
    assert parse(edited)["mcpServers"]["backscroll"] == ENTRY
    assert remove_value(edited, PLACE) == text


def test_the_table_is_made_where_it_is_missing() -> None:
    text = '{\n    "a": 1\n}\n'
    edited = set_value(text, PLACE, "x")
    assert edited == '{\n    "a": 1,\n    "mcpServers": {\n        "backscroll": "x"\n    }\n}\n'
    assert remove_value(edited, ("mcpServers",)) == text


def test_an_empty_object_gets_two_spaces() -> None:
    assert set_value("{}", ("a",), 1) == '{\n  "a": 1\n}'


def test_removing_the_first_of_several_keeps_the_rest() -> None:
    text = '{\n  "a": 1,\n  "b": 2\n}'
    assert remove_value(text, ("a",)) == '{\n  "b": 2\n}'


def test_removing_what_is_not_there_changes_nothing() -> None:
    assert remove_value(CLAUDE, PLACE) == CLAUDE
    assert remove_value("{}", PLACE) == "{}"


def test_items_are_appended_and_taken_out_again() -> None:
    text = '{\n  "permissions": {\n    "allow": [\n      "Bash(ls:*)"\n    ],\n    "deny": []\n  }\n}\n'
    edited = append_items(text, ("permissions", "allow"), ("mcp__a__b", "mcp__a__c"))
    assert parse(edited)["permissions"] == {"allow": ["Bash(ls:*)", "mcp__a__b", "mcp__a__c"], "deny": []}
    assert remove_items(edited, ("permissions", "allow"), ("mcp__a__b", "mcp__a__c")) == text


def test_a_missing_list_is_made() -> None:
    edited = append_items('{"model": "opus"}', ("permissions", "allow"), ("x", "y"))
    assert parse(edited) == {"model": "opus", "permissions": {"allow": ["x", "y"]}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"a": 1,}',
        '{"a": 1} // comment',
        '{"mcpServers": []}',
        '{"mcpServers": 3}',
        '{"mcpServers": null}',
        '{"a": NaN}',
        '{"mcpServers": {"x": 1}, "mcpServers": {"y": 1}, "a": {"a": 1, "a": 2}} x',
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(UnexpectedJson):
        set_value(text, PLACE, ENTRY)


def test_appending_to_something_else_than_a_list_is_refused() -> None:
    with pytest.raises(UnexpectedJson):
        append_items('{"permissions": {"allow": {}}}', ("permissions", "allow"), ("x",))


def test_a_key_that_stands_twice_is_refused_rather_than_half_removed() -> None:
    with pytest.raises(UnexpectedJson):
        remove_value('{"a": 1, "a": 2}', ("a",))


def test_looking_up_a_step_that_is_no_object_is_refused() -> None:
    assert look_up({"a": {"b": 1}}, ("a", "b")) == 1
    assert look_up({"a": {}}, ("a", "b", "c")) is None
    with pytest.raises(UnexpectedJson):
        look_up({"a": 3}, ("a", "b"))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    document=st.dictionaries(st.text(), _json, max_size=4),
    others=st.dictionaries(st.text(), _json, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    ascii_only=st.booleans(),
)
def test_any_document_survives_adding_and_removing(
    document: dict[str, Any], others: dict[str, Any], indent: int | str | None, *, ascii_only: bool
) -> None:
    others.pop("backscroll", None)
    document = {**document, "mcpServers": others}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    edited = set_value(text, PLACE, ENTRY)
    assert parse(edited) == {**document, "mcpServers": {**others, "backscroll": ENTRY}}
    assert remove_value(edited, PLACE) == text
