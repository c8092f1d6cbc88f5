"""Writes one archive file: appends frames, repairs a torn end, joins small frames, and always flushes to the disk."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from engine.archive.frames import (
    FRAME_BYTES,
    HEADER_BYTES,
    DamagedFrame,
    Frame,
    decode,
    encode,
    find_header,
    frames,
    new_compressor,
)
from engine.archive.places import JOINING_SUFFIX
from engine.core.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DAMAGED_SUFFIX = ".damaged"
"""Of the copy that is kept of a file in which something stored was found damaged."""

_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class StoredShorter(Exception):
    """An archive file holds less than was recorded. Never leaves this room."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much an archive file holds."""

    length: int = 0
    """Source bytes."""
    stored: int = 0
    """Bytes of the archive file."""
    frames: int = 0
    last: Frame | None = None


def append(place: Path, have: Extent, generation: int, pieces: Iterable[bytes]) -> Extent:
    """Append source bytes and flush them to the disk. After a failure the file is as it was.

    Args:
        place: The archive file; made, with its folders, when nothing is stored yet.
        have: What it holds.
        generation: Of the source.
        pieces: What follows in the source, each at most `FRAME_BYTES`.

    Returns:
        What it holds now, safely on the disk.

    Raises:
        StoredShorter: Somebody shortened the file.
        OSError: The disk refused.
    """
    fresh = have.stored == 0
    if fresh:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    compressor = new_compressor()
    length, stored, count, last = have.length, have.stored, have.frames, have.last
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        if os.fstat(descriptor).st_size < have.stored:
            raise StoredShorter
        try:
            # Whatever stands behind what was recorded is the torn end of an interrupted append.
            file.truncate(have.stored)
            file.seek(have.stored)
            for piece in pieces:
                block = encode(piece, length, generation, compressor)
                _write(file, block)
                last = Frame(length, len(piece), stored, len(block) - HEADER_BYTES, b"", generation)
                length, stored, count = length + len(piece), stored + len(block), count + 1
            os.fsync(descriptor)
        except BaseException:
            file.truncate(have.stored)
            raise
    if fresh:
        sync_folder(place.parent)
    return Extent(length, stored, count, last)


def extent_of(place: Path) -> Extent:
    """Return what an archive file holds, as its own headers tell it.

    The last frame is decompressed as well: after a power cut a header may be there without its content.

    Raises:
        OSError: The file cannot be read.
    """
    with place.open("rb", buffering=0) as file:
        found = list(frames(file, os.fstat(file.fileno()).st_size))
        while found and not _is_whole(file, found[-1]):
            found.pop()
    if not found:
        return Extent()
    return Extent(found[-1].end, found[-1].next_position, len(found), found[-1])


def repair(place: Path, recorded: int) -> Extent:
    """Cut off what is not a whole frame that continues the last one, and return what is left.

    An interrupted append leaves such an end, beyond what was recorded, and nobody misses it. Where it is damage to
    something that was stored, a copy of the whole file is kept beside it first (`….damaged`).

    Args:
        place: The archive file.
        recorded: Bytes of the file that were once known to be whole, 0 when that is not known.

    Raises:
        OSError: The file cannot be read or written.
    """
    extent = extent_of(place)
    with place.open("r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size == extent.stored:
            return extent
        if extent.stored < recorded or find_header(file, extent.stored + 1) is not None:
            _keep_copy(place, file, size)
        file.truncate(extent.stored)
        os.fsync(file.fileno())
    return extent


def cut_damage(place: Path) -> Extent | None:
    """Cut a file before its first damaged frame, after a copy was kept, and return what is left; None when it is whole.

    Raises:
        OSError: The file cannot be read or written.
    """
    with place.open("r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        whole: list[Frame] = []
        for frame in frames(file, size):
            if not _is_whole(file, frame):
                break
            whole.append(frame)
        last = whole[-1] if whole else None
        end = 0 if last is None else last.next_position
        if end == size:
            return None
        _keep_copy(place, file, size)
        file.truncate(end)
        os.fsync(file.fileno())
    return Extent() if last is None else Extent(last.end, end, len(whole), last)


def _keep_copy(place: Path, file: IO[bytes], size: int) -> None:
    aside = place.with_name(f"{place.name}{DAMAGED_SUFFIX}")
    if aside.exists():
        return
    with aside.open("xb") as copy:
        aside.chmod(0o600)
        _copy(file, copy, size)
        copy.flush()
        os.fsync(copy.fileno())


def goes_on_behind_damage(place: Path) -> bool:
    """Return whether a frame stands somewhere behind the first damage of a file.

    Raises:
        OSError: The file cannot be read.
    """
    extent = extent_of(place)
    with place.open("rb", buffering=0) as file:
        return find_header(file, extent.stored + 1) is not None


def join(place: Path, generation: int) -> Extent:
    """Put small frames together into full ones, beside the file and then in its place. The source bytes stay the same.

    Full frames at the beginning are copied as they are.

    Raises:
        DamagedFrame: A frame does not hold what it should; nothing was changed.
        OSError: The disk refused; nothing was changed.
    """
    with place.open("rb", buffering=0) as file:
        found = list(frames(file, os.fstat(file.fileno()).st_size))
        kept = 0
        while kept < len(found) - 1 and found[kept].length == FRAME_BYTES:
            kept += 1
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=JOINING_SUFFIX, dir=place.parent)
        beside = Path(name)
        try:
            with os.fdopen(descriptor, "w+b") as new:
                _copy(file, new, found[kept].position if found else 0)
                extent = _write_joined(file, new, found, kept, generation)
                new.flush()
                os.fsync(new.fileno())
            beside.replace(place)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    sync_folder(place.parent)
    return extent


def _write_joined(file: IO[bytes], new: IO[bytes], found: list[Frame], kept: int, generation: int) -> Extent:
    if not found:
        return Extent()
    compressor = new_compressor()
    offset, position, count = found[kept].offset, found[kept].position, kept
    last = found[kept - 1] if kept else None
    for piece in _pieces(decode(file, frame) for frame in found[kept:]):
        block = encode(piece, offset, generation, compressor)
        new.write(block)
        last = Frame(offset, len(piece), position, len(block) - HEADER_BYTES, b"", generation)
        offset, position, count = offset + len(piece), position + len(block), count + 1
    return Extent(offset, position, count, last)


def _pieces(datas: Iterable[bytes]) -> Iterator[bytes]:
    pending = bytearray()
    for data in datas:
        pending += data
        while len(pending) >= FRAME_BYTES:
            yield bytes(pending[:FRAME_BYTES])
            del pending[:FRAME_BYTES]
    if pending:
        yield bytes(pending)


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    source.seek(0)
    while size > 0 and (data := source.read(min(size, 1 << 20))):
        target.write(data)
        size -= len(data)


def _write(file: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        # An unbuffered file may take less than it is given: a disk that fills up does that before it refuses.
        view = view[file.write(view) :]


def _is_whole(file: IO[bytes], frame: Frame) -> bool:
    try:
        decode(file, frame)
    except DamagedFrame:
        return False
    return True
