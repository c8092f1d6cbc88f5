from __future__ import annotations

import json
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.arguments import LIMIT_CAP, MAX_TOKENS_CAP, OPERATIONS, QUERY_CAP, Operation, validate
from engine.core.errors import InvalidArgument
from engine.core.when import resolve

SEARCHES = ("keyword_search", "semantic_search", "hybrid_search")
ID = "0b6a8f52-3f1e-4c1b-9d57-aa53c2d9e001"

JSON_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | JSON_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted({name for operation in OPERATIONS.values() for name in operation.properties})


def refusal(method: str, arguments: object) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        validate(method, arguments)
    return caught.value


def outcome(method: str, arguments: object) -> tuple[dict[str, Any] | None, str]:
    """Return what was taken, or the words of the refusal, which must be printable."""
    try:
        return validate(method, arguments), ""
    except InvalidArgument as error:
        return None, str(error).encode("utf-8").decode("utf-8")


def test_a_number_sent_as_text_is_answered_with_the_call_that_works() -> None:
    error = refusal("hybrid_search", {"query": "auth", "limit": "10"})

    assert str(error) == 'limit must be a whole number. You sent "10" (text). Call again with "limit": 10.'


def test_nothing_is_coerced_nor_added_to_a_good_call() -> None:
    arguments = {"query": "auth rewrite", "limit": 5, "include_sidechains": True, "role": "user", "read": 1}

    assert validate("hybrid_search", arguments) == arguments


def test_the_callers_object_stays_as_it_was() -> None:
    arguments = {"query": "x", "max_tokens": 90_000}

    validate("hybrid_search", arguments)

    assert arguments == {"query": "x", "max_tokens": 90_000}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("limit", True, 'limit must be a whole number. You sent true (a truth value). Call again with "limit": 10.'),
        ("limit", 2.5, 'limit must be a whole number. You sent 2.5 (a number). Call again with "limit": 2.'),
        ("limit", [], 'limit must be a whole number. You sent a list. Call again with "limit": 10.'),
        ("limit", "many", 'limit must be a whole number. You sent "many" (text). Call again with "limit": 10.'),
        ("limit", 0, 'limit must be at least 1. You sent 0 (a number). Call again with "limit": 10.'),
        ("limit", -3, 'limit must be at least 1. You sent -3 (a number). Call again with "limit": 10.'),
        ("offset", -1, 'offset must be at least 0. You sent -1 (a number). Call again with "offset": 0.'),
        ("read", 6, 'read must be at most 5. You sent 6 (a number). Call again with "read": 5.'),
        ("read", "9", 'read must be a whole number. You sent "9" (text). Call again with "read": 5.'),
        ("max_tokens", 0, 'max_tokens must be at least 1. You sent 0 (a number). Call again with "max_tokens": 6000.'),
        ("rerank", "true", 'rerank must be true or false. You sent "true" (text). Call again with "rerank": true.'),
        ("rerank", 0, 'rerank must be true or false. You sent 0 (a number). Call again with "rerank": false.'),
        ("project", 7, 'project must be text. You sent 7 (a number). Call again with "project": "7".'),
        ("project", ["api"], 'project must be text. You sent a list. Call again with "project": "api".'),
        ("project", "  ", 'project must not be empty. Leave "project" out, or call again with text in it.'),
        ("limit", None, 'limit must not be null. Leave "limit" out, or call again with a whole number.'),
        ("tool", None, 'tool must not be null. Leave "tool" out, or call again with text.'),
    ],
)  # fmt: skip
def test_a_wrong_value_is_answered_with_what_was_sent_and_what_to_send(name: str, value: object, text: str) -> None:
    assert str(refusal("hybrid_search", {"query": "x", name: value})) == text


def test_a_missing_query_and_a_null_query_are_asked_for() -> None:
    assert str(refusal("keyword_search", {})) == 'query is missing. Call keyword_search again with "query": "…".'
    assert str(refusal("keyword_search", None)).startswith("query is missing.")
    assert str(refusal("keyword_search", {"query": None})) == 'query must not be null. Call again with "query": "…".'
    assert str(refusal("keyword_search", {"query": " "})) == "query must not be empty. Call again with text in it."


def test_arguments_that_are_no_object_are_answered_with_an_example() -> None:
    text = 'The arguments must be an object. You sent "auth" (text). Call hybrid_search again with {"query": "…"}.'
    assert str(refusal("hybrid_search", "auth")) == text


@pytest.mark.parametrize(
    ("method", "wrong", "meant"),
    [
        ("hybrid_search", "qeury", "query"),
        ("hybrid_search", "includeSidechains", "include_sidechains"),
        ("hybrid_search", "session_id", "session"),
        ("hybrid_search", "top_k", "limit"),
        ("keyword_search", "max_results", "limit"),
        ("list_sessions", "since", "date_from"),
        ("get_context", "id", "chunk_id"),
        ("get_session", "id", "session_id"),
        ("prune", "days", "older_than_days"),
    ],
)
def test_an_unknown_argument_gets_the_nearest_name(method: str, wrong: str, meant: str) -> None:
    error = refusal(method, {wrong: "x"})

    assert error.candidates[0] == meant
    assert f'{method} has no argument "{wrong}". Did you mean "{meant}"?' in str(error)


def test_an_unknown_argument_near_nothing_is_answered_with_the_names_there_are() -> None:
    assert str(refusal("reindex", {"zzzzzzzzzz": 1})) == (
        'reindex has no argument "zzzzzzzzzz". It takes: project, full. Call again without "zzzzzzzzzz".'
    )
    assert "takes none" in str(refusal("status", {"verbose": True}))


def test_an_unknown_tool_gets_the_nearest_name() -> None:
    error = refusal("hybrid_serach", {"query": "x"})

    assert error.candidates[0] == "hybrid_search"
    assert 'Call "hybrid_search" instead.' in str(error)


@pytest.mark.parametrize("method", SEARCHES)
def test_unknown_enumeration_values_are_answered_with_all_of_them(method: str) -> None:
    role = refusal(method, {"query": "x", "role": "human"})
    kind = refusal(method, {"query": "x", "kind": "Tool-Use"})

    assert "role must be one of user, assistant, tool, injected, summary" in str(role)
    assert role.candidates == ("user", "assistant", "tool", "injected", "summary")
    assert "kind must be one of text, thinking, tool_use, tool_result, image, other, tool" in str(kind)
    assert 'Call again with "kind": "tool_use".' in str(kind)


def test_when_and_dates_do_not_go_together() -> None:
    for name in ("date_from", "date_to"):
        error = refusal("hybrid_search", {"query": "x", "when": "today", name: "2026-05-01"})
        assert str(error).startswith("when cannot be combined with date_from or date_to.")


def test_a_period_needs_a_when_or_both_ends() -> None:
    assert validate("get_period", {"when": "yesterday"}) == {"when": "yesterday"}
    both = {"date_from": "2026-05-01", "date_to": "2026-05-03"}
    assert validate("get_period", both) == both
    assert 'Call again with "when": "today"' in str(refusal("get_period", {}))
    assert str(refusal("get_period", {"date_from": "2026-05-01"})).startswith("date_to is missing.")
    assert str(refusal("get_period", {"date_to": "2026-05-01"})).startswith("date_from is missing.")


def test_get_context_takes_exactly_one_kind_of_id() -> None:
    for good in ({"chunk_id": "c1"}, {"message_uuid": ID}, {"ids": ["c1", ID]}):
        assert validate("get_context", good) == good
    assert str(refusal("get_context", {})).startswith("get_context needs an id.")
    assert "You sent chunk_id and ids." in str(refusal("get_context", {"chunk_id": "c1", "ids": ["c2"]}))


def test_ids_are_one_to_ten_texts() -> None:
    assert "ids must hold 1 to 10 items. You sent 11." in str(refusal("get_context", {"ids": ["c"] * 11}))
    assert "ids must hold 1 to 10 items. You sent 0." in str(refusal("get_context", {"ids": []}))
    assert str(refusal("get_context", {"ids": "c1"})) == (
        'ids must be a list. You sent "c1" (text). Call again with "ids": ["c1"].'
    )
    assert str(refusal("get_context", {"ids": ["c1", 5]})).startswith("ids[1] must be text. You sent 5 (a number).")


def test_roles_of_a_session_are_checked_one_by_one() -> None:
    assert validate("get_session", {"session_id": ID, "roles": ["user"]})["roles"] == ["user"]
    error = refusal("get_session", {"session_id": ID, "roles": ["user", "model"]})
    assert str(error).startswith("roles[1] must be one of user, assistant, tool, injected, summary.")


def test_a_query_may_hold_any_characters_up_to_ten_thousand() -> None:
    odd = "\ud800 \0 'quote\" NEAR( \u017f 漢字"
    assert validate("keyword_search", {"query": odd}) == {"query": odd}
    assert len(validate("keyword_search", {"query": "x" * QUERY_CAP})["query"]) == QUERY_CAP
    error = refusal("keyword_search", {"query": "x" * (QUERY_CAP + 1)})
    assert str(error).startswith("query is longer than 10,000 characters. You sent 10,001.")


def test_a_limit_over_the_cap_is_passed_on_for_the_front_door_to_say_so() -> None:
    assert validate("list_sessions", {"limit": LIMIT_CAP + 1}) == {"limit": LIMIT_CAP + 1}
    assert validate("list_sessions", {"limit": 10**400}) == {"limit": 10**400}


def test_a_larger_reply_than_allowed_is_answered_as_the_largest() -> None:
    assert validate("get_context", {"chunk_id": "c", "max_tokens": 999_999})["max_tokens"] == MAX_TOKENS_CAP


def test_a_whole_float_is_the_integer_it_stands_for() -> None:
    arguments = validate("list_sessions", {"limit": 10.0})

    assert arguments == {"limit": 10}
    assert isinstance(arguments["limit"], int)


def test_an_offset_that_no_database_can_hold_is_refused() -> None:
    assert str(refusal("list_sessions", {"offset": 10**30})).startswith("offset must be at most 1000000000.")


def test_prune_needs_an_age_of_at_least_a_day() -> None:
    assert str(refusal("prune", {})).startswith("older_than_days is missing.")
    assert str(refusal("prune", {"older_than_days": 0})).startswith("older_than_days must be at least 1.")


@pytest.mark.parametrize("method", sorted(OPERATIONS))
def test_every_schema_is_closed_and_gives_every_property_a_type(method: str) -> None:
    schema = OPERATIONS[method].schema

    assert schema["additionalProperties"] is False
    assert set(schema.get("required", [])) <= set(schema["properties"])
    assert all("type" in each for each in schema["properties"].values())
    assert json.loads(json.dumps(schema)) == schema


def test_a_schema_is_a_new_object_each_time() -> None:
    OPERATIONS["status"].schema["properties"]["extra"] = {}

    assert OPERATIONS["status"].schema["properties"] == {}


def test_an_operation_of_another_room_is_checked_by_its_own_schema() -> None:
    save = Operation.from_schema(
        "knowledge_save_page",
        {
            "type": "object",
            "required": ["title"],
            "properties": {
                "title": {"type": "string", "minLength": 1},
                "body": {"type": "string"},
                "limit": {"type": "integer"},
                "fields": {"type": "object"},
                "record": {"$ref": "#/$defs/record"},
                "either": {"type": ["string", "null"]},
            },
            "$defs": {
                "record": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"type": "string", "enum": ["claim", "relationship"]}},
                }
            },
        },
    )
    table = {save.name: save}
    good: dict[str, Any] = {
        "title": "A",
        "body": "x" * 50_000,
        "limit": 9_000,
        "fields": {"any": [1]},
        "record": {"kind": "claim"},
        "either": None,
    }

    assert validate(save.name, good, table) == good
    assert validate(save.name, {"title": "A", "body": ""}, table) == {"title": "A", "body": ""}
    with pytest.raises(InvalidArgument, match="title must not be empty"):
        validate(save.name, {"title": ""}, table)
    with pytest.raises(InvalidArgument, match=r"record\.kind must be one of") as caught:
        validate(save.name, {"title": "A", "record": {"kind": "page"}}, table)
    assert str(caught.value).startswith("record.kind must be one of claim, relationship.")
    with pytest.raises(InvalidArgument, match=r"record\.kind is missing"):
        validate(save.name, {"title": "A", "record": {}}, table)
    with pytest.raises(InvalidArgument) as unknown:
        validate(save.name, {"title": "A", "record": {"kinds": 1}}, table)
    assert 'no argument "kinds" in record. Did you mean "kind"?' in str(unknown.value)


@given(method=st.sampled_from(sorted(OPERATIONS)), arguments=JSON)
@example(method="keyword_search", arguments={"\ud800": "\udfff"})
@example(method="keyword_search", arguments={"query": "x", "limit": float("inf")})
@example(method="keyword_search", arguments={"query": "x", "limit": "9" * 5000})
@example(method="keyword_search", arguments={"query": 10**5000})
def test_any_json_is_either_taken_or_refused_in_words(method: str, arguments: object) -> None:
    taken, words = outcome(method, arguments)

    assert taken is not None or words


@given(
    method=st.sampled_from(sorted(OPERATIONS)),
    arguments=st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4),
)
def test_known_names_with_any_value_are_either_taken_or_refused_in_words(method: str, arguments: object) -> None:
    taken, words = outcome(method, arguments)

    assert len(words) < 2_000
    assert set(taken or {}) <= set(OPERATIONS[method].properties)


WRONG: tuple[Any, ...] = (None, True, 0, -1, 3.5, 10**12, "", "usre", "tool_usr", [], ["user"], {}, {"a": 1})
NEEDED: dict[str, dict[str, Any]] = {
    "get_context": {"before": 1},
    "prune": {"older_than_days": 90},
    "restore": {"session_id": ID, "to": "here"},
}
PAIR = re.compile(r'Call again with ("[a-z_A-Z]+": (?:(?!, or with ).)+)\.$', re.DOTALL)


@pytest.mark.parametrize("method", sorted(OPERATIONS))
def test_what_a_refusal_tells_to_send_is_taken(method: str) -> None:
    """Each wrong value of each argument: the pair that its error names makes a call that is not refused for it."""
    operation, told_pairs = OPERATIONS[method], 0
    base = dict.fromkeys(operation.required, ID) | NEEDED.get(method, {})
    for name in operation.properties:
        for value in WRONG:
            error = outcome(method, {**base, name: value})[1]
            told = PAIR.search(error)
            if told is None:
                continue
            pair = json.loads(f"{{{told[1]}}}")
            assert list(pair) == [name], error
            told_pairs += 1
            again = outcome(method, {**base, **pair})[1]
            assert f"{name} " not in again.partition(".")[0], f"{error} -> {again}"
            if name in ("when", "date_from", "date_to") and value != ["user"]:
                period = {"when": None, "date_from": None, "date_to": None, **pair}
                resolve(**period, zone=ZoneInfo("UTC"), now_s=0.0)
    assert bool(told_pairs) == bool(operation.properties)


@pytest.mark.parametrize("value", [True, 7, [], {}, "usr", ["user"]])
def test_a_value_of_no_enumeration_is_answered_with_it_whatever_its_type(value: object) -> None:
    error = refusal("hybrid_search", {"query": "x", "role": value})

    assert str(error).startswith("role must be one of user, assistant, tool, injected, summary. You sent ")
    assert ('Call again with "role": "user".' in str(error)) == (value in ("usr", ["user"]))


def test_no_library_is_named_in_an_error() -> None:
    wrong: list[object] = [[], {"zz": 1}, {"limit": "x"}, {"query": 5}, {"project": None}]
    texts = [str(refusal(method, arguments)).lower() for method in OPERATIONS for arguments in wrong]

    assert not [text for text in texts if any(word in text for word in ("pydantic", "jsonschema", "rapidfuzz"))]
