from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.core.vectors import ModelIdentity, NoVector, QueryVector
from engine.search.semantic import Meaning, NoMeaning, SemanticLeg
from engine.store import generations
from tests.helpers.history import new_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.store.connection import Connection
    from engine.store.generations import Generation

MODEL = ModelIdentity("m", "1", 4, "mean")


class SlowModel:
    """Answers when it is let go."""

    def __init__(self, answer: QueryVector | NoVector | Exception) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self._answer = answer

    def embed_query(self, text: str, generation: Generation, timeout_s: float) -> QueryVector | NoVector:
        self.asked.append(text)
        assert generation.identity == MODEL
        assert self.go.wait(timeout_s)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def knows_word(self, word: str, generation: Generation) -> bool:
        assert generation.identity == MODEL
        return word == "known"


VECTOR = QueryVector(np.asarray([1, 0, 0, 0], np.float32).tobytes())


@pytest.fixture
def db(tmp_path: Path) -> Generator[Connection]:
    connection = new_database(tmp_path / "index.db")
    generations.open_generation(connection, MODEL, "folder", "float32")
    yield connection
    connection.close(force=True)


def test_other_work_is_done_while_the_model_thinks(db: Connection) -> None:
    model = SlowModel(VECTOR)
    begun = SemanticLeg(model, wait_s=5.0).begin(db, "why is it slow")
    assert not begun.done()
    model.go.set()
    meaning = begun.result(60)
    assert isinstance(meaning, Meaning)
    assert meaning.vector.tolist() == [1, 0, 0, 0]


def test_a_question_asked_again_needs_no_model(db: Connection) -> None:
    model = SlowModel(VECTOR)
    model.go.set()
    leg = SemanticLeg(model, wait_s=5.0)
    assert isinstance(leg.understand(db, "why is it slow"), Meaning)
    assert leg.begin(db, "why is it slow").done()
    assert model.asked == ["why is it slow"]


def test_a_reason_is_said_and_not_remembered(db: Connection) -> None:
    model = SlowModel(NoVector("The model is loading."))
    model.go.set()
    leg = SemanticLeg(model, wait_s=5.0)
    assert [leg.understand(db, "why"), leg.understand(db, "why")] == [NoMeaning("The model is loading.")] * 2
    assert model.asked == ["why", "why"]


def test_what_fails_on_the_way_fails_where_the_meaning_is_asked_for(db: Connection) -> None:
    model = SlowModel(LookupError("lost"))
    model.go.set()
    begun = SemanticLeg(model, wait_s=5.0).begin(db, "why")
    with pytest.raises(LookupError, match="lost"):
        begun.result(60)


def test_words_are_known_to_the_model_that_answers_and_to_none_without_one(db: Connection) -> None:
    leg = SemanticLeg(SlowModel(VECTOR), wait_s=5.0)
    assert [leg.knows(db, "known"), leg.knows(db, "knwon")] == [True, False]
    assert not SemanticLeg(None, wait_s=5.0).knows(db, "known")
