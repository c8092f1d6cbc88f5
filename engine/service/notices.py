"""What the person should know of the running engine, each with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.core.errors import StorageFailure
from engine.core.models.status import Notice
from engine.core.settings import moved_aside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.archive.archiver import Archiver
    from engine.embed.loop import EmbeddingLoop
    from engine.ingest.pipeline import Ingestor
    from engine.ingest.watcher import Watcher

_STOPPED: Final = {
    "engine-ingest": "New messages are not read any more",
    "engine-watch": "Changes are not noticed any more",
    "engine-archive": "Transcripts are not copied into the archive any more",
    "engine-embed": "New messages are not found by meaning any more",
}
"""What no longer works when a thread was given up, by its name."""


def degraded(reason: str | None) -> Iterator[Notice]:
    """Say which worker gave up."""
    if reason is not None:
        yield Notice(id="degraded", text=reason, hint="Start Backscroll again; the log says why.")


def given_up(worker: str) -> str:
    """Return what no longer works since a thread was given up."""
    return f"{_STOPPED.get(worker, worker)} ({worker} failed four times)."


def of_watching(watcher: Watcher) -> Iterator[Notice]:
    """Say that changes are looked for instead of heard of."""
    state = watcher.state
    if state.polling:
        yield Notice(id="polling", text=state.reason or "", hint=state.hint or "")


def set_aside(database: Path | None) -> Iterator[Notice]:
    """Say where the database lies that was damaged at this start."""
    if database is not None:
        yield Notice(
            id="set_aside",
            text="The index was damaged. It was moved aside and is made anew from transcripts and archive.",
            hint=f"The damaged one is kept in {database}; nothing has to be done.",
        )


def of_settings(file: Path) -> Iterator[Notice]:
    """Say that the person's settings could not be read, until they have dealt with the file that holds them."""
    aside = moved_aside(file)
    if aside is not None:
        yield Notice(
            id="settings",
            text=f"The settings could not be read: the defaults are used, and the file was moved to {aside}.",
            hint="Take over what you need into the settings, then delete that file.",
        )


def unredacted(*, has_unredacted: bool) -> Iterator[Notice]:
    """Say that secrets still stand in the index."""
    if has_unredacted:
        yield Notice(
            id="secrets",
            text="Part of the index was made before secrets were replaced in it.",
            hint="`backscroll doctor --fix` replaces them; replies are redacted all the same.",
        )


def of_archive(archiver: Archiver | None) -> Iterator[Notice]:
    """Say what keeps transcripts from being archived."""
    if archiver is not None and archiver.state.problem is not None:
        yield Notice(
            id="archive",
            text=archiver.state.problem,
            hint="Free some space or check the data folder's permissions; Backscroll goes on by itself.",
        )
    elif archiver is not None and archiver.state.skipped:
        skipped = archiver.state.skipped
        yield Notice(
            id="archive_skipped",
            text=("1 file is" if skipped == 1 else f"{skipped:,} files are")
            + " not in the archive: not readable, or no "
            "place for it.",
            hint="The log says why; they are tried again every ten minutes.",
        )


def of_reading(ingestor: Ingestor) -> Iterator[Notice]:
    """Say what keeps transcripts from being indexed."""
    problem = ingestor.progress.problem
    if isinstance(problem, StorageFailure):
        yield Notice(id=problem.code, text=f"{problem.title}. {problem.message}", hint=problem.hint)


def of_embedding(embedding: EmbeddingLoop) -> Iterator[Notice]:
    """Say what keeps search by meaning off."""
    if embedding.problem is not None:
        yield Notice(
            id="embedding",
            text=f"Search by meaning is off, words only. {embedding.problem}",
            hint="It is tried again after ten minutes, and at once by `backscroll resume`.",
        )


def of_history(*, has_roots: bool) -> Iterator[Notice]:
    """Say that there is nothing to read."""
    if not has_roots:
        yield Notice(
            id="no_history",
            text="No transcripts of Claude Code were found on this machine.",
            hint="Use Claude Code once, or name a folder in the setting transcripts.roots.",
        )
