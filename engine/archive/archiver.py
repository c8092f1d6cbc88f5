"""Keeps the archive: thread `engine-archive` stores what is new, at most two minutes behind, after reading is done.

A first pass looks at every file, then only at those whose reading went on, and now and then at everything again. While
transcripts are still being read for the first time it waits, because search matters first; after 90 seconds it starts
all the same, with pauses.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from engine.archive.file import (
    Extent,
    StoredShorter,
    append,
    cut_damage,
    extent_of,
    goes_on_behind_damage,
    join,
    repair,
)
from engine.archive.frames import FRAME_BYTES, DamagedFrame, frame_at, frames
from engine.archive.places import Stored, UnsafePlace, all_stored, place_of, remember_root, remove_unfinished
from engine.archive.removal import OldAgents, belongs, delete
from engine.archive.sources import Source, allowed_end, pieces, sources
from engine.archive.state import ArchiveState, is_of_the_disk
from engine.core.errors import StorageFailure
from engine.store import archived, files
from engine.store.archived import EXCLUDED, KEPT, PRUNED, ArchivedRow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from engine.core.clock import Clock
    from engine.store.writer import StoreWriter
    from engine.transcripts.discovery import Root

logger = logging.getLogger(__name__)

STEP_S: Final = 30.0
"""Between two looks at what was read: with the time a pass takes, well inside the two minutes promised."""
FULL_PASS_S: Final = 600.0
"""Between two looks at every file, for those that nothing was said about (spilled outputs of old sessions)."""
NOTICED_S: Final = 90.0
"""For so long after transcripts were read they are looked at: what was being written then is complete."""
PATIENCE_S: Final = 90.0
"""For so long a first reading of the history may hold the archive up."""
QUIET_S: Final = 600.0
"""A file that has not grown for ten minutes is quiet: its small frames are joined."""
_ROWS_A_WRITE: Final = 64


class Archiver:
    """Stores sources below the archive folder.

    Args:
        folder: `data/archive`.
        writer: Of the database, started before the archiver runs.
        roots: Says which roots exist, links resolved.
        clock: Time.
        is_excluded: True for working directories that must not be stored; None when there are none.
        is_pruned: True for a source (session, modification time in ns) that was taken out on request.
        is_reading: True while transcripts wait to be read.
    """

    def __init__(
        self,
        folder: Path,
        writer: StoreWriter,
        roots: Callable[[], tuple[Root, ...]],
        *,
        clock: Clock,
        is_excluded: Callable[[str | None], bool] | None,
        is_pruned: Callable[[str | None, int], bool],
        is_reading: Callable[[], bool],
    ) -> None:
        self._folder = folder
        self._writer = writer
        self._roots = roots
        self._clock = clock
        self._is_excluded = is_excluded
        self._is_pruned = is_pruned
        self._is_reading = is_reading
        self._rows: dict[tuple[str, str], ArchivedRow] | None = None
        self._unsaved: list[ArchivedRow] = []
        self._lock = threading.RLock()
        """Storing a file and taking one out exclude each other."""
        self._noticed_at = float("-inf")
        self._old_agents = OldAgents(folder)
        self.state = ArchiveState(enabled=True, busy=False)

    def run(self, stopping: threading.Event) -> None:
        """Store until stopped. The loop of thread `engine-archive`."""
        began = self._clock.monotonic()
        while self._is_reading() and self._clock.monotonic() - began < PATIENCE_S:
            if stopping.wait(1.0):
                return
        last_full: float | None = None
        while not stopping.is_set():
            now = self._clock.monotonic()
            # After a refusal it is tried again and again: who has made room sees the notice go.
            full = last_full is None or now - last_full >= FULL_PASS_S or self.state.problem is not None
            if full or now - self._noticed_at < NOTICED_S:
                self.store(full=full, stopping=stopping)
            if full:
                last_full = now
            stopping.wait(STEP_S)

    def notice(self) -> None:
        """Take note that transcripts were read: they have grown. Any thread, at once."""
        self._noticed_at = self._clock.monotonic()

    def store(self, *, full: bool = True, stopping: threading.Event | None = None) -> int:
        """Make one pass and return how many source bytes were stored. What the disk refuses is kept in `state`."""
        self.state = replace(self.state, busy=True)
        stored = skipped = 0
        problem: str | None = None
        try:
            # `parents=True` below would give the folder above all others the usual permissions.
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for label, source in self._candidates(full=full):
                if stopping is not None and stopping.is_set():
                    break
                started = time.perf_counter()
                done = self._try(label, source)
                if done is None:
                    skipped += 1
                else:
                    stored += done
                if stopping is not None and self._is_reading():
                    stopping.wait(time.perf_counter() - started)
            if full:
                self._join_quiet(self._known(), stopping)
            self._save()
        except OSError as exc:
            problem = f"The archive cannot be written ({exc.strerror or exc})."
            logger.warning("Archiving paused: %s", exc.strerror)
        except StorageFailure as exc:
            problem = f"{exc.title}."
            logger.warning("Archiving paused: %s", exc.title)
        if problem is not None:
            # What was stored but not recorded is found again in the files themselves.
            self._unsaved.clear()
            self._rows = None
        self.state = ArchiveState(
            enabled=True, busy=False, problem=problem, skipped=skipped if full else self.state.skipped
        )
        return stored

    def _try(self, label: str, source: Source) -> int | None:
        """Store one file; None when it cannot be: it must not keep all others out."""
        try:
            with self._lock:
                return self._store(self._known(), label, source)
        except StoredShorter:
            self._mend(label, source.path)
        except FileNotFoundError:
            logger.info("A file vanished before it was archived")
        except (UnsafePlace, DamagedFrame, OSError) as exc:
            if is_of_the_disk(exc):
                raise
            logger.warning("A file was not archived (%s)", type(exc).__name__)
            return None
        return 0

    # What there is -----------------------------------------------------------------------------------------------

    def _known(self) -> dict[tuple[str, str], ArchivedRow]:
        """Return the newest row of every source, after making table and files agree once."""
        if self._rows is None:
            self._agree()
            rows = self._writer.write(archived.newest_rows)
            for key, row in rows.items():
                if row.state == EXCLUDED:
                    # The setting may have changed since: look again.
                    rows[key] = replace(row, size=-1)
            self._rows = rows
        return self._rows

    def _agree(self) -> None:
        """Repair torn ends, take in files that the table does not know, forget rows whose file is gone."""
        remove_unfinished(self._folder)
        rows = {(row.label, row.path, row.generation): row for row in self._writer.write(archived.all_rows)}
        changed: list[ArchivedRow] = []
        seen: set[tuple[str, str, int]] = set()
        for stored, place, size in all_stored(self._folder):
            key = (stored.label, stored.path, stored.generation)
            seen.add(key)
            row = rows.get(key)
            if row is not None and (row.stored == size or row.state == PRUNED):
                continue
            if self._is_gone(stored.label, stored.path) and goes_on_behind_damage(place):
                # What stands behind the damage is nowhere else.
                extent = extent_of(place)
            else:
                extent = repair(place, 0 if row is None else row.stored)
            if not extent.length and place.stat().st_size == 0:
                place.unlink()
                seen.discard(key)
                continue
            base = row or ArchivedRow(stored.label, stored.path, stored.generation)
            changed.append(_with(base, extent, size=extent.length, mtime_ns=0, inode=0))
        gone = [row for key, row in rows.items() if row.state == KEPT and row.length and key not in seen]
        if changed or gone:
            self._writer.write(lambda c: (archived.put_rows(c, changed), archived.delete_rows(c, gone)))

    def _is_gone(self, label: str, path: str) -> bool:
        roots = {label: root for root, label in self._writer.write(files.roots).values()}
        return label not in roots or Source.at(Path(roots[label]), path) is None

    def _candidates(self, *, full: bool) -> Iterator[tuple[str, Source]]:
        labels = dict(self._writer.write(files.roots).values())
        roots = {labels[str(root.path)]: root.path for root in self._roots() if str(root.path) in labels}
        for label, root in roots.items():
            remember_root(self._folder, label, root)
        if full:
            for label, root in roots.items():
                for source in sources(root):
                    yield label, source
            return
        looked: set[tuple[str, str]] = set()
        for label, path in self._writer.write(archived.behind):
            root = roots.get(label)
            source = None if root is None else Source.at(root, path)
            if root is None or source is None:
                continue
            yield label, source
            beside = source.session_path.removesuffix(".jsonl")
            if (label, beside) not in looked:
                looked.add((label, beside))
                for each in sources(root, beside):
                    yield label, each

    # Storing -----------------------------------------------------------------------------------------------------

    def _store(self, rows: dict[tuple[str, str], ArchivedRow], label: str, source: Source) -> int:
        row = rows.get((label, source.path)) or ArchivedRow(label, source.path)
        if (source.size, source.mtime_ns, source.inode) == (row.size, row.mtime_ns, row.inode):
            return 0
        owner = None if source.path == source.session_path else rows.get((label, source.session_path))
        if owner is not None and owner.state != KEPT:
            return 0
        if self._is_pruned(source.session_id(), source.mtime_ns):
            return 0
        if row.state == PRUNED:
            # It goes on after it was pruned: what it says from now on is worth keeping, and it says it all again.
            row = ArchivedRow(label, source.path, row.generation + 1)
        with source.file.open("rb") as file:
            stat = os.fstat(file.fileno())
            source = replace(source, size=stat.st_size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)
            if row.length and not place_of(self._folder, Stored(label, source.path, row.generation)).exists():
                row = ArchivedRow(label, source.path, row.generation)
            if row.length and not self._continues(file, source, row):
                row = ArchivedRow(label, source.path, row.generation + 1)
            end, excluded = self._end(file, source, row.length)
            done = end - row.length
            if done > 0:
                place = place_of(self._folder, Stored(label, source.path, row.generation))
                have = Extent(row.length, row.stored, row.frames)
                row = _with(row, append(place, have, row.generation, pieces(file, row.length, end)))
            after = os.fstat(file.fileno())
        whole = row.length >= source.size
        is_settled = (after.st_size, after.st_mtime_ns) == (source.size, source.mtime_ns)
        row = replace(
            row,
            state=EXCLUDED if excluded else KEPT,
            # One that was written meanwhile may have been rewritten: the next pass compares it as a whole.
            inode=source.inode if is_settled else 0,
            # A file that was not stored to its end must look changed at the next pass.
            size=source.size if whole or excluded else row.length,
            mtime_ns=source.mtime_ns if whole or excluded else 0,
        )
        self._note(rows, row)
        return max(0, done)

    def _continues(self, file: IO[bytes], source: Source, row: ArchivedRow) -> bool:
        """True when the stored bytes still are the beginning of the source.

        A file that only grew is told by its last stored frame; one that was replaced, or changed without growing, is
        compared as a whole.
        """
        if source.size < row.length:
            return False
        place = place_of(self._folder, Stored(row.label, row.path, row.generation))
        grown = source.inode == row.inode and source.size > row.size
        with place.open("rb", buffering=0) as stored:
            size = os.fstat(stored.fileno()).st_size
            last = frame_at(stored, row.last_position, size) if grown else None
            for frame in frames(stored, size) if last is None else [last]:
                file.seek(frame.offset)
                if hashlib.sha256(file.read(frame.length)).digest() != frame.sha256:
                    return False
        return True

    def _end(self, file: IO[bytes], source: Source, start: int) -> tuple[int, bool]:
        """Return up to where the source may be stored now, and whether an excluded line stands there."""
        if self._is_excluded is None or not source.path.endswith(".jsonl"):
            return source.size, False
        allowed = allowed_end(file, start, source.size, self._is_excluded)
        return allowed, allowed < source.size

    def _note(self, rows: dict[tuple[str, str], ArchivedRow], row: ArchivedRow) -> None:
        rows[row.label, row.path] = row
        self._unsaved.append(row)
        if len(self._unsaved) >= _ROWS_A_WRITE:
            self._save()

    def _save(self) -> None:
        batch, self._unsaved = tuple(self._unsaved), []
        if batch:
            self._writer.write(lambda c: archived.put_rows(c, batch))

    def forget_rows(self) -> None:
        """Take the table anew: it was replaced."""
        with self._lock:
            self._unsaved.clear()
            self._rows = None

    # Taking out --------------------------------------------------------------------------------------------------

    def remove(self, sessions: Collection[str], places: Collection[tuple[str, str]], *, forget: bool) -> int:
        """Delete stored files of sessions, all generations, and return the bytes that gives back.

        Args:
            sessions: Ids: what lies in their folders goes with their transcripts.
            places: Label and path of their transcripts.
            forget: Do not even remember that they were there. Else their sources are left alone until they grow.

        Raises:
            OSError: A file cannot be deleted.
        """
        wanted = set(sessions)
        with self._lock:
            self._save()
            places = {*places, *self._old_agents.of(wanted)}
            known = {(row.label, row.path, row.generation): row for row in self._writer.write(archived.all_rows)}
            rows = {key: row for key, row in known.items() if belongs(key[0], key[1], wanted, places)}
            freed, deleted = delete(self._folder, wanted, places)
            for each in deleted:
                key = (each.label, each.path, each.generation)
                rows[key] = replace(
                    rows.get(key) or ArchivedRow(*key), state=PRUNED, length=0, stored=0, frames=0, last_position=0
                )
            gone = tuple(rows.values())
            self._writer.write(lambda c: archived.delete_rows(c, gone) if forget else archived.put_rows(c, gone))
            self._rows = None
        return freed

    # Joining -----------------------------------------------------------------------------------------------------

    def _mend(self, label: str, path: str) -> None:
        """Take an archive file as it is after somebody shortened it; the next pass stores what is missing."""
        rows = self._known()
        row = rows[label, path]
        place = place_of(self._folder, Stored(row.label, row.path, row.generation))
        self._note(rows, _with(row, repair(place, row.stored), size=0, mtime_ns=0))

    def mend(self) -> None:
        """Cut damage off files whose source still holds what is lost, after a copy was kept; a pass stores it again.

        Where the source is gone nothing is cut: the frames behind the damage can still be read.

        Raises:
            OSError: The disk refused.
        """
        with self._lock:
            rows = self._known()
            for row in list(rows.values()):
                if row.state != KEPT or self._is_gone(row.label, row.path):
                    continue
                place = place_of(self._folder, Stored(row.label, row.path, row.generation))
                extent = cut_damage(place) if place.exists() else None
                if extent is not None:
                    self._note(rows, _with(row, extent, size=0, mtime_ns=0))
            self._save()
            self._rows = None

    def _join_quiet(self, rows: dict[tuple[str, str], ArchivedRow], stopping: threading.Event | None) -> None:
        before_ns = int((self._clock.now() - QUIET_S) * 1e9)
        for row in list(rows.values()):
            if stopping is not None and stopping.is_set():
                break
            fewest = -(-row.length // FRAME_BYTES)
            if row.state != KEPT or row.frames <= fewest or row.joined == row.length or row.mtime_ns > before_ns:
                continue
            place = place_of(self._folder, Stored(row.label, row.path, row.generation))
            try:
                with self._lock:
                    if not place.exists():
                        continue
                    joined = _with(row, join(place, row.generation), joined=row.length)
            except OSError as exc:
                if is_of_the_disk(exc):
                    raise
                logger.warning("An archive file was not joined (%s)", exc.strerror)
                continue
            except DamagedFrame:
                # The doctor reports it; trying again each time would not mend it.
                joined = replace(row, joined=row.length)
            self._note(rows, joined)


def _with(row: ArchivedRow, extent: Extent, **changes: int) -> ArchivedRow:
    position = row.last_position if extent.last is None else extent.last.position
    return replace(
        row, length=extent.length, stored=extent.stored, frames=extent.frames, last_position=position, **changes
    )
