"""What is known of transcript files: the rows of their table, and what was handed to the writer since."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.store import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.store.files import FileRow
    from engine.store.writer import StoreWriter

FileKey = tuple[int, str]
"""Number of the root, and path below it."""


class KnownFiles:
    """Rows of files by key. Used by the thread that looks and the thread that reads.

    Args:
        writer: The single writer.
    """

    def __init__(self, writer: StoreWriter) -> None:
        self._writer = writer
        self._lock = threading.Lock()
        self._rows: dict[FileKey, FileRow] = {}

    def load(self, rows: Mapping[FileKey, FileRow]) -> None:
        """Take the whole table, except where more was read meanwhile. Rows that it has lost are forgotten."""
        with self._lock:
            self._rows = {key: self._rows.get(key, row) for key, row in rows.items()}

    def clear(self) -> None:
        """Know nothing: the table was replaced."""
        with self._lock:
            self._rows.clear()

    def get(self, key: FileKey) -> FileRow | None:
        """Return a file's row, None when it was never seen."""
        with self._lock:
            return self._rows.get(key)

    def row(self, key: FileKey) -> FileRow:
        """Return a file's row, registering a file that is new.

        Raises:
            StorageFailure: The database refused.
        """
        found = self.get(key)
        if found is None:
            found = self._writer.write(lambda connection: files.register_files(connection, [key]))[key]
            self.remember(found)
        return found

    def add(self, rows: Mapping[FileKey, FileRow]) -> None:
        """Take rows that were just registered."""
        with self._lock:
            self._rows |= rows

    def remember(self, row: FileRow) -> None:
        """Keep a row as it will be once the writer is through."""
        with self._lock:
            self._rows[row.root_id, row.path] = row

    def below(self, root: int, folder: str) -> list[FileRow]:
        """Return the rows of the files below a folder of a root."""
        prefix = f"{folder}/"
        with self._lock:
            return [row for key, row in self._rows.items() if key[0] == root and key[1].startswith(prefix)]

    def forget(self, numbers: Iterable[int]) -> list[FileKey]:
        """Drop the rows of files, so that the table's are taken again, and return their keys."""
        wanted = frozenset(numbers)
        with self._lock:
            keys = [key for key, row in self._rows.items() if row.id in wanted]
            for key in keys:
                del self._rows[key]
        return keys
