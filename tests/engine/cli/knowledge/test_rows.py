from __future__ import annotations

import pytest

from engine.cli.knowledge.rows import marked


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Zoë Ångström, zoe.", "ZOE angstrom", ["Zoë", "Ångström", "zoe"]),
        ("foo_bar foobar", "foo-bar", ["foo", "bar"]),
        ("lists at 49 EUR", "list 49", ["49"]),
        ("Zoe\u0308 said", "zoë", ["Zoe\u0308"]),
        ("東京都の会議 は", "東京都の会議", ["東京都の会議"]),
        ("nothing", "", []),
    ],
)
def test_the_words_of_the_question_are_marked_as_the_index_compares_them(
    text: str, query: str, expected: list[str]
) -> None:
    assert [text[span.start : span.end] for span in marked(text, query).spans] == expected
