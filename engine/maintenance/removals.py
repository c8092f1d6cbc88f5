"""What a person had taken out, so that no scan and no rebuild brings it back: sessions by the hash of their id.

A file of its own (`data/removed.json`), because the database can be lost and made anew from transcripts and archive.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from engine.core.errors import StorageFailure
from engine.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FILE_NAME: Final = "removed.json"
FOREVER: Final = -1
"""Instead of a time: everything of the session is out, also what it will say."""


@dataclass(frozen=True, slots=True)
class Removed:
    """How much of one session is out."""

    before_ms: int
    """Messages before this time; `FOREVER` for all there will ever be."""
    archive: bool
    """Its archived copy is out as well."""


class Removals:
    """The list, read once and written at each change. Any thread.

    Args:
        file: `data/removed.json`; need not exist.

    Raises:
        StorageFailure: The file is there and cannot be read. Going on would bring back what somebody had forgotten.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._removed = _read(file)

    def remove_unfinished(self) -> None:
        """Delete what a process left that was killed while it wrote the list. For the one owner of the folder.

        Raises:
            OSError: The folder cannot be written.
        """
        for file in self._file.parent.glob(f".{self._file.name}.*"):
            file.unlink()

    def of(self, session_id: str | None) -> Removed | None:
        """Return what is out of a session, None when all of it is in."""
        if session_id is None or not self._removed:
            return None
        return self._removed.get(_hash(session_id))

    def is_forgotten(self, session_id: str | None) -> bool:
        """Return True for a session that is out for ever."""
        found = self.of(session_id)
        return found is not None and found.before_ms == FOREVER

    @property
    def any_forgotten(self) -> bool:
        """True when some session is out for ever."""
        return any(each.before_ms == FOREVER for each in self._removed.values())

    def prune(self, sessions: Mapping[str, int], *, archive: bool) -> None:
        """Remember sessions that were pruned, with the time after their last message (epoch milliseconds).

        Raises:
            OSError: The file cannot be written; nothing is remembered then.
        """
        self._add((_hash(session), Removed(before_ms, archive)) for session, before_ms in sessions.items())

    def forget(self, session_id: str) -> None:
        """Remember that a session is out for ever.

        Raises:
            OSError: The file cannot be written; nothing is remembered then.
        """
        self._add([(_hash(session_id), Removed(FOREVER, archive=True))])

    def _add(self, entries: Iterable[tuple[str, Removed]]) -> None:
        with self._lock:
            removed = dict(self._removed)
            for key, entry in entries:
                known = removed.get(key)
                if known is not None and known.before_ms == FOREVER:
                    continue
                archive = entry.archive or (known is not None and known.archive)
                removed[key] = Removed(entry.before_ms, archive)
            value = {key: {"before_ms": each.before_ms, "archive": each.archive} for key, each in removed.items()}
            write_atomically(self._file, json.dumps({"sessions": value}, indent=0).encode())
            self._removed = removed


def _hash(session_id: str) -> str:
    return hashlib.sha256(session_id.lower().encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _read(file: Path) -> dict[str, Removed]:
    try:
        value = cast("dict[str, Any]", json.loads(file.read_bytes()))
        return {
            key: Removed(int(each["before_ms"]), bool(each["archive"]))
            for key, each in cast("dict[str, dict[str, Any]]", value["sessions"]).items()
        }
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise StorageFailure(
            "The list of what was taken out cannot be read",
            f"{file} names the sessions that were pruned or forgotten; without it they would come back.",
            "Put the file back from a backup, or delete it if they may come back.",
        ) from exc
