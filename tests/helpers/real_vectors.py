"""Vectors of real passages for benchmarks: made once by the embedding worker, kept beside what is measured."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from engine.core.settings import Settings
from engine.core.vectors import ModelIdentity
from engine.embed.client import WorkerClient, worker_command
from engine.embed.location import find_model
from engine.embed.messages import WorkerOptions
from engine.store.packing import vectors_from
from tests.helpers.large_store import RealVectors
from tests.helpers.speech import Speech

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSAGES = 1_500
BATCH = 50
_CHARACTERS = 600
_SHORTEST = 60


def real_vectors(keep: Path, corpus: Path, given: Path | None = None) -> RealVectors | None:
    """Return vectors of real passages, None where no model is installed.

    Args:
        keep: Folder in which they stay for the next time.
        corpus: Folder with `projects/`; texts are invented where there is none.
        given: A `.npy` file of the present model's vectors to take instead.
    """
    model = find_model(Settings().embedding_model)
    if model is None:
        return None
    stored = keep / "vectors.npy"
    about = stored.with_suffix(".json")
    if not about.exists():
        keep.mkdir(parents=True, exist_ok=True)
        identity, made = _embed(str(model), _texts(corpus, PASSAGES if given is None else 1))
        np.save(stored, made if given is None else np.load(given))
        about.write_text(
            json.dumps([identity.name, identity.revision, identity.dimension, identity.pooling]), encoding="utf-8"
        )
    return RealVectors(ModelIdentity(*json.loads(about.read_text(encoding="utf-8"))), str(model), np.load(stored))


def _embed(model: str, texts: list[str]) -> tuple[ModelIdentity, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    client = WorkerClient(worker_command(WorkerOptions(2, "auto")), on_death=lambda: None)
    try:
        replies = [client.embed(model, texts[at : at + BATCH]).result() for at in range(0, len(texts), BATCH)]
    finally:
        client.close()
    identity = replies[0].identity
    blocks = [vectors_from(each.vectors, identity.dimension)[:1] for reply in replies for each in reply.texts]
    return identity, np.concatenate(blocks)


def _texts(corpus: Path, count: int) -> list[str]:
    found = list(_said(corpus / "projects"))
    chance = random.Random(1)
    if not found:
        speech = Speech(chance)
        return [speech.answer()[:_CHARACTERS] for _ in range(count)]
    return [text[:_CHARACTERS] for text in chance.sample(found, min(count, len(found)))]


def _said(projects: Path) -> Iterator[str]:
    for file in sorted(projects.rglob("*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            if b'"text"' not in line:
                continue
            try:
                content: Any = orjson.loads(line)["message"]["content"]
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
            if isinstance(content, str):
                continue
            texts: list[str] = [block.get("text") or "" for block in content]
            yield from (text for text in texts if len(text) > _SHORTEST)
