"""Contract 2.3: exact lookup."""

from __future__ import annotations

import pytest

from engine.knowledge.errors import EmptyQuery, QueryTooLong
from tests.engine.knowledge.fixture_f import Store, ids


@pytest.mark.parametrize("query", ["P-ana", "Ana Ruiz", "A. Ruiz"])
def test_r027_an_exact_id_title_or_alias_is_found(f: Store, query: str) -> None:
    reply = f.lookup(query)
    assert (reply["status"], ids(reply)) == ("found", ["P-ana"])
    assert f.lookup("Ruiz")["status"] == "missing"


def test_r028_status_is_found_ambiguous_or_missing(f: Store) -> None:
    reply = f.lookup("Ben")
    assert (reply["status"], ids(reply)) == ("ambiguous", ["P-ben", "P-ben2"])
    assert f.lookup("Nobody")["status"] == "missing"


def test_r029_at_most_200_characters(f: Store) -> None:
    assert f.lookup("a" * 200)["status"] == "missing"
    with pytest.raises(QueryTooLong):
        f.lookup("a" * 201)
    for blank in ("", "  \u3000 "):
        with pytest.raises(EmptyQuery):
            f.lookup(blank)


def test_r030_ids_are_case_sensitive(f: Store) -> None:
    assert f.lookup("p-ana")["status"] == "missing"


def test_r031_names_are_compared_in_normal_form(f: Store) -> None:
    f.page("P-fin", "topic", "fin")
    assert ids(f.lookup("  ANA\u3000 RUIZ ")) == ["P-ana"]
    assert ids(f.lookup("Ａｎａ")) == ["P-ana"]
    assert ids(f.lookup("ﬁn")) == ["P-fin"]


def test_r032_names_are_never_fuzzy(f: Store) -> None:
    f.page("P-zoe", "person", "Zoë")
    f.page("P-str", "topic", "Straße")
    assert f.lookup("Zoe")["status"] == "missing"
    assert ids(f.grep("Zoe")) == ["P-zoe"]
    assert f.lookup("STRASSE")["status"] == "missing"
    assert ids(f.lookup("straße")) == ["P-str"]


def test_r033_ambiguity_is_judged_over_all_matches(f: Store) -> None:
    reply = f.lookup("Ben", limit=1)
    assert (reply["status"], reply["total"], len(reply["rows"])) == ("ambiguous", 2, 1)


def test_r034_one_record_matching_twice_is_one_match(f: Store) -> None:
    f.page("P-a", "company", "Acme", aliases=["acme"])
    assert ids(f.lookup("acme")) == ["P-a"]
    assert f.lookup("acme")["status"] == "found"


def test_r035_an_id_that_is_another_title_is_ambiguous(f: Store) -> None:
    f.page("P-new", "topic", "P-ana")
    reply = f.lookup("P-ana")
    assert (reply["status"], set(ids(reply))) == ("ambiguous", {"P-ana", "P-new"})


def test_r036_filters_apply_before_the_verdict(f: Store) -> None:
    f.edit("P-ben", tags=["eng"])
    assert ids(f.lookup("Ben", tag="eng")) == ["P-ben"]
    assert f.lookup("Ben", tag="eng")["status"] == "found"
    assert f.lookup("Atlas launch price")["status"] == "missing"
    assert ids(f.lookup("Atlas launch price", lifecycle="all")) == ["C-p1"]
    assert f.lookup("Ana Ruiz", kind="claim")["status"] == "missing"


def test_r037_duplicate_ids_never_resolve(f: Store) -> None:
    (f.vault / "copy.md").write_bytes(f.paths["P-acme"].read_bytes())
    for query in ("P-acme", "Acme GmbH"):
        reply = f.lookup(query)
        assert reply["status"] == "missing"
        assert {issue["code"] for issue in reply["coverage"]["issues"]} >= {"duplicate_id"}


def test_a_merged_page_is_missing_and_names_its_survivor(f: Store) -> None:
    f.edit("P-ben2", lifecycle="merged", merged_into="P-ben", revision=2)
    assert f.lookup("P-ben2")["mergedInto"] == "P-ben"
    assert f.lookup("Ben Stone")["mergedInto"] == "P-ben"
    assert ids(f.lookup("Ben")) == ["P-ben"]
