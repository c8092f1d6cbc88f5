from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from engine.cli.safe import one_line, visible

everything = st.text(st.characters(codec=None))


@given(everything)
def test_offsets_stay_right(text: str) -> None:
    assert len(visible(text)) == len(one_line(text)) == len(text)


@given(everything)
def test_nothing_is_left_that_a_terminal_acts_on(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not [each for each in shown if unicodedata.category(each) == "Cc" and each not in "\t\n"]
    assert len(one_line(text).splitlines()) <= 1


def test_an_escape_sequence_is_shown_instead_of_obeyed() -> None:
    assert visible("\x1b[31mred\x9b0m\x07") == "\u241b[31mred\ufffd0m\u2407"


def test_marks_that_reverse_the_order_are_shown() -> None:
    assert visible("a\u202eb\u2066c") == "a\ufffdb\ufffdc"


def test_ordinary_text_of_any_language_is_untouched() -> None:
    text = "día 日本語 عربي 👩‍💻 e\u0301\n\ttab"
    assert visible(text) == text
