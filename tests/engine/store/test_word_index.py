"""The index and the rest of the program agree on what a word is, for every character."""

from __future__ import annotations

import unicodedata

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.text import clean, index_parts, index_words, words_of
from engine.store.schema import VERSION_1


def words_in_index(texts: dict[int, str]) -> dict[int, list[str]]:
    """Return the words that SQLite makes of texts, in order."""
    connection = apsw.Connection(":memory:")
    connection.execute(VERSION_1)
    connection.execute("CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, search, instance)")
    connection.executemany(
        "INSERT INTO search (rowid, words, parts) VALUES (?, ?, '')",
        [(number, index_words(clean(text))) for number, text in texts.items()],
    )
    found: dict[int, list[str]] = {number: [] for number in texts}
    for term, number in connection.execute("SELECT term, doc FROM temp.places ORDER BY doc, offset"):
        found[number].append(term)
    connection.close()
    return found


@given(st.lists(st.text(max_size=40), min_size=1, max_size=20))
def test_any_text_has_the_same_words_in_the_index_and_in_a_question(texts: list[str]) -> None:
    numbered = dict(enumerate((_known(text) for text in texts), start=1))

    assert words_in_index(numbered) == {number: words_of(text) for number, text in numbered.items()}


def _known(text: str) -> str:
    """Leave out the few letters that SQLite's tables of Unicode do not know or class differently."""
    return "".join(c for c in text if not ("\u19b0" <= c <= "\u19c9" or "\u1cf2" <= c <= "\u1cf3" or _is_recent(c)))


def _is_recent(character: str) -> bool:
    try:
        return unicodedata.ucd_3_2_0.category(character) == "Cn" and ord(character) > 0x2FFF
    except ValueError:
        return True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ΣΊΣΥΦΟΣ", ["σισυφοσ"]),
        ("Ёлка", ["елка"]),
        ("ガラス", ["ガ", "ラ", "ス"]),
        ("re\u0301sume\u0301", ["resume"]),
        ("한국어 foo日本bar", ["한", "국", "어", "foo", "日", "本", "bar"]),
        ("E0308 a_b c-d", ["e0308", "a", "b", "c", "d"]),
    ],
)
def test_words_are_folded_and_cjk_letters_stand_alone(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    assert words_in_index({1: text}) == {1: words}


def test_the_second_column_holds_parts_of_identifiers_and_stems_of_inflected_words() -> None:
    lines = index_parts("getUserName runs while universities ran").split("\n")

    assert lines[0] == "get user name"
    assert {"run", "universiti"} <= set(lines[1:])


def test_words_that_are_their_own_stem_are_not_repeated() -> None:
    assert index_parts("plain short text") == ""
