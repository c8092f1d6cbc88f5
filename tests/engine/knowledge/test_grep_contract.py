"""Contract 2.1 and 2.2: the nature of Knowledge and what `knowledge_grep` matches."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from engine.core.errors import EngineError
from engine.knowledge.errors import EmptyQuery, InvalidArgument, QueryTooLong, TooManyTokens
from engine.knowledge.tools import tool_named
from tests.engine.knowledge.fixture_f import Store, ids


def found(store: Store, query: str, **options: Any) -> set[str]:
    return set(ids(store.grep(query, **options)))


def refuse_sockets(*_: object, **__: object) -> None:
    raise AssertionError("a socket was opened")


def many(store: Store, count: int, body: str = "sameword") -> None:
    for number in range(count):
        store.page(f"P-{number:03}", "topic", f"Note {number}", body)


def test_r001_nothing_is_expanded_and_nothing_leaves_the_machine(f: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", refuse_sockets)
    assert f.grep("cost")["total"] == 0
    assert f.grep("pri.e")["total"] == 0
    assert f.grep("price")["total"] == 2


def test_r002_inventory_lists_every_file_whatever_its_state(f: Store) -> None:
    assert len(f.records(limit=50)["rows"]) == 16
    copy = f.vault / "person" / "copy of ben.md"
    copy.write_bytes(f.paths["P-ben"].read_bytes())
    f.claim("C-bad", "fact", "Dangling", entities=["P-nobody"])
    rows = f.records(limit=100)["rows"]
    assert len(rows) == 18
    assert [row["flags"] for row in rows if row["id"] == "P-ben"] == [["duplicate"], ["duplicate"]]
    assert [row["flags"] for row in rows if row["id"] == "C-bad"] == [["invalid"]]
    assert [row["id"] for row in rows if row.get("lifecycle") == "withdrawn"] == ["C-wd"]


def test_r002_inventory_lists_a_file_too_broken_to_have_an_id(f: Store) -> None:
    (f.vault / "broken.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    row = next(row for row in f.records(limit=100)["rows"] if row["path"] == "broken.md")
    assert row["flags"] == ["invalid"]
    assert "id" not in row


def test_r003_search_claims_no_completeness_and_points_to_the_inventory(f: Store) -> None:
    assert set(f.grep("atlas")) <= {"rows", "total", "nextOffset", "snapshot", "index", "coverage"}
    assert "knowledge_records" in tool_named("knowledge_grep").description


def break_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.store.knowledge_index import IndexUnavailable, KeywordIndex

    def fail(*_: object) -> None:
        raise IndexUnavailable("The keyword index of Knowledge does not work")

    monkeypatch.setattr(KeywordIndex, "rebuild", fail)
    monkeypatch.setattr(KeywordIndex, "add", fail)
    store.edit("P-ben", body="\nChanged.\n")


@pytest.mark.expect_log("(?i)keyword")
def test_r004_inventory_and_lookup_work_without_the_keyword_index(f: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    break_index(f, monkeypatch)
    assert f.grep("atlas")["index"]["state"] == "unavailable"
    assert len(f.records()["rows"]) == 16
    assert f.lookup("Ana Ruiz")["status"] == "found"


def test_r005_only_title_aliases_and_body_are_searched(f: Store) -> None:
    assert f.grep("person")["total"] == 0
    assert f.grep("team")["total"] == 0
    assert f.grep("P-ana")["total"] == 0


def test_r006_every_word_must_match_in_any_field(f: Store) -> None:
    assert found(f, "kickoff scope") == {"M-kick", "C-kick", "R-att"}
    assert found(f, "kickoff unicorn") == set()


def test_r007_mode_any_needs_one_word(f: Store) -> None:
    assert ids(f.grep("unicorn oslo lawyer", mode="any")) == ["P-ben2"]


def test_r008_a_phrase_stands_in_order_inside_one_field(f: Store) -> None:
    assert ids(f.grep("list price", mode="phrase")) == ["C-p2"]
    assert ids(f.grep("price list", mode="phrase")) == []
    assert ids(f.grep("price Atlas lists", mode="phrase")) == []


def test_r009_a_phrase_never_runs_from_one_alias_into_the_next(f: Store) -> None:
    f.page("P-two", "topic", "Two names", aliases=["Foo Bar", "Baz Qux"])
    assert ids(f.grep("bar baz", mode="phrase")) == []
    assert ids(f.grep("foo bar", mode="phrase")) == ["P-two"]
    assert ids(f.grep("baz qux", mode="phrase")) == ["P-two"]


def test_r010_an_unknown_mode_is_refused(f: Store) -> None:
    with pytest.raises(InvalidArgument) as refused:
        f.call("knowledge_grep", {"query": "x", "mode": "regex"})
    assert refused.value.code == "invalid_argument"


def test_r011_kind_is_page_claim_or_relationship(f: Store) -> None:
    assert found(f, "atlas", kind="page") == {"P-atlas", "M-kick", "M-rev"}
    with pytest.raises(InvalidArgument):
        f.call("knowledge_grep", {"query": "atlas", "kind": "meeting"})


def test_r012_type_is_an_ontology_type_with_its_aliases(f: Store) -> None:
    assert found(f, "ben", type="contact") == found(f, "ben", type="person") == {"P-ben", "P-ben2"}
    assert found(f, "atlas", type="decision") == {"C-p2"}
    assert found(f, "ana", type="works_at") == {"R-emp"}
    assert found(f, "ben", type="nosuchtype") == set()


def test_r013_tag_is_exact_and_case_sensitive(f: Store) -> None:
    assert found(f, "atlas", tag="Q2") == {"P-atlas", "C-p2"}
    assert found(f, "atlas", tag="q2") == set()


def test_r014_lifecycle_never_shows_withdrawn_or_merged(f: Store) -> None:
    assert ids(f.grep("forty", lifecycle="superseded")) == ["C-p1"]
    assert {"C-p1", "C-p2"} <= found(f, "price", lifecycle="all")
    assert found(f, "oslo", lifecycle="all") == set()
    with pytest.raises(InvalidArgument):
        f.call("knowledge_grep", {"query": "oslo", "lifecycle": "withdrawn"})


@pytest.mark.parametrize("limit", [0, 51, "5", 2.5, True])
def test_r015_limit_is_a_whole_number_from_1_to_50(f: Store, limit: object) -> None:
    with pytest.raises(InvalidArgument):
        f.call("knowledge_grep", {"query": "atlas", "limit": limit})


def test_r015_the_default_limit_is_20(empty: Store) -> None:
    many(empty, 60)
    assert len(empty.grep("sameword")["rows"]) == 20
    assert len(empty.grep("sameword", limit=50)["rows"]) == 50


def test_r016_offset_goes_from_0_to_500(f: Store) -> None:
    assert f.call("knowledge_grep", {"query": "atlas", "offset": 500})["rows"] == []
    for offset in (501, -1):
        with pytest.raises(InvalidArgument):
            f.call("knowledge_grep", {"query": "atlas", "offset": offset})


def test_r017_following_next_offset_yields_every_hit_once(empty: Store) -> None:
    many(empty, 45)
    pages = [empty.grep("sameword", offset=offset) for offset in (0, 20, 40)]
    assert [page.get("nextOffset") for page in pages] == [20, 40, None]
    seen = [name for page in pages for name in ids(page)]
    assert len(seen) == len(set(seen)) == 45
    assert seen == sorted(seen)


def test_r018_dates_cut_before_ranking(f: Store) -> None:
    cut = f.grep("price", time_field="occurred_at", since="2026-03-10", view="full")
    assert set(ids(cut)) == {"C-p2", "M-rev"}
    for name in ("C-ship", "C-kick", "C-p1", "P-ana", "P-ben", "P-ben2", "P-acme", "M-kick", "M-nod", "C-exp", "C-wd"):
        f.paths[name].unlink()
    f.paths["R-att"].unlink()
    f.paths["R-emp"].unlink()
    f.edit("C-p2", entities=["P-atlas"], remove=("supersedes",))
    f.edit("P-atlas", lifecycle="withdrawn")
    f.edit("C-p2", remove=("entities",))
    f.edit("M-rev", remove=("entities",))
    alone = f.grep("price", view="full")
    assert [(row["id"], row["score"]) for row in cut["rows"]] == [(row["id"], row["score"]) for row in alone["rows"]]


def test_r019_one_to_64_words(f: Store) -> None:
    assert f.grep(" ".join(f"w{n}" for n in range(64)))["total"] == 0
    with pytest.raises(TooManyTokens):
        f.grep(" ".join(f"w{n}" for n in range(65)))
    for query in ("... !!", "", "   "):
        with pytest.raises(EmptyQuery):
            f.grep(query)


def test_r020_at_most_500_utf16_units(f: Store) -> None:
    assert f.grep("a" * 500)["total"] == 0
    assert f.grep("😀" * 249 + " z")["total"] == 0
    for query in ("a" * 501, "😀" * 250 + " a"):
        with pytest.raises(QueryTooLong):
            f.grep(query)


def test_r021_punctuation_separates_words(empty: Store) -> None:
    empty.page("P-1", "topic", "Foo and bar", "don and t, 05 03 2026")
    for query in ("foo_bar", "foo-bar", "foo.bar", "don't", "2026-03-05"):
        assert ids(empty.grep(query)) == ["P-1"], query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Ana OR unicorn", []),
        ("title:atlas", []),
        ('"list price', ["C-p2"]),
        ("atl*", []),
        ("NEAR(ana scope)", []),
        ("ana NOT scope", []),
        ("^atlas", ["P-atlas"]),
    ],
)
def test_r022_no_search_syntax_is_executed(f: Store, query: str, expected: list[str]) -> None:
    assert ids(f.grep(query))[: len(expected) or None] == expected


@pytest.mark.parametrize("query", ["ana) --", "'; DROP TABLE x", "ana\0scope", "ana \ud83d", "}{[]", '"""'])
def test_r022_no_query_breaks_the_search(f: Store, query: str) -> None:
    try:
        assert "rows" in f.grep(query)
    except EngineError as error:
        assert error.code == "empty_query"  # noqa: PT017 - either outcome is right


def test_r023_case_and_diacritics_do_not_matter(f: Store) -> None:
    f.page("P-zoe", "person", "Zoë Ångström")
    for query in ("ZOE angstrom", "zoe\u0308 a\u030angstro\u0308m", "Zoë"):
        assert ids(f.grep(query)) == ["P-zoe"], query


def test_r024_no_stemming_and_no_prefixes(f: Store) -> None:
    assert ids(f.grep("lists")) == ["C-p2"]
    assert ids(f.grep("listing")) == []
    assert ids(f.grep("kick")) == []


def test_r025_no_language_segmentation(f: Store) -> None:
    f.page("P-tokyo", "topic", "Tokyo", "東京都の会議")
    assert f.grep("会議")["total"] == 0
    assert f.grep("東京都の会議")["total"] == 1


def test_r026_unknown_arguments_are_refused(f: Store) -> None:
    with pytest.raises(InvalidArgument):
        f.call("knowledge_grep", {"query": "x", "scope": "other"})
