from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.usage import CostState
from engine.usage.calls import ApiCall, call_of, cost_state_of, time_of
from tests.engine.usage.history import Line, assistant


def call(line: Line) -> ApiCall:
    found = call_of(line)
    assert found is not None
    return found


def writes(usage: dict[str, Any]) -> tuple[int, int]:
    found = call(assistant(usage=usage))
    return found.cache_write_5m, found.cache_write_1h


def test_the_split_of_cache_writes_is_used_where_there_is_one() -> None:
    assert writes(
        {
            "cache_creation_input_tokens": 500,
            "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 200},
        }
    ) == (300, 200)


def test_the_total_of_cache_writes_counts_as_five_minutes_without_a_split() -> None:
    assert writes({"cache_creation_input_tokens": 500}) == (500, 0)


@pytest.mark.parametrize(
    ("split", "expected"),
    [({}, (500, 0)), ({"ephemeral_1h_input_tokens": 200}, (300, 200)), ({"ephemeral_5m_input_tokens": 600}, (600, 0))],
)
def test_a_split_that_does_not_add_up_loses_no_tokens(split: dict[str, int], expected: tuple[int, int]) -> None:
    assert writes({"cache_creation_input_tokens": 500, "cache_creation": split}) == expected


@pytest.mark.parametrize(
    ("version", "incomplete"),
    [
        ("0.2.126", True),
        ("1.0.8", True),
        ("1.0.24", True),
        ("2.0.77", True),
        ("2.1.59", True),
        ("2.1.59-beta.1", True),
        ("2.1.60", False),
        ("2.1.332", False),
        ("nightly", False),
        ("1.x.9", False),
        (None, False),
    ],
)
def test_versions_that_recorded_snapshots_of_the_output_are_incomplete(version: str | None, incomplete: bool) -> None:  # noqa: FBT001 - the expected value
    assert call(assistant() | {"version": version}).variant.incomplete == incomplete


@pytest.mark.parametrize(("prompt", "over"), [(100_000, 0), (100_001, 100_000), (200_000, 100_000), (200_001, 200_000)])
def test_the_size_of_a_prompt_counts_cached_tokens_too(prompt: int, over: int) -> None:
    line = assistant(input=1, read=prompt - 6, split=(2, 3), output=10**6)
    assert call(line).variant.prompt_over == over


def test_what_is_missing_has_a_plain_default() -> None:
    found = call({"type": "assistant", "uuid": "u", "message": {"usage": {}}})
    assert (found.key, found.is_global, found.time_ms) == ("u", True, 0)
    assert found.variant == ("unknown", "standard", "standard", 0, 0)
    assert (found.input, found.output, found.cache_read, found.web_searches) == (0, 0, 0, 0)


def test_a_line_without_a_time_gets_the_one_it_is_given() -> None:
    found = call_of(assistant() | {"timestamp": None}, undated_ms=77)
    assert found is not None
    assert found.time_ms == 77


@pytest.mark.parametrize("number", [-1, 10**13, True, "12", None, 1.5, float("nan"), float("inf"), [1]])
def test_a_number_that_cannot_be_meant_counts_as_nothing(number: object) -> None:
    assert call(assistant(usage={"output_tokens": number})).output == 0


def test_a_whole_number_written_as_a_float_counts() -> None:
    assert call(assistant(usage={"output_tokens": 12.0})).output == 12


def test_web_searches_of_the_server_are_counted() -> None:
    assert call(assistant(usage={"server_tool_use": {"web_search_requests": 3}})).web_searches == 3


def test_names_are_short_and_can_be_stored() -> None:
    found = call(assistant(model="modèle\ud800" + "x" * 900))
    assert found.variant.model.startswith("modèle?")
    assert len(found.variant.model) == 200


@pytest.mark.parametrize(
    ("timestamp", "milliseconds"),
    [
        ("2026-08-03T10:00:00.123Z", 1785751200123),
        ("2026-08-03T12:00:00.123+02:00", 1785751200123),
        ("2026-08-03T10:00:00.123", 1785751200123),
        ("1969-12-31T00:00:00Z", None),
        ("9999-01-01T00:00:00Z", None),
        ("yesterday", None),
        (1785751200123, None),
        (None, None),
    ],
)
def test_times_are_utc_milliseconds(timestamp: object, milliseconds: int | None) -> None:
    assert time_of(timestamp) == milliseconds


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
USAGE_KEYS = ["input_tokens", "output_tokens", "cache_creation", "speed", "service_tier", "server_tool_use"]
LINE_KEYS = ["timestamp", "version", "isSidechain", "requestId", "uuid", "sessionId", "requestSessionId", "sessionKind"]


@given(
    usage=st.dictionaries(st.sampled_from(USAGE_KEYS), json_values),
    fields=st.dictionaries(st.sampled_from(LINE_KEYS), json_values),
    message_id=json_values,
    model=json_values,
)
def test_any_values_at_all_give_a_call_and_never_raise(
    usage: dict[str, Any], fields: dict[str, Any], message_id: object, model: object
) -> None:
    line = fields | {"type": "assistant", "message": {"id": message_id, "model": model, "usage": usage}}
    found = call_of(line)
    assert found is not None
    assert found == call_of(line)


def test_a_cost_state_is_summed_over_its_models() -> None:
    model = {
        "inputTokens": 11,
        "outputTokens": 345,
        "cacheReadInputTokens": 2000,
        "cacheCreationInputTokens": 500,
        "cacheCreationEphemeral5mInputTokens": 300,
        "cacheCreationEphemeral1hInputTokens": 200,
        "webSearchRequests": 1,
    }
    line = {"type": "cost-state", "totalCostUSD": 0.0271, "modelUsage": {"a": model, "b": model, "c": None}}
    assert cost_state_of(line) == CostState(27_100_000, 22, 690, 600, 400, 4000, 2, 0)


@pytest.mark.parametrize("cost", [None, "1", True, -1, float("nan"), float("inf")])
def test_a_cost_state_without_a_cost_is_none(cost: object) -> None:
    assert cost_state_of({"type": "cost-state", "totalCostUSD": cost}) is None
