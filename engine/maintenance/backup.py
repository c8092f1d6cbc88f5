"""Backups of the database before something changes it, and where damaged ones are kept."""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from engine.store import backup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.core.clock import Clock

logger = logging.getLogger(__name__)

KEPT: Final = 2
"""Backups: one could be of the state that was already wrong."""


@dataclass(frozen=True, slots=True)
class Backups:
    """The folders `data/backups` and `data/quarantine` beside a database.

    Args of the constructor:
        database: The database.
        clock: For names.
    """

    database: Path
    clock: Clock

    @property
    def folder(self) -> Path:
        """Where backups lie."""
        return self.database.parent / "backups"

    @property
    def quarantine_folder(self) -> Path:
        """Where damaged databases lie, each in a dated folder."""
        return self.database.parent / "quarantine"

    def make(self, reason: str, step: Callable[[], None] | None = None) -> Path:
        """Copy the database, keep the last two copies, and return the new one.

        Args:
            reason: One word of the file's name (`migration`, `fix`).
            step: Called between two steps of copying; raises to stop.

        Raises:
            StorageFailure: It cannot be copied.
            OSError: The folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = self.folder / f"index-{self._stamp()}-{reason}.db"
        backup.copy_database(self.database, target, step)
        for old in self.all()[:-KEPT]:
            old.unlink()
        return target

    def remove_unfinished(self) -> None:
        """Delete copies that a process was killed over. Before anybody makes one.

        Raises:
            OSError: The folder cannot be written.
        """
        for file in self.folder.glob(f".index-*{backup.UNFINISHED_SUFFIX}*"):
            file.unlink()

    def all(self) -> tuple[Path, ...]:
        """Return the backups, oldest first."""
        return tuple(sorted(self.folder.glob("index-*.db")))

    def bytes(self) -> tuple[int, int]:
        """Return what backups take, and what databases take that were moved aside."""
        moved = (file for folder in self.quarantined() for file in folder.rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in self.all()), sum(file.stat().st_size for file in moved)

    def quarantine(self) -> Path:
        """Move the closed database aside, never deleted, and return its folder.

        Raises:
            OSError: It cannot be moved.
        """
        self.quarantine_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = self.quarantine_folder / self._stamp()
        number = 1
        while folder.exists():
            number += 1
            folder = self.quarantine_folder / f"{self._stamp()}-{number}"
        logger.warning("The damaged index was moved aside to %s", folder.name)
        return backup.move_aside(self.database, folder)

    def quarantined(self) -> tuple[Path, ...]:
        """Return the folders of databases that were moved aside, oldest first."""
        if not self.quarantine_folder.is_dir():
            return ()
        return tuple(sorted(each for each in self.quarantine_folder.iterdir() if each.is_dir()))

    def renew(self) -> int:
        """Delete every copy that may hold what was just taken out, make one of the present state, return how many went.

        Raises:
            StorageFailure: The present state cannot be copied.
            OSError: A copy cannot be deleted.
        """
        backups, moved = self.all(), self.quarantined()
        for file in backups:
            file.unlink()
        for folder in moved:
            shutil.rmtree(folder)
        if backups:
            self.make("renewed")
        return len(backups) + len(moved)

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self.clock.now(), UTC).strftime("%Y%m%d-%H%M%S")
