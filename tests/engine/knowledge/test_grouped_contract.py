"""Contract 2.10: the timeline grouped by source."""

from __future__ import annotations

from typing import Any

import pytest

from engine.knowledge.errors import InvalidArgument
from tests.engine.knowledge.fixture_f import Store, ids


def grouped(store: Store, entity: str, **options: Any) -> dict[str, Any]:
    return store.tl(entity=entity, group="source", **{"order": "asc", **options})


def row_of(store: Store, entity: str, name: str, **options: Any) -> dict[str, Any]:
    return next(row for row in grouped(store, entity, **options)["rows"] if row["id"] == name)


@pytest.mark.parametrize(
    "arguments",
    [
        {"group": "source"},
        {"group": "source", "entity": "P-ana", "timeField": "recorded_at"},
        {"group": "source", "entity": "P-ana", "kind": "decision"},
        {"group": "day", "entity": "P-ana"},
    ],
)
def test_r121_group_needs_an_entity_and_occurrence_time_without_kind(f: Store, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        f.call("knowledge_timeline", arguments)


def test_r122_each_dated_source_comes_once_with_its_own_date(f: Store) -> None:
    rows = grouped(f, "P-ana")["rows"]
    assert [(row["id"], row["date"]) for row in rows] == [
        ("M-kick", "2026-03-05T09:00:00Z"),
        ("M-rev", "2026-03-12"),
    ]


def test_r123_the_relationship_gives_the_summary(f: Store) -> None:
    row = row_of(f, "P-ana", "M-kick")
    assert row["summary"].startswith("Ana presented the scope")
    assert row["noteRecord"] == {"id": "R-att", "revision": 1}


def test_r123_of_several_relationships_the_newest_counts(f: Store) -> None:
    f.relation("R-new", "attended", ("P-ana", "M-kick"), "Again", "A later note.", updated_at="2026-04-01T00:00:00Z")
    assert row_of(f, "P-ana", "M-kick")["noteRecord"]["id"] == "R-new"


def test_r124_else_the_event_claim_gives_it(f: Store) -> None:
    row = row_of(f, "P-atlas", "M-kick")
    assert row["summary"] == "Scope agreed with Acme."
    assert "noteRecord" not in row


def test_r125_else_there_is_none(f: Store) -> None:
    row = row_of(f, "P-ana", "M-rev")
    assert "summary" not in row
    assert row["title"] == "Atlas review"


def test_r126_claims_counts_the_entitys_eligible_claims(f: Store) -> None:
    assert row_of(f, "P-ana", "M-kick")["claims"] == 1
    assert row_of(f, "P-ana", "M-kick", eligibility="include_inactive")["claims"] == 2
    assert row_of(f, "P-atlas", "M-kick")["claims"] == 2


def test_r127_links_of_the_summary_resolve_in_the_scope(f: Store) -> None:
    assert row_of(f, "P-ana", "M-kick")["links"] == ["P-atlas"]
    f.page("X-1", "topic", "Nowhere", scope="other")
    assert row_of(f, "P-ana", "M-kick")["links"] == ["P-atlas"]
    f.page("P-atlas2", "project", "atlas")
    assert row_of(f, "P-ana", "M-kick")["links"] == []


def test_r128_a_dated_claim_without_dated_source_keeps_its_row(f: Store) -> None:
    rows = grouped(f, "P-ana", eligibility="include_inactive")["rows"]
    assert ("C-exp", "2026-02-01") in [(row["id"], row["date"]) for row in rows]
    f.claim("C-nod", "fact", "From the chat", entities=["P-ana"], sources=["M-nod"], occurred_at="2026-03-20")
    f.claim("C-und", "fact", "Undated", entities=["P-ana"], sources=["M-nod"])
    names = ids(grouped(f, "P-ana"))
    assert "C-nod" in names
    assert "C-und" not in names


def test_r129_a_claim_outside_its_sources_date_keeps_its_row(f: Store) -> None:
    f.edit("C-ship", occurred_at="2026-03-01")
    assert ids(grouped(f, "P-ana")) == ["C-ship", "M-kick", "M-rev"]
    f.edit("C-ship", occurred_at="2026-03-05")
    assert "C-ship" not in ids(grouped(f, "P-ana"))
    f.edit("C-ship", occurred_at="2026-03-05T09:20:00Z")
    assert "C-ship" not in ids(grouped(f, "P-ana"))
    f.edit("C-ship", remove=("occurred_at",))
    assert "C-ship" not in ids(grouped(f, "P-ana"))


def test_r130_a_source_joined_only_by_a_relationship_has_no_claims(f: Store) -> None:
    f.paths["C-ship"].unlink()
    assert row_of(f, "P-ana", "M-kick")["claims"] == 0
    assert "noteRecord" not in row_of(f, "P-ana", "M-rev")


def test_r131_retracted_relationships_give_no_note(f: Store) -> None:
    f.withdraw("R-att")
    row = row_of(f, "P-ana", "M-kick")
    assert row["summary"] == "Scope agreed with Acme."
    f.paths["C-ship"].unlink()
    assert "M-kick" not in ids(grouped(f, "P-ana"))


def test_r131_superseded_relationships_count_only_when_included(f: Store) -> None:
    f.relation("R-two", "attended", ("P-ana", "M-kick"), "Corrected", "New note.", supersedes=["R-att"],
               updated_at="2026-03-04T00:00:00Z")  # fmt: skip
    f.edit("R-att", lifecycle="superseded", superseded_by="R-two", revision=2)
    assert row_of(f, "P-ana", "M-kick")["noteRecord"]["id"] == "R-two"
    assert row_of(f, "P-ana", "M-kick", eligibility="include_inactive")["noteRecord"]["id"] == "R-att"


def test_r132_range_order_and_paging_apply_to_the_row_date(f: Store) -> None:
    assert ids(grouped(f, "P-ana", since="2026-03-10")) == ["M-rev"]
    assert ids(grouped(f, "P-ana", order="desc")) == ["M-rev", "M-kick"]
    first = grouped(f, "P-ana", limit=1)
    assert (first["total"], first["nextOffset"]) == (2, 1)
    assert ids(grouped(f, "P-ana", limit=1, offset=1, snapshot=first["snapshot"])) == ["M-rev"]
