"""Finds the transcript files below the roots, by looking at folders and stats only. Opens nothing."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from engine.ingest.tail import FileStat
from engine.transcripts.discovery import Root, identify

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_MAX_DEPTH = 8
"""`<project>/<session>/subagents/workflows/<id>/agent-*.jsonl` is five deep."""

_SESSION_DEPTH = 2
"""Below `<project>/<session>/` only `subagents/` holds transcripts; `tool-results/` may hold thousands of files."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A transcript on disk."""

    relative: str
    """Below its root, with forward slashes."""
    stat: FileStat


def existing_roots(roots: tuple[Root, ...]) -> tuple[Root, ...]:
    """Return the roots that exist, links resolved, each folder once; a root inside another is part of it."""
    kept: list[Root] = []
    for root in roots:
        try:
            real = root.path.resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            continue
        if not real.is_dir() or any(real == each.path or each.path in real.parents for each in kept):
            continue
        kept = [each for each in kept if real not in each.path.parents]
        kept.append(Root(real, root.label, root.from_environment))
    return tuple(kept)


@dataclass(slots=True)
class Scan:
    """One look at the roots. A file that links show in several places is found once."""

    roots: tuple[Root, ...]
    """As `existing_roots` returns them."""
    links: dict[Path, tuple[Root, str]] = field(default_factory=dict[Path, tuple[Root, str]])
    """Folders outside the roots that links lead to: the root and the path below it that they stand for."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Folders that could not be read, and why."""

    def files(self, root: Root) -> Iterator[FoundFile]:
        """Yield every transcript below a root."""
        yield from self._folder(root, str(root.path), PurePosixPath(), 0)

    def _folder(self, root: Root, folder: str, relative: PurePosixPath, depth: int) -> Iterator[FoundFile]:
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            return  # It vanished while its neighbours were looked at.
        except OSError as exc:
            self.refused[folder] = exc.strerror or type(exc).__name__
            return
        for entry in listed:
            try:
                if entry.is_dir():
                    if self._is_entered(root, entry, relative, depth):
                        yield from self._folder(root, entry.path, relative / entry.name, depth + 1)
                elif entry.name.endswith(".jsonl"):
                    yield from self._file(entry, relative)
            except OSError as exc:
                logger.debug("A file vanished while it was looked at (%s)", exc.strerror)

    def _file(self, entry: os.DirEntry[str], relative: PurePosixPath) -> Iterator[FoundFile]:
        below = relative / entry.name
        identity = identify(below)
        if identity is None or not identity.is_transcript or not entry.is_file():
            return
        if entry.is_symlink() and self._is_covered(Path(entry.path).resolve()):
            return
        yield FoundFile(str(below), FileStat.of(entry.stat()))

    def _is_entered(self, root: Root, entry: os.DirEntry[str], relative: PurePosixPath, depth: int) -> bool:
        if depth >= _MAX_DEPTH or (depth == _SESSION_DEPTH and entry.name != "subagents"):
            return False
        if not entry.is_symlink():
            return True
        real = Path(entry.path).resolve()
        if self._is_covered(real):
            return False
        self.links[real] = (root, str(relative / entry.name))
        return True

    def _is_covered(self, real: Path) -> bool:
        """Return whether a link's target is looked at anyway; links in circles lead there, too."""
        folders = [root.path for root in self.roots] + list(self.links)
        return any(real == folder or folder in real.parents for folder in folders)
