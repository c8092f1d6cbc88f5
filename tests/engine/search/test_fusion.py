from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.fusion import MEANING_WEIGHT, Evidence, QuestionForm, fuse

PLAIN = QuestionForm(coverage=1.0, identifiers=0.0, mean=0.1, spread=0.1)


def best(found: dict[int, float]) -> int:
    return max(found, key=lambda each: found[each])


def test_an_exchange_that_both_legs_put_first_comes_first() -> None:
    found = fuse({1: Evidence(9, 9, 0.7), 2: Evidence(5, 6, 0.5), 3: Evidence(0, 0, 0.65)}, PLAIN)
    assert best(found) == 1


def test_words_that_cover_the_question_outweigh_meaning() -> None:
    evidence = {1: Evidence(9, 9, 0.3), 2: Evidence(3, 3, 0.6)}
    assert best(fuse(evidence, PLAIN)) == 1


def test_words_that_cover_little_of_the_question_give_way_to_meaning() -> None:
    evidence = {1: Evidence(9, 9, 0.2), 2: Evidence(5, 5, 0.6)}
    assert best(fuse(evidence, PLAIN)) == 1
    assert best(fuse(evidence, QuestionForm(coverage=0.3, identifiers=0.0, mean=0.1))) == 2


def test_a_question_of_identifiers_trusts_the_words_more() -> None:
    evidence = {1: Evidence(9, 9, 0.1), 2: Evidence(6, 6, 0.6)}
    assert best(fuse(evidence, QuestionForm(coverage=0.8, identifiers=0.0, mean=0.1))) == 2
    assert best(fuse(evidence, QuestionForm(coverage=0.8, identifiers=1.0, mean=0.1))) == 1


def test_words_that_stand_nowhere_together_give_way_to_meaning() -> None:
    evidence = {1: Evidence(9, 9, 0.2), 2: Evidence(passage=0.6)}
    assert best(fuse(evidence, QuestionForm(coverage=0.5, identifiers=0.0, mean=0.1))) == 1
    assert best(fuse(evidence, QuestionForm(coverage=0.5, identifiers=0.0, scattered=True, mean=0.1))) == 2


def test_of_equals_the_one_whose_prompt_asked_for_it_wins() -> None:
    found = fuse({1: Evidence(5, 5, 0.5, 0.1), 2: Evidence(5, 5, 0.5, 0.5)}, PLAIN)
    assert best(found) == 2


def test_a_long_exchange_needs_more_than_chance() -> None:
    found = fuse({1: Evidence(5, 5, 0.5, size=300), 2: Evidence(5, 5, 0.5, size=2)}, PLAIN)
    assert best(found) == 2


def test_of_equals_the_one_beside_another_match_wins() -> None:
    words = {1: Evidence(5, 5), 2: Evidence(5, 5), 3: Evidence(4, 4)}
    assert best(fuse(words, PLAIN, {1: (), 2: (3,), 3: (2,)})) == 2
    near = {1: Evidence(passage=0.5), 2: Evidence(passage=0.5), 3: Evidence(passage=0.4)}
    assert best(fuse(near, PLAIN, {1: (), 2: (3,), 3: (2,)})) == 2


def test_a_neighbour_lifts_nothing_above_what_answers_by_itself() -> None:
    words = {1: Evidence(9, 9), 2: Evidence(2, 2), 3: Evidence(8, 8)}
    ranked = fuse(words, PLAIN, {1: (), 2: (1, 3), 3: ()})
    assert sorted(ranked, key=lambda each: -ranked[each]) == [1, 3, 2]


def test_neighbours_that_are_no_candidates_count_for_nothing() -> None:
    evidence = {1: Evidence(5, 5, 0.5), 2: Evidence(4, 6, 0.4)}
    assert fuse(evidence, PLAIN, {1: (7,), 2: (8, 9)}) == pytest.approx(fuse(evidence, PLAIN))


def test_without_vectors_the_words_decide() -> None:
    found = fuse({1: Evidence(5, 5), 2: Evidence(9, 9)}, PLAIN)
    assert best(found) == 2


def test_without_words_the_meaning_decides() -> None:
    found = fuse({1: Evidence(passage=0.5), 2: Evidence(passage=0.3)}, QuestionForm(0.0, 0.0, 0.1))
    assert best(found) == 1


def test_nothing_found_is_nothing_ranked() -> None:
    assert fuse({}, PLAIN) == {}


@given(
    st.dictionaries(
        st.integers(0, 9),
        st.builds(
            Evidence,
            block=st.floats(0, 50),
            whole=st.floats(0, 50),
            passage=st.none() | st.floats(-1, 1),
            prompt=st.none() | st.floats(-1, 1),
            size=st.integers(1, 1_000),
        ),
    ),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_score_is_above_that_of_all_words_and_the_nearest_meaning_together(
    evidence: dict[int, Evidence], coverage: float, identifiers: float
) -> None:
    form = QuestionForm(coverage, identifiers, 0.1, 0.1)
    scores = fuse(evidence, form)
    assert set(scores) == set(evidence)
    assert all(score <= 1 + MEANING_WEIGHT + 1e-9 for score in scores.values())


@pytest.mark.parametrize("size", [1, 10, 100])
def test_size_alone_never_changes_the_sign_of_a_match(size: int) -> None:
    assert fuse({1: Evidence(5, 5, 0.5, 0.5, size)}, PLAIN)[1] > 1
