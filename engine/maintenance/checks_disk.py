"""Checks of the disk: the data folder, its permissions and space, the database file, its log, the archive."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, Final

from engine.core import sizes
from engine.core.errors import StorageFailure
from engine.maintenance.checks import Check, CheckUp, Fix, Outcome, Step, ok, plural
from engine.store import upkeep
from engine.store.backup import damage_of

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.paths import Paths
    from engine.maintenance.backup import Backups

WAL_TOO_LARGE: Final = 128 * 1024 * 1024
"""Four times what a checkpoint cuts it back to (`engine.store.connection.WAL_LIMIT_BYTES`)."""

SPARE_BYTES: Final = 500_000_000
"""Under this much free space a day's work may not fit."""

_PRIVATE: Final = 0o077


def data_folder(checkup: CheckUp) -> Outcome:
    """Look whether the data folder can be written."""
    folder = checkup.paths.data
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as exc:
        return Outcome(
            "error",
            f"{folder} cannot be written ({exc.strerror}).",
            "Nothing new can be indexed or archived. Make the folder writable for your account.",
        )
    return ok(f"{folder} can be written.")


def permissions(checkup: CheckUp) -> Outcome | None:
    """Look whether other users of the machine can read what only its owner should."""
    if os.name != "posix":
        return None
    open_ones = _open_to_others(checkup.paths, checkup.backups)
    if not open_ones:
        return ok("Only you can read the data.")
    return Outcome(
        "warning",
        f"{plural(len(open_ones), 'file or folder', 'files and folders')} can be read by other users of this machine, "
        f"{open_ones[0]} first.",
        "Your history, and the key to the running engine, should be yours alone.",
        Fix("Closes them to everybody but you.", 10, _close),
    )


def close_to_others(paths: Paths, backups: Backups) -> None:
    """Close to other users what only its owner should read.

    Raises:
        OSError: It belongs to somebody else.
    """
    for each in _open_to_others(paths, backups):
        each.chmod(0o700 if each.is_dir() else 0o600)


def _open_to_others(paths: Paths, backups: Backups) -> list[Path]:
    folders = [paths.data, paths.run, paths.archive, backups.folder, backups.quarantine_folder]
    logs = [paths.database.with_name(f"{paths.database.name}{suffix}") for suffix in ("-wal", "-shm")]
    files = [paths.database, *logs, paths.key_file, *paths.data.glob("*.json"), *backups.all()]
    if paths.archive.is_dir():
        files += [file for folder in paths.archive.iterdir() for file in folder.glob("*")]
    return [each for each in (*folders, *files) if each.exists() and stat.S_IMODE(each.stat().st_mode) & _PRIVATE]


def _close(checkup: CheckUp, _step: Step) -> None:
    close_to_others(checkup.paths, checkup.backups)


def disk_space(checkup: CheckUp) -> Outcome:
    """Look whether the disk has room for what is to come."""
    free = shutil.disk_usage(checkup.paths.data).free
    need = SPARE_BYTES + _size(checkup.paths.database)
    found = f"{sizes.size(free)} free."
    if free >= need:
        return ok(found)
    return Outcome(
        "warning" if free > SPARE_BYTES // 5 else "error",
        found,
        f"{sizes.size(need)} are wanted: room for new sessions, and for a copy of the index before it is changed. "
        "Free some space, or prune.",
    )


def database(checkup: CheckUp) -> Outcome:
    """Look whether every page of the database can be read and belongs where it is."""
    if not checkup.paths.database.exists():
        return Outcome("info", "There is no index yet.", "It is made at the first start.")
    try:
        damage = damage_of(checkup.paths.database)
    except StorageFailure as exc:
        return Outcome("error", f"{exc.title}. {exc.message}", exc.hint)
    if not damage:
        return ok("Every page of the index can be read.")
    return Outcome(
        "error",
        f"The index is damaged: {damage[0]}" + (f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""),
        "Searches may miss things or fail. Transcripts and archive are not affected, and everything is in them.",
        Fix(
            "Moves the damaged index aside (it is kept) and makes a new one from transcripts and archive.",
            20,
            _start_over,
        ),
    )


def _start_over(checkup: CheckUp, step: Step) -> None:
    if checkup.engine is not None:
        checkup.engine.start_over(checkup.backups.quarantine, step)


def write_ahead_log(checkup: CheckUp) -> Outcome:
    """Look whether the log beside the database was taken in."""
    size = _size(checkup.paths.database.with_name(f"{checkup.paths.database.name}-wal"))
    if size <= WAL_TOO_LARGE:
        return ok(f"The log beside the index has {sizes.size(size)}.")
    return Outcome(
        "warning",
        f"The log beside the index has grown to {sizes.size(size)}.",
        "Some program has kept the index open for long. Reading gets slower the longer it is.",
        Fix("Takes the log into the index and empties it.", 60, _checkpoint),
    )


def _checkpoint(checkup: CheckUp, _step: Step) -> None:
    if checkup.writer is not None:
        checkup.writer.write(upkeep.checkpoint, transaction=False)


def copies(checkup: CheckUp) -> Outcome:
    """Say which backups and damaged databases are kept."""
    backups, moved = checkup.backups.all(), checkup.backups.quarantined()
    if not moved:
        return ok(f"{plural(len(backups), 'backup')} of the index.")
    return Outcome(
        "info",
        f"{plural(len(backups), 'backup')} of the index, {plural(len(moved), 'damaged one')} kept in "
        f"{moved[-1].parent}.",
        "A damaged index is never deleted by itself. Delete it when you do not need it any more.",
    )


def archive(checkup: CheckUp) -> Outcome:
    """Look whether stored files hold what they should: a sample of them, or all (`--deep`)."""
    files, size = checkup.archive.count()
    if not checkup.settings.archive_enabled:
        return Outcome(
            "info",
            f"The archive is switched off; it holds {plural(files, 'file')} ({sizes.size(size)}).",
            "When Claude Code deletes a transcript, only the shortened text in the index is left of it.",
        )
    damaged = checkup.archive.damaged(deep=checkup.deep)
    if damaged:
        return Outcome(
            "error",
            f"{plural(len(damaged), 'archived file')} cannot be read whole, {damaged[0]} first.",
            "What stands behind the damage is lost, unless its transcript is still on disk.",
            Fix("Keeps a copy, and stores anew what transcripts still hold.", 40, lambda c, _step: c.archive.mend()),
        )
    aside = checkup.archive.set_aside()
    looked = "all of them" if checkup.deep else "a sample of them"
    if aside:
        return Outcome(
            "info",
            f"{plural(files, 'file')} ({sizes.size(size)}), {looked} verified; "
            f"{plural(len(aside), 'copy', 'copies')} of damaged ones kept.",
            "They end in .damaged and lie beside the ones in use.",
        )
    return ok(f"{plural(files, 'file')} ({sizes.size(size)}), {looked} verified.")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


DISK_CHECKS: Final = (
    Check("data_folder", "Data folder", data_folder),
    Check("permissions", "Privacy of the files", permissions),
    Check("disk_space", "Disk space", disk_space),
    Check("database", "Index file", database),
    Check("write_ahead_log", "Log of the index", write_ahead_log),
    Check("copies", "Backups", copies),
    Check("archive", "Archive", archive),
)
