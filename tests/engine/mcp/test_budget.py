from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.models.asking import Caller
from engine.mcp.budget import CHARACTER_CAP, DEFAULT_TOKENS, LEAST_TOKENS, budget_units, fit
from engine.mcp.exchange import around
from engine.mcp.measure import UNITS_PER_TOKEN, cost, text_cost, with_texts_cut
from tests.engine.mcp.fakes import FakeApi, hit, message, reading, search_reply, session_row


def repeated(piece: str, times: int) -> str:
    return piece * times


TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=60) | st.builds(
    repeated, st.sampled_from(["refresh ", "更新令牌", "🙂", '"\\\n', "é", "\ud800"]), st.integers(0, 4_000)
)
BUDGETS = st.none() | st.integers(1, 20_000)


def tokens(reply: object) -> float:
    """Count as the contract says, independently of the code: 2.5 characters a token, 1.2 of East Asian text."""
    text = json.dumps(reply, ensure_ascii=False)
    wide = sum(1 for character in text if "\u4e00" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3")
    return (len(text) - wide) / 2.5 + wide / 1.2


def asked_for(max_tokens: int | None) -> dict[str, Any]:
    return {} if max_tokens is None else {"max_tokens": max_tokens}


def assert_within(reply: dict[str, Any], max_tokens: int | None) -> None:
    assert tokens(reply) <= max(max_tokens or DEFAULT_TOKENS, LEAST_TOKENS)
    assert len(json.dumps(reply, ensure_ascii=False).encode("utf-16-le")) <= 2 * CHARACTER_CAP
    assert "note" not in reply or next(iter(reply)) == "note"


def test_a_small_reply_passes_unchanged_with_its_note_first() -> None:
    wire = search_reply([hit(1)], note="Meaning-based search is still being prepared.")

    reply = fit("hybrid_search", wire, {})

    assert reply == wire
    assert next(iter(reply)) == "note"


def test_the_callers_answer_is_not_changed() -> None:
    wire = search_reply([{**hit(n, "x" * 900), "messages": [message(1, "y" * 9_000)]} for n in range(30)], note="n")
    before = json.dumps(wire)

    fit("hybrid_search", wire, {})

    assert json.dumps(wire) == before


def test_hits_go_from_the_end_and_the_next_offset_continues_there() -> None:
    hits = [hit(number, "refresh " * 60) for number in range(40)]

    reply = fit("hybrid_search", search_reply(hits, 200, next_offset=70), {"offset": 30, "limit": 40})

    kept = len(reply["hits"])
    assert 0 < kept < 40
    assert reply["hits"] == hits[:kept]
    assert reply["next_offset"] == 30 + kept
    assert reply["truncated"] is True
    assert f"{40 - kept} more hits did not fit: call again with offset={30 + kept}." in reply["note"]


def test_the_budget_is_used_well() -> None:
    hits = [hit(number, "refresh " * 30) for number in range(100)]

    for max_tokens in (1_000, 6_000, 20_000):
        reply = fit("hybrid_search", search_reply(hits), {"max_tokens": max_tokens})
        assert tokens(reply) > 0.75 * min(max_tokens, CHARACTER_CAP / 2.5)


def test_one_oversized_snippet_is_cut_with_its_marks_and_the_next_page_goes_on() -> None:
    long: dict[str, Any] = {**hit(1, "refresh " * 9_000), "marks": [[0, 7], [8, 15], [71_000, 71_007]]}

    reply = fit("keyword_search", search_reply([long, hit(2)]), {})

    (row,) = reply["hits"]
    assert row["snippet"].endswith("…")
    assert long["snippet"].startswith(row["snippet"][:-1])
    assert len(row["snippet"]) > 10_000
    assert row["marks"] == [[0, 7], [8, 15]]
    assert reply["next_offset"] == 1


def test_an_oversized_message_keeps_both_ends_and_says_how_to_read_the_rest() -> None:
    text = "start " + "middle " * 6_000 + "end"

    reply = fit("get_session", reading([message(7, text), message(8)]), {"offset": 7})

    (row,) = reply["messages"]
    (block,) = row["blocks"]
    assert block["text"].startswith("start middle")
    assert block["text"].endswith("end")
    assert "characters left out" in block["text"]
    assert (
        f'get_context(message_uuid="{row["message_uuid"]}", before=0, after=0, max_tokens=20000)' in block["truncated"]
    )
    assert reply["next_offset"] == 8


def test_what_no_reply_can_hold_is_said_to_be_readable_in_a_terminal() -> None:
    reply = fit("get_context", reading([message(7, "x" * 90_000, asked=True)]), {"max_tokens": 20_000})

    assert "`backscroll show " in reply["messages"][0]["blocks"][0]["truncated"]


def test_a_tool_input_is_cut_inside_and_keeps_its_form() -> None:
    row = message(1)
    row["blocks"] = [
        {"kind": "tool_use", "tool": "Write", "input": {"file_path": "/a/b.py", "content": "x = 1\n" * 9_000}}
    ]

    reply = fit("get_context", reading([{**row, "in_hit": True}]), {})

    (block,) = reply["messages"][0]["blocks"]
    assert block["input"]["file_path"] == "/a/b.py"
    assert "left out" in block["input"]["content"]
    assert "characters left out" in block["truncated"]


def test_get_context_keeps_the_asked_message_and_loses_both_ends_evenly() -> None:
    messages = [message(number, "word " * 300, asked=number == 10) for number in range(21)]

    reply = fit("get_context", reading(messages, index=40), {})

    kept = [int(row["message_uuid"][-12:]) for row in reply["messages"]]
    assert 10 in kept
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert abs((10 - kept[0]) - (kept[-1] - 10)) <= 1
    assert reply["position"]["index"] == 40 + kept[0]
    assert f"({kept[0]} before, {20 - kept[-1]} after)" in reply["note"]
    assert "next_offset" not in reply


def test_a_bulky_neighbour_does_not_hide_the_answer_behind_it() -> None:
    messages = [message(0, "Why?", asked=True), message(1, "log line " * 9_000), message(2, "Because of the clock.")]

    reply = fit("get_context", reading(messages), {})

    assert [row["message_uuid"] for row in reply["messages"]] == [row["message_uuid"] for row in messages]
    assert "left out" in reply["messages"][1]["blocks"][0]["text"]
    assert reply["messages"][2] == messages[2]


def test_several_asked_messages_share_the_room() -> None:
    messages = [message(number, "word " * 9_000, asked=True) for number in range(4)]

    reply = fit("get_context", reading(messages), {})

    lengths = [len(row["blocks"][0]["text"]) for row in reply["messages"]]
    assert len(lengths) == 4
    assert max(lengths) - min(lengths) <= 2
    assert min(lengths) > 2_000


def test_reading_along_takes_at_most_its_share_and_no_hit_is_dropped_for_it() -> None:
    hits = [hit(number) for number in range(10)]
    alone = fit("hybrid_search", search_reply(hits), {})
    long = [message(number, "word " * 2_000, asked=number == 1) for number in range(3)]
    read = [{**row, "messages": long} if number < 3 else row for number, row in enumerate(hits)]

    reply = fit("hybrid_search", search_reply(read), {"read": 3})

    assert len(reply["hits"]) == len(alone["hits"]) == 10
    with_messages = [row for row in reply["hits"] if "messages" in row]
    assert len(with_messages) == 3
    spent = sum(cost(row["messages"]) for row in with_messages)
    assert 0.4 * DEFAULT_TOKENS < spent / UNITS_PER_TOKEN <= 0.6 * DEFAULT_TOKENS
    assert all(any(each.get("in_hit") for each in row["messages"]) for row in with_messages)
    assert "get_context with a chunk_id reads the rest" in reply["note"]


def test_reading_along_keeps_to_its_share_even_when_there_is_room() -> None:
    messages = [message(number, "word " * 120, asked=number == 1) for number in range(16)]
    wire = search_reply([{**hit(1), "messages": messages}])
    assert 0.6 * DEFAULT_TOKENS < tokens(wire) < DEFAULT_TOKENS

    reply = fit("hybrid_search", wire, {"read": 1})

    assert cost(reply["hits"][0]["messages"]) / UNITS_PER_TOKEN <= 0.6 * DEFAULT_TOKENS


def test_reading_along_keeps_the_prompt_and_what_it_came_to() -> None:
    messages = [message(number, "word " * 200, asked=number == 20) for number in range(60)]

    reply = fit("hybrid_search", search_reply([{**hit(1), "messages": messages}]), {"read": 1})

    kept = [int(row["message_uuid"][-12:]) for row in reply["hits"][0]["messages"]]
    assert {0, 20, 59} < set(kept)
    skipped = [row.get("skipped_before", 0) for row in reply["hits"][0]["messages"]]
    assert sum(skipped) == 60 - len(kept)
    assert skipped[0] == 0
    assert skipped[-1] > 30


def test_reading_along_prefers_what_was_said_to_what_was_done() -> None:
    messages = [message(number, "word " * 150) for number in range(30)]
    for number, row in enumerate(messages):
        if number % 2:
            row["role"], row["blocks"][0]["kind"] = "tool", "tool_result"
    messages[10]["in_hit"] = True

    reply = fit("hybrid_search", search_reply([{**hit(1), "messages": messages}]), {"read": 1})

    roles = [row["role"] for row in reply["hits"][0]["messages"]]
    assert roles.count("assistant") == 7
    assert roles.count("tool") == 1, "the last message is kept whoever it is from"


def test_a_long_hit_leaves_room_for_its_prompt_and_what_it_came_to() -> None:
    messages = [message(number, "word " * 9_000, asked=number == 1) for number in range(3)]

    reply = fit("hybrid_search", search_reply([{**hit(1), "messages": messages}]), {"read": 1})

    prompt, asked, answer = (len(row["blocks"][0]["text"]) for row in reply["hits"][0]["messages"])
    assert asked > prompt > 1_000
    assert answer > 1_000


def test_what_one_exchange_does_not_need_goes_to_the_next() -> None:
    short, long = [message(1, "Yes.", asked=True)], [message(2, "word " * 5_000, asked=True)]

    reply = fit(
        "hybrid_search", search_reply([{**hit(1), "messages": short}, {**hit(2), "messages": long}]), {"read": 2}
    )

    first, second = reply["hits"]
    assert first["messages"] == short
    assert cost(second["messages"]) / UNITS_PER_TOKEN > 0.5 * DEFAULT_TOKENS


def test_when_hits_fill_the_reply_nothing_is_read_along_and_that_is_said() -> None:
    hits = [{**hit(number, "refresh " * 40), "messages": [message(1, asked=True)]} for number in range(60)]

    reply = fit("hybrid_search", search_reply(hits), {"read": 5, "limit": 60})

    assert "The hits leave no room to read along" in reply["note"]
    assert reply["next_offset"] == len(reply["hits"])


def test_lists_without_pages_say_where_all_of_it_is() -> None:
    findings = [
        {"id": f"f{n}", "title": "t", "severity": "ok", "found": "word " * 50, "means": "m"} for n in range(200)
    ]

    reply = fit("doctor", {"ok": False, "findings": findings}, {})

    assert "next_offset" not in reply
    assert "`backscroll doctor` in a terminal shows all." in reply["note"]


def test_problems_have_no_pages() -> None:
    problems = [{"file": f"/home/ada/{number}.jsonl", "what": "damaged " * 20} for number in range(200)]

    reply = fit("coverage", {"files": {"seen": 9}, "problems": problems}, {})

    assert "next_offset" not in reply
    assert "`backscroll coverage` in a terminal shows all." in reply["note"]


def test_knowledge_rows_page_with_their_own_name() -> None:
    rows = [{"id": f"r{n}", "snippet": "word " * 100} for n in range(100)]

    reply = fit("knowledge_grep", {"rows": rows, "total": 100, "coverage": {"complete": True}}, {"offset": 20})

    assert reply["nextOffset"] == 20 + len(reply["rows"])
    assert "next_offset" not in reply


def dated_rows(count: int, sources: int) -> dict[str, Any]:
    """Return a timeline whose rows each name a source of their own and the first of all."""
    rows = [{"id": f"r{n}", "summary": "word " * 50, "sources": ["s0", f"s{n % sources}"]} for n in range(count)]
    beside = [{"id": f"s{n}", "summary": "source " * 60} for n in range(sources)]
    return {"rows": rows, "total": count, "snapshot": "s", "sources": beside}


def test_r114_sources_leave_with_their_rows_and_count_in_the_budget() -> None:
    reply = fit("knowledge_timeline", dated_rows(40, 20), {"includeSources": True})

    assert_within(reply, None)
    assert 10 < len(reply["rows"]) < 40
    assert reply["nextOffset"] == len(reply["rows"])
    named = dict.fromkeys(name for row in reply["rows"] for name in row["sources"])
    assert [source["id"] for source in reply["sources"]] == list(named)
    assert "sourcesTruncated" not in reply


@pytest.mark.parametrize("of", ["rows", "record"])
def test_r115_one_record_with_more_sources_than_fit_keeps_the_first(of: str) -> None:
    wire = dated_rows(1, 300)
    row: dict[str, Any] = {**wire["rows"][0], "sources": [source["id"] for source in wire["sources"]]}
    held: dict[str, Any] = {"rows": [row], "total": 1} if of == "rows" else {"record": row, "found": True}
    wire = {**held, "sources": wire["sources"]}

    reply = fit("knowledge_timeline" if of == "rows" else "knowledge_chronicle_last_seen", wire, {})

    assert_within(reply, None)
    assert (reply["rows"][0] if of == "rows" else reply["record"])["id"] == "r0"
    assert "nextOffset" not in reply
    assert 5 < len(reply["sources"]) < 300
    assert reply["sources"] == wire["sources"][: len(reply["sources"])]
    assert reply["sourcesTruncated"] is True


def test_a_records_body_ends_where_its_offset_goes_on() -> None:
    body = "".join(f"Line {number}: we chose rotation.\n" for number in range(2_000))
    read, offset = "", 0
    for _ in range(20):
        record = {"id": "P-auth", "body": body[offset:], "title": "Auth"}
        reply = fit("knowledge_record", {"record": record, "snapshot": "s"}, {"id": "P-auth", "bodyOffset": offset})
        assert_within(reply, None)
        read += reply["record"]["body"]
        if "nextBodyOffset" not in reply["record"]:
            break
        offset = reply["record"]["nextBodyOffset"]

    assert read == body


@pytest.mark.parametrize("count", [30, 60, 110])
def test_r63_a_record_keeps_every_citation_and_the_beginning_of_its_body(count: int) -> None:
    one = {"id": "ev", "path": "evidence/files/" + "a" * 68, "quote": "we chose rotation", "state": "verified"}
    evidence = [{**one, "lines": [n, n], "descriptor": {**one, "size": n}, "text": "said " * 40} for n in range(count)]
    record = {"id": "C", "body": "The body. " * 900, "evidence": evidence}

    reply = fit("knowledge_record", {"record": record, "snapshot": "s"}, {"id": "C"})

    assert_within(reply, None)
    assert [each["lines"] for each in reply["record"]["evidence"]] == [[n, n] for n in range(count)]
    assert all(each["state"] == "verified" for each in reply["record"]["evidence"])
    assert len(reply["record"]["body"]) > 1_000
    assert reply["record"]["truncated"] is True


def test_a_record_without_a_body_still_fits() -> None:
    wire = {"record": {"id": "P-auth", "aliases": ["word " * 20] * 2_000}}

    assert_within(fit("knowledge_record", wire, {}), None)


def test_east_asian_text_counts_as_more() -> None:
    assert text_cost("abcde") == 2 * UNITS_PER_TOKEN
    assert text_cost("更新令牌更新") == 5 * UNITS_PER_TOKEN
    hits = [hit(number, "更新令牌" * 100) for number in range(40)]
    latin = fit("hybrid_search", search_reply([hit(number, "abcd" * 100) for number in range(40)]), {})
    assert len(fit("hybrid_search", search_reply(hits), {})["hits"]) < len(latin["hits"])


def test_a_tiny_budget_still_gives_the_first_row() -> None:
    reply = fit(
        "hybrid_search", search_reply([hit(number, "refresh " * 50) for number in range(10)]), {"max_tokens": 1}
    )

    assert len(reply["hits"]) == 1
    assert_within(reply, 1)


def test_lone_surrogates_do_not_leave() -> None:
    reply = fit("hybrid_search", search_reply([hit(1, "a\ud83d b \ud83d\ude42")]), {})

    assert reply["hits"][0]["snippet"] == "a\ufffd b 🙂"


def test_marks_end_inside_their_snippet() -> None:
    row = with_texts_cut({"snippet": "x" * 100, "marks": [[0, 5], [55, 60], [90, 95]]}, 60, "")

    assert row["marks"] == [[0, 5]]


def test_around_nothing_is_nothing() -> None:
    assert around([], 1_000, lambda _: "") == (0, [], 0)


def test_the_largest_budget_stays_under_the_character_cap() -> None:
    assert budget_units(20_000) == budget_units(10**9) == CHARACTER_CAP * 12
    assert budget_units(None) == DEFAULT_TOKENS * UNITS_PER_TOKEN


@pytest.mark.parametrize("method", ["hybrid_search", "get_session", "list_sessions"])
@pytest.mark.parametrize("max_tokens", [None, 500, 20_000])
def test_pages_cover_each_row_once(method: str, max_tokens: int | None) -> None:
    api = FakeApi(
        hits=[hit(number, "refresh " * (number * 37 % 400)) for number in range(60)],
        messages=[message(number, "word " * (number * 911 % 9_000)) for number in range(60)],
        sessions=[session_row(number, "word " * (number * 37 % 400)) for number in range(60)],
    )
    key = {"hybrid_search": "hits", "get_session": "messages", "list_sessions": "sessions"}[method]
    identity = {"hits": "chunk_id", "messages": "message_uuid", "sessions": "session_id"}[key]
    seen: list[str] = []
    arguments = {"limit": 25, **asked_for(max_tokens)}
    for _ in range(61):
        reply = fit(method, api.call(method, arguments, caller=Caller()), arguments)
        assert_within(reply, max_tokens)
        assert reply[key]
        seen.extend(row[identity] for row in reply[key])
        if "next_offset" not in reply:
            break
        arguments = {**arguments, "offset": reply["next_offset"]}

    assert seen == [row[identity] for row in getattr(api, key)]


@settings(max_examples=30)
@given(snippets=st.lists(TEXTS, max_size=20), texts=st.lists(TEXTS, max_size=4), note=TEXTS, max_tokens=BUDGETS)
def test_every_search_reply_is_within_its_budget(
    snippets: list[str], texts: list[str], note: str, max_tokens: int | None
) -> None:
    hits = [hit(number, snippet) for number, snippet in enumerate(snippets)]
    for row in hits[:2]:
        row["messages"] = [message(number, text, asked=number == 0) for number, text in enumerate(texts)]
        row["exchange"] = {"prompt": "p" * 200, "answer": "a" * 200}

    reply = fit("hybrid_search", search_reply(hits, note=note), asked_for(max_tokens))

    assert_within(reply, max_tokens)
    assert fit("hybrid_search", search_reply(hits, note=note), asked_for(max_tokens)) == reply


@settings(max_examples=30)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=20), asked=st.sets(st.integers(0, 19), max_size=4), max_tokens=BUDGETS
)
def test_every_reading_is_within_its_budget(texts: list[str], asked: set[int], max_tokens: int | None) -> None:
    messages = [message(number, text, asked=number in asked) for number, text in enumerate(texts)]

    for method in ("get_context", "get_session"):
        assert_within(fit(method, reading(messages), asked_for(max_tokens)), max_tokens)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(TEXTS, inner, max_size=10),
    max_leaves=60,
)


@settings(max_examples=30)
@given(
    method=st.sampled_from(["status", "coverage", "prune", "get_usage", "knowledge_record"]),
    wire=st.dictionaries(st.sampled_from(["note", "rows", "by", "problems", "paths", "warnings", "record"]), JSON),
    max_tokens=BUDGETS,
)
def test_any_answer_at_all_is_within_its_budget(method: str, wire: dict[str, Any], max_tokens: int | None) -> None:
    assert_within(fit(method, wire, asked_for(max_tokens)), max_tokens)
