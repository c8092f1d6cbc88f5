"""What a person types becomes terms; nothing of it is ever FTS5 syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import InvalidArgument
from engine.core.text import words_of
from engine.search.query import MAX_QUERY_CHARACTERS, MAX_TERMS, read_query


def test_words_are_split_at_white_space_and_folded() -> None:
    assert [term.words for term in read_query("Café  LOCK").terms] == [("cafe",), ("lock",)]


def test_a_word_with_punctuation_is_the_phrase_of_its_parts() -> None:
    assert [term.words for term in read_query("sqlite-vec /etc/hosts foo.bar_baz").terms] == [
        ("sqlite", "vec"),
        ("etc", "hosts"),
        ("foo", "bar", "baz"),
    ]


def test_quoted_words_are_a_phrase_without_stems() -> None:
    (term,) = read_query('"running tests"').terms

    assert term.is_phrase
    assert "parts" not in term.expression


def test_an_unbalanced_quote_is_just_a_character() -> None:
    assert [term.text for term in read_query('say "hello').terms] == ["say", "hello"]


def test_each_cjk_letter_is_a_word_of_a_phrase() -> None:
    assert [term.words for term in read_query("認証の書き直し").terms] == [tuple("認証の書き直し")]


def test_only_the_word_still_being_typed_is_a_prefix() -> None:
    first, last = read_query("sqlite configuratio", prefix_last=True).terms

    assert not first.is_prefix
    assert last.is_prefix
    assert not read_query("sqlite ", prefix_last=True).terms[-1].is_prefix


def test_a_query_without_letters_or_digits_has_no_terms() -> None:
    assert read_query("=> {} ;; 🎉").terms == ()


def test_more_than_ten_thousand_characters_are_refused_with_the_number() -> None:
    with pytest.raises(InvalidArgument, match="10,001"):
        read_query("x" * (MAX_QUERY_CHARACTERS + 1))


def test_words_beyond_the_limit_are_counted_not_silently_dropped() -> None:
    query = read_query(" ".join(f"w{number}" for number in range(MAX_TERMS + 5)))

    assert (len(query.terms), query.ignored) == (MAX_TERMS, 5)


@pytest.mark.parametrize("text", ['"' + "the " * 2_000 + '"', "a." * 2_000, "字" * 2_000, "การ" * 2_000])
def test_a_phrase_is_looked_for_by_its_beginning(text: str) -> None:
    query = read_query(text)

    (term,) = query.terms
    assert len(term.words) == MAX_TERMS
    assert len(words_of(term.text)) == MAX_TERMS
    assert query.ignored == len(words_of(text)) - MAX_TERMS


def test_a_run_of_letters_too_long_for_a_name_has_no_parts() -> None:
    (term,) = read_query("GetUserName" * 900).terms

    assert "get user name" not in term.expression


@given(st.text(max_size=200))
def test_any_text_at_all_is_read(text: str) -> None:
    query = read_query(text)

    assert all(term.words for term in query.terms)
    assert query.strict.count('"') % 2 == 0
