"""Checks of what is in the database: schema, words, vectors, secrets, and how far transcripts were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.maintenance.checks import Check, CheckUp, Fix, Outcome, Step, ok, plural
from engine.maintenance.clearing import clear
from engine.store import coverage, files, generations, redactions, space, upkeep
from engine.store.migrations import MIGRATIONS, schema_version
from engine.transcripts.secret_shapes import RULES_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.store.connection import Connection

SHOWN: Final = 3
"""Files named in a finding."""


def schema(checkup: CheckUp) -> Outcome:
    """Look whether the tables are this program's."""
    with checkup.read() as connection:
        version = schema_version(connection)
    newest = MIGRATIONS[-1].version
    if version == newest:
        return ok(f"Schema version {version}.")
    return Outcome(
        "warning",
        f"The index has schema version {version}, this program wants {newest}.",
        "It is brought up to date when the engine starts." if version < newest else "A newer Backscroll wrote it.",
    )


def words(checkup: CheckUp) -> Outcome:
    """Look whether every chunk can be found by its words."""
    with checkup.read() as connection:
        missing, extra = upkeep.chunks_without_words(connection), upkeep.words_without_chunk(connection)
        chunks = coverage.chunk_count(connection)
    inside = upkeep.integrity_of_words(checkup.paths.database)
    if not (missing or extra or inside):
        return ok(f"{plural(chunks, 'chunk')} can be found by their words.")
    return Outcome(
        "error",
        f"{plural(missing, 'chunk')} cannot be found by words, {plural(extra, 'entry', 'entries')} lead nowhere"
        + (f"; inside: {inside}." if inside else "."),
        "Searches miss what is there.",
        Fix("Makes the word index anew from the indexed texts.", 30, _rebuild_words, changes_database=True),
    )


def _rebuild_words(checkup: CheckUp, step: Step) -> None:
    if checkup.writer is not None:
        checkup.writer.write(upkeep.forget_words)
        _through(checkup, step, "Rebuilding the word index", upkeep.index_words_after)


def _through(checkup: CheckUp, step: Step, what: str, some_after: Callable[[Connection, int], int | None]) -> None:
    """Go through all texts there are now, some in a transaction: others write in between, and theirs need nothing."""
    if checkup.writer is None:
        return
    with checkup.read() as connection:
        last_of_all = upkeep.last_text(connection)
    last: int | None = 0
    while last is not None and last < last_of_all:
        step(last, last_of_all, what)
        last = checkup.writer.write(lambda c, last=last: some_after(c, last))


def vectors(checkup: CheckUp) -> Outcome:
    """Look whether vectors and chunks agree."""
    with checkup.read() as connection:
        gaps = upkeep.vector_gaps(connection)
        current = generations.answering(connection)
        count = 0 if current is None else generations.embedding_counts(connection, current.id).vectors
    if not gaps.any:
        return ok(f"{plural(count, 'vector')}, each with its chunk.")
    return Outcome(
        "warning",
        f"{plural(gaps.without_chunk, 'vector')} without a chunk, {plural(gaps.missing, 'embedded chunk')} without a "
        f"vector, {gaps.bits:,} vectors out of step with their codes.",
        "Search by meaning misses these.",
        Fix("Deletes what belongs to nothing and embeds the rest again.", 31, _mend_vectors, changes_database=True),
    )


def _mend_vectors(checkup: CheckUp, step: Step) -> None:
    if checkup.writer is not None:
        while checkup.writer.write(upkeep.mend_some_vectors):
            step(0, None, "Mending the vectors")
        while checkup.writer.write(space.compact_vectors, transaction=False):
            step(0, None, "Rebuilding the vectors")


def extension(checkup: CheckUp) -> Outcome:
    """Look whether the vector extension loads."""
    with checkup.read() as connection:
        version = upkeep.extension_version(connection)
    if version is not None:
        return ok(f"sqlite-vec {version}.")
    return Outcome("error", "The vector extension is not loaded.", "Search by meaning cannot work. Install again.")


def secrets(checkup: CheckUp) -> Outcome:
    """Look whether secrets were replaced in everything that is indexed."""
    if not checkup.settings.privacy_redact:
        return Outcome(
            "info",
            "Secrets are not replaced (privacy.redact is off).",
            "Keys and passwords in your history can be found.",
        )
    with checkup.read() as connection:
        version = redactions.redacted_with(connection)
        chunks = coverage.chunk_count(connection)
    if version >= RULES_VERSION or not chunks:
        return ok("Secrets of known shapes are replaced in everything that is indexed.")
    return Outcome(
        "warning",
        "Part of the index was made before secrets were replaced, or with older rules.",
        "Keys and passwords in it can be found, and are embedded. Replies are redacted all the same.",
        Fix(
            "Replaces them in every indexed text, and clears what is left of them.", 50, _redact, changes_database=False
        ),
    )


def _redact(checkup: CheckUp, step: Step) -> None:
    writer = checkup.writer
    if writer is None:
        return
    _through(checkup, step, "Looking for secrets", upkeep.redact_after)
    if writer.write(upkeep.finish_redaction):
        clear(writer, checkup.backups, lambda what: step(0, None, what))


def transcripts(checkup: CheckUp) -> Outcome:
    """Look whether every transcript on disk was read to its end."""
    if checkup.engine is None:
        return Outcome("info", "The engine does not run.", "It reads new transcripts within seconds when it does.")
    never, unread = checkup.engine.behind()
    if not (never or unread):
        return ok("Every transcript on disk is indexed to its end.")
    if pending := checkup.engine.pending():
        return Outcome("info", f"{plural(pending, 'transcript')} are being read now.", "Search shows what is done.")
    return Outcome(
        "warning",
        f"{plural(never, 'transcript')} were never read, {plural(unread, 'one has', 'have')} an unread end.",
        "Searches miss what is in them.",
        Fix("Reads them now.", 70, lambda c, step: None if c.engine is None else c.engine.catch_up(step)),
    )


def unreadable(checkup: CheckUp) -> Outcome:
    """Say which folders, files and lines could not be read."""
    with checkup.read() as connection:
        counted = coverage.counts(connection)
        folders = len(files.refused_folders(connection))
        named = coverage.problems(connection, SHOWN)
    if not (folders or counted.files_unreadable or counted.damaged):
        salvaged = f" {plural(counted.salvaged, 'damaged line')} could be saved." if counted.salvaged else ""
        return ok(f"All files and lines could be read.{salvaged}")
    first = ", ".join(each[0].rsplit("/", 1)[-1] + (f" line {each[2]}" if each[2] else "") for each in named)
    closed = f"{plural(folders, 'folder')}, " if folders else ""
    return Outcome(
        "warning" if folders or counted.files_unreadable else "info",
        f"{closed}{plural(counted.files_unreadable, 'file')} and {plural(counted.damaged, 'line')} "
        f"could not be read: {first}.",
        "`backscroll coverage` lists them. "
        + (
            "What may not be read is tried again every few minutes: change its permissions. "
            if folders or counted.files_unreadable
            else ""
        )
        + ("Lines were damaged when written; the archive keeps them as they are." if counted.damaged else ""),
    )


def only_here(checkup: CheckUp) -> Outcome:
    """Say of how many transcripts only the index is left."""
    with checkup.read() as connection:
        lost = upkeep.gone_without_copy(connection)
    if not lost:
        return ok("Every transcript that is gone from disk is archived.")
    return Outcome(
        "info",
        f"{plural(lost, 'transcript')} are gone from disk and were never archived.",
        "Their text is in the index alone, long outputs shortened, and a rebuild cannot bring them back.",
    )


def backlog(checkup: CheckUp) -> Outcome | None:
    """Look whether search by meaning covers everything."""
    if checkup.engine is None:
        return None
    status = checkup.engine.embedding()
    if status.state == "off":
        return Outcome("info", status.reason or "Search by meaning is off.", "Only words are searched.")
    if status.state == "failed":
        return Outcome(
            "error",
            f"The embedding model does not work: {status.reason or 'no reason given'}",
            "Search by meaning is off, words only. Installing Backscroll again brings the model back.",
        )
    with checkup.read() as connection:
        current = generations.answering(connection)
        failed = 0 if current is None else generations.embedding_counts(connection, current.id).failed
    if failed:
        waiting = f", {plural(status.backlog, 'other waits', 'others wait')} for it" if status.backlog else ""
        return Outcome(
            "warning",
            f"{plural(failed, 'chunk')} could not be embedded{waiting}.",
            "The model failed on them again and again: search by meaning does not find them, search by words does.",
            Fix("Tries them once more.", 90, _embed_all),
        )
    if not status.backlog:
        return ok("Everything is embedded.")
    return Outcome(
        "info",
        f"{plural(status.backlog, 'chunk')} wait to be embedded.",
        "Search by meaning does not know them yet. It goes on by itself.",
        Fix("Embeds them now.", 90, _embed_all),
    )


def _embed_all(checkup: CheckUp, step: Step) -> None:
    if checkup.engine is not None:
        checkup.engine.embed_all(step)


INDEX_CHECKS: Final = (
    Check("schema", "Version of the index", schema, needs_database=True),
    Check("extension", "Vector extension", extension, needs_database=True),
    Check("words", "Search by words", words, needs_database=True),
    Check("vectors", "Search by meaning", vectors, needs_database=True),
    Check("secrets", "Secrets", secrets, needs_database=True),
    Check("transcripts", "Transcripts", transcripts, needs_database=True),
    Check("unreadable", "Unreadable files", unreadable, needs_database=True),
    Check("only_here", "Transcripts without a copy", only_here, needs_database=True),
    Check("backlog", "Embedding", backlog, needs_database=True),
)
