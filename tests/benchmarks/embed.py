"""How fast the history is embedded, against a plain `SentenceTransformer.encode` of the same passages.

    python dev.py bench embed [folder with projects/] [--threads N] [--chunks N] [--precision auto|float32|bfloat16]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS` when none is given. Both sides run in one go, one after the
other, with the same threads and priority: the engine's loop (reading the queue, the worker process, writing vectors),
then float32 `encode(texts, batch_size=32)` in this process over the same deduplicated passages. `--chunks` takes a
share of the history, newest first; the minutes of the whole are then told by the characters of the share.

Then questions are asked while the worker has a backlog and while it has none: the difference is what a question waits.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import psutil

from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.embed.client import WorkerClient, worker_command
from engine.embed.location import find_model
from engine.embed.messages import WorkerOptions
from engine.embed.priority import step_back
from engine.service import Engine
from engine.store import generations
from engine.store.connection import all_rows, open_reader
from engine.transcripts.discovery import Root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from engine.embed.messages import Embedded


QUESTIONS = 50


class RecordingClient(WorkerClient):
    """A client of the real worker that keeps every vector as it came, for comparisons with exact search."""

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(command, on_death=lambda: print("the worker died", file=sys.stderr))
        self.made: dict[str, bytes] = {}
        self.dimension = 0

    @classmethod
    def replacing(cls, engine: Engine, precision: str = "auto") -> Self:
        """Put a recording client in the place of an engine's own."""
        client = cls(worker_command(WorkerOptions(engine.settings.embedding_threads, precision)))
        engine._embedding._client = engine._embedding._batches._client = client  # pyright: ignore[reportPrivateUsage] - a benchmark looks inside
        return client

    def embed(self, model: str, texts: Sequence[str]) -> Future[Embedded]:
        """Embed, and keep."""
        future = super().embed(model, texts)

        def keep(done: Future[Embedded]) -> None:
            if done.exception() is None:
                reply = done.result()
                self.dimension = reply.identity.dimension
                self.made.update(zip(texts, (each.vectors for each in reply.texts), strict=True))

        future.add_done_callback(keep)
        return future

    def save(self, path: Path) -> None:
        """Write what was kept: hashes of texts, where their vectors begin, the vectors."""
        if not self.made:
            return
        counts = [len(data) // (4 * self.dimension) for data in self.made.values()]
        np.savez(
            path,
            hashes=np.asarray([generations.text_hash(text) for text in self.made]),
            offsets=np.concatenate([[0], np.cumsum(counts)[:-1]]),
            vectors=np.frombuffer(b"".join(self.made.values()), np.float32).reshape(-1, self.dimension),
        )


def plain(passages: Sequence[str], folder: str, threads: int) -> tuple[float, float]:
    """Return the seconds that `SentenceTransformer.encode` takes, by the clock and of the processor."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    step_back()  # the worker has the lower priority too: on a busy machine the other side would win by that alone
    model: Any = SentenceTransformer(folder, device="cpu")
    model.encode(passages[:32], batch_size=32, show_progress_bar=False)
    started, before = time.perf_counter(), cpu_s(None)
    model.encode(list(passages), batch_size=32, show_progress_bar=False)
    return time.perf_counter() - started, cpu_s(None) - before


def main(arguments: Sequence[str]) -> int:
    """Embed the history twice and print both times."""
    parser = argparse.ArgumentParser(prog="bench embed")
    shared = Path(__file__).resolve().parents[3] / "shared"
    parser.add_argument("folder", nargs="?", default=os.environ.get("BACKSCROLL_CORPUS", str(shared / "corpus")))
    parser.add_argument("--threads", type=int, default=Settings().embedding_threads)
    parser.add_argument("--chunks", type=int)
    parser.add_argument("--precision", default="auto", choices=["auto", "float32", "bfloat16"])
    options = parser.parse_args(arguments)
    folder = Path(options.folder)
    root = folder / "projects" if (folder / "projects").is_dir() else folder
    with tempfile.TemporaryDirectory() as temporary:
        paths = Paths.below(Path(temporary))
        settings = Settings(embedding_threads=options.threads)
        engine = Engine(paths, settings, SystemClock(), roots=(Root(root, "bench"),))
        client = RecordingClient.replacing(engine, options.precision)
        engine.start(watch=False)
        try:
            engine.run_once(until="keyword")
            loop = engine._embedding  # pyright: ignore[reportPrivateUsage] - a benchmark looks inside
            model = str(find_model(settings.embedding_model))
            loaded = client.load(model).result()
            if options.chunks:
                keep_first(engine, Path(model), options.chunks)
            before, engine_before = cpu_s(client.pid), cpu_s(None)
            started = time.perf_counter()
            loop.drain()
            ours, ours_cpu = time.perf_counter() - started, cpu_s(client.pid) - before
            engine_cpu = cpu_s(None) - engine_before
            passages = made_passages(paths)
            if not passages:
                raise SystemExit(f"There is nothing to embed in {root}")
            share = embedded_share(paths)
            busy, idle = question_waits(client, model, list(dict.fromkeys(passages)))
        finally:
            engine.stop()
    deduplicated = list(dict.fromkeys(passages))
    print(f"{len(passages):,} passages, {len(deduplicated):,} different ones, {options.threads} threads")
    print(f"loop, {loaded.precision}: {told(ours, share, len(deduplicated))}; the engine's part {engine_cpu:.1f} s of")
    print(f"  {ours_cpu:.1f} s of processor time")
    theirs, theirs_cpu = plain(deduplicated, model, options.threads)
    print(f"plain encode, float32: {told(theirs, share, len(deduplicated))}")
    print(f"ratio {theirs / ours:.2f} by the clock, {theirs_cpu / ours_cpu:.2f} by processor time (a busy machine)")
    print(f"a question: {said(busy)} with a backlog, {said(idle)} without")
    return 0


def told(seconds: float, share: float, passages: int) -> str:
    """Return how long something took, for people."""
    whole = f", the whole history {seconds / share / 60:.1f} min" if share < 1 else f" = {seconds / 60:.1f} min"
    return f"{seconds:.1f} s{whole}, {passages / seconds:.1f} passages/s"


def said(waits: Sequence[float]) -> str:
    """Return median and longest of some waits."""
    return f"{1000 * statistics.median(waits):.0f} ms (at most {1000 * max(waits):.0f})"


def question_waits(client: WorkerClient, model: str, passages: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return what questions took while the worker had a backlog, and while it had none."""
    backlog = [client.embed(model, passages[start : start + 128]) for start in range(0, len(passages), 128)]
    busy: list[float] = []
    while len(busy) < QUESTIONS and not backlog[-1].done():
        busy.append(asked(client, model, len(busy)))
    for each in backlog:
        each.result()
    return busy, [asked(client, model, -1 - number) for number in range(QUESTIONS)]


def asked(client: WorkerClient, model: str, number: int) -> float:
    """Return the seconds that one question takes."""
    started = time.perf_counter()
    client.embed_query(model, f"why did build number {number} fail on the second machine?").result()
    return time.perf_counter() - started


def keep_first(engine: Engine, model: Path, chunks: int) -> None:
    """Let only the first chunks of the queue wait."""
    engine._embedding._settle_target(model)  # pyright: ignore[reportPrivateUsage] - a benchmark looks inside
    engine._writer.write(  # pyright: ignore[reportPrivateUsage] - as above
        lambda connection: connection.execute(
            """DELETE FROM waiting WHERE chunk_id NOT IN
               (SELECT chunk_id FROM waiting ORDER BY signal, time_ms DESC LIMIT ?)""",
            (chunks,),
        )
    )


def cpu_s(worker: int | None) -> float:
    """Return the processor seconds of this process and the worker."""
    total = 0.0
    for pid in (os.getpid(), worker):
        if pid is not None:
            times = psutil.Process(pid).cpu_times()
            total += times.user + times.system
    return total


def embedded_share(paths: Paths) -> float:
    """Return the share of the history's characters that has vectors, identical texts counted once."""
    connection = open_reader(paths.database)
    done, all_ = all_rows(
        connection,
        """WITH said AS MATERIALIZED (SELECT id, plain_text(text) AS text FROM texts)
            SELECT (SELECT sum(length(text)) FROM (SELECT DISTINCT x.text FROM said x JOIN embedded e
                      ON e.chunk_id = x.id AND e.state = 0)),
                   (SELECT sum(length(text)) FROM (SELECT DISTINCT text FROM said))""",
    )[0]
    connection.close()
    return float(done) / float(all_)


def made_passages(paths: Paths) -> list[str]:
    """Return the texts of all passages that have vectors."""
    connection = open_reader(paths.database)
    rows = all_rows(
        connection,
        """SELECT substr(plain_text(x.text), p.start + 1, p.stop - p.start)
            FROM passages p JOIN texts x ON x.id = p.chunk_id""",
    )
    connection.close()
    return [str(row[0]) for row in rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
