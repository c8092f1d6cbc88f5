"""Contract 2.8: structured dates, bounds and precision."""

from __future__ import annotations

import os
from typing import Any

import pytest

from engine.knowledge.errors import InvalidDate, InvalidRange
from tests.engine.knowledge.fixture_f import Store, ids

BEFORE_ALL = "2020-01-01"


def codes(store: Store, name: str) -> set[str]:
    return {issue["code"] for issue in store.check()["issues"] if issue.get("id") == name}


def test_r083_dates_in_prose_are_no_dates(f: Store) -> None:
    assert f.tl(since="2026-03-20", until="2026-03-20")["total"] == 0


def test_r084_a_date_query_reconciles_its_own_scope_first(f: Store) -> None:
    before = f.tl()
    f.claim("C-new", "fact", "Fresh", occurred_at="2026-04-02")
    assert "C-new" in ids(f.tl())
    f.paths["C-new"].unlink()
    f.claim("C-other", "fact", "Elsewhere", occurred_at="2026-04-03", scope="other")
    after = f.tl()
    assert (after["rows"], after["total"], after["snapshot"]) == (before["rows"], before["total"], before["snapshot"])


def test_r085_meetings_take_place_at_fields_occurred_at(f: Store) -> None:
    row = f.tl(kind="meeting", until="2026-03-06")["rows"][0]
    assert (row["id"], row["date"]) == ("M-kick", "2026-03-05T09:00:00Z")
    f.page("M-top", "meeting", "Top level", occurred_at="2026-03-07")
    reply = f.tl(kind="meeting")
    assert "M-top" not in ids(reply)
    assert reply["coverage"]["complete"] is False
    assert codes(f, "M-top") == {"invalid"}


def test_r086_recorded_at_is_the_creation_in_the_store(f: Store) -> None:
    row = f.record("C-p2")["record"]
    f.call(
        "knowledge_correct",
        {
            "id": "C-p2",
            "expectedRevision": 1,
            "expectedHash": row["hash"],
            "reason": "newer",
            "replacement": {"claim_kind": "decision", "title": "New", "body": "x", "evidence": [{"id": "ev_notes"}]},
        },
    )
    assert f.record("C-p2")["record"]["recordedAt"] == row["recordedAt"]


def test_r086_the_recording_timeline_holds_every_eligible_record(f: Store) -> None:
    names = set(ids(f.tl(time_field="recorded_at", limit=50)))
    assert names == set(f.paths) - {"C-exp", "C-wd", "C-p1"}


def test_r087_updated_at_is_authored_and_never_a_file_time(f: Store) -> None:
    os.utime(f.paths["P-ben"], (1, 1))
    assert f.record("P-ben")["record"]["updatedAt"] == "2026-03-05T10:00:00Z"
    digest = f.record("P-ben")["record"]["hash"]
    f.call("knowledge_save_page", {"id": "P-ben", "expectedRevision": 1, "expectedHash": digest, "body": "Engineer."})
    assert f.record("P-ben")["record"]["updatedAt"] == "2026-05-01T12:00:00Z"


def test_r088_due_at_is_a_deadline_and_triggers_nothing(f: Store) -> None:
    assert ids(f.tl(time_field="due_at", until="2026-04-30")) == ["C-ship"]
    f.claim("C-due", "fact", "Not a commitment", due_at="2026-04-01")
    assert codes(f, "C-due") == {"invalid"}
    assert ids(f.tl(time_field="due_at")) == ["C-ship"]


def test_r089_an_unknown_date_stays_absent(f: Store) -> None:
    f.claim("C-undated", "fact", "No date")
    assert "C-undated" not in ids(f.tl(limit=50))
    assert "C-undated" in ids(f.tl(time_field="recorded_at", limit=50))
    assert "occurredAt" not in f.record("C-undated")["record"]


@pytest.mark.parametrize(
    "bound",
    [
        "2026-02-28",
        "2024-02-29",
        "2026-03-05T09:00:00Z",
        "2026-03-05T09:00:00+02:00",
        "2026-03-05T09:00:00.250Z",
        "2026-03-05T23:59:59-11:30",
        "0001-01-01",
        "9999-12-31",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_r090_dates_and_full_timestamps_are_accepted(f: Store, bound: str) -> None:
    assert "rows" in f.tl(since=bound)


@pytest.mark.parametrize(
    "bound",
    [
        "2026-02-30",
        "2026-3-5",
        "20260305",
        "2026-W10-4",
        "2026-03-05T09:00Z",
        "2026-03-05T09:00:00",
        "yesterday",
        "1741165200",
        "2026-03-05 09:00:00Z",
        "2026-03-05T09:00:60Z",
        "2026-03-05T24:00:00Z",
        "2026-03-05T09:00:00z",
        "2026-03-05T09:00:00+0200",
        "2026-03-05T09:00:00+24:00",
        "2026-03-05T09:00:00.Z",
        "0000-01-01",
        "２０２６-03-05",
        " 2026-03-05",
        "2026-03-05\n",
        "",
    ],
)
def test_r090_everything_else_is_refused(f: Store, bound: str) -> None:
    with pytest.raises(InvalidDate):
        f.tl(since=bound)
    with pytest.raises(InvalidDate):
        f.grep("atlas", until=bound)


def test_r091_relative_words_are_the_hosts_job(f: Store) -> None:
    with pytest.raises(InvalidDate) as refused:
        f.tl(since="last week")
    assert "resolved date" in str(refused.value)


def test_r092_bounds_are_inclusive(f: Store) -> None:
    at_nine = {"C-kick"}
    assert at_nine <= set(ids(f.tl(until="2026-03-05T09:00:00Z")))
    assert not at_nine & set(ids(f.tl(until="2026-03-05T08:59:59Z")))
    assert at_nine <= set(ids(f.tl(since="2026-03-05T09:00:00Z")))
    assert "M-kick" in ids(f.tl(kind="meeting", until="2026-03-05T09:00:00Z"))


def test_r093_a_bare_upper_bound_is_the_whole_utc_day(f: Store) -> None:
    f.claim("C-late", "fact", "Late", occurred_at="2026-03-05T23:59:59.999Z")
    f.claim("C-next", "fact", "Next", occurred_at="2026-03-06T00:00:00Z")
    names = ids(f.tl(until="2026-03-05"))
    assert "C-late" in names
    assert "C-next" not in names
    assert "M-rev" not in ids(f.tl(until="2026-03-12T01:00:00+02:00"))


def test_r094_a_bare_lower_bound_is_the_start_of_that_day(f: Store) -> None:
    f.claim("C-first", "fact", "First", occurred_at="2026-03-05T00:00:00Z")
    f.claim("C-before", "fact", "Before", occurred_at="2026-03-04T23:59:59.999999999Z")
    names = ids(f.tl(since="2026-03-05"))
    assert "C-first" in names
    assert "C-before" not in names


@pytest.mark.parametrize(
    ("bounds", "matches"),
    [
        ({"since": "2026-03-12T15:00:00Z", "until": "2026-03-12T16:00:00Z"}, True),
        ({"until": "2026-03-12T00:00:00Z"}, True),
        ({"since": "2026-03-12T23:59:59.999999999Z"}, True),
        ({"since": "2026-03-13"}, False),
        ({"until": "2026-03-11T23:59:59Z"}, False),
    ],
)
def test_r095_bare_dates_match_any_overlapping_range(f: Store, bounds: dict[str, Any], matches: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert ("M-rev" in ids(f.tl(**bounds))) is matches


def test_r096_a_bare_date_claims_no_instant(f: Store) -> None:
    row = next(row for row in f.tl()["rows"] if row["id"] == "M-rev")
    assert (row["date"], row["precision"]) == ("2026-03-12", "day")


def test_r097_an_empty_range_is_refused(f: Store) -> None:
    with pytest.raises(InvalidRange):
        f.tl(since="2026-03-06", until="2026-03-05")
    with pytest.raises(InvalidRange):
        f.grep("atlas", since="2026-03-06", until="2026-03-05T23:59:59Z")
    assert "rows" in f.tl(since="2026-03-05T12:00:00Z", until="2026-03-05")


def test_r098_offsets_are_compared_as_instants_and_shown_as_authored(f: Store) -> None:
    f.claim("C-berlin", "fact", "Ten in Berlin", occurred_at="2026-03-05T10:00:00+01:00")
    rows = f.tl(order="asc", since="2026-03-05T09:00:00Z", until="2026-03-05T09:00:00Z")["rows"]
    assert [(row["id"], row["date"]) for row in rows] == [
        ("C-ship", "2026-03-05"),
        ("C-berlin", "2026-03-05T10:00:00+01:00"),
        ("C-kick", "2026-03-05T09:00:00Z"),
    ]
