"""What reading is doing, and the long work that was asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.models.status import IngestStatus, Job, ReindexReply
from engine.core.when import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    from engine.core.pause import Pause
    from engine.ingest.pipeline import Ingestor
    from engine.ingest.watcher import Watcher


class Indexing:
    """Reading, as it is shown and asked for.

    Args:
        ingestor: Reads.
        watcher: Notices what is to be read.
        pause: Whether reading rests.
        zone: Of the times that are shown.
        is_running: Whether anything reads in the background.
    """

    def __init__(
        self, ingestor: Ingestor, watcher: Watcher, pause: Pause, zone: ZoneInfo, *, is_running: Callable[[], bool]
    ) -> None:
        self._ingestor = ingestor
        self._watcher = watcher
        self._pause = pause
        self._zone = zone
        self._is_running = is_running
        self._job: Job | None = None
        self._jobs = 0

    def status(self) -> IngestStatus:
        """Return what reading is doing."""
        progress = self._ingestor.progress
        state = "watching"
        if self._ingestor.is_paused:
            state = "paused"
        elif progress.files_pending:
            state = "indexing"
        elif self._watcher.state.polling:
            state = "polling"
        elif not self._is_running():
            state = "stopped"
        rate = progress.rate
        return IngestStatus(
            state=state,
            files_pending=progress.files_pending,
            bytes_pending=progress.bytes_pending,
            rate=rate,
            eta_s=progress.bytes_pending / rate if rate and progress.bytes_pending else None,
            last_at=iso(progress.last_ms, self._zone),
            paused_until=self.paused_until(),
        )

    def paused_until(self) -> str | None:
        """Return when a timed pause is over."""
        until = self._pause.until
        return None if until is None else iso(int(until * 1000), self._zone)

    def job(self) -> Job | None:
        """Return the last long work that was asked for, with its progress."""
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
