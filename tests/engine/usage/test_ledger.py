"""The order in which transcripts are read never changes what is stored; forgetting and ageing keep it exact."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.store.usage import CallHolder
from engine.usage.calls import ApiCall, call_of, time_of
from engine.usage.ledger import SessionCall, forget_sessions, record_calls
from tests.engine.usage.history import History, Line, assistant, at, shuffled

SESSIONS = ("s1", "s2", "s3")
BEGAN = {"s1": -30.0, "s2": -20.0, "s3": -20.0}
"""Minutes; two sessions begin at the same time."""

lines = st.lists(
    st.builds(
        assistant,
        st.sampled_from(["msg_1", "msg_2", "gen_1", "gen_2", None]),
        output=st.integers(0, 3),
        input=st.integers(0, 3),
        minute=st.integers(0, 2).map(float),
        request=st.sampled_from(["req", None]),
        session=st.sampled_from(SESSIONS),
        sidechain=st.booleans(),
        model=st.sampled_from(["claude-opus-4-8", "glm-9"]),
        cwd=st.sampled_from(["/a", "/b"]),
        sessionKind=st.sampled_from([None, "bg"]),
    ),
    max_size=12,
)


def recorded(items: list[Line], *, batches: random.Random) -> History:
    """Record lines in the given order, cut into batches anywhere."""
    history = History()
    for name in SESSIONS:  # the same numbers whatever comes first
        history.session_number(name)
    for folder in ("/a", "/b"):
        history.folder_number(folder)
    while items:
        taken = batches.randint(1, len(items))
        with history.connection:
            record_calls(history.tables, [placed(history, line) for line in items[:taken]])
        items = items[taken:]
    return history


def placed(history: History, line: Line) -> SessionCall:
    call = call_of(line)
    assert call is not None
    name = line["sessionId"]
    holder = CallHolder(history.session_number(name), time_of(at(BEGAN[name])) or 0, name)
    return SessionCall(call, holder, history.folder_number(line["cwd"]))


def expected(items: list[Line]) -> list[tuple[Any, ...]]:
    """Decide what counts from all lines at once, by the words of transcripts.md 5.2."""
    calls = [(line, call) for line in items if (call := call_of(line)) is not None]
    everywhere = {call.key for _, call in calls if call.is_global}
    groups = defaultdict[tuple[str, str | None], list[tuple[Line, ApiCall]]](list)
    for line, call in calls:
        groups[call.key, None if call.key in everywhere else line["sessionId"]].append((line, call))
    counted: list[tuple[Any, ...]] = []
    for group in groups.values():
        best = max(
            (call for _, call in group),
            key=lambda call: (call.output, call.time_ms, not call.is_sidechain, call.input, call.variant),
        )
        holders = {line["sessionId"] for line, _ in group}

        def claim(name: str, group: list[tuple[Line, ApiCall]] = group) -> tuple[Any, ...]:
            mine = [call for line, call in group if line["sessionId"] == name]
            return (
                all(call.is_copy for call in mine),
                all(call.is_sidechain for call in mine),
                BEGAN[name],
                name,
            )

        owner = min(holders, key=claim)
        folder = min((call.time_ms, line["cwd"]) for line, call in group if line["sessionId"] == owner)[1]
        first = min(call.time_ms for _, call in group)
        counted.append((owner, folder, first, best.output, best.input, best.variant.model))
    return sorted(counted)


def counted(history: History) -> list[tuple[Any, ...]]:
    return sorted(
        (
            row["counted_session_id"],
            row["counted_folder_id"],
            row["counted_ms"],
            row["output"],
            row["input"],
            row["variant_id"][0],
        )
        for row in map(dict, history.dump()["api_calls"])
        if row["counted_ms"] is not None
    )


@given(items=lines, seed=st.integers(0, 2**32))
def test_any_order_and_any_batches_store_the_same(items: list[Line], seed: int) -> None:
    one = recorded(items, batches=random.Random(seed))
    other = recorded(shuffled(items, seed), batches=random.Random(seed + 1))
    assert one.dump() == other.dump()


@given(items=lines, seed=st.integers(0, 2**32))
def test_what_counts_is_what_a_look_at_all_lines_at_once_says(items: list[Line], seed: int) -> None:
    assert counted(recorded(shuffled(items, seed), batches=random.Random(seed))) == expected(items)


@given(items=lines, seed=st.integers(0, 2**32))
def test_reading_everything_again_changes_nothing(items: list[Line], seed: int) -> None:
    history = recorded(items, batches=random.Random(seed))
    before, changes = history.dump(), history.connection.total_changes()
    with history.connection:
        record_calls(history.tables, [placed(history, line) for line in shuffled(items, seed)])
    assert history.dump() == before
    assert history.connection.total_changes() == changes, "nothing may be written"


@given(items=lines, seed=st.integers(0, 2**32), gone=st.sampled_from(SESSIONS))
def test_forgetting_a_session_leaves_what_the_others_would_have_given(items: list[Line], seed: int, gone: str) -> None:
    history = recorded(items, batches=random.Random(seed))
    with history.connection:
        forget_sessions(history.tables, [history.session_number(gone)])
    rest = recorded([line for line in items if line["sessionId"] != gone], batches=random.Random(seed))
    assert history.dump() == rest.dump()


@given(items=lines, seed=st.integers(0, 2**32))
def test_a_session_that_turns_out_to_be_older_gets_its_calls(items: list[Line], seed: int) -> None:
    """A sub-agent's file may be read before its parent's, which says when the session really began."""
    late = History()
    for name in SESSIONS:
        late.session_number(name)
    for folder in ("/a", "/b"):
        late.folder_number(folder)
    for line in shuffled(items, seed):
        late.read([line], began=0)
    with late.connection:
        record_calls(late.tables, [placed(late, line) for line in items])
    assert late.dump() == recorded(items, batches=random.Random(seed)).dump()


def test_a_shared_call_moves_when_another_file_shows_that_its_session_is_older() -> None:
    history = History()
    history.read([assistant("msg_A", session="fork")], began=0)
    history.read([assistant("msg_A", session="origin")], began=50)
    assert history.calls_of("origin", "fork") == {"origin": 0, "fork": 1}
    history.read([assistant("msg_B", session="origin")], began=-60)
    assert history.calls_of("origin", "fork") == {"origin": 2, "fork": 0}


def test_a_file_that_begins_later_does_not_make_its_session_younger() -> None:
    history = History()
    history.read([assistant("msg_A", session="origin")], began=-60)
    history.read([assistant("msg_A", session="fork")], began=0)
    history.read([assistant("msg_A", session="origin", minute=1)], began=50)
    assert history.calls_of("origin", "fork") == {"origin": 1, "fork": 0}


def test_a_sub_agents_file_that_replays_older_lines_does_not_make_its_session_older() -> None:
    history = History()
    replay = [assistant("msg_A", sidechain=True), assistant("msg_S", sidechain=True, minute=61)]
    history.read_at(replay, session="fork", began_ms=None)
    assert history.calls_of("fork") == {"fork": 2}
    history.read([assistant("msg_A", session="fork")], began=60)
    history.read([assistant("msg_A", session="origin")], began=0)
    assert history.calls_of("origin", "fork") == {"origin": 1, "fork": 1}


def test_the_project_is_that_of_the_earliest_line() -> None:
    history = History()
    history.read(
        [assistant(minute=1, cwd="/late"), assistant(minute=0, cwd="/early"), assistant(minute=2, cwd="/late")]
    )
    assert [row.label for row in history.report("project").rows] == ["/early"]


def test_a_call_over_midnight_is_of_the_day_it_began() -> None:
    history = History()
    history.read(
        [
            assistant(output=1, timestamp="2026-08-03T23:59:58.000Z"),
            assistant(output=345, timestamp="2026-08-04T00:00:07.000Z"),
        ]
    )
    assert [row.label for row in history.report("day").rows] == ["2026-08-03"]
