"""What the doctor looks at, put together from the rooms: archive, running engine, Claude Code, Knowledge."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from engine.archive.file import DAMAGED_SUFFIX
from engine.core.errors import Cancelled
from engine.ingest.scanner import Scan
from engine.ingest.tail import is_unchanged
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import server_command, this_installation
from engine.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.archive.archiver import Archiver
    from engine.archive.reader import ArchiveReader
    from engine.core.clock import Clock
    from engine.core.models.status import EmbeddingStatus
    from engine.core.paths import Paths
    from engine.core.workers import Worker
    from engine.embed.loop import EmbeddingLoop
    from engine.ingest.pipeline import Ingestor
    from engine.ingest.watcher import Watcher
    from engine.maintenance.checks import Step
    from engine.store.connection import ReaderPool
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import Root

SAMPLE: Final = 20
"""Stored files that are verified without `--deep`: a second's work."""

TICK_S: Final = 0.2
"""Between two looks at how far another thread is."""


class ArchiveSight:
    """The archive, as the doctor sees it.

    Args:
        reader: Reads stored files.
        archiver: Stores them again; None where nothing is written.
    """

    def __init__(self, reader: ArchiveReader, archiver: Archiver | None) -> None:
        self._reader = reader
        self._archiver = archiver

    def count(self) -> tuple[int, int]:
        """Return how many files are stored and their bytes."""
        sizes = [size for _, size in self._reader.stored()]
        return len(sizes), sum(sizes)

    def damaged(self, *, deep: bool) -> tuple[str, ...]:
        """Return stored files that do not hold what they should: of a sample, or of all."""
        every = [stored for stored, _ in self._reader.stored()]
        looked = every if deep or len(every) <= SAMPLE else random.sample(every, SAMPLE)
        return tuple(
            each.path for each in looked if self._reader.verify(each.label, each.path, each.generation) is not None
        )

    def set_aside(self) -> tuple[str, ...]:
        """Return copies of damaged files that were kept."""
        return tuple(sorted(file.name for file in self._reader.folder.rglob(f"*{DAMAGED_SUFFIX}")))

    def mend(self) -> None:
        """Cut torn and damaged ends off, after keeping a copy, and store again what sources still hold."""
        if self._archiver is not None:
            self._archiver.mend()
            self._archiver.store()


class EngineSight:
    """The running engine, as the doctor sees it.

    Args:
        ingestor: Reads transcripts.
        watcher: Notices changes.
        embedding: Embeds.
        writer: Of the database.
        readers: Read-only connections.
        roots: Says which roots exist.
        workers: The threads, none when the engine works on its caller's.
        on_new: Called when the database was made anew, before anything is in it.
    """

    def __init__(
        self,
        *,
        ingestor: Ingestor,
        watcher: Watcher,
        embedding: EmbeddingLoop,
        writer: StoreWriter,
        readers: ReaderPool,
        roots: Callable[[], tuple[Root, ...]],
        workers: Sequence[Worker],
        on_new: Callable[[], None],
    ) -> None:
        self._ingestor = ingestor
        self._watcher = watcher
        self._embedding = embedding
        self._writer = writer
        self._readers = readers
        self._roots = roots
        self._workers = workers
        self._on_new = on_new

    def pending(self) -> int:
        """Return how many transcripts wait to be read."""
        return self._ingestor.progress.files_pending

    def behind(self) -> tuple[int, int]:
        """Return how many transcripts on disk were never read, and how many have an unread end."""
        with self._readers.connection() as connection:
            known = files.all_files(connection)
            numbers = {path: number for number, (path, _) in files.roots(connection).items()}
        never = unread = 0
        scan = Scan(self._roots())
        for root in scan.roots:
            for found in scan.files(root):
                row = known.get((numbers.get(str(root.path), -1), found.relative))
                if row is None:
                    never += 1
                elif row.error is None and not is_unchanged(row, found.stat):
                    unread += 1
        return never, unread

    def watching(self) -> tuple[bool, str | None, str | None]:
        """Return whether changes are noticed at once, else why not and what to do."""
        state = self._watcher.state
        return not state.polling, state.reason, state.hint

    def restarts(self) -> dict[str, int]:
        """Return how often each thread died lately, by name; negative for one that was given up."""
        return {each.name: each.restarts if each.is_alive else -1 for each in self._workers}

    def embedding(self) -> EmbeddingStatus:
        """Return what embedding is doing."""
        return self._embedding.status()

    def catch_up(self, step: Step) -> None:
        """Look at every transcript and read what is new."""
        self._ingestor.scan()
        self._read_on(step)

    def embed_all(self, step: Step) -> None:
        """Embed everything that waits, and what was given up once more."""
        self._embedding.retry_failed()
        total = self._embedding.status().backlog
        if not self._workers:
            self._embedding.drain(lambda status: step(total - status.backlog, total, "Embedding"))
            return
        self._embedding.resume()
        waiting = threading.Event()
        while (status := self._embedding.status()).backlog and status.state not in ("failed", "off", "paused"):
            step(max(0, total - status.backlog), total, "Embedding")
            waiting.wait(TICK_S)

    def settle(self) -> None:
        """Wait until what was read is written."""
        self._ingestor.settle()

    def start_over(self, replace: Callable[[], object], step: Step) -> None:
        """Replace the database and make it anew from transcripts and archive."""

        def between() -> None:
            self._readers.renew()
            replace()

        def anew() -> None:
            self._writer.reopen(between)
            self._on_new()

        self._ingestor.start_over(anew)
        self._read_on(step)

    def _read_on(self, step: Step) -> None:
        """Read everything that waits, here or on the thread that does it anyway."""
        total = self._ingestor.progress.files_pending

        def tell() -> None:
            step(max(0, total - self._ingestor.progress.files_pending), total, "Reading transcripts")

        if not self._workers:
            self._ingestor.drain(tell)
            return
        waiting = threading.Event()
        while self._ingestor.progress.files_pending and not self._ingestor.is_paused:
            tell()
            waiting.wait(TICK_S)


class ClaudeSight:
    """Claude Code's configuration, as the doctor sees it.

    Args:
        paths: The installation.
        clock: For the copies that are kept of a changed file.
    """

    def __init__(self, paths: Paths, clock: Clock) -> None:
        self._claude = ClaudeCode(
            server=server_command(this_installation(), paths),
            paths=paths,
            env=os.environ,
            home=Path.home(),
            cwd=paths.data,
            clock=clock,
        )

    def state(self) -> str:
        """Return `connected`, `other_path`, `not_connected` or `unreadable`."""
        return self._claude.connection().state

    def retention_days(self) -> int:
        """Return after how many days Claude Code deletes transcripts: the shortest of all configurations."""
        return min(each.retention_days for each in self._claude.connection().registrations)

    def connect(self) -> None:
        """Register this installation."""
        self._claude.connect()


def vault_problems(reply: dict[str, Any]) -> tuple[str, ...]:
    """Return what `knowledge_check` found wrong, in words."""
    issues = cast("list[dict[str, Any]]", reply.get("issues") or [])
    return tuple(f"{each.get('path')}: {each.get('message') or each.get('code')}" for each in issues)


def stop_when(cancelled: threading.Event, step: Step) -> Step:
    """Return the step that also ends the work when it was cancelled."""

    def told(done: int, total: int | None, what: str) -> None:
        if cancelled.is_set():
            raise Cancelled(
                "The doctor was cancelled", "What was mended so far stays mended.", "Run it again to go on."
            )
        step(done, total, what)

    return told
