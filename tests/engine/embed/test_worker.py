from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.embed.messages import Embedded, EmbedQuery, EmbedTexts, Load, Loaded, Refused, Request, Stop
from engine.embed.worker import Worker
from engine.store.packing import vectors_from
from tests.helpers.hash_worker import DIMENSION, LIMIT, HashModel

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import numpy.typing as npt

    from engine.embed.messages import Reply
    from engine.embed.worker import Inbox

LONG = " ".join(f"word{index}" for index in range(3 * LIMIT))


WAIT_S = 60.0


class Watched(HashModel):
    """Calls back before it embeds texts (on the lane's thread); questions go through at once."""

    def __init__(self, folder: str, before: Callable[[Sequence[str]], object]) -> None:
        super().__init__(folder)
        self._before = before

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if "question" not in texts:
            self._before(texts)
        return super().encode(texts)


class Bench:
    """A worker that is stepped by hand."""

    def __init__(self, threads: int = 1, before: Callable[[Sequence[str]], object] = lambda _: None) -> None:
        self.inbox: Inbox = queue.Queue()
        self.replies: list[Reply] = []
        self.models: list[HashModel] = []
        self.before = before
        self.worker = Worker(self.inbox, self.replies.append, self.load, threads)

    def load(self, folder: str) -> HashModel:
        if folder == "missing":
            raise OSError(folder)
        self.models.append(Watched(folder, self.before))
        return self.models[-1]

    def ask(self, *requests: Request) -> None:
        for request in requests:
            self.inbox.put(request)

    def steps(self, count: int) -> None:
        """Do so many: each gives one lane something to do, the first the cutting."""
        for _ in range(count):
            self.worker.step()

    def until_answered(self, count: int) -> list[Reply]:
        for _ in range(500):
            if len(self.replies) >= count:
                return self.replies
            self.worker.step()
        pytest.fail("no answer")


class Gate:
    """Holds every stride until it is opened, and tells how many have come to it."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.came = threading.Semaphore(0)
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> None:
        self.texts += texts
        self.came.release()
        assert self.opened.wait(WAIT_S)


@pytest.fixture
def gate() -> Generator[Gate]:
    made = Gate()
    yield made
    made.opened.set()


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


def test_a_question_waits_for_no_stride(gate: Gate) -> None:
    bench = Bench(before=gate)
    bench.ask(EmbedTexts(1, "hash", ("a text", "another")))
    bench.steps(2)
    assert gate.came.acquire(timeout=WAIT_S)
    bench.ask(EmbedQuery(2, "hash", "question"))
    bench.worker.step()
    assert [reply.job for reply in bench.replies] == [2]
    gate.opened.set()
    assert [reply.job for reply in bench.until_answered(2)] == [2, 1]


def test_a_question_overtakes_a_batch_that_waits() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", (LONG,) * 50), EmbedQuery(2, "hash", "question"))
    assert [reply.job for reply in bench.until_answered(2)] == [2, 1]


def test_each_thread_has_a_stride_of_its_own(gate: Gate) -> None:
    bench = Bench(threads=2, before=gate)
    bench.ask(EmbedTexts(1, "hash", tuple(f"{LONG} {index}" for index in range(50))))
    bench.steps(3)
    assert gate.came.acquire(timeout=WAIT_S)
    assert gate.came.acquire(timeout=WAIT_S)
    gate.opened.set()
    [reply] = bench.until_answered(1)
    assert isinstance(reply, Embedded)
    assert len(reply.texts) == 50


def test_a_batch_begins_when_the_one_before_is_done(gate: Gate) -> None:
    bench = Bench(threads=2, before=gate)
    bench.ask(EmbedTexts(1, "hash", ("first",)), EmbedTexts(2, "hash", ("second",)))
    bench.steps(3)  # both are cut into passages, and the first begins
    assert gate.came.acquire(timeout=WAIT_S)
    bench.ask(EmbedQuery(3, "hash", "question"))
    bench.until_answered(1)
    assert gate.texts == ["first"]
    gate.opened.set()
    assert [reply.job for reply in bench.until_answered(3)] == [3, 1, 2]


def test_what_goes_wrong_in_a_stride_ends_the_worker() -> None:
    def fail(_: Sequence[str]) -> None:
        raise MemoryError

    bench = Bench(before=fail)
    bench.ask(EmbedTexts(1, "hash", ("a text",)))
    with pytest.raises(MemoryError):
        bench.until_answered(1)


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
    while not bench.worker.is_stopped:
        bench.worker.step()
    assert bench.replies == []


def test_no_texts_are_an_empty_answer() -> None:
    bench = Bench()
    bench.ask(EmbedTexts(1, "hash", ()))
    [reply] = bench.until_answered(1)
    assert isinstance(reply, Embedded)
    assert reply.texts == ()
