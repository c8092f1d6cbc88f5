"""The worked examples of transcripts.md 5.4, and every way in which a call is easily counted twice or not at all."""

from __future__ import annotations

from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from engine.usage.calls import call_of
from engine.usage.rows import Grouping
from tests.engine.usage.history import History, assistant, at


def test_example_a_one_reply_of_four_lines_counts_once_with_its_greatest_output() -> None:
    history = History()
    history.read([assistant(output=output, minute=n) for n, output in enumerate((1, 1, 1, 345))])
    assert history.tokens() == (11, 345, 500, 2000)


@pytest.mark.parametrize(
    ("split", "speed", "cost"),
    [((300, 200), None, 13_555_000), ((500, 0), None, 12_805_000), ((300, 200), "fast", 27_110_000)],
)
def test_example_b_cache_writes_of_an_hour_cost_twice_the_input_and_fast_mode_doubles(
    split: tuple[int, int], speed: str | None, cost: int
) -> None:
    history = History()
    history.read([assistant(input=11, output=345, read=2000, split=split, speed=speed)])
    assert history.report("day").totals.cost_nanos == cost


def test_example_c_a_session_resumed_twice_has_five_calls_not_ten() -> None:
    """Claude Code 1.0.24: every resume copies the history into a new file, with new times and without requestId."""
    original = [assistant(f"msg_{n}", minute=n, session="s1", version="1.0.24") for n in range(3)]
    second = [
        *(assistant(f"msg_{n}", minute=60, session="s2", version="1.0.24", request=None) for n in range(2)),
        assistant("msg_3", minute=61, session="s2", version="1.0.24"),
    ]
    third = [
        *(assistant(f"msg_{n}", minute=120, session="s3", version="1.0.24", request=None) for n in (0, 1, 3)),
        assistant("msg_4", minute=121, session="s3", version="1.0.24"),
    ]
    history = History()
    for file in (third, second, original):
        history.read(file)
    assert history.calls_of("s1", "s2", "s3") == {"s1": 3, "s2": 1, "s3": 1}


def test_example_d_blocks_begin_at_the_full_hour_and_a_long_pause_is_a_gap() -> None:
    history = History()
    times = ("10:37", "12:00", "15:20", "21:30")
    history.read([assistant(f"msg_{each}", timestamp=f"2026-08-03T{each}:00.000Z") for each in times])
    rows = [(row.label, row.end, row.gap or False, row.amounts.calls) for row in history.report("block").rows]
    day = "2026-08-03T{}:00+00:00"
    assert rows == [
        (day.format("21:00"), "2026-08-04T02:00:00+00:00", False, 1),
        (day.format("20:20"), day.format("21:30"), True, 0),
        (day.format("15:00"), day.format("20:00"), False, 1),
        (day.format("10:00"), day.format("15:00"), False, 2),
    ]


def test_example_e_the_day_is_the_local_one() -> None:
    history = History()
    history.read([assistant(timestamp="2026-08-04T02:10:00Z")])
    assert [row.label for row in history.report("day", zone=ZoneInfo("America/Denver")).rows] == ["2026-08-03"]


def test_lines_of_one_call_that_come_in_several_reads_still_count_once() -> None:
    history = History()
    for minute, output in enumerate((1, 80, 345)):
        history.read([assistant(output=output, minute=minute)])
    assert history.tokens() == (11, 345, 500, 2000)


def test_output_that_grows_and_then_shrinks_keeps_the_greatest_line_whole() -> None:
    history = History()
    history.read(
        [
            assistant(output=1, input=900, read=1),
            assistant(output=345, input=11, read=2000, minute=1),
            assistant(output=2, input=800, read=9999, minute=2),
        ]
    )
    assert history.tokens() == (11, 345, 500, 2000)


def test_of_lines_with_equal_output_the_last_one_counts() -> None:
    history = History()
    history.read([assistant(input=11, minute=0), assistant(input=12, minute=1)])
    assert history.tokens()[0] == 12


def test_of_lines_equal_in_time_too_the_main_conversations_counts() -> None:
    history = History()
    history.read([assistant(input=11, sidechain=True), assistant(input=12), assistant(input=13, sidechain=True)])
    assert history.tokens()[0] == 12


def test_resume_copies_with_request_id_add_nothing() -> None:
    history = History()
    history.read([assistant("msg_A"), assistant("msg_B", minute=1)])
    history.read([assistant("msg_A", session="s2"), assistant("msg_C", session="s2", minute=90)], began=89)
    assert history.calls_of("s1", "s2") == {"s1": 2, "s2": 1}


def test_fork_copies_with_equal_times_belong_to_the_session_that_began_first() -> None:
    fork = [assistant("msg_A", session="fork"), assistant("msg_B", session="fork", minute=70)]
    history = History()
    history.read(fork, began=60)
    history.read([assistant("msg_A")])
    assert history.calls_of("s1", "fork") == {"s1": 1, "fork": 1}


@pytest.mark.parametrize(
    "mark",
    [
        {"forkedFrom": {"sessionId": "s1", "messageUuid": "u"}},
        {"requestSessionId": "s1"},
        {"sessionKind": "bg"},
    ],
    ids=["SDK fork", "CLI fork", "background copy"],
)
def test_a_marked_copy_loses_even_when_its_session_seems_to_have_begun_first(mark: dict[str, object]) -> None:
    history = History()
    history.read([assistant("msg_A", session="copy") | mark], began=-5)
    history.read([assistant("msg_A")])
    assert history.calls_of("s1", "copy") == {"s1": 1, "copy": 0}


def test_a_fork_whose_source_is_gone_keeps_its_copies() -> None:
    history = History()
    history.read([assistant("msg_A", session="fork", requestSessionId="gone")])
    assert history.calls_of("fork") == {"fork": 1}


def test_an_aside_replays_its_parent_and_adds_only_its_own_answer() -> None:
    """`/btw`: the side file has the parent's messages again, with other request ids."""
    aside = [
        assistant("msg_A", sidechain=True, request="req_other"),
        assistant("msg_B", sidechain=True, minute=30, output=7),
    ]
    history = History()
    history.read(aside, session="s1")
    history.read([assistant("msg_A")])
    assert history.calls_of("s1") == {"s1": 2}
    assert history.tokens() == (22, 352, 1000, 4000)


def test_a_sidechain_copy_in_an_older_session_loses_against_the_main_conversation() -> None:
    history = History()
    history.read([assistant("msg_A", session="older", sidechain=True)], began=-60)
    history.read([assistant("msg_A", session="newer")])
    assert history.calls_of("older", "newer") == {"older": 0, "newer": 1}


def test_sub_agents_count_for_their_parent_session() -> None:
    history = History()
    history.read([assistant("msg_A")])
    history.read([assistant("msg_S", sidechain=True, agentId="a1", minute=3)], session="s1")
    assert history.calls_of("s1") == {"s1": 2}


def test_a_gateway_that_reuses_ids_has_a_call_in_each_session() -> None:
    history = History()
    for session in ("s1", "s2"):
        history.read([assistant("chatcmpl-7", request=None, session=session, model="glm-5.1")])
    assert history.calls_of("s1", "s2") == {"s1": 1, "s2": 1}


def test_a_foreign_id_is_one_call_everywhere_once_a_request_id_was_seen_for_it() -> None:
    history = History()
    history.read([assistant("gen-7", request=None, session="s2", minute=60)])
    history.read([assistant("gen-7", request=None, session="s3", minute=90)])
    assert history.calls_of("s2", "s3") == {"s2": 1, "s3": 1}
    history.read([assistant("gen-7", request="req_1", session="s1")])
    assert history.calls_of("s1", "s2", "s3") == {"s1": 1, "s2": 0, "s3": 0}


def test_a_line_without_message_id_is_known_by_its_uuid() -> None:
    history = History()
    history.read([assistant(None, uuid="u1"), assistant(None, uuid="u1"), assistant(None, uuid="u2")])
    assert history.calls_of("s1") == {"s1": 2}


def test_a_line_without_any_id_counts_once_however_often_it_is_read() -> None:
    line = assistant(None)
    del line["uuid"]
    history = History()
    history.read([line])
    history.read([line])
    assert history.calls_of("s1") == {"s1": 1}


@pytest.mark.parametrize(
    "line",
    [
        {"type": "progress", "data": {"type": "agent_progress", "message": assistant()}},
        {"type": "user", "toolUseResult": {"usage": {"output_tokens": 99}, "totalTokens": 99}},
        assistant(model="<synthetic>"),
        {"type": "api-request-blob", "message": assistant()["message"]},
        {"type": "assistant", "message": "text", "timestamp": at()},
        {"type": "assistant", "message": {"model": "claude-opus-4-8", "usage": None}},
        {"type": "assistant"},
        {},
    ],
    ids=["agent_progress", "tool result", "synthetic", "request blob", "text", "no usage", "no message", "nothing"],
)
def test_a_line_that_is_no_call_of_its_own_is_ignored(line: dict[str, object]) -> None:
    assert call_of(line) is None


def test_an_unknown_model_is_counted_and_unpriced() -> None:
    history = History()
    history.read([assistant("msg_A", model="glm-9"), assistant("msg_B", split=(300, 200))])
    by_model = {row.label: row.amounts for row in history.report("model").rows}
    assert (by_model["glm-9"].cost_usd, by_model["glm-9"].output_tokens) == ("unpriced", 345)
    totals = history.report("day").totals
    assert (totals.cost_usd, totals.calls, totals.unpriced_calls) == (0.013555, 2, 1)


def test_fast_mode_is_a_row_of_its_own() -> None:
    history = History()
    history.read([assistant("msg_A", speed="fast"), assistant("msg_B", speed="standard")])
    assert [row.label for row in history.report("model").rows] == ["claude-opus-4-8-fast", "claude-opus-4-8"]


def test_versions_that_recorded_too_little_output_are_marked_in_every_grouping() -> None:
    history = History()
    history.read([assistant("msg_A", version="2.1.59"), assistant("msg_B", version="2.1.63")])
    for by in get_args(Grouping):
        report = history.report(by)
        assert report.rows[0].amounts.incomplete_calls == 1, by
        assert report.reply()["totals"]["incomplete"] is True
        assert "too low" in report.reply()["note"]
