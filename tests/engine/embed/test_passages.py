from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embed.passages import Passage, passages_of

LIMIT = 20


def tokens_of(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


def test_a_text_that_fits_is_one_passage() -> None:
    assert passages_of("two words", tokens_of("two words"), LIMIT) == [Passage(0, 9, 3)]


def test_a_text_without_any_token_is_one_passage_too() -> None:
    assert passages_of(" \n ", [], LIMIT) == [Passage(0, 3, 0)]


@given(st.text(alphabet="ab ,\n漢é", max_size=600), st.integers(8, 40))
def test_passages_overlap_cover_the_text_and_fit_the_model(text: str, limit: int) -> None:
    tokens = tokens_of(text)
    found = passages_of(text, tokens, limit, overlap=10)
    assert found[0].start == 0
    assert found[-1].end == len(text)
    for before, after in pairwise(found):
        assert before.start < after.start <= before.end <= after.end
    for passage in found:
        inside = [span for span in tokens if passage.start <= span[0] < passage.end]
        assert len(inside) <= limit
        assert passage.tokens == len(inside)


def test_neighbours_share_some_words_and_are_cut_between_words() -> None:
    text = " ".join(f"word{index}" for index in range(100))
    found = passages_of(text, tokens_of(text), LIMIT, overlap=6)
    assert len(found) > 5
    for before, after in pairwise(found):
        assert text[before.end - 1] == " "
        assert text[after.start - 1] == " "
        assert after.start < before.end


@pytest.mark.parametrize("limit", [8, 9])
def test_a_model_that_reads_very_little_still_arrives(limit: int) -> None:
    text = "a" * 2_000
    assert passages_of(text, tokens_of(text), limit)[-1].end == 2_000
