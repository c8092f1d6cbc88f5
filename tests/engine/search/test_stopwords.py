from __future__ import annotations

import pytest

from engine.search.exchanges import content_terms, identifier_share
from engine.search.query import read_query


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("why does lint fail on my machine", ["lint", "fail", "machine"]),
        ("why did the worker die", ["worker", "die"]),
        ("wie lange läuft der Dienst über Nacht", ["lange", "läuft", "Dienst", "Nacht"]),
        ("pourquoi le test échoue dans la branche", ["test", "échoue", "branche"]),
        ("por qué falla más la prueba", ["falla", "prueba"]),
        ("perché il test non passa", ["test", "passa"]),
        ("waarom faalt de test niet", ["faalt", "test"]),
        ("don't retry", ["retry"]),
        ("flock", ["flock"]),
    ],
)
def test_words_that_only_ask_are_left_out_in_the_language_of_the_question(question: str, content: list[str]) -> None:
    assert [term.text for term in content_terms(read_query(question))] == content


@pytest.mark.parametrize("question", ["what is it", '"to be or not to be"', "which", "是的"])
def test_something_is_always_left(question: str) -> None:
    assert content_terms(read_query(question)) == read_query(question).terms


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("getUserName errStopIteration", 1.0),
        (".git/index.lock exists", 0.5),
        ('"exact words" please', 0.5),
        ("--no-commit-id flag", 0.5),
        ("why does it fail.", 0.0),
        ("atomic rename of a file", 0.0),
        ("E2E_REQUIRE=1", 1.0),
        ("sqlite-vec", 1.0),
    ],
)
def test_identifiers_paths_and_quotations_are_told_from_words(question: str, share: float) -> None:
    terms = [(term, 1.0) for term in content_terms(read_query(question))]
    assert identifier_share(terms) == pytest.approx(share)
