"""The usage tables: the roll-up never drifts from the calls, sums are exact for any range, pruning is remembered."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store import usage
from engine.store.usage import CostState
from engine.usage.calls import time_of
from engine.usage.ledger import forget_sessions
from tests.engine.usage.history import History, assistant, at

if TYPE_CHECKING:
    from engine.store.usage_sums import UsageCell

SUMS = "count(*), sum(input), sum(output), sum(cache_write_5m), sum(cache_write_1h), sum(cache_read), sum(web_searches)"


def busy_history(seed: int, calls: int = 40) -> History:
    """Return a history with calls over three days, forks, copies and replays of the same ones."""
    chance = random.Random(seed)
    history = History()
    for _ in range(calls):
        session = chance.choice(["s1", "s2", "s3"])
        line = assistant(
            f"msg_{chance.randrange(25)}",
            session=session,
            minute=chance.choice([0, 5, 14.999, 15, 59.99, 60, 1440, 4000]) + chance.randrange(3) * 15,
            output=chance.randrange(5),
            split=(chance.randrange(9), chance.randrange(9)),
            model=chance.choice(["claude-opus-4-8", "claude-haiku-4-5", "glm-9"]),
            speed=chance.choice([None, "fast"]),
            cwd=chance.choice(["/a", "/b"]),
        )
        history.read([line], began=int(session[1]))
    return history


def recomputed(history: History, step_ms: int, keys: str) -> list[tuple[object, ...]]:
    return sorted(
        history.connection.execute(
            f"SELECT counted_ms / {step_ms}, {keys}variant_id, {SUMS} FROM api_calls "  # noqa: S608 - literals
            f"WHERE counted_ms IS NOT NULL GROUP BY counted_ms / {step_ms}, {keys}variant_id"
        )
    )


def assert_roll_up_is_exact(history: History) -> None:
    quarters = sorted(history.connection.execute("SELECT * FROM usage_quarters"))
    assert quarters == recomputed(history, 900_000, "counted_session_id, counted_folder_id, ")
    assert sorted(history.connection.execute("SELECT * FROM usage_hours")) == recomputed(history, 3_600_000, "")


@given(seed=st.integers(0, 2**32))
def test_the_roll_up_equals_the_calls_after_copies_growth_forgetting_and_pruning(seed: int) -> None:
    history = busy_history(seed)
    assert_roll_up_is_exact(history)
    forget_sessions(history.tables, [history.session_number("s1")])
    assert_roll_up_is_exact(history)
    history.tables.delete_before(time_of(at(60)) or 0)
    assert_roll_up_is_exact(history)


def test_a_call_is_counted_in_one_row_of_its_key() -> None:
    history = busy_history(7, calls=200)
    per_key = history.connection.execute("SELECT count(counted_ms) FROM api_calls GROUP BY key")
    assert {row[0] for row in per_key} == {1}


minutes = st.one_of(st.integers(-30, 4100), st.sampled_from([0, 15, 60, 14.999, 15.001, 1440]))


@given(seed=st.integers(0, 2**16), edges=st.tuples(minutes, minutes), dimension=st.sampled_from([None, "session_id"]))
def test_sums_of_any_range_equal_the_calls_in_it(seed: int, edges: tuple[float, float], dimension: str | None) -> None:
    history = busy_history(seed)
    start, end = sorted(time_of(at(edge)) or 0 for edge in edges)
    cells = history.sums.cells(start, end, dimension="session_id" if dimension else None)
    query = f"SELECT {SUMS} FROM api_calls WHERE counted_ms >= ? AND counted_ms < ?"  # noqa: S608 - literals
    (wanted,) = history.connection.execute(query, (start, end))
    assert totals(cells) == tuple(each or 0 for each in wanted)


def totals(cells: list[UsageCell]) -> tuple[int, ...]:
    return tuple(sum(each) for each in zip(*(cell[2:] for cell in cells), strict=True)) if cells else (0,) * 7


def test_sums_can_be_of_some_sessions_or_folders_only() -> None:
    history = History()
    history.read([assistant("msg_A", cwd="/a"), assistant("msg_B", cwd="/b", minute=1)], session="s1")
    history.read([assistant("msg_C", cwd="/b", session="s2", minute=7)])
    everything = (0, time_of("2030-01-01T00:00:00Z") or 0)
    of_one = history.sums.cells(*everything, session_ids=[history.session_number("s1")])
    of_folder = history.sums.cells(*everything, folder_ids=[history.folder_number("/b")])
    assert (totals(of_one)[0], totals(of_folder)[0]) == (2, 2)
    assert history.sums.cells(*everything, folder_ids=[]) == []


def test_a_reader_learns_of_models_that_come_later() -> None:
    history = History()
    history.read([assistant("msg_A")])
    assert {row.label for row in history.report("model").rows} == {"claude-opus-4-8"}
    history.read([assistant("msg_B", model="claude-haiku-4-5")])
    assert {row.label for row in history.report("model").rows} == {"claude-opus-4-8", "claude-haiku-4-5"}


def test_pruned_calls_go_with_their_roll_up_and_do_not_come_back() -> None:
    lines = [assistant("msg_A", minute=0), assistant("msg_B", minute=100)]
    copies = [assistant("msg_A", session="s2", minute=0)]
    history = History()
    history.read(lines)
    history.read(copies, began=90)
    cut = time_of(at(50)) or 0
    assert history.tables.count_before(cut) == 1
    assert history.tables.delete_before(cut) == 1
    history.read(lines)
    history.read(copies, began=90)
    assert history.calls_of("s1", "s2") == {"s1": 1, "s2": 0}
    assert history.connection.execute("SELECT count(*) FROM api_calls").fetchall() == [(1,)]


def test_pruning_some_folders_leaves_the_others() -> None:
    lines = [assistant("msg_A", cwd="/a"), assistant("msg_B", cwd="/b")]
    history = History()
    history.read(lines)
    assert history.tables.delete_before(time_of(at(50)) or 0, [history.folder_number("/a")]) == 1
    history.read(lines)
    assert [row.label for row in history.report("project").rows] == ["/b"]


def test_many_calls_are_pruned_in_several_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "CALLS_A_TRANSACTION", 2)
    history = History()
    history.read([assistant(f"msg_{minute}", minute=minute) for minute in (0, 1, 1, 2, 3, 9)])
    before_ms = time_of(at(9)) or 0
    cuts = [history.tables.cut_before(before_ms)]
    while cuts[-1] < before_ms:
        history.tables.delete_before(cuts[-1])
        cuts.append(history.tables.cut_before(before_ms))
    history.tables.delete_before(cuts[-1])

    assert len(cuts) == 3
    assert history.calls_of("s1") == {"s1": 1}
    assert list(history.sums.pruned_before().values()) == [before_ms]


def test_a_later_prune_of_less_does_not_take_back_the_earlier_one() -> None:
    history = History()
    history.read([assistant()])
    for minute in (50, 20):
        history.tables.delete_before(time_of(at(minute)) or 0)
    assert list(history.sums.pruned_before().values()) == [time_of(at(50))]


def test_pruning_does_not_touch_another_sessions_call_with_the_same_foreign_id() -> None:
    history = History()
    history.read([assistant("gen-1", request=None, minute=0)])
    history.read([assistant("gen-1", request=None, session="s2", minute=100)])
    history.tables.delete_before(time_of(at(50)) or 0)
    assert history.calls_of("s1", "s2") == {"s1": 0, "s2": 1}


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_of_cost_states_the_greatest_stays_in_whatever_order_they_are_read(order: tuple[int, ...]) -> None:
    history = History()
    for cost in order:
        history.tables.put_cost_state(5, CostState(cost, cost, 0, 0, 0, 0, 0, 0))
    assert history.sums.cost_states() == {5: CostState(3, 3, 0, 0, 0, 0, 0, 0)}


def test_forgetting_a_session_forgets_its_cost_state() -> None:
    history = History()
    history.read([assistant(), {"type": "cost-state", "sessionId": "s1", "totalCostUSD": 1.5}])
    forget_sessions(history.tables, [history.session_number("s1")])
    assert history.sums.cost_states() == {}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 0, variant_id, sum(calls) FROM usage_hours WHERE hour >= 1 AND hour < 2 GROUP BY 1, 2",
        "SELECT 0, variant_id, sum(calls) FROM usage_quarters WHERE quarter >= 1 AND quarter < 2 GROUP BY 1, 2",
        "SELECT 0, variant_id, count(*) FROM api_calls WHERE counted_ms >= 1 AND counted_ms < 2 GROUP BY 1, 2",
        "SELECT min(counted_ms) FROM api_calls WHERE counted_ms >= 1",
        "SELECT max(counted_ms) FROM api_calls WHERE counted_ms <= 1",
        "SELECT key FROM api_calls WHERE key = 'a'",
        "DELETE FROM api_calls WHERE session_id IN (1)",
    ],
)
def test_no_question_of_a_report_or_of_recording_scans_a_table(query: str) -> None:
    plan = [row[3] for row in History().connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert any(step.startswith("SEARCH") for step in plan)
    assert not any(step.startswith("SCAN") for step in plan), plan
