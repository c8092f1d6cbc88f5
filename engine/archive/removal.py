"""Deletes stored files of sessions, with copies that were kept of damaged ones and folders that become empty."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from engine.archive.file import DAMAGED_SUFFIX
from engine.archive.frames import Lost, salvaged
from engine.archive.places import Stored, all_stored, stored_at
from engine.transcripts.discovery import FileKind, identify, session_named_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


def belongs(label: str, path: str, sessions: Collection[str], places: Collection[tuple[str, str]]) -> bool:
    """Return whether a source is of one of some sessions.

    Args:
        label: Of its root.
        path: Below it.
        sessions: Ids: what lies in their folders is theirs.
        places: Label and path of their transcripts.
    """
    identity = identify(PurePosixPath(path))
    return (identity is not None and identity.session_id in sessions) or (label, path) in places


class OldAgents:
    """Finds stored sub-agents' transcripts that lie beside the sessions: only their lines name their session.

    Args:
        archive: The archive's folder.
    """

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._sessions: dict[tuple[Stored, int], str | None] = {}
        """By the file and its size."""

    def of(self, sessions: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield label and path of those of some sessions. A damaged one that names none is nobody's.

        Raises:
            OSError: A file cannot be read.
        """
        for stored, file, size in all_stored(self._archive):
            identity = identify(PurePosixPath(stored.path))
            if identity is None or identity.kind is not FileKind.OLD_AGENT:
                continue
            key = (stored, size)
            if key not in self._sessions:
                self._sessions[key] = _session_named_in(file, size)
            if self._sessions[key] in sessions:
                yield stored.label, stored.path


def _session_named_in(file: Path, size: int) -> str | None:
    with file.open("rb", buffering=0) as opened:
        for part in salvaged(opened, size):
            if not isinstance(part, Lost):
                return session_named_in(part[1])
    return None


def delete(archive: Path, sessions: Collection[str], places: Collection[tuple[str, str]]) -> tuple[int, list[Stored]]:
    """Delete all generations of what is stored of sessions; return the bytes that gives back and what went.

    Raises:
        OSError: A file cannot be deleted.
    """
    freed = 0
    gone: list[Stored] = []
    for stored, file in list(_files(archive)):
        if not belongs(stored.label, stored.path, sessions, places):
            continue
        freed += file.stat().st_size
        file.unlink()
        gone.append(stored)
        _remove_empty(file.parent, archive / stored.label)
    return freed, gone


def _files(archive: Path) -> Iterator[tuple[Stored, Path]]:
    for stored, file, _ in all_stored(archive):
        yield stored, file
    for file in archive.rglob(f"*{DAMAGED_SUFFIX}"):
        stored = stored_at(archive, file.with_name(file.name.removesuffix(DAMAGED_SUFFIX)))
        if stored is not None:
            yield stored, file


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder and those around it, up to the root's, as far as they are empty: their names tell something."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
