"""Snippets show the best window, mark what matched, and cut no character in half."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from engine.search.query import read_query
from engine.search.snippets import Snippet, snippet_of


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    snippet = snippet_of("use  flock\n\nnot lockf", read_query("lockf"))

    assert snippet.text == "use flock not lockf"
    assert marked(snippet) == ["lockf"]


def test_the_window_holds_most_of_the_terms() -> None:
    text = "alpha " + "filler " * 100 + "alpha beta gamma " + "filler " * 100
    snippet = snippet_of(text, read_query("alpha beta gamma"))

    assert {"alpha", "beta", "gamma"} <= set(marked(snippet))
    assert snippet.text.startswith("… ")
    assert snippet.text.endswith(" …")


def test_stems_identifier_parts_and_diacritics_are_marked() -> None:
    snippet = snippet_of("Running getUserName in the café", read_query("run user cafe"))

    assert marked(snippet) == ["Running", "User", "café"]


def test_a_phrase_is_marked_as_one_piece() -> None:
    assert marked(snippet_of("we chose sqlite-vec here", read_query("sqlite-vec"))) == ["sqlite-vec"]


def test_a_prefix_marks_only_what_was_typed() -> None:
    assert marked(snippet_of("the configuration", read_query("configu", prefix_last=True))) == ["configu"]


def test_cjk_substrings_are_marked() -> None:
    assert marked(snippet_of("今日は認証の書き直しをした", read_query("書き直し"))) == ["書き直し"]


def test_without_a_query_the_beginning_is_shown() -> None:
    assert snippet_of("word " * 200, None).text.startswith("word word")


def test_an_emoji_of_several_code_points_is_not_cut() -> None:
    family = "👨‍👩‍👧‍👦"
    snippet = snippet_of(family * 80, None)

    body = snippet.text.removesuffix(" …")
    assert body == family * (len(body) // len(family))


@given(st.text(min_size=1, max_size=900), st.text(max_size=20))
def test_marks_are_ordered_inside_the_text_and_nothing_begins_with_half_a_character(text: str, asked: str) -> None:
    snippet = snippet_of(text, read_query(asked))

    position = 0
    for start, end in snippet.marks:
        assert position <= start < end <= len(snippet.text)
        position = end
    body = snippet.text.removeprefix("… ")
    if body is not snippet.text and body:
        assert not unicodedata.combining(body[0])
