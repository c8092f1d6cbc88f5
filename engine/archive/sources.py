"""Finds what belongs into the archive below a root: transcripts, sub-agents' files, spilled outputs, descriptions."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final

from engine.archive.frames import FRAME_BYTES
from engine.transcripts.discovery import FileIdentity, FileKind, identify, session_named_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

_MAX_DEPTH: Final = 8
_CWD: Final = re.compile(rb'"cwd"\s*:\s*"((?:[^"\\]|\\.){1,4096})"')


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it stands below its root."""

    file: Path
    path: str
    """Below the root, with forward slashes."""
    kind: FileKind
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def at(cls, root: Path, path: str) -> Source | None:
        """Return one file, None when it is gone or none of Claude Code's."""
        identity = identify(PurePosixPath(path))
        if identity is None:
            return None
        try:
            return cls._of(root / path, path, identity, (root / path).stat())
        except OSError:
            return None

    @classmethod
    def _of(cls, file: Path, path: str, identity: FileIdentity, stat: os.stat_result) -> Source:
        return cls(file, path, identity.kind, stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def session_id(self) -> str | None:
        """Return the session it belongs to, None when nothing tells.

        Raises:
            OSError: A file that names it in its lines cannot be read.
        """
        identity = identify(PurePosixPath(self.path))
        if identity is None or identity.kind is not FileKind.OLD_AGENT:
            return None if identity is None else identity.session_id
        with self.file.open("rb") as file:
            return session_named_in(file.read(FRAME_BYTES))

    @property
    def session_path(self) -> str:
        """Path of the transcript of the session this file belongs to (its own for a session's file)."""
        parts = self.path.split("/")
        return self.path if len(parts) == 2 else f"{parts[0]}/{parts[1]}.jsonl"


def sources(root: Path, below: str = "") -> Iterator[Source]:
    """Yield the files of a root, or of a folder below it, transcripts before what lies in their folders.

    Links to folders are not followed: what they lead to is archived where it really is, or not ours.
    """
    yield from _sources(root, PurePosixPath(below), len(PurePosixPath(below).parts))


def _sources(root: Path, relative: PurePosixPath, depth: int) -> Iterator[Source]:
    try:
        with os.scandir(root / relative) as entries:
            listed = sorted(entries, key=lambda entry: (entry.is_dir(), entry.name))
    except FileNotFoundError:
        return
    except OSError as exc:
        logger.warning("A folder below a root cannot be read (%s)", exc.strerror)
        return
    for entry in listed:
        path = relative / entry.name
        if entry.is_dir(follow_symlinks=depth < 1):
            if depth < _MAX_DEPTH:
                yield from _sources(root, path, depth + 1)
            continue
        source = Source.at(root, str(path)) if entry.is_file() else None
        if source is not None:
            yield source


def allowed_end(file: IO[bytes], start: int, end: int, is_excluded: Callable[[str | None], bool]) -> int:
    """Return the offset of the first line from `start` that was written in an excluded folder, else `end`.

    Raises:
        OSError: The file cannot be read.
    """
    file.seek(start)
    offset = start
    while offset < end:
        line = file.readline()
        if not line:
            break
        # In a record that quotes others (progress, forks) the innermost folder counts as well.
        if any(is_excluded(_text(each)) for each in _CWD.findall(line)):
            return offset
        offset += len(line)
    return end


def pieces(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a source between two offsets, a frame's worth each; fewer when it ends before.

    Raises:
        OSError: The file cannot be read.
    """
    file.seek(start)
    while start < end:
        data = file.read(min(FRAME_BYTES, end - start))
        if not data:
            return
        yield data
        start += len(data)


def _text(escaped: bytes) -> str:
    return re.sub(r"\\(.)", r"\1", escaped.decode("utf-8", "replace"))
