"""Snippets of plain text: making only the words that can match changes nothing but the time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.search.query import read_query, tokens_of
from engine.search.snippets import _places, _possible_tokens, matches_in  # pyright: ignore[reportPrivateUsage] - the two ways are compared

WORDS = ("index", "Indexing", "indexed", "reindex", "getUserName", "user", "USER_NAME", "us", "x1", "ind", "HTTPServer")
TEXTS = st.lists(st.sampled_from((*WORDS, " ", "\n", "_", "-", ".", "users", "userName42")), max_size=30).map("".join)


@given(text=TEXTS, typed=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), is_typing=st.booleans())
def test_words_that_cannot_match_need_not_be_made(text: str, typed: list[str], is_typing: bool) -> None:  # noqa: FBT001 - drawn
    query = read_query(" ".join(typed), prefix_last=is_typing)
    every, possible = tokens_of(text), _possible_tokens(text, query.terms)
    for term in query.terms:
        if len(term.words) == 1:
            assert _places(possible, term) == _places(every, term)


@given(text=TEXTS)
def test_a_quoted_word_is_marked_wherever_it_stands_alone(text: str) -> None:
    marked = [text[match.start : match.end].lower() for match in matches_in(text, read_query('"user"'))]
    assert marked == ["user"] * [token.word for token in tokens_of(text)].count("user")
