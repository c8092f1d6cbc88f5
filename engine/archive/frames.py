"""The format of an archive file: independent zstd frames, each behind a skippable frame that says what it holds.

A plain `zstdcat` ignores skippable frames (RFC 8878, section 3.1.2) and restores the source byte for byte. With them
any byte range is read by decompressing the frames it touches, and a file that was cut off is recognised and repaired.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME_BYTES: Final = 256 * 1024
"""Source bytes of a full frame: one is decompressed in about a millisecond, and larger ones compress hardly better."""

LEVEL: Final = 3
"""zstd's own default: 300 MB/s here, and the corpus becomes 15 % of its size (tests/benchmarks/archive.py)."""

_MAGIC: Final = 0x184D2A5B
"""One of the sixteen numbers that RFC 8878 gives to skippable frames."""

_TAG: Final = b"BkS1"
_HEADER: Final = struct.Struct("<II4sIQII32s")
"""Magic, size of what follows, tag, generation, offset in the source, source length, compressed length, SHA-256."""

HEADER_BYTES: Final = _HEADER.size
_CONTENT_BYTES: Final = HEADER_BYTES - 8
HEADER_START: Final = struct.pack("<II4s", _MAGIC, _CONTENT_BYTES, _TAG)
"""The first bytes of every header."""

_MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""A header that claims more is damage, not a frame of ours."""


_MAX_GAP_BYTES: Final = 1 << 30
"""A header that claims to stand farther behind the last frame is damage: no transcript is so long."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a stretch of the source stands in its archive file."""

    offset: int
    """Of its first byte in the source."""
    length: int
    """Source bytes."""
    position: int
    """Of its header in the archive file."""
    stored: int
    """Compressed bytes after the header."""
    sha256: bytes
    """Of the source bytes."""
    generation: int

    @property
    def end(self) -> int:
        """Offset in the source after its last byte."""
        return self.offset + self.length

    @property
    def next_position(self) -> int:
        """Position in the archive file after it."""
        return self.position + HEADER_BYTES + self.stored


class DamagedFrame(Exception):
    """A frame does not hold what its header says. Never leaves this room: readers answer None, verifying reports it."""


def encode(data: bytes, offset: int, generation: int, compressor: zstandard.ZstdCompressor) -> bytes:
    """Return one frame with its header.

    Args:
        data: Source bytes.
        offset: Of their first in the source.
        generation: Of the source.
        compressor: Made by `new_compressor`, one for each thread.
    """
    packed = compressor.compress(data)
    digest = hashlib.sha256(data).digest()
    header = _HEADER.pack(_MAGIC, _CONTENT_BYTES, _TAG, generation, offset, len(data), len(packed), digest)
    return header + packed


def new_compressor() -> zstandard.ZstdCompressor:
    """Return what `encode` needs. Not to be shared between threads."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True)


def decode(file: IO[bytes], frame: Frame) -> bytes:
    """Return the source bytes of one frame.

    Raises:
        DamagedFrame: They are not the ones that were stored.
        OSError: The file cannot be read.
    """
    file.seek(frame.position + HEADER_BYTES)
    packed = file.read(frame.stored)
    try:
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=frame.length)
    except zstandard.ZstdError as exc:
        raise DamagedFrame(str(exc)) from exc
    if len(data) != frame.length or hashlib.sha256(data).digest() != frame.sha256:
        raise DamagedFrame("other bytes than were stored")
    return data


def frame_at(file: IO[bytes], position: int, size: int) -> Frame | None:
    """Return the frame whose header stands at a position, None when there is no whole one.

    Args:
        file: The archive file.
        position: Where to look.
        size: Of the file: a frame that reaches beyond it is not whole.
    """
    file.seek(position)
    header = file.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    magic, content, tag, generation, offset, length, stored, digest = _HEADER.unpack(header)
    if magic != _MAGIC or content != _CONTENT_BYTES or tag != _TAG or not 0 < length <= _MAX_FRAME_BYTES:
        return None
    frame = Frame(offset, length, position, stored, digest, generation)
    return frame if frame.next_position <= size else None


@dataclass(frozen=True, slots=True)
class Lost:
    """A stretch of the source that an archive file cannot give back."""

    offset: int
    """Of its first byte in the source."""
    length: int | None
    """Source bytes; None at the end of a file that does not tell how many there were."""


def salvaged(file: IO[bytes], size: int) -> Iterator[tuple[Frame, bytes] | Lost]:
    """Yield every frame that is whole with its source bytes, in order, and what is lost between them.

    Behind damage the next header is looked for. One that says where it stands in the source, in front of bytes of its
    hash, is a frame: nothing that only looks like one has such a hash.

    Raises:
        OSError: The file cannot be read.
    """
    position = offset = known_end = 0
    # Where no header was looked for yet: a frame that claims to be longer than it is hides the next one.
    searched = 1
    while position < size:
        frame = _placed(file, position, offset, size)
        if frame is not None:
            # Also of one whose content is damaged: where it ends is told by nobody else when it is the last.
            known_end = max(known_end, frame.end)
            data = _whole(file, frame)
            if data is not None:
                if frame.offset > offset:
                    yield Lost(offset, frame.offset - offset)
                yield frame, data
                position, offset, searched = frame.next_position, frame.end, frame.position + 1
                continue
        found = find_header(file, searched)
        if found is not None and found >= position:
            found = find_header(file, position + 1)
        if found is None:
            yield Lost(offset, known_end - offset if known_end > offset else None)
            return
        position, searched = found, found + 1


def readable_frames(file: IO[bytes], size: int) -> Iterator[Frame]:
    """Yield the frames of a file in order, going on behind damage. Reads headers, and content only behind damage."""
    position = offset = 0
    is_behind_damage = False
    while position < size:
        frame = _placed(file, position, offset, size)
        if frame is not None and (not is_behind_damage or _whole(file, frame) is not None):
            yield frame
            is_behind_damage = False
            following, offset = frame.next_position, frame.end
            if following == size or frame_at(file, following, size) is not None:
                position = following
                continue
        is_behind_damage = True
        found = find_header(file, position + 1)
        position = size if found is None else found


def _placed(file: IO[bytes], position: int, offset: int, size: int) -> Frame | None:
    """Return the frame at a position when it can follow what ends at an offset of the source, None when it cannot.

    The hash covers its bytes and not where they stand: what follows tells whether that is to be believed.
    """
    frame = frame_at(file, position, size)
    if frame is None or frame.offset == offset:
        return frame
    following = frame_at(file, frame.next_position, size)
    if following is not None and following.offset == offset + frame.length:
        return replace(frame, offset=offset)
    if not 0 < frame.offset - offset <= _MAX_GAP_BYTES or (following is not None and following.offset < frame.end):
        return None
    return frame


def find_header(file: IO[bytes], position: int) -> int | None:
    """Return where the next header begins at or behind a position, None when there is none.

    Raises:
        OSError: The file cannot be read.
    """
    file.seek(position)
    before = b""
    while data := file.read(1 << 20):
        found = (before + data).find(HEADER_START)
        if found >= 0:
            return position - len(before) + found
        position += len(data)
        before = (before + data)[-len(HEADER_START) + 1 :]
    return None


def _whole(file: IO[bytes], frame: Frame) -> bytes | None:
    try:
        return decode(file, frame)
    except DamagedFrame:
        return None


def frames(file: IO[bytes], size: int) -> Iterator[Frame]:
    """Yield the frames of a file in order, up to the first place that is not a whole frame that continues the last.

    Only headers are read: a transcript of 200 MB has 800 of them.
    """
    position = offset = 0
    while position < size:
        frame = frame_at(file, position, size)
        if frame is None or frame.offset != offset:
            return
        yield frame
        position, offset = frame.next_position, frame.end
