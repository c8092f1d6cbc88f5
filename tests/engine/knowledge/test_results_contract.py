"""Contract 2.6: rows, snippets, citations, evidence and scores."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from engine.knowledge.frontmatter import split_record
from tests.engine.knowledge.fixture_f import Store, ids, sha256


def utf16(text: str) -> bytes:
    return text.encode("utf-16-le")


def full(store: Store, query: str, **options: Any) -> dict[str, Any]:
    return store.grep(query, view="full", **options)["rows"][0]


def test_r060_agent_rows_are_short_and_complete_hits_are_whole(f: Store) -> None:
    row = full(f, "49 EUR")
    assert row["lifecycle"] == "active"
    assert row["matches"] == ["body"]
    assert row["attribution"] == {"by": "Ben Okafor"}
    assert row["assertionOrigin"] == "stated"
    assert (row["id"], row["path"], row["revision"]) == ("C-p2", "claims/C-p2.md", 1)
    assert row["hash"] == sha256(f.paths["C-p2"].read_bytes())
    assert row["summary"] == "Atlas lists at 49 EUR from April."
    short = f.grep("49 EUR")["rows"][0]
    assert not {"path", "attribution", "score", "evidence"} & short.keys()
    assert short["hash"] == row["hash"][:12]


def test_r060_matches_names_every_field_with_a_word(f: Store) -> None:
    rows = {row["id"]: row["matches"] for row in f.grep("ana", view="full")["rows"]}
    assert rows["P-ana"] == ["title", "aliases"]
    assert rows["R-att"] == ["title", "body"]


def test_r061_snippets_are_cut_and_placed_in_utf16_units(empty: Store) -> None:
    body = "😀 " * 300 + "needle" + " 😀" * 300
    path = empty.page("P-1", "topic", "Emoji", body)
    snippet = full(empty, "needle")["snippet"]
    text: str = snippet["text"]
    assert len(utf16(text)) // 2 <= 480
    assert "needle" in text
    field = split_record(path.read_bytes()).body
    assert utf16(field)[2 * snippet["start"] : 2 * snippet["end"]].decode("utf-16-le") == text


def test_r061_the_snippet_shows_the_densest_place(empty: Store) -> None:
    empty.page("P-1", "topic", "Dense", "alpha " + "x " * 400 + "alpha beta gamma" + " y" * 400)
    text = empty.grep("gamma beta alpha")["rows"][0]["snippet"]
    assert "alpha beta gamma" in text
    assert len(utf16(text)) // 2 <= 160


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_r062_body_snippets_carry_the_lines_of_the_file(empty: Store, eol: str) -> None:
    path = empty.page("P-1", "topic", "Lines", "first\nsecond needle\nthird")
    path.write_bytes(path.read_bytes().replace(b"\n", eol.encode()))
    lines = path.read_text(encoding="utf-8").splitlines()
    row = full(empty, "needle")
    first, last = row["snippet"]["startLine"], row["snippet"]["endLine"]
    assert "second needle" in "\n".join(lines[first - 1 : last])
    assert (row["citation"]["startLine"], row["citation"]["endLine"]) == (first, last)
    located = lines.index("second needle") + 1
    assert first <= located <= last


def test_r063_at_most_three_verified_locators(empty: Store) -> None:
    names = [empty.evidence(f"ev_{number}", f"Text number {number}\n") for number in range(5)]
    broken = empty.evidence("ev_broken", "Original\n")
    digest = sha256(b"Original\n")
    (empty.vault / "evidence" / "files" / digest[:2] / f"{digest}.txt").write_text("Changed!\n", encoding="utf-8")
    citations: list[Any] = [{"id": name} for name in (broken, *names)]
    empty.claim("C-1", "fact", "Many", "needle", evidence=citations)
    row = full(empty, "needle")
    assert [one["id"] for one in row["evidence"]] == ["ev_0", "ev_1", "ev_2"]
    assert row["evidenceTruncated"] is True
    states = {one["id"]: one["state"] for one in empty.record("C-1")["record"]["evidence"]}
    assert states == {"ev_broken": "changed", **dict.fromkeys(names, "verified")}
    empty.edit("C-1", evidence=citations[1:4])
    assert full(empty, "needle")["evidenceTruncated"] is False


@pytest.mark.parametrize(
    ("citation", "state"),
    [
        ({"lines": [2, 2], "quote": "Scope agreed."}, "verified"),
        ({"lines": [1, 2], "quote": "by hand. Scope agreed."}, "verified"),
        ({"lines": [1, 1], "quote": "Scope agreed."}, "no_quote"),
        ({"quote": "never said"}, "no_quote"),
        ({"lines": [4, 5]}, "no_lines"),
        ({}, "verified"),
    ],
)
def test_r063_a_citation_is_verified_by_lines_and_quote(empty: Store, citation: dict[str, Any], state: str) -> None:
    empty.claim("C-1", "fact", "One", "needle", evidence=[{"id": empty.evidence(), **citation}])
    assert empty.record("C-1")["record"]["evidence"][0]["state"] == state
    assert len(full(empty, "needle")["evidence"]) == (state == "verified")


@pytest.mark.parametrize(("size", "located"), [(65_536, True), (65_537, False)])
def test_r064a_a_large_body_is_found_but_not_located(empty: Store, size: int, located: bool) -> None:  # noqa: FBT001 - a parameter of the test
    path = empty.page("P-1", "topic", "Large", "placeholder")
    head = path.read_bytes().partition(b"\nplaceholder")[0]
    body = b"\n" + b"filler " * 10_000
    path.write_bytes(head + body[: size - 7] + b" needle")
    assert len(split_record(path.read_bytes()).body) == size
    row = full(empty, "needle")
    assert row["score"] > 0
    assert row["snippet"]["matchLocated"] is located
    assert ("needle" in row["snippet"]["text"]) is located


def test_r064b_the_citation_names_the_searched_revision(f: Store) -> None:
    before = full(f, "49 EUR")["citation"]["hash"]
    f.edit("C-p2", body="\nAtlas lists at 51 EUR.\n")
    assert f.record("C-p2")["record"]["hash"] != before


def test_r065_title_weighs_more_than_alias_and_alias_more_than_body(empty: Store) -> None:
    empty.page("P-a", "topic", "needle", "one", aliases=["two"])
    empty.page("P-b", "topic", "one", "two", aliases=["needle"])
    empty.page("P-c", "topic", "one", "needle", aliases=["two"])
    assert ids(empty.grep("needle")) == ["P-a", "P-b", "P-c"]


def golden(records: list[tuple[str, list[str], str]], query: str) -> list[float]:
    """Score records with FTS5's own bm25()."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, b, c, tokenize='unicode61 remove_diacritics 2')")
    for number, (title, aliases, body) in enumerate(records):
        connection.execute(
            "INSERT INTO t(rowid, a, b, c) VALUES (?, ?, ?, ?)", (number, title, "\n".join(aliases), body)
        )
    rows = connection.execute("SELECT -bm25(t, 8, 6, 1) FROM t WHERE t MATCH ? ORDER BY 1 DESC", (query,)).fetchall()
    return [float(str(row[0])) for row in rows]


def test_r065_scores_equal_those_of_fts5(f: Store) -> None:
    records = [
        ("Ana Ruiz", ["A. Ruiz", "Ana"], "\nProduct lead at Acme. Prefers short memos.\n"),
        ("Ben Okafor", ["Ben"], "\nEngineer.\n"),
        ("Ben Stone", ["Ben"], "\nLawyer.\n"),
    ]
    scores = [row["score"] for row in f.grep("ben", type="person", view="full")["rows"]]
    assert scores == pytest.approx(golden(records, "ben"), abs=1e-9)


def test_r066_scores_are_positive_and_not_in_agent_rows(empty: Store) -> None:
    for number in range(5):
        empty.page(f"P-{number}", "topic", "Same", "word")
    assert all(row["score"] > 0 for row in empty.grep("word", view="full")["rows"])
    assert all("score" not in row for row in empty.grep("word")["rows"])


def test_r067_other_scopes_change_nothing(f: Store) -> None:
    before = f.grep("price", view="full")
    for number in range(200):
        f.page(f"X-{number:03}", "topic", "price price", "price " * 5, scope="other")
    after = f.grep("price", view="full")
    for key in ("rows", "total", "snapshot"):
        assert after[key] == before[key]


def test_r067_filters_come_before_the_statistics(f: Store) -> None:
    claims: list[tuple[str, list[str], str]] = [
        ("Atlas list price", [], "\nAtlas lists at 49 EUR from April.\n"),
        ("Kickoff held", [], "\nScope agreed with Acme.\n"),
        ("Pilot delivery", [], "\nAna delivers the pilot build.\n"),
        ("Prefers mornings", [], "\nNo calls after noon.\n"),
    ]
    filtered = f.grep("price", kind="claim", view="full")["rows"]
    assert ids({"rows": filtered}) == ["C-p2"]
    assert [row["score"] for row in filtered] == pytest.approx(golden(claims, "price"), abs=1e-9)
    assert full(f, "price")["score"] != filtered[0]["score"]


def test_r068_ties_are_broken_by_id(empty: Store) -> None:
    for name in ("P-c", "P-a", "P-b"):
        empty.page(name, "topic", "Same", "needle")
    assert ids(empty.grep("needle")) == ids(empty.grep("needle")) == ["P-a", "P-b", "P-c"]
