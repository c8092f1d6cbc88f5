from __future__ import annotations

import queue
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.embed.messages import Embedded, EmbedQuery, EmbedTexts, Load, Loaded, Refused, Stop
from engine.embed.worker import Worker
from engine.store.packing import vectors_from
from tests.helpers.hash_worker import DIMENSION, LIMIT, HashModel

if TYPE_CHECKING:
    from engine.embed.messages import Reply, Request

LONG = " ".join(f"word{index}" for index in range(3 * LIMIT))


class Bench:
    """A worker that is stepped by hand."""

    def __init__(self) -> None:
        self.inbox: queue.Queue[Request] = queue.Queue()
        self.replies: list[Reply] = []
        self.models: list[HashModel] = []
        self.worker = Worker(self.inbox, self.replies.append, self.load)

    def load(self, folder: str) -> HashModel:
        if folder == "missing":
            raise OSError(folder)
        self.models.append(HashModel(folder))
        return self.models[-1]

    def ask(self, *requests: Request) -> None:
        for request in requests:
            self.inbox.put(request)

    def until_answered(self, count: int) -> list[Reply]:
        for _ in range(500):
            if len(self.replies) >= count:
                return self.replies
            self.worker.step()
        pytest.fail("no answer")


def test_a_text_is_embedded_passage_by_passage_with_its_ranges() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", ("short", LONG)))
    [reply] = bench.until_answered(1)
    assert isinstance(reply, Embedded)
    short, long = reply.texts
    assert short.ranges == ((0, 5),)
    assert len(long.ranges) > 2
    made = vectors_from(long.vectors, DIMENSION)
    for (start, stop), vector in zip(long.ranges, made, strict=True):
        assert np.allclose(vector, bench.models[0].encode([LONG[start:stop]])[0], atol=1e-5)


def test_a_question_overtakes_a_batch_after_the_present_stride() -> None:
    bench = Bench()
    texts = tuple(f"{LONG} {index}" for index in range(60))
    bench.ask(EmbedTexts(1, "hash", texts))
    bench.worker.step()
    bench.worker.step()
    bench.ask(EmbedQuery(2, "hash", "what was it"))
    bench.worker.step()
    assert [reply.job for reply in bench.replies] == [2]
    assert [reply.job for reply in bench.until_answered(2)] == [2, 1]


def test_strides_follow_the_speed_of_the_machine() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", tuple(f"{LONG} {index}" for index in range(400))))
    bench.until_answered(1)
    sizes = [len(call) for call in bench.models[0].calls]
    # Hashing is much faster than the 60 ms a stride may take, so strides grow.
    assert max(sizes) > 2 * sizes[0]


def test_passages_of_like_length_share_a_stride() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", tuple(text for _ in range(40) for text in ("short one", LONG))))
    bench.until_answered(1)
    lengths = [len(text.split()) for call in bench.models[0].calls for text in call]
    assert lengths == sorted(lengths, reverse=True)


def test_a_model_is_loaded_once_and_says_what_it_is() -> None:
    bench = Bench()
    bench.ask(Load(1, "hash"), Load(2, "hash"), Load(3, "other"))
    replies = bench.until_answered(3)
    assert [reply.identity.name for reply in replies if isinstance(reply, Loaded)] == ["hash", "hash", "other"]
    assert len(bench.models) == 2


@pytest.mark.expect_log("The model cannot be loaded")
def test_a_missing_model_is_refused_and_the_worker_lives_on() -> None:
    bench = Bench()
    bench.ask(EmbedQuery(1, "missing", "x"), EmbedQuery(2, "hash", "x"))
    replies = bench.until_answered(2)
    assert isinstance(replies[0], Refused)
    assert isinstance(replies[1], Embedded)
    assert "missing" not in replies[0].reason


def test_it_stops_when_told_and_leaves_the_batch() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", (LONG,) * 50))
    bench.worker.step()
    bench.ask(Stop())
    bench.worker.step()
    assert bench.worker.is_stopped
    assert bench.replies == []


def test_no_texts_are_an_empty_answer() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", ()))
    [reply] = bench.until_answered(1)
    assert isinstance(reply, Embedded)
    assert reply.texts == ()
