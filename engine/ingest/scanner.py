"""Finds the transcript files below the roots, by looking at folders and stats only. Opens nothing."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from engine.ingest.tail import FileStat
from engine.transcripts.discovery import FileIdentity, Root, identify

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_MAX_DEPTH = 8
"""`<project>/<session>/subagents/workflows/<id>/agent-*.jsonl` is five deep."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A transcript on disk."""

    path: Path
    relative: str
    """Below its root, with forward slashes."""
    identity: FileIdentity
    stat: FileStat


def existing_roots(roots: tuple[Root, ...]) -> tuple[Root, ...]:
    """Return the roots that exist, links resolved, each folder once; a root inside another is part of it."""
    kept: list[Root] = []
    for root in roots:
        try:
            real = root.path.resolve(strict=True)
        except OSError:
            continue
        if not real.is_dir() or any(real == each.path or each.path in real.parents for each in kept):
            continue
        kept = [each for each in kept if real not in each.path.parents]
        kept.append(Root(real, root.label, root.from_environment))
    return tuple(kept)


def scan(root: Path) -> Iterator[FoundFile]:
    """Yield every transcript file below a root. Folders that cannot be read are logged and passed over."""
    seen: set[tuple[int, int]] = set()
    yield from _scan_folder(root, PurePosixPath(), seen, 0)


def _scan_folder(
    folder: Path, relative: PurePosixPath, seen: set[tuple[int, int]], depth: int
) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as exc:
        logger.warning("A folder below a root cannot be read (%s)", exc.strerror)
        return
    for entry in listed:
        below = relative / entry.name
        try:
            if entry.is_dir():
                if depth < _MAX_DEPTH and not _visited(entry, seen):
                    yield from _scan_folder(Path(entry.path), below, seen, depth + 1)
                continue
            identity = identify(below)
            if identity is None or not identity.is_transcript or not entry.is_file():
                continue
            yield FoundFile(Path(entry.path), str(below), identity, FileStat.of(entry.stat()))
        except OSError as exc:
            logger.debug("A file vanished while it was looked at (%s)", exc.strerror)


def _visited(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> bool:
    """True for a folder that was entered before: links can lead in circles."""
    if not entry.is_symlink():
        return False
    result = entry.stat()
    key = (result.st_dev, result.st_ino)
    if key in seen:
        return True
    seen.add(key)
    return False
