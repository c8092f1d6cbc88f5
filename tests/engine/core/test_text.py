"""Text as the index, SQLite and Qt can hold it, and what of it enters the index."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.core.text import (
    camel_parts,
    clean,
    fold,
    index_parts,
    index_words,
    is_camel,
    is_cjk_letter,
    shorten,
    stem,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain", "plain"),
        ("a\0b", "ab"),
        ("é\0", "é"),
        ("half \ud83d", "half \ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("e\u0301", "é"),
        ("a\u2028b\u0085c", "a\u2028b\u0085c"),
    ],
)
def test_text_is_made_storable(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_text_can_be_stored_once_it_is_clean(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert sqlite3.connect(":memory:").execute("SELECT ?", (once,)).fetchone() == (once,)
    for made in (index_words(once), index_parts(once)):
        made.encode()
    assert all(words_of(text))


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
    | st.text(alphabet="aéİßqẞ\u0303\u0301か\u3099語각各ﾊﾟ🎉_-Z9")
)
@example("\u13a0\uab70 \u13c3\u13f8")  # Cherokee: case folding makes capitals of its small letters
def test_words_are_those_of_the_folded_text_with_each_cjk_letter_alone(text: str) -> None:
    found: list[str] = []
    for word in re.findall(r"[^\W_]+", fold(clean(text))):
        piece = ""
        for character in word:
            if is_cjk_letter(character):
                found += [piece, character]
                piece = ""
            else:
                piece += character
        found.append(piece)
    assert words_of(text) == [each for each in found if each]


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("utf8Decoder", ["utf", "8", "decoder"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("plain", ["plain"]),
    ],
)
def test_identifiers_have_parts(identifier: str, parts: list[str]) -> None:
    assert camel_parts(identifier) == parts
    assert is_camel(identifier) == (len(parts) > 1)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("call getUserName() twice, getUserName", ["get user name"]),
        ("deployed deploying deploys", ["deploy"]),
        ("zebras and apples", ["appl", "zebra"]),
        ("a cat sat", []),
        ("getUsers", ["get users", "user"]),
        ("Running RUNNING running", ["run"]),
        ("naïve cafés", []),
        ("x" * 65 + "Aa", []),
        ("", []),
    ],
)
def test_the_second_column_holds_parts_in_order_and_then_stems(text: str, pieces: list[str]) -> None:
    """A word that is its own stem is found in the first column, and is not repeated."""
    assert [each for each in index_parts(text).split("\n") if each] == pieces


@pytest.mark.parametrize(("word", "stemmed"), [("was", "was"), ("users", "user"), ("x86s", "x86s"), ("日本", "日本")])
def test_only_english_words_have_stems(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@given(st.text(max_size=300), st.integers(2, 80))
def test_a_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert "\n" not in short
