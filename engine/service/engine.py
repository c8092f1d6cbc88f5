"""The life of one data directory's engine: its rooms are built, started in order and stopped in reverse.

Start: folders, lock, database with its migrations, reading, watching, the socket last: the door opens when the house
stands. Stop is the exact reverse, every step bounded, late ones named.
"""

from __future__ import annotations

import logging
import os
import threading
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from engine import __version__
from engine.checkup import EngineSight
from engine.core.errors import EngineAlreadyRunning
from engine.core.events import ChunksAdded, EngineStateChanged, EventHub, StatusChanged
from engine.core.models.status import EmbeddingStatus, EngineStatus, IngestStatus, Job, Notice, PauseReply, ReindexReply
from engine.core.pause import Pause
from engine.core.workers import Worker
from engine.core.zone import zone_of
from engine.embed.client import WorkerClient, worker_command
from engine.embed.health import Health
from engine.embed.loop import EmbeddingLoop, EmbedOptions
from engine.embed.messages import WorkerOptions
from engine.embed.power import on_battery
from engine.ingest.pipeline import Ingestor
from engine.ingest.second_process import if_it_pays
from engine.ingest.watcher import Watcher
from engine.safekeeping import Safekeeping
from engine.service import notices
from engine.service.indexing import Indexing
from engine.service.roots import Roots, exclusion
from engine.store import coverage
from engine.store.connection import ReaderPool
from engine.store.errors import StoreDamaged
from engine.store.writer import StoreWriter
from engine.usage.recorder import UsageRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from engine.api import EngineApi
    from engine.core.clock import Clock
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.ingest.progress import IngestProgress
    from engine.service.door import Door
    from engine.store.batches import BatchResult
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)


class EngineState(StrEnum):
    """The engine's life."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    DEGRADED = "degraded"
    """A worker gave up; `reason` says which. What still works goes on."""
    STOPPING = "stopping"


class Engine:
    """One data directory's engine.

    Args:
        paths: Where everything lies.
        settings: The person's.
        clock: Time.
        roots: Transcript roots; None finds them from the environment, the home folder and the settings.
        has_window: It runs inside the app, which shows its window when asked and gives way to nobody.
        worker: Command of the embedding worker; None is our own program.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock,
        *,
        roots: tuple[Root, ...] | None = None,
        has_window: bool = False,
        worker: Sequence[str] | None = None,
    ) -> None:
        self.paths = paths
        self.settings = settings
        self.events = EventHub()
        self.has_window = has_window
        self._clock = clock
        self._roots = Roots(settings, roots)
        self._zone = zone_of(settings.time_zone)
        self._state = EngineState.STOPPED
        self._reason: str | None = None
        self._set_aside: Path | None = None
        """Where the database lies that was damaged at this start."""
        self._started_at = 0.0
        # Not of a thread: an engine may be stopped by another thread than the one that started it.
        self._lock = FileLock(paths.lock_file, timeout=0, thread_local=False)
        self._readers = ReaderPool(paths.database)
        self._writer = StoreWriter(
            paths.database, before_migration=self._back_up_for_migration, on_damaged=self._set_damaged_aside
        )
        is_excluded = exclusion(settings.transcripts_exclude_projects)
        self._keeper = Safekeeping(
            paths,
            settings,
            clock,
            self._zone,
            readers=self._readers,
            writer=self._writer,
            roots=self._roots.existing,
            is_excluded=is_excluded if settings.transcripts_exclude_projects else None,
            is_reading=lambda: bool(self._ingestor.progress.files_pending),
        )
        self._ingestor = Ingestor(
            self._writer,
            self._roots.all,
            clock=clock,
            on_committed=self._committed,
            is_excluded=is_excluded,
            observer=UsageRecorder(),
            screen=self._keeper.screen,
            stored=self._keeper.stored,
            assistant=if_it_pays(),
        )
        self._watcher = Watcher(self._ingestor, self._roots.existing, clock)
        self._pause = Pause(
            "engine-pause", clock, apply=self._rest, on_change=lambda: self.events.publish(StatusChanged())
        )
        self._workers: list[Worker] = []
        self._indexing = Indexing(
            self._ingestor, self._watcher, self._pause, self._zone, is_running=lambda: bool(self._workers)
        )
        self._health = Health(clock)
        self._embedding = EmbeddingLoop(
            self._writer,
            self._readers,
            WorkerClient(
                worker or worker_command(WorkerOptions(settings.embedding_threads)), on_death=self._health.died
            ),
            self._health,
            options=EmbedOptions(
                enabled=settings.embedding_enabled,
                model=settings.embedding_model,
                idle_unload_s=settings.embedding_idle_unload_minutes * 60.0,
                on_battery=settings.embedding_on_battery,
            ),
            clock=clock,
            on_change=lambda: self.events.publish(StatusChanged()),
            on_rest=self._forget_vectors,
            on_battery=on_battery,
        )
        self._door: Door | None = None
        self._last_client_at = 0.0
        self._api: EngineApi | None = None
        self._api_lock = threading.Lock()

    @property
    def api(self) -> EngineApi:
        """The front door, made when somebody first comes to it: indexing once needs none of what stands behind it."""
        with self._api_lock:
            if self._api is None:
                from engine.api import EngineApi  # noqa: PLC0415 - a quarter of a second of imports

                self._api = EngineApi(
                    self._readers,
                    paths=self.paths,
                    settings=self.settings,
                    zone=self._zone,
                    clock=self._clock,
                    control=self,
                    keeper=self._keeper,
                    embedder=self._embedding,
                )
            return self._api

    # Life ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> EngineState:
        """Where in its life the engine is."""
        return self._state

    def start(self, *, watch: bool = True, serve: bool | None = None) -> None:
        """Start everything.

        Args:
            watch: Read what is there and watch for changes, in the background. Without it call `run_once`.
            serve: Open the local socket; by default when watching.

        Raises:
            EngineAlreadyRunning: Another engine owns this data directory.
            StorageFailure: The database cannot be opened.
            OSError: The folders cannot be made.
        """
        self._change(EngineState.STARTING)
        self._started_at = self._last_client_at = self._clock.monotonic()
        self.paths.ensure()
        try:
            self._lock.acquire()
        except Timeout as exc:
            self._change(EngineState.STOPPED)
            raise EngineAlreadyRunning(
                "Backscroll is already running",
                f"Another engine owns {self.paths.data}.",
                "Use that one: `backscroll status` shows it.",
            ) from exc
        try:
            self._writer.start()
            self._begin_keeping()
            self._roots.remember(self.paths.settings_file)
            if watch:
                self._begin("engine-ingest", self._ingestor.run)
                self._begin("engine-watch", self._watcher.run)
                self._begin("engine-archive", self._keeper.run)
                self._begin("engine-embed", self._embedding.run)
            if watch if serve is None else serve:
                self._open_door()
        except BaseException:
            self.stop()
            raise
        self._change(EngineState.RUNNING)

    def stop(self) -> tuple[str, ...]:
        """Stop everything, in reverse. Idempotent. Returns the names of what did not end in time."""
        if self._state is EngineState.STOPPED:
            return ()
        self._change(EngineState.STOPPING)
        late = [] if self._door is None else self._door.close()
        for worker in self._workers:
            worker.stopping.set()
        self._pause.close()
        self._ingestor.close()
        self._embedding.close()
        late += [worker.name for worker in reversed(self._workers) if not worker.stop()]
        if self._api is not None:
            self._api.close()
        # Readers first: the last connection to close empties the write-ahead log, which a read-only one cannot.
        self._readers.close()
        if not self._writer.close():
            late.append("engine-writer")
        self._lock.release()
        for name in late:
            logger.warning("Thread %s did not end in time", name)
        self._change(EngineState.STOPPED)
        return tuple(late)

    def run_once(
        self,
        *,
        until: Literal["keyword", "all"] = "all",
        on_progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestProgress:
        """Read everything there is, on the caller's thread, and return when it is searchable.

        Args:
            until: `keyword` ends when every chunk can be found by its words, `all` when it is embedded too.
            on_progress: Called after each file.

        Raises:
            StorageFailure: The database refused.
        """
        self._ingestor.scan()
        self._ingestor.drain(None if on_progress is None else lambda: on_progress(self._ingestor.progress))
        progress = self._ingestor.progress
        if progress.problem is not None:
            raise progress.problem
        if on_progress is not None:
            on_progress(progress)
        if until == "all":
            self._keeper.keep()
            self._embedding.drain()
        return progress

    def totals(self) -> tuple[int, int]:
        """Return how many sessions and messages are searchable.

        Raises:
            StorageFailure: The database cannot be read.
        """
        with self._readers.connection() as connection:
            return coverage.totals(connection)

    def warm(self) -> None:
        """Load the embedding model now, because a question is likely soon. Returns at once."""
        self._embedding.warm()

    def pause(self, for_s: float | None = None) -> PauseReply:
        """Stop indexing after the present file.

        Args:
            for_s: Go on by itself after so many seconds; None waits for `resume` or the next start.
        """
        self._pause.begin(for_s)
        return PauseReply(paused=True, until=self._indexing.paused_until())

    def resume(self) -> PauseReply:
        """Go on indexing."""
        note = None if self._pause.is_on else "It was not paused."
        self._pause.end()
        return PauseReply(paused=False, note=note)

    def _rest(self, rests: bool) -> None:  # noqa: FBT001 - the signature that Pause calls
        if rests:
            self._ingestor.pause()
            self._embedding.pause()
        else:
            self._ingestor.resume()
            self._embedding.resume()

    @property
    def idle_s(self) -> float:
        """For how long no client has been connected and nothing was left to do. 0 while there is one."""
        now = self._clock.monotonic()
        busy = (self._ingestor.progress.files_pending or self._embedding.is_busy) and not self._ingestor.is_paused
        if self.clients() or busy:
            self._last_client_at = now
        return now - self._last_client_at

    def _begin(self, name: str, loop: Callable[[threading.Event], None]) -> None:
        worker = Worker(name, loop, clock=self._clock, on_failed=self._degrade)
        self._workers.append(worker)
        worker.start()

    def _open_door(self) -> None:
        from engine.service.door import Door  # noqa: PLC0415 - one-shot runs need no socket and no MCP

        self._door = Door(
            self.paths,
            self.api,
            self.events,
            has_window=self.has_window,
            state=lambda: self._state.value,
            on_session=self._embedding.warm,
        )
        self._door.open()

    def _begin_keeping(self) -> None:
        try:
            self._keeper.begin(self._sight())
        except StoreDamaged:
            # It could be opened, but not what lies in it.
            self._writer.reopen(self._set_damaged_aside)
            self._keeper.begin(self._sight())

    def _sight(self) -> EngineSight:
        return EngineSight(
            ingestor=self._ingestor,
            watcher=self._watcher,
            embedding=self._embedding,
            writer=self._writer,
            readers=self._readers,
            roots=self._roots.existing,
            workers=self._workers,
            on_new=self._renewed,
        )

    def _renewed(self) -> None:
        """Let every room that remembers something of the database forget it: it was replaced."""
        self._keeper.renewed()
        self._embedding.renewed()
        self._forget_vectors()

    def _forget_vectors(self) -> None:
        """Give back the memory in which vectors are searched."""
        if self._api is not None:
            self._api.leg.rest()

    def _back_up_for_migration(self) -> None:
        self._keeper.backups.make("migration")

    def _set_damaged_aside(self) -> None:
        self._set_aside = self._keeper.backups.quarantine()

    def _change(self, state: EngineState, reason: str | None = None) -> None:
        self._state = state
        self._reason = reason
        self.events.publish(EngineStateChanged(state, reason))

    def _degrade(self, worker: str) -> None:
        self._change(EngineState.DEGRADED, notices.given_up(worker))

    def _committed(self, results: tuple[BatchResult, ...]) -> None:
        sessions = tuple({session for result in results for session in result.sessions})
        if self._keeper.archiver is not None:
            self._keeper.archiver.notice()
        self.events.publish(ChunksAdded(sum(result.chunks for result in results), sessions))
        self._embedding.notify()

    # What the front door asks of the engine ----------------------------------------------------------------------

    def engine_status(self) -> EngineStatus:
        """State, process, uptime."""
        uptime = self._clock.monotonic() - self._started_at
        return EngineStatus(state=self._state.value, pid=os.getpid(), version=__version__, uptime_s=uptime)

    def ingest_status(self) -> IngestStatus:
        """What reading is doing."""
        return self._indexing.status()

    def embedding_status(self) -> EmbeddingStatus:
        """What embedding is doing."""
        return self._embedding.status()

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, with what to do."""
        return (
            *notices.degraded(self._reason),
            *notices.of_watching(self._watcher),
            *notices.set_aside(self._set_aside),
            *notices.of_settings(self.paths.settings_file),
            *notices.unredacted(has_unredacted=self._keeper.has_unredacted),
            *notices.of_archive(self._keeper.archiver),
            *notices.of_reading(self._ingestor),
            *notices.of_embedding(self._embedding),
            *notices.of_history(has_roots=bool(self._roots.existing())),
        )

    def clients(self) -> int:
        """Connected shims and programs."""
        return 0 if self._door is None else self._door.clients()

    def job(self) -> Job | None:
        """The last long work that was asked for, with its progress."""
        return self._indexing.job()

    def reindex(self, project: str | None, *, full: bool) -> ReindexReply:
        """Queue a look at every transcript (`full`: reading them anew) and return at once.

        Raises:
            StorageFailure: The database refused.
        """
        return self._indexing.reindex(project, full=full)
