"""The contract on vaults unlike fixture F: empty properties, odd numbers, many sources, merged ones, much evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.knowledge.queries import GrepQuery, RecordQuery
from engine.knowledge.replies import BUDGET_BYTES
from tests.engine.knowledge.fixture_f import call_tool, empty_store, ids

if TYPE_CHECKING:
    from pathlib import Path

    from engine.knowledge.yamltext import YamlValue
    from tests.engine.knowledge.fixture_f import Reply, Store


SAME: dict[str, YamlValue] = {"id": "Same", "kind": "page", "type": "topic", "title": "Obst"}


def size(reply: Reply) -> int:
    return len(json.dumps(reply, ensure_ascii=False).encode())


def test_r89_a_property_left_empty_is_a_date_that_is_not_there(empty: Store) -> None:
    empty.page("M", "meeting", "Teeküche", "Sahne", fields={"occurred_at": None})
    empty.page("N", "project", "Umzug", "Sahne", fields={"status": None}, aliases=None, tags=None)
    empty.claim("C", "fact", "Milch", "Sahne", due_at=None, owner=None, valid_until=None, source_event=None)
    empty.relation("R", "part_of", ("M", "N"), "Teil", "Sahne", entities=None, claim_kind=None)
    assert sorted(ids(empty.grep("sahne"))) == ["C", "M", "N", "R"]
    assert empty.check()["ok"]
    assert ids(empty.tl()) == []


def test_r39_a_revision_no_history_can_hold_is_a_finding_and_harms_nothing(empty: Store) -> None:
    arguments = {"expectedRevision": 0, "title": "Ёлка", "type": "topic", "body": "хвоя"}
    row = call_tool(empty.service, "knowledge_save_page", arguments)["receipt"]["records"][0]
    path = empty.vault / row["path"]
    path.write_bytes(path.read_bytes().replace(b"revision: 1\n", b"revision: 99999999999999999999\n"))
    empty.page("T", "topic", "Хвоя")
    assert ids(empty.grep("хвоя")) == ["T"]
    assert [row["flags"] for row in empty.records()["rows"] if "flags" in row] == [["invalid"]]


def test_r155_a_field_that_is_no_number_of_json_is_shown_as_it_is_written(empty: Store) -> None:
    path = empty.page("T", "topic", "Grenzen", fields={"size": "put"})
    path.write_bytes(path.read_bytes().replace(b"size: put", b"size: [.nan, -.inf, {most: .inf}]"))
    shown = empty.record("T")["record"]["fields"]
    assert shown == {"size": [".nan", "-.inf", {"most": ".inf"}]}


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_r62_the_lines_of_a_snippet_are_those_of_what_it_shows(empty: Store, eol: bytes) -> None:
    path = empty.page("T", "topic", "Liste", "\n\nerster Absatz\nmit Kranich 😀\n\n\n")
    path.write_bytes(path.read_bytes().replace(b"\n", eol))
    lines = path.read_bytes().split(eol)
    first = lines.index(b"erster Absatz") + 1
    snippet = empty.grep("kranich", view="full")["rows"][0]["snippet"]
    assert (snippet["startLine"], snippet["endLine"]) == (first, first + 1)
    assert snippet["text"] == f"erster Absatz{eol.decode()}mit Kranich 😀"


def test_r63_the_record_names_every_citation_however_many(empty: Store) -> None:
    empty.evidence()
    cited: list[YamlValue] = [{"id": "ev_notes", "lines": [1, 2]}] * 200
    empty.claim("C", "fact", "Viele Belege", "x", evidence=cited)
    reply = empty.record("C")
    assert size(reply) <= BUDGET_BYTES
    shown = reply["record"]["evidence"]
    assert len(shown) == 200
    assert all((one["id"], one["lines"], one["state"]) == ("ev_notes", [1, 2], "verified") for one in shown)


@pytest.mark.parametrize("view", ["agent", "full"])
def test_r115_more_sources_than_fit_are_cut_and_said(empty: Store, view: str) -> None:
    names: list[YamlValue] = [f"M{number:03}" for number in range(150)]
    for name in map(str, names):
        empty.page(name, "meeting", f"Treffen {name}", "Wort " * 60, fields={"occurred_at": "2026-03-05"})
    empty.page("P", "person", "Pia")
    empty.claim("C", "fact", "Alles", "x", occurred_at="2026-03-05", entities=["P"], sources=names)
    empty.claim("D", "fact", "Eines", "x", occurred_at="2026-03-06", entities=["P"], sources=names[:1])
    timeline = call_tool(
        empty.service,
        "knowledge_timeline",
        {"entity": "P", "order": "asc", "includeSources": True, "view": view},
    )
    assert [row["id"] for row in timeline["rows"]] == ["C"]
    assert timeline["nextOffset"] == 1
    seen = call_tool(
        empty.service,
        "knowledge_chronicle_last_seen",
        {"entity": "P", "occurredOnOrBefore": "2026-03-05", "view": view},
    )
    assert seen["record"]["id"] == "C"
    for reply in (timeline, seen):
        assert size(reply) <= BUDGET_BYTES
        assert reply["sourcesTruncated"] is True
        assert 20 < len(reply["sources"]) < 150
        assert reply["sources"][0]["id"] == "M000"


def test_r114_a_merged_source_counts_as_its_survivor(empty: Store) -> None:
    empty.page("P", "person", "渡辺")
    empty.page("M1", "meeting", "会議", fields={"occurred_at": "2026-03-05"})
    empty.page("M2", "meeting", "打合せ", fields={"occurred_at": "2026-03-05"}, lifecycle="merged", merged_into="M1")
    empty.claim("C", "decision", "決定", "x", occurred_at="2026-03-05", entities=["P"], sources=["M2", "M1"])
    reply = empty.tl(entity="P", include_sources=True)
    assert [row["sources"] for row in reply["rows"]] == [["M1"]]
    assert [row["id"] for row in reply["sources"]] == ["M1"]


def test_r126_claims_of_a_merged_source_count_for_its_survivor(empty: Store) -> None:
    empty.page("P", "person", "渡辺")
    empty.page("M1", "meeting", "会議", fields={"occurred_at": "2026-03-05"})
    empty.page("M2", "meeting", "打合せ", fields={"occurred_at": "2026-03-05"}, lifecycle="merged", merged_into="M1")
    empty.claim("C", "decision", "決定", "x", entities=["P"], sources=["M2"])
    empty.claim("E", "event", "開催", "開いた", occurred_at="2026-03-05", sources=["M2"], source_event=True)
    assert ids(empty.tl()) == ["E"], "the event claim stands for the survivor as well (R117)"
    (row,) = empty.tl(entity="P", group="source")["rows"]
    assert (row["id"], row["claims"], row["summary"]) == ("M1", 1, "開いた")


def test_r73_a_type_filed_in_the_evidence_folder_is_written_where_it_is_found(empty: Store) -> None:
    (empty.vault / "ontology.yaml").write_text(
        "format: knowledge-ontology-v1\npages:\n  proof:\n    folder: Evidence/own\n", encoding="utf-8"
    )
    arguments = {"expectedRevision": 0, "title": "Siegel", "type": "proof", "body": "Wachs"}
    row = call_tool(empty.service, "knowledge_save_page", arguments)["receipt"]["records"][0]
    assert ids(empty.grep("wachs")) == [row["id"]]
    assert [(issue["code"], issue["line"]) for issue in empty.check()["issues"]] == [("ontology_invalid", 4)]


def test_r70_a_descriptor_that_arrives_later_brings_its_records_into_the_index(empty: Store) -> None:
    empty.claim("C", "fact", "تمر", "نخلة")
    descriptor = empty.vault / "evidence" / "ev_notes.yaml"
    data = descriptor.read_bytes()
    descriptor.unlink()
    without = empty.grep("نخلة")
    assert (ids(without), without["coverage"]["complete"]) == ([], False)
    descriptor.write_bytes(data)
    back = empty.grep("نخلة")
    assert (ids(back), back["coverage"]["complete"]) == (["C"], True)
    assert back["snapshot"] != without["snapshot"], "what is found differs (R75)"


def test_r75_evidence_of_another_scope_is_no_change(empty: Store) -> None:
    empty.claim("C", "fact", "Pear", "fruit")
    before = empty.grep("fruit")
    empty.evidence("ev_more", "more\n")
    assert empty.grep("fruit") == {**before, "index": {**before["index"], "reindexed": 0}}


def test_r42_a_claim_without_source_falls_and_stands_with_its_retained_file(empty: Store) -> None:
    empty.page("M", "meeting", "Zirve", fields={"occurred_at": "2026-03-05"}, lifecycle="withdrawn", revision=2)
    empty.claim("C", "fact", "Karar", "ılık", sources=["M"], occurred_at="2026-03-05")
    empty.claim("D", "fact", "Ek", "ılık", dependencies=["C"])
    (original,) = (empty.vault / "evidence" / "files").rglob("*.txt")
    data = original.read_bytes()
    assert ids(empty.grep("ılık")) == ["C", "D"]
    original.write_bytes(b"altered")
    assert (ids(empty.grep("ılık")), ids(empty.tl())) == ([], [])
    empty.page("T", "topic", "Ilık", "ılık")
    assert ids(empty.grep("ılık")) == ["T"]
    original.write_bytes(data)
    assert sorted(ids(empty.grep("ılık"))) == ["C", "D", "T"]


def test_a_new_record_goes_into_the_folder_that_is_there_however_it_is_spelled(empty: Store) -> None:
    empty.write("Topics/Öl.md", {"id": "T", "kind": "page", "type": "topic", "title": "Öl"}, "x")
    empty.write("CLAIMS/2026/old.md", {"id": "U", "kind": "page", "type": "topic", "title": "Alt"}, "x")
    page = {"expectedRevision": 0, "title": "Essig", "type": "topic"}
    claim = {"kind": "claim", "claim_kind": "fact", "title": "Sauer", "evidence": [{"text": "So.", "attribution": "B"}]}
    for tool, arguments, folder in (
        ("knowledge_save_page", page, "Topics/"),
        ("knowledge_create", {"record": claim}, "CLAIMS/2026/"),
    ):
        row = call_tool(empty.service, tool, arguments)["receipt"]["records"][0]
        assert row["path"].startswith(folder)
    assert empty.check()["ok"], "no two folders that would be one elsewhere"


def test_r67_a_safeguard_holds_in_its_own_scope(tmp_path: Path) -> None:
    store = empty_store(tmp_path, scopes=frozenset({"default", "team:b"}))
    service = store.service
    for scope in ("default", "team:b"):
        store.write(f"{scope[:4]}.md", {**SAME, "scope": scope}, "Quitte")

    def found(scope: str) -> list[str]:
        return ids(service.grep(GrepQuery("quitte"), scope=scope))

    def withdraw(scope: str) -> None:
        fence = {"id": "Same", "expectedRevision": 1, "reason": "x"}
        shown: Reply = service.record(RecordQuery("Same"), scope=scope)
        digest: str = shown["record"]["hash"]
        service.call("knowledge_withdraw", {**fence, "expectedHash": digest}, scope=scope)

    withdraw("default")
    assert (found("default"), found("team:b")) == ([], ["Same"])
    withdraw("team:b")
    for scope in ("default", "team:b"):
        store.write(f"{scope[:4]}.md", {**SAME, "scope": scope}, "Quitte")
        assert found(scope) == [], "an older file is stale in either scope (R81)"
    service.close()


@pytest.mark.parametrize("view", ["agent", "full"])
def test_r115_findings_about_long_paths_leave_room_for_the_rows(empty: Store, view: str) -> None:
    folder = "/".join(["名" * 60] * 5)
    for number in range(30):
        empty.write(f"{folder}/{number}.md", {"id": "T", "kind": "page", "type": "topic", "title": "Doppelt"}, "x")
        empty.page(f"k{number}", "topic", f"Wort {number}", "Wort " * 60, fields={"occurred_at": "2026-03-05"})
    for tool, arguments in (
        ("knowledge_grep", {"query": "wort"}),
        ("knowledge_timeline", {}),
        ("knowledge_records", {}),
    ):
        reply = call_tool(empty.service, tool, {**arguments, "view": view})
        assert size(reply) <= BUDGET_BYTES
        assert len(reply["rows"]) > 5
        assert reply["coverage"]["issueCount"] == 30
        assert reply["coverage"]["issues"][0]["code"] == "duplicate_id"
