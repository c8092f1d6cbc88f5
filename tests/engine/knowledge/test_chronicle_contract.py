"""Contract 2.11 to 2.13: a day, since a date, last seen."""

from __future__ import annotations

import re

import pytest

from engine.knowledge.errors import InvalidArgument, InvalidDate, InvalidTimeZone
from engine.knowledge.tools import tool_named
from tests.engine.knowledge.fixture_f import Store, ids


def test_r133_one_day(f: Store) -> None:
    assert ids(f.day("2026-03-05")) == ["C-ship", "C-kick"]
    assert ids(f.day("2026-03-05", order="desc")) == ["C-kick", "C-ship"]
    assert ids(f.day("2026-03-12")) == ["C-p2", "M-rev"]
    assert ids(f.day("2026-03-06")) == []


@pytest.mark.parametrize(
    ("date", "first", "last"),
    [
        ("2026-03-05", "2026-03-02", "2026-03-08"),
        ("2026-03-02", "2026-03-02", "2026-03-08"),
        ("2026-03-08", "2026-03-02", "2026-03-08"),
        ("2027-01-01", "2026-12-28", "2027-01-03"),
        ("9999-12-31", "9999-12-27", "9999-12-31"),
        ("0001-01-01", "0001-01-01", "0001-01-07"),
    ],
)
def test_r134_a_week_goes_from_monday_to_sunday(f: Store, date: str, first: str, last: str) -> None:
    reply = f.day(date, week=True)
    assert (reply["firstDay"], reply["lastDay"]) == (first, last)
    if first == "2026-03-02":
        assert ids(reply) == ["C-ship", "C-kick"]


def test_r135_timestamps_are_placed_by_the_zone(f: Store) -> None:
    f.claim("C-night", "fact", "Night", occurred_at="2026-03-05T23:30:00Z")
    for zone, day in (("UTC", "2026-03-05"), ("Europe/Berlin", "2026-03-06"), ("America/New_York", "2026-03-05")):
        days = [one for one in ("2026-03-04", "2026-03-05", "2026-03-06", "2026-03-07")
                if "C-night" in ids(f.day(one, time_zone=zone))]  # fmt: skip
        assert days == [day], zone


def test_r136_days_are_as_long_as_the_zone_says(f: Store) -> None:
    f.claim("C-in", "fact", "In", occurred_at="2026-03-09T03:59:59Z")
    f.claim("C-out", "fact", "Out", occurred_at="2026-03-09T04:00:00Z")
    f.claim("C-start", "fact", "Start", occurred_at="2026-03-08T05:00:00Z")
    assert set(ids(f.day("2026-03-08", time_zone="America/New_York"))) == {"C-in", "C-start"}
    f.claim("C-santiago", "fact", "Midnight that is not", occurred_at="2026-09-06T04:00:00Z")
    f.claim("C-eve", "fact", "Eve", occurred_at="2026-09-06T03:59:59Z")
    assert ids(f.day("2026-09-06", time_zone="America/Santiago")) == ["C-santiago"]
    assert ids(f.day("2026-09-05", time_zone="America/Santiago")) == ["C-eve"]
    f.claim("C-apia", "fact", "Skipped", occurred_at="2011-12-30T10:00:00Z")
    assert ids(f.day("2011-12-30", time_zone="Pacific/Apia")) == []
    assert ids(f.day("2011-12-31", time_zone="Pacific/Apia")) == ["C-apia"]


def test_r137_bare_dates_belong_to_their_calendar_day_in_every_zone(f: Store) -> None:
    for zone in ("Asia/Tokyo", "America/Los_Angeles", "UTC"):
        assert "M-rev" in ids(f.day("2026-03-12", time_zone=zone))
        assert "M-rev" not in ids(f.day("2026-03-11", time_zone=zone))
        assert "M-rev" not in ids(f.day("2026-03-13", time_zone=zone))


@pytest.mark.parametrize(
    "zone",
    [
        "Mars/Base",
        "../etc/passwd",
        "CEST",
        "",
        "Europe",
        "/etc/localtime",
        "posixrules",
        "right/UTC",
        "UTC\0",
        "é",
        "a" * 99,
    ],
)
def test_r138_only_names_of_the_tz_database(f: Store, zone: str) -> None:
    with pytest.raises(InvalidTimeZone):
        f.day("2026-03-05", time_zone=zone)
    assert ids(f.day("2026-03-05", time_zone="UTC")) == ["C-ship", "C-kick"]


@pytest.mark.parametrize("date", ["2026-02-30", "2026-03-05T00:00:00Z", "today", "", "2026-3-5"])
def test_r139_the_day_is_a_real_calendar_date(f: Store, date: str) -> None:
    with pytest.raises(InvalidDate):
        f.day(date)


def test_r140_kind_is_exact_and_replacement_as_in_the_timeline(f: Store) -> None:
    assert ids(f.day("2026-03-05", kind="meeting")) == ["M-kick"]
    assert ids(f.day("2026-03-05", kind="claim")) == []


def test_r141_since_a_date_oldest_first(f: Store) -> None:
    assert ids(f.since("2026-03-05")) == ["C-ship", "C-kick", "C-p2", "M-rev"]
    assert ids(f.since("2026-03-06")) == ["C-p2", "M-rev"]
    assert ids(f.since("2026-03-05", until="2026-03-05")) == ["C-ship", "C-kick"]


def test_r142_since_is_about_occurrence_not_import(f: Store) -> None:
    f.claim("C-old", "fact", "Old", occurred_at="2020-05-05", recorded_at="2026-04-30T08:00:00Z")
    assert ids(f.since("2026-04-30")) == []


def test_r143_since_has_no_order_and_an_exact_kind(f: Store) -> None:
    with pytest.raises(InvalidArgument):
        f.call("knowledge_chronicle_since", {"since": "2026-03-05", "order": "desc"})
    assert ids(f.since("2026-03-01", kind="decision")) == ["C-p2"]


def test_r144_the_latest_dated_record_not_after_a_bound(f: Store) -> None:
    assert f.seen("P-ana")["record"]["id"] == "C-p2"
    assert f.seen("P-ana", "2026-03-11")["record"]["id"] == "C-ship"
    assert f.seen("P-ana", "2026-03-01")["found"] is False


def test_r145_the_future_does_not_count_by_default(f: Store) -> None:
    f.claim("C-june", "fact", "June", entities=["P-ana"], occurred_at="2026-06-01")
    assert f.seen("P-ana")["record"]["id"] == "C-p2"
    assert f.seen("P-ana", "2026-06-30")["record"]["id"] == "C-june"


def test_r146_the_bound_is_inclusive(f: Store) -> None:
    assert f.seen("P-ana", "2026-03-12")["record"]["id"] == "C-p2"
    assert f.seen("P-ana", "2026-03-12T00:00:00Z")["record"]["id"] == "C-p2"
    assert f.seen("P-ana", "2026-03-11T23:59:59Z")["record"]["id"] == "C-ship"


def test_r147_only_explicit_links_and_occurrence_count(f: Store) -> None:
    assert f.seen("P-ben")["found"] is False
    assert f.seen("P-ana")["record"]["date"] == "2026-03-12"


def test_r148_no_kind_and_a_required_entity(f: Store) -> None:
    for arguments in ({"entity": "P-ana", "kind": "decision"}, {}):
        with pytest.raises(InvalidArgument):
            f.call("knowledge_chronicle_last_seen", arguments)


def test_r149_nothing_says_met_or_attended(f: Store) -> None:
    description = tool_named("knowledge_chronicle_last_seen").description
    assert "no proof" in description
    reply = f.seen("P-ana")
    assert "no proof" in reply["note"]
    assert not {"met", "attended"} & set(re.findall(r"\w+", f"{description} {reply['note']}".lower()))
    assert (reply["record"]["type"], [source["id"] for source in reply["sources"]]) == ("decision", ["M-rev"])


def test_r150_ties_go_to_the_lowest_id_and_a_miss_is_no_error(f: Store) -> None:
    f.claim("C-a", "fact", "Tie", entities=["P-ana"], occurred_at="2026-03-12")
    assert f.seen("P-ana")["record"]["id"] == "C-a"
    assert f.seen("P-acme")["found"] is False
