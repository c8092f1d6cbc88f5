"""Contract 2.9: the timeline."""

from __future__ import annotations

import json

import pytest

from engine.knowledge.errors import AmbiguousEntity, InvalidArgument, SnapshotChanged, UnknownEntity
from tests.engine.knowledge.fixture_f import Store, ids


def test_r099_the_default_timeline_shows_active_occurrences(f: Store) -> None:
    assert ids(f.tl(order="asc")) == ["C-ship", "C-kick", "C-p2", "M-rev"]


def test_r100_order_is_start_instant_then_id(f: Store) -> None:
    assert ids(f.tl()) == ids(f.tl(order="desc")) == ["C-p2", "M-rev", "C-kick", "C-ship"]


def test_r101_kind_is_the_exact_record_type(f: Store) -> None:
    assert ids(f.tl(kind="decision")) == ["C-p2"]
    assert ids(f.tl(kind="meeting")) == ["M-rev", "M-kick"]
    assert ids(f.tl(kind="commitment")) == ["C-ship"]
    assert ids(f.tl(kind="attended")) == []


@pytest.mark.parametrize("kind", ["claim", "Meeting", "contact"])
def test_r102_kind_is_no_category_no_alias_and_not_folded(f: Store, kind: str) -> None:
    reply = f.tl(kind=kind)
    assert reply["total"] == 0
    assert ("category" in reply["note"]) is (kind == "claim")


def test_r103_without_kind_all_dated_types_are_shown(f: Store) -> None:
    assert {row["type"] for row in f.tl()["rows"]} == {"commitment", "event", "decision", "meeting"}


def test_r104_the_last_written_current_record_leads_by_updated_at(f: Store) -> None:
    f.clock.advance(60)
    digest = f.record("P-ben")["record"]["hash"]
    f.call("knowledge_save_page", {"id": "P-ben", "expectedRevision": 1, "expectedHash": digest, "body": "Engineer!"})
    assert ids(f.tl(time_field="updated_at", limit=1)) == ["P-ben"]


def test_r105_a_timeline_is_no_change_feed(f: Store) -> None:
    for number in range(3):
        f.clock.advance(60)
        row = f.record("P-atlas")["record"]
        f.call(
            "knowledge_save_page",
            {
                "id": "P-atlas",
                "expectedRevision": row["revision"],
                "expectedHash": row["hash"],
                "body": f"Pilot, version {number}.",
            },
        )
    assert ids(f.tl(time_field="updated_at", limit=50)).count("P-atlas") == 1
    row = f.record("C-ship")["record"]
    f.call("knowledge_withdraw", {"id": "C-ship", "expectedRevision": 1, "expectedHash": row["hash"], "reason": "no"})
    assert "C-ship" not in ids(f.tl(time_field="updated_at", limit=50))
    assert f.call("knowledge_history", {"id": "P-atlas"})["total"] == 3
    assert f.call("knowledge_history", {"id": "C-ship"})["rows"][0]["event"] == "withdrawn"


def test_r106_source_events_replace_on_occurrence_time_only(f: Store) -> None:
    assert {"M-kick", "C-kick"} <= set(ids(f.tl(time_field="recorded_at", limit=50)))


def test_r107_an_entity_is_linked_by_explicit_references(f: Store) -> None:
    assert ids(f.tl(entity="P-ana", order="asc")) == ["C-ship", "C-p2"]
    assert set(ids(f.tl(entity="M-rev"))) == {"M-rev", "C-p2"}
    f.edit("R-emp", occurred_at="2026-01-10")
    assert "R-emp" in ids(f.tl(entity="P-ana"))
    assert "R-emp" in ids(f.tl(entity="P-acme"))


def test_r108_mentions_do_not_link(f: Store) -> None:
    assert f.tl(entity="P-ben")["total"] == 0


def test_r109_no_match_is_no_proof(f: Store) -> None:
    reply = f.tl(entity="P-ben")
    assert "no match is not proof of absence" in reply["note"]
    assert all("attended" not in row for row in f.tl()["rows"])


def test_r110_an_entity_must_be_available(f: Store) -> None:
    with pytest.raises(AmbiguousEntity) as ambiguous:
        f.tl(entity="Ben")
    assert set(ambiguous.value.candidates) == {"P-ben", "P-ben2"}
    for unknown in ("P-zzz", "C-wd"):
        with pytest.raises(UnknownEntity):
            f.tl(entity=unknown)
    assert ids(f.tl(entity="Ana Ruiz")) == ids(f.tl(entity="P-ana"))


def test_r110_a_merged_id_answers_for_its_survivor(f: Store) -> None:
    f.claim("C-stone", "fact", "About Stone", entities=["P-ben2"], occurred_at="2026-03-09")
    f.edit("P-ben2", lifecycle="merged", merged_into="P-ben", revision=2)
    assert ids(f.tl(entity="P-ben2")) == ids(f.tl(entity="P-ben")) == ["C-stone"]


def test_r111_superseded_expired_and_withdrawn_are_hidden_by_default(f: Store) -> None:
    assert not {"C-p1", "C-exp", "C-wd"} & set(ids(f.tl(limit=50)))


def test_r111_expiry_follows_the_clock(f: Store) -> None:
    f.clock.seconds -= 32 * 86_400
    assert "C-exp" in ids(f.tl(limit=50))
    assert "expired" not in f.grep("mornings")["rows"][0]
    f.clock.seconds += 32 * 86_400
    assert f.grep("mornings")["rows"][0]["expired"] is True


def test_r112_inactive_assertions_can_be_included(f: Store) -> None:
    rows = f.tl(entity="P-ana", eligibility="include_inactive", order="asc")["rows"]
    assert [row["id"] for row in rows] == ["C-exp", "C-p1", "C-ship", "C-p2"]
    assert rows[0]["expired"] is True
    assert rows[1]["lifecycle"] == "superseded"


def test_r113_it_is_no_as_of_view(f: Store) -> None:
    rows = f.tl(until="2026-03-06", eligibility="include_inactive")["rows"]
    row = next(row for row in rows if row["id"] == "C-p1")
    assert (row["lifecycle"], row["supersededBy"]) == ("superseded", "C-p2")


def test_r114_sources_of_the_page_come_once(f: Store) -> None:
    reply = f.tl(order="asc", include_sources=True)
    assert [source["id"] for source in reply["sources"]] == ["M-kick", "M-rev"]
    first = f.tl(order="asc", include_sources=True, limit=2)
    assert [source["id"] for source in first["sources"]] == ["M-kick"]
    f.edit("M-rev", lifecycle="withdrawn", revision=2)
    assert [source["id"] for source in f.tl(include_sources=True)["sources"]] == ["M-kick"]


def test_r115_a_reply_stays_below_24_kib_and_loses_no_row(empty: Store) -> None:
    for number in range(50):
        empty.page(f"M-{number:02}", "meeting", f"Meeting {number} {'long title ' * 15}", "x " * 140,
                   fields={"occurred_at": "2026-03-05"}, summary="ö" * 1_000)  # fmt: skip
        empty.claim(f"C-{number:02}", "fact", f"Claim {number}", "y " * 140, occurred_at="2026-03-05",
                    sources=[f"M-{number:02}"])  # fmt: skip
    seen: list[str] = []
    offset, snapshot = 0, None
    while True:
        reply = empty.tl(order="asc", limit=50, include_sources=True, offset=offset, snapshot=snapshot)
        assert len(json.dumps(reply, ensure_ascii=False).encode()) <= 24_576
        assert {source["id"] for source in reply["sources"]} == {
            source for row in reply["rows"] for source in row.get("sources", [])
        }
        seen += ids(reply)
        assert reply.get("nextOffset", 100) == len(seen)
        if "nextOffset" not in reply:
            break
        offset, snapshot = reply["nextOffset"], reply["snapshot"]
    assert len(seen) == len(set(seen)) == 100


def test_r115_one_oversized_row_is_trimmed_not_skipped(empty: Store) -> None:
    tags = [f"tag{number}-{'x' * 100}" for number in range(400)]
    empty.page("P-1", "topic", "Big", "needle", tags=list(tags))
    reply = empty.grep("needle")
    assert ids(reply) == ["P-1"]
    assert reply["rows"][0]["truncated"] is True
    assert len(json.dumps(reply, ensure_ascii=False).encode()) <= 24_576


def test_r116_a_page_continues_only_its_own_snapshot(f: Store) -> None:
    first = f.tl(limit=2)
    second = f.tl(limit=2, offset=2, snapshot=first["snapshot"])
    assert ids(first) + ids(second) == ids(f.tl())
    with pytest.raises(SnapshotChanged):
        f.tl(limit=2, offset=2, order="asc", snapshot=first["snapshot"])
    with pytest.raises(InvalidArgument):
        f.tl(offset=2)
    f.edit("P-ben", body="\nNew.\n")
    with pytest.raises(SnapshotChanged):
        f.tl(limit=2, offset=2, snapshot=first["snapshot"])


def test_r116_an_expiry_between_two_pages_is_a_change(f: Store) -> None:
    f.clock.seconds -= 32 * 86_400
    first = f.tl(limit=2)
    f.clock.seconds += 32 * 86_400
    with pytest.raises(SnapshotChanged):
        f.tl(limit=2, offset=2, snapshot=first["snapshot"])


def test_r117_a_source_event_stands_for_its_meeting(f: Store) -> None:
    for reply in (f.tl(), f.day("2026-03-05"), f.since("2026-03-01")):
        assert "C-kick" in ids(reply)
        assert "M-kick" not in ids(reply)
    assert f.seen("P-atlas", "2026-03-06")["record"]["id"] == "C-kick"


def test_r118_kind_meeting_still_gives_the_page(f: Store) -> None:
    assert "M-kick" in ids(f.tl(kind="meeting"))
    assert ids(f.tl(kind="event")) == ["C-kick"]


def test_r119_replacement_needs_the_event_in_the_result(f: Store) -> None:
    f.edit("C-kick", occurred_at="2026-03-20")
    assert "M-kick" in ids(f.tl(since="2026-03-01", until="2026-03-06"))
    f.withdraw("C-kick")
    assert "M-kick" in ids(f.tl())


def test_r119_an_entity_filter_only_the_page_passes_shows_the_page(f: Store) -> None:
    f.edit("M-kick", entities=["P-ben"])
    assert ids(f.tl(entity="P-ben")) == ["M-kick"]


def test_r120_replacement_comes_before_total_and_paging(f: Store) -> None:
    assert f.tl()["total"] == 4
    assert f.tl(limit=1)["total"] == 4


def test_source_event_without_exactly_one_meeting_is_an_issue(f: Store) -> None:
    f.edit("C-kick", sources=["M-kick", "M-rev"])
    reply = f.tl()
    assert {"C-kick", "M-kick", "M-rev"} <= set(ids(reply))
    assert reply["coverage"]["complete"] is False
