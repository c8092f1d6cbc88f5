"""Contract 2.4 and 2.5: which records count, and how outdated wording leads to the current record."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.knowledge.fixture_f import Store, ids, sha256


def shown_anywhere(store: Store, name: str, word: str) -> bool:
    """Return whether any tool but the inventory shows a record."""
    replies: list[Any] = [
        store.grep(word, lifecycle=lifecycle, limit=50) for lifecycle in ("active", "superseded", "all")
    ]
    replies += [store.tl(limit=50), store.tl(eligibility="include_inactive", limit=50), store.day("2026-03-06")]
    replies += [store.since("2020-01-01", limit=50), store.lookup(name, lifecycle="all")]
    replies += [store.tl(time_field="recorded_at", eligibility="include_inactive", limit=50)]
    return any(name in ids(reply) for reply in replies)


def test_r038_all_active_records_are_searched_alike(f: Store) -> None:
    assert set(ids(f.grep("ana"))) == {"P-ana", "C-ship", "R-att", "R-emp"}


def test_r039_invalid_records_are_out_but_stay_in_the_inventory(f: Store) -> None:
    f.edit("C-ship", revision=0)
    reply = f.grep("pilot")
    assert "C-ship" not in ids(reply)
    assert reply["coverage"]["complete"] is False
    assert "C-ship" in ids(f.records())


def test_r040_every_copy_of_a_duplicate_id_is_out(f: Store) -> None:
    (f.vault / "copy.md").write_bytes(f.paths["P-ben"].read_bytes())
    assert ids(f.grep("okafor", lifecycle="all")) == []


def test_r041_withdrawn_records_are_out_everywhere(f: Store) -> None:
    assert not shown_anywhere(f, "C-wd", "oslo")
    assert f.seen("P-ana")["record"]["id"] == "C-p2"


@pytest.mark.parametrize("needed", ["C-wd", "C-missing", "P-ben"])
def test_r042_an_unavailable_dependency_excludes_the_dependent(f: Store, needed: str) -> None:
    (f.vault / "copy.md").write_bytes(f.paths["P-ben"].read_bytes())
    f.claim("C-x", "fact", "Dependent zebra", dependencies=[needed], occurred_at="2026-03-06")
    assert not shown_anywhere(f, "C-x", "zebra")
    assert "C-x" in ids(f.records())


def test_r043_an_unavailable_endpoint_excludes_the_relationship(f: Store) -> None:
    assert "R-emp" in ids(f.grep("works"))
    f.withdraw("P-acme")
    assert not shown_anywhere(f, "R-emp", "works")


def test_r044_an_unavailable_entity_excludes_what_names_it(f: Store) -> None:
    f.paths["P-atlas"].unlink()
    for name in ("C-p2", "C-kick", "C-ship", "M-kick", "M-rev", "R-att"):
        assert f.lookup(name)["status"] == "missing", name
    assert f.lookup("P-ana")["status"] == "found"


def test_r045_the_rule_is_transitive_and_a_clean_cycle_stays(f: Store) -> None:
    f.claim("C-y", "fact", "Y zebra", dependencies=["C-wd"])
    f.claim("C-x", "fact", "X zebra", dependencies=["C-y"])
    assert ids(f.grep("zebra")) == []
    f.edit("C-y", dependencies=["C-x"])
    assert set(ids(f.grep("zebra"))) == {"C-x", "C-y"}


def test_r046_prose_is_not_redacted(f: Store) -> None:
    f.page("P-note", "topic", "Quote", 'Somebody wrote "Ana is based in Oslo".')
    assert ids(f.grep("oslo")) == ["P-note"]


def test_r047_superseded_wording_returns_the_current_record(f: Store) -> None:
    reply = f.grep("forty euros")
    assert (ids(reply), reply["total"]) == (["C-p2"], 1)
    assert reply["rows"][0]["via"] == {"id": "C-p1", "revision": 2}


def superseded(store: Store, name: str, by: str, title: str, body: str, **more: Any) -> None:
    store.claim(name, "decision", title, body, revision=2, lifecycle="superseded", superseded_by=by, **more)


def test_r048_chains_of_several_steps_are_walked(f: Store) -> None:
    superseded(f, "C-p0", "C-p1", "First price", "Atlas costs thirty.")
    reply = f.grep("thirty")
    assert (ids(reply), reply["rows"][0]["via"]["id"]) == (["C-p2"], "C-p0")


def break_chain(store: Store, how: str) -> None:
    match how:
        case "missing":
            store.paths["C-p2"].unlink()
        case "withdrawn":
            store.withdraw("C-p2")
        case "invalid":
            store.edit("C-p2", revision=0)
        case "duplicate":
            (store.vault / "copy.md").write_bytes(store.paths["C-p2"].read_bytes())
        case "cyclic":
            store.edit("C-p2", lifecycle="superseded", superseded_by="C-p1")
        case "active with superseded_by":
            store.edit("C-p2", superseded_by="C-p1")
        case _:
            store.edit("C-p1", dependencies=["C-wd"])


@pytest.mark.parametrize(
    "how",
    ["missing", "withdrawn", "invalid", "duplicate", "cyclic", "active with superseded_by", "ineligible step"],
)
def test_r049_a_chain_that_ends_badly_gives_nothing(f: Store, how: str) -> None:
    break_chain(f, how)
    assert ids(f.grep("forty")) == []


def test_r049_a_chain_that_ends_in_a_merged_page_gives_nothing(f: Store) -> None:
    f.page("P-old", "topic", "Old name zebra", revision=2, lifecycle="superseded", superseded_by="P-ben2")
    assert ids(f.grep("zebra")) == ["P-ben2"]
    f.edit("P-ben2", lifecycle="merged", merged_into="P-ben", revision=2)
    assert ids(f.grep("zebra")) == []


def test_r050_filters_act_on_the_current_record_only(f: Store) -> None:
    assert ids(f.grep("forty", tag="Q2")) == ["C-p2"]
    f.edit("C-p1", tags=["old"])
    assert ids(f.grep("forty", tag="old")) == []
    assert ids(f.grep("forty", since="2026-03-10")) == ["C-p2"]
    assert ids(f.grep("forty", until="2026-03-06")) == []
    assert ids(f.grep("forty", kind="claim", type="decision")) == ["C-p2"]
    assert ids(f.grep("forty", kind="page")) == []


def test_r051_earlier_records_compete_only_within_the_filters(f: Store) -> None:
    superseded(f, "C-q1", "C-p2", "Second thought", "forty forty and more words around it to be longer")
    before = f.grep("forty", tag="Q2")["rows"]
    f.claim("C-other", "decision", "Unrelated", "no tag here")
    for number in range(60):
        superseded(f, f"C-n{number:02}", "C-other", "Unrelated", "forty forty forty")
    assert f.grep("forty", tag="Q2")["rows"] == before


def test_r052_replacements_come_after_all_direct_matches(f: Store) -> None:
    f.page("P-long", "topic", "Long", "forty " + "filler " * 5_000)
    assert ids(f.grep("forty")) == ["P-long", "C-p2"]


def test_r053_replacements_are_ordered_by_the_earlier_score_then_its_id(empty: Store) -> None:
    empty.claim("T-1", "decision", "One", "x")
    empty.claim("T-2", "decision", "Two", "x")
    superseded(empty, "S-a", "T-2", "Same", "zebra")
    superseded(empty, "S-b", "T-1", "Same", "zebra")
    reply = empty.grep("zebra")
    assert [(row["id"], row["via"]["id"]) for row in reply["rows"]] == [("T-2", "S-a"), ("T-1", "S-b")]


def test_r054_a_record_appears_once(f: Store) -> None:
    rows = [row for row in f.grep("atlas price")["rows"] if row["id"] == "C-p2"]
    assert len(rows) == 1
    assert "via" not in rows[0]
    superseded(f, "C-p0", "C-p2", "Forty forty", "forty forty")
    reply = f.grep("forty")
    assert (ids(reply), reply["rows"][0]["via"]["id"]) == (["C-p2"], "C-p0")


def test_r055_complete_hits_describe_the_earlier_record(f: Store) -> None:
    via = f.grep("forty euros", view="full")["rows"][0]["via"]
    assert via == {
        "id": "C-p1",
        "revision": 2,
        "title": "Atlas launch price",
        "path": "claims/C-p1.md",
        "hash": sha256(f.paths["C-p1"].read_bytes()),
    }


def test_r056_a_replacement_cites_the_current_record_without_score(f: Store) -> None:
    row = f.grep("forty euros", view="full")["rows"][0]
    assert (row["matches"], row["score"]) == (["superseded"], None)
    assert row["snippet"]["matchLocated"] is False
    assert row["snippet"]["text"].startswith("Atlas lists at 49")
    assert row["citation"]["hash"] == sha256(f.paths["C-p2"].read_bytes())


def test_r057_a_minimum_score_drops_replacements_and_weak_hits(f: Store) -> None:
    assert ids(f.grep("forty", min_score=0, view="full")) == []
    assert ids(f.grep("forty", view="full")) == ["C-p2"]
    scores = {row["id"]: row["score"] for row in f.grep("atlas", view="full")["rows"]}
    limit = sorted(scores.values())[1]
    assert set(ids(f.grep("atlas", min_score=limit))) == {name for name, score in scores.items() if score >= limit}


def test_r058_paging_runs_over_direct_matches_and_replacements(empty: Store) -> None:
    for number in range(19):
        empty.page(f"P-{number:02}", "topic", f"Direct {number}", "zebra")
    for number in range(5):
        empty.claim(f"T-{number}", "decision", f"Now {number}", "x")
        superseded(empty, f"S-{number}", f"T-{number}", f"Then {number}", "zebra")
    first = empty.grep("zebra")
    assert (first["total"], first["nextOffset"], ids(first)[19]) == (24, 20, "T-0")
    assert ids(empty.grep("zebra", offset=20)) == ["T-1", "T-2", "T-3", "T-4"]


def test_r059_other_lifecycles_do_not_follow_replacements(f: Store) -> None:
    reply = f.grep("forty", lifecycle="all")
    assert ids(reply) == ["C-p1"]
    assert "via" not in reply["rows"][0]
