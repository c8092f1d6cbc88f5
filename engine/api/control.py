"""What the front door asks of the running engine, and how long work speaks with whoever asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from engine.core.models.status import (
        EmbeddingStatus,
        EngineStatus,
        IngestStatus,
        Job,
        Notice,
        PauseReply,
        ReindexReply,
    )


class EngineControl(Protocol):
    """The running engine behind the front door; absent when a database is only read."""

    def engine_status(self) -> EngineStatus:
        """State, process, uptime."""
        ...

    def ingest_status(self) -> IngestStatus:
        """What reading is doing."""
        ...

    def embedding_status(self) -> EmbeddingStatus:
        """What embedding is doing."""
        ...

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know."""
        ...

    def clients(self) -> int:
        """Connected shims and programs."""
        ...

    def job(self) -> Job | None:
        """Long work that was asked for."""
        ...

    def reindex(self, project: str | None, *, full: bool) -> ReindexReply:
        """Queue a rescan or a rebuild."""
        ...

    def pause(self, for_s: float | None = None) -> PauseReply:
        """Stop indexing, for a time or until it is resumed."""
        ...

    def resume(self) -> PauseReply:
        """Go on indexing."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """How long work speaks with whoever asked for it."""

    progress: Callable[[int, int | None, str], None]
    """Told steps done, all steps (None when that is not known) and what comes next."""
    cancelled: threading.Event


def no_progress(_done: int, _total: int | None, _what: str) -> None:
    """Tell nobody."""
