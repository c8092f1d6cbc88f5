from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.embed.client import WorkerClient, worker_command
from engine.embed.location import find_model
from engine.embed.messages import WorkerOptions
from engine.store.packing import vectors_from

if TYPE_CHECKING:
    from collections.abc import Generator

    from engine.embed.messages import Embedded

LOAD_S = 240.0
"""Importing torch takes 5 s on a quiet machine."""

pytestmark = [pytest.mark.slow, pytest.mark.integration]


@pytest.fixture(scope="module")
def model() -> str:
    folder = find_model("bundled")
    assert folder is not None
    return str(folder)


@pytest.fixture(scope="module")
def client() -> Generator[WorkerClient]:
    made = WorkerClient(worker_command(WorkerOptions(1)), on_death=lambda: None)
    yield made
    made.close()


def vector(reply: Embedded) -> list[float]:
    return vectors_from(reply.texts[0].vectors, reply.identity.dimension)[0].tolist()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_bundled_model_is_all_minilm_l6_v2(client: WorkerClient, model: str) -> None:
    loaded = client.load(model).result(LOAD_S)
    assert (loaded.identity.dimension, loaded.identity.pooling) == (384, "mean")
    assert loaded.precision in ("float32", "bfloat16")


def test_what_means_the_same_is_near(client: WorkerClient, model: str) -> None:
    asked = vector(client.embed_query(model, "the cat sat on the mat").result(LOAD_S))
    same = vector(client.embed_query(model, "a kitten was sitting on the rug").result(LOAD_S))
    other = vector(client.embed_query(model, "quarterly revenue grew by eight percent").result(LOAD_S))
    assert cosine(asked, asked) == pytest.approx(1.0, abs=1e-4)
    assert cosine(asked, same) > cosine(asked, other) + 0.3


def test_a_long_text_becomes_passages_of_what_the_model_reads(client: WorkerClient, model: str) -> None:
    text = " ".join(f"The {word} number {index} was renamed." for index, word in enumerate(["branch"] * 150))
    reply = client.embed(model, [text]).result(LOAD_S)
    ranges = reply.texts[0].ranges
    assert len(ranges) > 3
    assert (ranges[0][0], ranges[-1][1]) == (0, len(text))
    first = client.embed_query(model, text[slice(*ranges[0])]).result(LOAD_S)
    assert cosine(vector(reply), vector(first)) > 0.99
