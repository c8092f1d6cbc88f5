"""An archive over a folder of sources, stepped by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from engine.archive.archiver import Archiver
from engine.archive.reader import ArchiveReader
from engine.core.clock import FixedClock
from engine.store import archived, files
from engine.store.writer import StoreWriter
from engine.transcripts.discovery import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.core.paths import Paths
    from engine.store.archived import ArchivedRow

LABEL = "claude"
LATE = 4_000_000_000.0
"""A time by which every file written in a test has long been quiet."""


@dataclass
class Archive:
    """What a test works with."""

    folder: Path
    root: Path
    writer: StoreWriter
    clock: FixedClock
    reader: ArchiveReader
    archiver: Archiver

    def again(
        self,
        is_excluded: Callable[[str | None], bool] | None = None,
        is_pruned: Callable[[str | None, int], bool] = lambda _session, _mtime: False,
        is_reading: Callable[[], bool] = lambda: False,
    ) -> Archiver:
        """Give an archiver that knows nothing yet, as after a restart."""
        return Archiver(
            self.folder,
            self.writer,
            lambda: (Root(self.root, LABEL),),
            clock=self.clock,
            is_excluded=is_excluded,
            is_pruned=is_pruned,
            is_reading=is_reading,
        )

    def write(self, path: str, data: bytes) -> Path:
        """Write a source."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def grow(self, path: str, data: bytes) -> None:
        """Append to a source."""
        with (self.root / path).open("ab") as file:
            file.write(data)

    def restored(self, path: str, generation: int = 0) -> bytes:
        """Return what the archive holds of a source."""
        return b"".join(self.reader.pieces(LABEL, path, generation))

    def row(self, path: str) -> ArchivedRow:
        """Return what the table says."""
        return self.writer.write(archived.newest_rows)[LABEL, path]


@pytest.fixture
def archive(paths: Paths, tmp_path: Path) -> Iterator[Archive]:
    """Give an empty archive with a registered, empty root."""
    root = tmp_path / "projects"
    root.mkdir()
    writer = StoreWriter(paths.database)
    writer.start()
    writer.write(lambda c: files.register_root(c, str(root), LABEL))
    clock = FixedClock(LATE)
    made = Archive(paths.archive, root, writer, clock, ArchiveReader(paths.archive), archiver=None)  # pyright: ignore[reportArgumentType] - set below
    made.archiver = made.again()
    yield made
    writer.close()
