from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, cast, get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import InvalidArgument
from engine.core.setting_kinds import PriceSetting
from engine.usage.amounts import total_of
from engine.usage.calls import time_of
from engine.usage.pricing import Prices
from engine.usage.rows import Grouping
from engine.usage.source import UsageFilter
from tests.engine.usage.history import History, assistant, at

if TYPE_CHECKING:
    from engine.usage.report import UsageReport

GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
AMOUNTS = ("input_tokens", "output_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens", "cache_read_tokens")


def ms(timestamp: str) -> int:
    return time_of(timestamp) or 0


def working_days() -> History:
    """Two repositories, three sessions, eight days, a model without a price."""
    chance = random.Random(3)
    history = History()
    history.repositories = {"/home/ann/shop-worktree": "/home/ann/shop"}
    for number in range(60):
        session = chance.choice(["s1", "s2", "s3"])
        history.read(
            [
                assistant(
                    f"msg_{number}",
                    session=session,
                    minute=chance.randrange(8 * 1440),
                    output=chance.randrange(1, 900),
                    split=(chance.randrange(500), chance.randrange(500)),
                    model=chance.choice(["claude-opus-4-8", "claude-haiku-4-5", "glm-9"]),
                    version=chance.choice(["2.1.20", "2.1.119"]),
                    cwd=chance.choice(["/home/ann/shop", "/home/ann/shop-worktree", "/home/ann/site"]),
                )
            ]
        )
    return history


def labels(report: UsageReport) -> list[str]:
    return [row.label for row in report.rows]


@given(
    zone=st.sampled_from(["UTC", "Asia/Kathmandu", "America/Denver", "Pacific/Chatham"]),
    minutes=st.tuples(st.integers(-60, 8 * 1440), st.integers(-60, 8 * 1440)),
)
def test_totals_are_the_sum_of_the_rows_and_the_same_in_every_grouping(zone: str, minutes: tuple[int, int]) -> None:
    history = working_days()
    start, end = sorted(ms(at(minute)) for minute in minutes)
    reports = [
        history.report(by, zone=ZoneInfo(zone), only=UsageFilter(start_ms=start, end_ms=end)) for by in GROUPINGS
    ]
    for report in reports:
        assert report.totals == reports[0].totals, report.by
        for name in (*AMOUNTS, "calls", "unpriced_calls", "incomplete_calls", "cost_nanos", "web_searches"):
            assert getattr(report.totals, name) == sum(getattr(row.amounts, name) for row in report.rows)


def test_a_range_is_half_open_to_the_millisecond() -> None:
    history = History()
    history.read([assistant(f"msg_{minute}", minute=minute) for minute in (0, 7, 14)])
    only = UsageFilter(start_ms=ms(at(0)), end_ms=ms(at(14)))
    assert history.report("day", only=only).totals.calls == 2
    assert history.report("session", only=UsageFilter(start_ms=ms(at(0)) + 1)).totals.calls == 2


def test_days_are_the_newest_first_and_empty_ones_are_left_out() -> None:
    history = History()
    history.read([assistant("msg_A"), assistant("msg_B", minute=3 * 1440)])
    assert labels(history.report("day")) == ["2026-08-06", "2026-08-03"]


def test_the_hour_that_comes_twice_in_autumn_belongs_to_one_day() -> None:
    history = History()
    times = (
        "2026-10-24T21:59:59Z",
        "2026-10-24T22:00:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T22:59:59Z",
    )
    history.read([assistant(f"msg_{each}", timestamp=each) for each in times])
    berlin = history.report("day", zone=ZoneInfo("Europe/Berlin"))
    assert {row.label: row.amounts.calls for row in berlin.rows} == {"2026-10-24": 1, "2026-10-25": 4}


def test_weeks_are_named_by_their_monday_and_the_reply_says_so() -> None:
    history = History()
    history.read([assistant(timestamp="2026-08-09T12:00:00Z")])
    report = history.report("week")
    assert labels(report) == ["2026-08-03"]
    assert "Monday" in report.reply()["note"]


def test_months_follow_the_calendar() -> None:
    history = History()
    history.read(
        [assistant("msg_A", timestamp="2026-08-31T23:30:00Z"), assistant("msg_B", timestamp="2026-07-01T00:00:00Z")]
    )
    assert labels(history.report("month", zone=ZoneInfo("Europe/Berlin"))) == ["2026-09", "2026-07"]


def test_another_zone_or_price_needs_no_rebuild() -> None:
    history = History()
    history.read([assistant(timestamp="2026-08-04T02:10:00Z", output=1_000_000, input=0, read=0, write=0)])
    assert labels(history.report(zone=ZoneInfo("Asia/Tokyo"))) == ["2026-08-04"]
    assert labels(history.report(zone=ZoneInfo("America/Denver"))) == ["2026-08-03"]
    assert history.report().totals.cost_usd == 25.0
    assert history.report(prices=Prices([PriceSetting("claude-opus-4-8", 1, 2)])).totals.cost_usd == 2.0


def test_a_change_of_prices_in_the_middle_of_a_local_day_is_priced_on_both_sides() -> None:
    """Sonnet 5.5 reads from the cache cost half since 2026-10-07 UTC, 18:00 the day before in Denver."""
    history = History()
    million: dict[str, Any] = {"input": 0, "output": 0, "write": 0, "read": 1_000_000, "model": "claude-sonnet-5-5"}
    times = ("2026-10-06T23:00:00Z", "2026-10-07T00:00:00Z")
    history.read([assistant(f"msg_{each}", timestamp=each, **million) for each in times])
    report = history.report("day", zone=ZoneInfo("America/Denver"))
    assert [(row.label, row.amounts.cost_usd) for row in report.rows] == [("2026-10-06", 0.3)]
    assert history.report("model").totals.cost_usd == 0.3


def test_projects_are_repositories_and_name_the_folders_worked_in() -> None:
    history = History()
    history.repositories = {"/home/ann/shop-wt": "/home/ann/shop"}
    history.read([assistant("msg_A", cwd="/home/ann/shop"), assistant("msg_B", cwd="/home/ann/shop-wt")])
    history.read([assistant("msg_C", cwd="", session="s2")])
    rows = [row.reply("project") for row in history.report("project").rows]
    assert [(row["project"], row["cwds"], row["calls"]) for row in rows] == [
        ("/home/ann/shop", ["/home/ann/shop", "/home/ann/shop-wt"], 2),
        ("unknown", [], 1),
    ]


def test_the_costliest_model_comes_first_and_an_unpriced_one_last() -> None:
    history = History()
    for model in ("glm-9", "claude-haiku-4-5", "claude-opus-4-8"):
        history.read([assistant(f"msg_{model}", model=model)])
    assert labels(history.report("model")) == ["claude-opus-4-8", "claude-haiku-4-5", "glm-9"]


def test_a_report_can_be_of_some_folders_or_sessions_only() -> None:
    history = working_days()
    site = history.folder_number("/home/ann/site")
    for by in GROUPINGS:
        report = history.report(by, only=UsageFilter(folder_ids=[site]))
        assert (
            report.totals.calls == history.report("project", only=UsageFilter(folder_ids=[site])).rows[0].amounts.calls
        )
    assert labels(history.report("session", only=UsageFilter(session_ids=[history.session_number("s2")]))) == ["s2"]


def test_the_share_of_prompts_read_from_the_cache_is_told() -> None:
    history = History()
    history.read([assistant(input=100, read=800, split=(60, 40))])
    assert history.report().totals.cache_hit_share == 0.8
    assert History().report().totals.cache_hit_share is None


def test_a_call_at_the_last_moment_of_a_block_is_not_counted_in_the_next_one_too() -> None:
    history = History()
    times = ("10:00:00.000", "15:00:00.000", "15:20:00.000")
    history.read([assistant(f"msg_{each}", timestamp=f"2026-08-03T{each}Z") for each in times])
    rows = history.report("block").rows
    assert [(row.label[11:16], row.amounts.calls) for row in rows] == [("15:00", 1), ("10:00", 2)]


def test_rows_split_by_model_add_up_to_themselves() -> None:
    history = working_days()
    for by in GROUPINGS:
        for row in history.report(by, split_models=True).rows:
            assert row.by_model is not None
            assert total_of(row.by_model.values()) == row.amounts
            assert [part["model"] for part in row.reply(by)["by_model"]] == list(row.amounts.models)
        assert all("by_model" not in row for row in history.report(by).reply()["rows"])


def test_the_active_block_is_marked() -> None:
    history = History()
    history.read([assistant("msg_A", minute=-400), assistant("msg_B", minute=0)])
    rows = history.report("block", now=100).rows
    assert [row.active for row in rows] == [True, None, False]


def test_a_page_has_the_totals_of_all_rows() -> None:
    report = working_days().report("day")
    page = report.reply(limit=2, offset=1)
    assert [row["day"] for row in page["rows"]] == [row.label for row in report.rows[1:3]]
    assert page["totals"]["calls"] == 60
    assert (page["next_offset"], page["total"]) == (3, len(report.rows))
    assert "next_offset" not in report.reply(limit=len(report.rows))


@pytest.mark.parametrize(("by", "key"), [("session", "session_id"), *((by, by) for by in GROUPINGS if by != "session")])
def test_a_reply_has_the_keys_of_the_interface(by: Grouping, key: str) -> None:
    reply = working_days().report(by).reply()
    for row in [*reply["rows"], reply["totals"]]:
        assert {*AMOUNTS, "cost_usd", "calls", "unpriced_calls", "incomplete", "models"} <= row.keys()
        assert isinstance(row["incomplete"], bool)
    assert all(key in row for row in reply["rows"])
    assert reply["time_zone"] == "UTC"


def test_nothing_recorded_is_an_empty_report_that_costs_nothing() -> None:
    for by in GROUPINGS:
        reply = History().report(by).reply()
        assert (reply["rows"], reply["totals"]["cost_usd"], reply["totals"]["calls"]) == ([], 0, 0)


def test_another_grouping_is_refused_with_the_right_ones() -> None:
    with pytest.raises(InvalidArgument) as refused:
        History().report(cast("Grouping", "year"))
    assert refused.value.candidates == GROUPINGS


def test_after_a_prune_the_totals_name_the_first_complete_day() -> None:
    history = History()
    history.read([assistant("msg_A"), assistant("msg_B", minute=3 * 1440)])
    history.tables.delete_before(ms("2026-08-04T22:00:00Z"))
    assert history.report().since == "2026-08-05"
    assert history.report(zone=ZoneInfo("Europe/Berlin")).since == "2026-08-05"
    assert history.report(zone=ZoneInfo("Asia/Tokyo")).since == "2026-08-06"
    reply = history.report().reply()
    assert reply["totals"]["since"] == "2026-08-05"
    assert "pruned" in reply["note"]
    assert history.report(only=UsageFilter(start_ms=ms("2026-08-05T00:00:00Z"))).since is None


def test_a_prune_of_other_folders_does_not_concern_a_projects_report() -> None:
    history = History()
    history.read([assistant("msg_A", cwd="/a"), assistant("msg_B", cwd="/b")])
    history.tables.delete_before(ms(at(60)), [history.folder_number("/a")])
    assert history.report(only=UsageFilter(folder_ids=[history.folder_number("/b")])).since is None
    assert history.report().since == "2026-08-04"


# Claude Code's own total -----------------------------------------------------------------------------------------


def cost_state(usd: float, **fields: Any) -> dict[str, Any]:
    return {"type": "cost-state", "sessionId": "s1", "totalCostUSD": usd, **fields}


def compared(history: History, only: UsageFilter | None = None) -> dict[str, Any] | None:
    return history.report("session", only=only).rows[0].reply("session").get("cost_state")


@pytest.mark.parametrize(
    ("usd", "difference", "why"),
    [(0.02, 0.006445, "no transcript line"), (0.013555, 0, "is the sum"), (0.01, -0.003555, "before the last")],
)
def test_claude_codes_own_total_stands_beside_the_sum_with_the_difference_named(
    usd: float, difference: float, why: str
) -> None:
    history = History()
    history.read([assistant(split=(300, 200)), cost_state(usd)])
    state = compared(history)
    assert state is not None
    assert (state["cost_usd"], state["difference_usd"]) == (usd, difference)
    assert why in state["why"]


@pytest.mark.parametrize("unpriced", [{"model": "glm-9"}, {"unknown": True}])
def test_a_total_is_not_compared_when_a_price_is_missing(unpriced: dict[str, Any]) -> None:
    unknown = unpriced.pop("unknown", False)
    history = History()
    history.read([assistant(**unpriced), cost_state(0.02, hasUnknownModelCost=unknown)])
    state = compared(history)
    assert state is not None
    assert "difference_usd" not in state


def test_a_session_that_is_only_partly_in_the_report_is_not_compared() -> None:
    history = History()
    history.read([assistant("msg_A"), assistant("msg_B", minute=60), cost_state(0.02)])
    assert compared(history) is not None
    assert compared(history, UsageFilter(start_ms=ms(at(0)))) is not None
    assert compared(history, UsageFilter(start_ms=ms(at(1)))) is None
    assert compared(history, UsageFilter(end_ms=ms(at(60)))) is None
    assert compared(history, UsageFilter(folder_ids=[history.folder_number("/home/ann/shop")])) is None


def test_what_a_fork_brought_along_is_told_apart_from_what_no_line_records() -> None:
    history = History()
    history.read([assistant("msg_A", split=(300, 200))], session="origin")
    fork = [assistant("msg_A", split=(300, 200)), assistant("msg_B", split=(300, 200), minute=70), cost_state(0.03)]
    history.read(fork, session="fork", began=60)
    state = next(row for row in history.report("session").rows if row.label == "fork").reply("session")["cost_state"]
    assert (state["difference_usd"], state["copied_usd"]) == (0.016445, 0.013555)
    assert "copied into this session" in state["why"]
    assert "no transcript line" in state["why"]


def test_the_same_foreign_id_in_another_session_is_no_copy() -> None:
    history = History()
    for session in ("s1", "s2"):
        history.read([assistant("gen-1", request=None, session=session), cost_state(0.02)], session=session)
    for row in history.report("session").rows:
        assert "copied_usd" not in row.reply("session")["cost_state"]
