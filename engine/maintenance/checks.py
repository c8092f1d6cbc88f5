"""What a check is: it looks at one thing, says what it found, and may know a fix. The registry is `doctor.CHECKS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from engine.core.clock import Clock
    from engine.core.models.status import EmbeddingStatus
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.maintenance.backup import Backups
    from engine.store.connection import Connection
    from engine.store.writer import StoreWriter

Severity = Literal["ok", "info", "warning", "error"]

Step = Callable[[int, "int | None", str], None]
"""Told steps done, all steps (None when not known) and what is being done. Raises `Cancelled` to stop the work."""


class ArchiveView(Protocol):
    """The archive, as far as checks look at it."""

    def count(self) -> tuple[int, int]:
        """Return how many files are stored and their bytes."""
        ...

    def damaged(self, *, deep: bool) -> tuple[str, ...]:
        """Return stored files that do not hold what they should: of a sample, or of all."""
        ...

    def set_aside(self) -> tuple[str, ...]:
        """Return copies of damaged files that were kept."""
        ...

    def mend(self) -> None:
        """Cut torn and damaged ends off, after keeping a copy, and store again what sources still hold."""
        ...


class EngineView(Protocol):
    """The running engine, as far as checks look at it."""

    def pending(self) -> int:
        """Return how many transcripts wait to be read."""
        ...

    def behind(self) -> tuple[int, int]:
        """Return how many transcripts on disk were never read, and how many have an unread end."""
        ...

    def watching(self) -> tuple[bool, str | None, str | None]:
        """Return whether changes are noticed at once, else why not and what to do."""
        ...

    def restarts(self) -> dict[str, int]:
        """Return how often each thread died lately, by name; negative for one that was given up."""
        ...

    def embedding(self) -> EmbeddingStatus:
        """Return what embedding is doing."""
        ...

    def catch_up(self, step: Step) -> None:
        """Look at every transcript and read what is new."""
        ...

    def embed_all(self, step: Step) -> None:
        """Embed everything that waits."""
        ...

    def settle(self) -> None:
        """Wait until what was read is written."""
        ...

    def start_over(self, replace: Callable[[], object], step: Step) -> None:
        """Replace the database and make it anew from transcripts and archive."""
        ...


class ClaudeView(Protocol):
    """Claude Code's configuration, as far as checks look at it."""

    def state(self) -> str:
        """Return `connected`, `other_path`, `not_connected` or `unreadable`."""
        ...

    def retention_days(self) -> int:
        """Return after how many days Claude Code deletes transcripts: the shortest of all configurations."""
        ...

    def connect(self) -> None:
        """Register this installation."""
        ...


@dataclass(frozen=True, slots=True)
class CheckUp:
    """What checks may look at."""

    paths: Paths
    settings: Settings
    clock: Clock
    read: Callable[[], AbstractContextManager[Connection]]
    writer: StoreWriter | None
    """None where a database is only read: then nothing is mended."""
    backups: Backups
    archive: ArchiveView
    engine: EngineView | None
    claude: ClaudeView | None
    knowledge: Callable[[], tuple[str, ...]] | None
    """Returns what is wrong with the Knowledge store, in words."""
    deep: bool = False


@dataclass(frozen=True, slots=True)
class Fix:
    """How something is mended."""

    what: str
    """What it does, for people."""
    order: int
    """Smaller comes first: permissions, then the database, then what is made from it."""
    apply: Callable[[CheckUp, Step], None]
    changes_database: bool = False
    """A backup is made first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a look found."""

    severity: Severity
    found: str
    means: str = ""
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at."""

    id: str
    title: str
    look: Callable[[CheckUp], Outcome | None]
    """Returns None where there is nothing to look at."""
    needs_database: bool = False
    """Left out while the database is damaged: its answers would be noise."""


def ok(found: str) -> Outcome:
    """Return the outcome of a look that found everything as it should be."""
    return Outcome("ok", found)


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
