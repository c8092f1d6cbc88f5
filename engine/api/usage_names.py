"""Names of sessions and working directories for usage reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.store import filters, reading
from engine.usage.source import FolderName, SessionName

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.store.connection import Connection


class StoredNames:
    """Looks names up in the database (`engine.usage.source.UsageNames`)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return names of sessions."""
        return {
            number: SessionName(info.session_id, info.title, info.project)
            for number, info in reading.sessions_by_id(self._connection, ids).items()
        }

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return names of working directories."""
        named = filters.folder_names(self._connection)
        return {number: FolderName(*named[number]) for number in ids if number in named}
