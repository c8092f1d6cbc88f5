"""The composition root: builds the engine's rooms, starts them in order and stops them in reverse.

Start: folders, lock, database with its migrations, reading, watching, the socket last: the door opens when the house
stands. Stop is the exact reverse, every step bounded, late ones named.
"""

from __future__ import annotations

import fnmatch
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from engine import __version__
from engine.api import EngineApi
from engine.checkup import EngineSight
from engine.core.errors import EngineAlreadyRunning, StorageFailure
from engine.core.events import (
    ChunksAdded,
    EngineStateChanged,
    EventHub,
    HandoverRequested,
    StatusChanged,
    WindowRequested,
)
from engine.core.models import (
    Caller,
    EmbeddingStatus,
    EngineStatus,
    IngestStatus,
    Job,
    Notice,
    PauseReply,
    ReindexReply,
)
from engine.core.pause import Pause
from engine.core.settings import RootSetting, save_setting
from engine.core.when import iso
from engine.core.workers import Worker
from engine.core.zone import zone_of
from engine.embed.client import WorkerClient, worker_command
from engine.embed.health import Health
from engine.embed.loop import EmbeddingLoop, EmbedOptions
from engine.embed.messages import WorkerOptions
from engine.embed.power import on_battery
from engine.ingest.pipeline import Ingestor
from engine.ingest.scanner import existing_roots
from engine.ingest.watcher import Watcher
from engine.safekeeping import Safekeeping
from engine.store.connection import ReaderPool
from engine.store.errors import StoreDamaged
from engine.store.writer import StoreWriter
from engine.transcripts.discovery import Root, claude_roots
from engine.usage.recorder import UsageRecorder

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Generator, Sequence

    from engine.core.clock import Clock
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.ingest.progress import IngestProgress
    from engine.ipc.calls import Progress
    from engine.ipc.protocol import JsonObject, JsonValue
    from engine.ipc.server import IpcServer
    from engine.ipc.session import Client, Session
    from engine.mcp.late import LateSessions
    from engine.mcp.recorder import CatalogueRecorder
    from engine.mcp.session import McpSessions
    from engine.store.batches import BatchResult

logger = logging.getLogger(__name__)

QUERY_THREADS = 4
"""Searches at a time: SQLite answers in milliseconds, more threads only wait for the two cores."""

REQUESTS = frozenset({"show_window", "toggle_window", "hand_over"})
"""What programs of ours ask of the process instead of the history. The reply says whether it has a window."""


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
        self._fixed_roots = roots
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
        exclusion = _exclusion(settings.transcripts_exclude_projects)
        self._keeper = Safekeeping(
            paths,
            settings,
            clock,
            self._zone,
            readers=self._readers,
            writer=self._writer,
            roots=lambda: existing_roots(self._roots()),
            is_excluded=exclusion if settings.transcripts_exclude_projects else None,
            is_reading=lambda: bool(self._ingestor.progress.files_pending),
        )
        self._ingestor = Ingestor(
            self._writer,
            self._roots,
            clock=clock,
            on_committed=self._committed,
            is_excluded=exclusion,
            observer=UsageRecorder(),
            screen=self._keeper.screen,
            stored=self._keeper.stored,
        )
        self._watcher = Watcher(self._ingestor, lambda: existing_roots(self._roots()), clock)
        self._pause = Pause(
            "engine-pause", clock, apply=self._rest, on_change=lambda: self.events.publish(StatusChanged())
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
            on_rest=lambda: self.api.leg.rest(),  # noqa: PLW0108 - the front door is made after this
            on_battery=on_battery,
        )
        self._workers: list[Worker] = []
        self._queries: ThreadPoolExecutor | None = None
        self._sessions: LateSessions | None = None
        self._recorder: CatalogueRecorder | None = None
        self._server: IpcServer | None = None
        self._job: Job | None = None
        self._jobs = 0
        self._last_client_at = 0.0
        self.api = EngineApi(
            self._readers,
            paths=paths,
            settings=settings,
            zone=self._zone,
            clock=clock,
            control=self,
            keeper=self._keeper,
            embedder=self._embedding,
        )

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
            self._remember_roots()
            if watch:
                self._begin("engine-ingest", self._ingestor.run)
                self._begin("engine-watch", self._watcher.run)
                if self._keeper.archiver is not None:
                    self._begin("engine-archive", self._keeper.archiver.run)
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
        late: list[str] = []
        if self._server is not None:
            late += self._server.stop()
        if self._sessions is not None and not self._sessions.stop():
            late.append("engine-loop")
        if self._recorder is not None and not self._recorder.stop():
            late.append("engine-catalogue")
        if self._queries is not None:
            self._queries.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.stopping.set()
        self._pause.close()
        self._ingestor.close()
        self._embedding.close()
        late += [worker.name for worker in reversed(self._workers) if not worker.stop()]
        self.api.close()
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
            if self._keeper.archiver is not None:
                self._keeper.archiver.store()
            self._embedding.drain()
        return progress

    def warm(self) -> None:
        """Load the embedding model now, because a question is likely soon. Returns at once."""
        self._embedding.warm()

    def pause(self, for_s: float | None = None) -> PauseReply:
        """Stop indexing after the present file.

        Args:
            for_s: Go on by itself after so many seconds; None waits for `resume` or the next start.
        """
        self._pause.begin(for_s)
        return PauseReply(paused=True, until=self._paused_until())

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

    def _paused_until(self) -> str | None:
        until = self._pause.until
        return None if until is None else iso(int(until * 1000), self._zone)

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
        from engine.ipc.server import IpcServer  # noqa: PLC0415 - one-shot runs need no socket and no MCP
        from engine.mcp.late import LateSessions  # noqa: PLC0415 - as above
        from engine.mcp.recorder import CatalogueRecorder  # noqa: PLC0415 - as above

        self._queries = ThreadPoolExecutor(QUERY_THREADS, thread_name_prefix="engine-query")
        self._sessions = LateSessions(self._make_sessions)
        self._recorder = CatalogueRecorder(self.paths)
        self._recorder.start()
        self._server = IpcServer(
            self.paths,
            version=__version__,
            on_session=self._serve_session,
            on_call=self._answer,
            state=lambda: self._state.value,
        )
        self._server.start()

    def _make_sessions(self) -> McpSessions:
        from engine.mcp.catalogue import Catalogue  # noqa: PLC0415 - `import mcp` takes 0.7 s and 54 MB
        from engine.mcp.session import McpSessions  # noqa: PLC0415 - as above

        if self._queries is None:
            raise AssertionError("sessions are served through the open door only")
        return McpSessions(self.api, Catalogue(self.api.methods), version=__version__, queries=self._queries)

    def _serve_session(self, session: Session) -> None:
        if self._sessions is not None:
            self._embedding.warm()
            self._sessions.serve(session, caller=_caller(session.client, is_model=True), toolset=session.client.toolset)

    def _answer(
        self, client: Client, method: str, arguments: JsonObject, progress: Progress, cancelled: threading.Event
    ) -> JsonValue:
        if method in REQUESTS:
            return self._request(method)
        return self.api.ask(
            method,
            arguments,
            caller=_caller(client, is_model=False),
            progress=progress,
            cancelled=cancelled,
        )

    def _request(self, method: str) -> JsonObject:
        """Pass on what another program of the person wants of this process, and say whether there is a window."""
        if method == "hand_over":
            if not self.has_window:
                self.events.publish(HandoverRequested())
        elif self.has_window:
            self.events.publish(WindowRequested("show" if method == "show_window" else "toggle"))
        return {"window": self.has_window, "pid": os.getpid()}

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
            roots=lambda: existing_roots(self._roots()),
            workers=self._workers,
            on_new=self._renewed,
        )

    def _renewed(self) -> None:
        """Let every room that remembers something of the database forget it: it was replaced."""
        self._keeper.renewed()
        self._embedding.renewed()
        self.api.leg.rest()

    def _back_up_for_migration(self) -> None:
        self._keeper.backups.make("migration")

    def _set_damaged_aside(self) -> None:
        self._set_aside = self._keeper.backups.quarantine()

    def _change(self, state: EngineState, reason: str | None = None) -> None:
        self._state = state
        self._reason = reason
        self.events.publish(EngineStateChanged(state, reason))

    def _degrade(self, worker: str) -> None:
        self._change(EngineState.DEGRADED, f"{worker} failed four times within ten minutes and was given up")

    def _committed(self, results: tuple[BatchResult, ...]) -> None:
        sessions = tuple({session for result in results for session in result.sessions})
        if self._keeper.archiver is not None:
            self._keeper.archiver.notice()
        self.events.publish(ChunksAdded(sum(result.chunks for result in results), sessions))
        self._embedding.notify()

    # Roots -----------------------------------------------------------------------------------------------------

    def _roots(self) -> tuple[Root, ...]:
        if self._fixed_roots is not None:
            return self._fixed_roots
        named = tuple(Root(Path(each.path).expanduser(), each.label) for each in self.settings.transcripts_roots)
        return claude_roots(os.environ, Path.home()) + named

    def _remember_roots(self) -> None:
        """Note roots that only the environment names: an app started at login does not see that environment."""
        if self._fixed_roots is not None:
            return
        noted = {Path(each.path).expanduser() for each in self.settings.transcripts_roots}
        found = existing_roots(tuple(root for root in self._roots() if root.from_environment))
        new = [root for root in found if root.path not in noted]
        if new:
            listed = [
                *self.settings.transcripts_roots,
                *(RootSetting(path=str(root.path), label=root.label) for root in new),
            ]
            value = [{"path": str(each.path), "label": each.label} for each in listed]
            save_setting(self.paths.settings_file, "transcripts.roots", value)

    # What the front door asks of the engine ----------------------------------------------------------------------

    def engine_status(self) -> EngineStatus:
        """State, process, uptime."""
        uptime = self._clock.monotonic() - self._started_at
        return EngineStatus(state=self._state.value, pid=os.getpid(), version=__version__, uptime_s=uptime)

    def ingest_status(self) -> IngestStatus:
        """What reading is doing."""
        progress = self._ingestor.progress
        state = "watching"
        if self._ingestor.is_paused:
            state = "paused"
        elif progress.files_pending:
            state = "indexing"
        elif self._watcher.state.polling:
            state = "polling"
        elif not self._workers:
            state = "stopped"
        rate = progress.rate
        return IngestStatus(
            state=state,
            files_pending=progress.files_pending,
            bytes_pending=progress.bytes_pending,
            rate=rate,
            eta_s=progress.bytes_pending / rate if rate and progress.bytes_pending else None,
            last_at=iso(progress.last_ms, self._zone),
            paused_until=self._paused_until(),
        )

    def embedding_status(self) -> EmbeddingStatus:
        """What embedding is doing."""
        return self._embedding.status()

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, with what to do."""
        found: list[Notice] = []
        if self._reason is not None:
            found.append(Notice(id="degraded", text=self._reason, hint="Start Backscroll again; the log says why."))
        watching = self._watcher.state
        if watching.polling:
            found.append(Notice(id="polling", text=watching.reason or "", hint=watching.hint or ""))
        if self._set_aside is not None:
            found.append(
                Notice(
                    id="set_aside",
                    text="The index was damaged. It was moved aside and is made anew from transcripts and archive.",
                    hint=f"The damaged one is kept in {self._set_aside}; nothing has to be done.",
                )
            )
        if self._keeper.has_unredacted:
            found.append(
                Notice(
                    id="secrets",
                    text="Part of the index was made before secrets were replaced in it.",
                    hint="`backscroll doctor --fix` replaces them; replies are redacted all the same.",
                )
            )
        archiver = self._keeper.archiver
        if archiver is not None and archiver.state.problem is not None:
            found.append(
                Notice(
                    id="archive",
                    text=archiver.state.problem,
                    hint="Free some space or check the data folder's permissions; Backscroll goes on by itself.",
                )
            )
        problem = self._ingestor.progress.problem
        if isinstance(problem, StorageFailure):
            found.append(Notice(id=problem.code, text=f"{problem.title}. {problem.message}", hint=problem.hint))
        embedding = self._embedding.problem
        if embedding is not None:
            found.append(
                Notice(
                    id="embedding",
                    text=f"Search by meaning is off, words only. {embedding}",
                    hint="It is tried again after ten minutes, and at once by `backscroll resume`.",
                )
            )
        if not existing_roots(self._roots()):
            found.append(
                Notice(
                    id="no_history",
                    text="No transcripts of Claude Code were found on this machine.",
                    hint="Use Claude Code once, or name a folder in the setting transcripts.roots.",
                )
            )
        return tuple(found)

    def clients(self) -> int:
        """Connected shims and programs."""
        return 0 if self._server is None else len(self._server.clients())

    def job(self) -> Job | None:
        """The last long work that was asked for, with its progress."""
        job = self._job
        if job is None:
            return None
        left = self._ingestor.progress.files_pending
        done = max(0, job.total - left)
        return Job(id=job.id, kind=job.kind, done=done, total=job.total, state="running" if left else "done")

    def reindex(self, project: str | None, *, full: bool) -> ReindexReply:
        """Queue a look at every transcript (`full`: reading them anew) and return at once.

        Raises:
            StorageFailure: The database refused.
        """
        queued = self._ingestor.scan(force=full, project=project)
        self._jobs += 1
        self._job = Job(id=f"reindex-{self._jobs}", kind="reindex", done=0, total=queued, state="queued")
        note = None if queued else "Everything is indexed already; `full` reads all of it anew."
        return ReindexReply(job=self._job.id, queued_files=queued, note=note)


@contextmanager
def open_reader(paths: Paths, settings: Settings, clock: Clock) -> Generator[EngineApi]:
    """Open the database read-only, for a question while no engine runs.

    Raises:
        StoreMissing: There is no database yet.
        StorageFailure: It cannot be read.
    """
    readers = ReaderPool(paths.database)
    zone = zone_of(settings.time_zone)
    keeper = Safekeeping(
        paths,
        settings,
        clock,
        zone,
        readers=readers,
        writer=None,
        roots=lambda: (),
        is_excluded=None,
        is_reading=lambda: False,
    )
    api = EngineApi(readers, paths=paths, settings=settings, zone=zone, clock=clock, control=None, keeper=keeper)
    try:
        yield api
    finally:
        api.close()
        readers.close()


def _caller(client: Client, *, is_model: bool) -> Caller:
    return Caller(cwd=client.cwd, project_dir=client.project_dir, session_id=client.session_id, is_model=is_model)


def _exclusion(patterns: tuple[str, ...]) -> Callable[[str | None], bool]:
    """Return the test for working directories that must not be indexed: the pattern itself, or anything below it."""
    expanded = tuple(os.path.expanduser(each).rstrip("/\\") for each in patterns)  # noqa: PTH111 - patterns are no paths

    def is_excluded(cwd: str | None) -> bool:
        if cwd is None or not expanded:
            return False
        return any(fnmatch.fnmatchcase(cwd, each) or fnmatch.fnmatchcase(cwd, f"{each}[/\\]*") for each in expanded)

    return is_excluded
