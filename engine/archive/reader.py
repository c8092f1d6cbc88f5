"""Reads the archive back: byte ranges of a transcript, whole files, and what there is. Knows the files only.

No database is needed: the archive must be readable when the database is what was lost.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, TypeVar

from engine.archive.frames import FRAME_BYTES, DamagedFrame, Frame, Lost, decode, frames, readable_frames, salvaged
from engine.archive.places import Stored, UnsafePlace, all_stored, place_of, remembered_roots, stored_at
from engine.archive.removal import OldAgents, belongs
from engine.transcripts.discovery import identify

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator

logger = logging.getLogger(__name__)

_READING = ".reading-"
_REMEMBERED_INDEXES = 32
_REMEMBERED_FRAMES = 8
"""Of 256 KB each: a page of a session reads the same frames again and again."""

_K = TypeVar("_K")
_V = TypeVar("_V")
_Identity = tuple[str, int, int, int]


class ArchiveReader:
    """Reads stored transcripts. Any thread.

    Args:
        folder: `data/archive`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._indexes: OrderedDict[_Identity, tuple[Frame, ...]] = OrderedDict()
        self._frames: OrderedDict[tuple[_Identity, int], bytes] = OrderedDict()

    @property
    def folder(self) -> Path:
        """Where the archive lies."""
        return self._folder

    def roots(self) -> dict[str, str]:
        """Return the path of each archived root by its label."""
        return remembered_roots(self._folder)

    def stored(self, label: str | None = None) -> Iterator[tuple[Stored, int]]:
        """Yield everything that is stored with the size of its file, of one root or of all."""
        for stored, _, size in all_stored(self._folder, label):
            yield stored, size

    def files_of(self, session_id: str, places: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield label and path of what is stored of a session: by its id, and beside its transcripts (label, path)."""
        places = {*places, *OldAgents(self._folder).of({session_id})}
        folders = {(label, f"{path.removesuffix('.jsonl')}/") for label, path in places}
        for stored, _ in self.stored():
            below = any(stored.label == label and stored.path.startswith(folder) for label, folder in folders)
            if below or belongs(stored.label, stored.path, {session_id}, places):
                yield stored.label, stored.path

    def session(self, prefix: str) -> str | None:
        """Return the id of the one stored session whose id begins so, None when there is none or several."""
        wanted = prefix.strip().lower()
        identities = (identify(PurePosixPath(stored.path)) for stored, _ in self.stored())
        found = {each.session_id for each in identities if each is not None and each.session_id is not None}
        fitting = [each for each in found if wanted and each.lower().startswith(wanted)]
        return fitting[0] if len(fitting) == 1 else None

    def transcripts(self, label: str) -> Iterator[tuple[str, int]]:
        """Yield (path, bytes of its newest archive file) of the stored transcripts of a root."""
        sizes: dict[str, int] = {}
        for stored, size in self.stored(label):
            identity = identify(PurePosixPath(stored.path))
            if identity is not None and identity.is_transcript:
                sizes[stored.path] = size
        yield from sizes.items()

    @contextmanager
    def as_file(self, label: str, path: str, generation: int) -> Generator[Path]:
        """Give a stored file as a file of its own name, in a private folder beside the archive that goes away again.

        Everything stands where it stood in the source. What is lost is a line of NUL bytes: whoever reads the file
        counts it as a damaged line.

        Raises:
            OSError: It cannot be read or written.
        """
        with tempfile.TemporaryDirectory(prefix=_READING, dir=self._folder.parent) as folder:
            file = Path(folder, PurePosixPath(path).name)
            with file.open("wb") as target:
                self._copy(label, path, generation, target, _filled)
            yield file

    def remove_unfinished(self) -> None:
        """Delete what a process left that was killed while it read. Before anybody reads."""
        for folder in self._folder.parent.glob(f"{_READING}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def copy(self, label: str, path: str, generation: int, target: IO[bytes]) -> tuple[int, tuple[Lost, ...]]:
        """Write a stored file's bytes, a line feed in place of each stretch that is lost.

        Returns:
            How many source bytes were written, and what is lost.

        Raises:
            OSError: It cannot be read or written.
        """
        return self._copy(label, path, generation, target, lambda _lost: iter((b"\n",)))

    def _copy(
        self,
        label: str,
        path: str,
        generation: int,
        target: IO[bytes],
        instead: Callable[[Lost], Iterator[bytes]],
    ) -> tuple[int, tuple[Lost, ...]]:
        length = 0
        lost: list[Lost] = []
        place = place_of(self._folder, Stored(label, path, generation))
        with place.open("rb", buffering=0) as file:
            for part in salvaged(file, os.fstat(file.fileno()).st_size):
                if isinstance(part, Lost):
                    logger.warning("An archive file is damaged behind %d bytes", part.offset)
                    lost.append(part)
                    target.writelines(instead(part))
                else:
                    length += target.write(part[1])
        return length, tuple(lost)

    def generations(self, label: str, path: str) -> tuple[int, ...]:
        """Return the generations of a source that are stored, newest first."""
        try:
            first, second = (place_of(self._folder, Stored(label, path, number)) for number in (0, 1))
        except UnsafePlace:
            return ()
        if first.is_file() and not second.exists():
            return (0,)
        # Rewritten or pruned once: any of its numbers may be missing.
        found: list[int] = []
        name = PurePosixPath(path).name
        if not first.parent.is_dir():
            return ()
        with os.scandir(first.parent) as entries:
            for entry in entries:
                if entry.name.startswith(name) and entry.is_file(follow_symlinks=False):
                    stored = stored_at(self._folder, Path(entry.path))
                    if stored is not None and stored.path == path:
                        found.append(stored.generation)
        return tuple(sorted(found, reverse=True))

    def length(self, label: str, path: str, generation: int) -> int:
        """Return how many source bytes are stored, 0 when none are."""
        opened = self._open(label, path, generation)
        if opened is None:
            return 0
        file, _, index = opened
        file.close()
        return index[-1].end if index else 0

    def read(self, label: str, path: str, generation: int, offset: int, length: int) -> bytes | None:
        """Return source bytes, None when they are not all stored, or not any more as they were."""
        opened = self._open(label, path, generation)
        if opened is None:
            return None
        file, identity, index = opened
        with file:
            return self._range(file, identity, index, offset, length)

    def pieces(self, label: str, path: str, generation: int) -> Iterator[bytes]:
        """Yield a source's bytes in order, frame by frame.

        Raises:
            DamagedFrame: A frame does not hold what was stored.
            OSError: The file cannot be read.
        """
        place = place_of(self._folder, Stored(label, path, generation))
        with place.open("rb", buffering=0) as file:
            for frame in frames(file, os.fstat(file.fileno()).st_size):
                yield decode(file, frame)

    def verify(self, label: str, path: str, generation: int) -> int | None:
        """Decompress a whole file and return the source offset of the first damage, None when there is none.

        Raises:
            OSError: The file cannot be read.
        """
        place = place_of(self._folder, Stored(label, path, generation))
        with place.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            position = offset = 0
            for frame in frames(file, size):
                try:
                    decode(file, frame)
                except DamagedFrame:
                    return frame.offset
                position, offset = frame.next_position, frame.end
        return None if position == size else offset

    def _open(self, label: str, path: str, generation: int) -> tuple[IO[bytes], _Identity, tuple[Frame, ...]] | None:
        try:
            place = place_of(self._folder, Stored(label, path, generation))
            file = place.open("rb", buffering=0)
        except (OSError, UnsafePlace):
            return None
        try:
            stat = os.fstat(file.fileno())
            identity = (str(place), stat.st_ino, stat.st_size, stat.st_mtime_ns)
            with self._lock:
                index = self._indexes.get(identity)
            if index is None:
                index = tuple(readable_frames(file, stat.st_size))
                self._remember(self._indexes, identity, index, _REMEMBERED_INDEXES)
        except OSError as exc:
            file.close()
            logger.warning("An archive file cannot be read (%s)", exc.strerror)
            return None
        return file, identity, index

    def _range(
        self, file: IO[bytes], identity: _Identity, index: tuple[Frame, ...], offset: int, length: int
    ) -> bytes | None:
        parts: list[bytes] = []
        wanted = offset + length
        for frame in index[_first_reaching(index, offset) :]:
            if frame.offset >= wanted:
                break
            key = (identity, frame.position)
            with self._lock:
                data = self._frames.get(key)
            if data is None:
                try:
                    data = decode(file, frame)
                except (DamagedFrame, OSError) as exc:
                    logger.warning("An archive file is damaged (%s)", exc)
                    return None
                self._remember(self._frames, key, data, _REMEMBERED_FRAMES)
            parts.append(data[max(0, offset - frame.offset) : wanted - frame.offset])
        found = b"".join(parts)
        return found if len(found) == length else None

    def _remember(self, known: OrderedDict[_K, _V], key: _K, value: _V, limit: int) -> None:
        with self._lock:
            known[key] = value
            while len(known) > limit:
                known.popitem(last=False)


def _filled(lost: Lost) -> Iterator[bytes]:
    """Return bytes of the length of what is lost (three when nobody knows it): a line of its own that holds nothing."""
    left = 3 if lost.length is None else lost.length
    yield b"\n"[:left]
    left -= 2
    while left > 0:
        yield bytes(min(left, FRAME_BYTES))
        left -= FRAME_BYTES
    if lost.length != 1:
        yield b"\n"


def _first_reaching(index: tuple[Frame, ...], offset: int) -> int:
    """Return the place of the first frame that ends behind an offset."""
    low, high = 0, len(index)
    while low < high:
        middle = (low + high) // 2
        if index[middle].end <= offset:
            low = middle + 1
        else:
            high = middle
    return low
