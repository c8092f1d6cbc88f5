"""From bytes to records: splits on line feeds only, and salvages what damaged lines still hold.

Python's `splitlines` would also split on U+2028, U+2029 and U+0085, which are legal inside JSON strings
(anthropics/claude-code#27472).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = dict[str, Any]
"""One JSON object of a transcript."""

_BOM = b"\xef\xbb\xbf"
_PADDING = b"\0 \t\r\n"
_RECORD_START = re.compile(
    r'\{\s*"(?:parentUuid|type|uuid|sessionId|isSidechain|summary|leafUuid|cwd|userType|message)"\s*:'
)
_CHAIN_TYPES = frozenset({"user", "assistant", "progress", "system", "attachment"})
_RECORD_KEYS = ("sessionId", "message", "snapshot", "leafUuid", "timestamp")
_MAX_SALVAGE_ATTEMPTS = 200
_SALVAGE_WORK = 4
"""A damaged line is searched for records at 200 places at most, reading at most four times its length, so that a
hostile one of 64 MiB cannot cost minutes."""


class LineContent(NamedTuple):
    """What one line held."""

    records: tuple[Record, ...]
    damage: str | None = None
    """What was wrong with it, in words; None for a healthy line."""


EMPTY = LineContent(())


@dataclass(slots=True)
class LineSplitter:
    """Cuts a growing file into lines without holding more than one of them.

    Feed it the bytes from `offset` on, in pieces of any size. A line longer than `max_line` is skipped as a stream and
    reported once, by its offset and length.
    """

    offset: int
    """Where the next unread byte of the file stands."""
    max_line: int
    _pending: list[bytes] = field(default_factory=list[bytes])
    _pending_size: int = 0
    _skipping: bool = False

    @property
    def line_start(self) -> int:
        """Offset of the first byte that has not been returned in a line: where to read on next time."""
        return self.offset - self._pending_size

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes | None, int]]:
        """Yield (offset, line without its line feed, length with it) for each line that ended in `data`.

        The line is None where it was too long to keep.
        """
        start = 0
        while True:
            end = data.find(b"\n", start)
            if end < 0:
                self._keep(data[start:])
                return
            piece = data[start:end]
            line_offset = self.line_start
            length = self._pending_size + len(piece) + 1
            if self._skipping or length > self.max_line:
                line = None
            elif self._pending:
                self._pending.append(piece)
                line = b"".join(self._pending)
            else:
                line = piece
            self._pending.clear()
            self._pending_size = 0
            self._skipping = False
            self.offset = line_offset + length
            start = end + 1
            yield line_offset, line, length

    def _keep(self, piece: bytes) -> None:
        self.offset += len(piece)
        self._pending_size += len(piece)
        if self._pending_size > self.max_line:
            self._skipping = True
            self._pending.clear()
        elif piece:
            self._pending.append(piece)

    def rest(self) -> bytes | None:
        """Return the unfinished last line, None when it is too long to keep."""
        return None if self._skipping else b"".join(self._pending)


def parse_line(line: bytes) -> LineContent:
    """Return the records of one line. Never raises, whatever the bytes."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _salvage(line)
    if isinstance(value, dict):
        return LineContent((cast("Record", value),))
    return LineContent((), "not an object")


def _salvage(line: bytes) -> LineContent:
    stripped = line.strip(_PADDING).removeprefix(_BOM).strip(_PADDING)
    if not stripped:
        return LineContent((), "NUL bytes") if b"\0" in line else EMPTY
    damage = None
    if b"\0" in line:
        damage = "NUL padding"
        stripped = stripped.replace(b"\0", b"")
    try:
        # A lone surrogate as three bytes is no UTF-8, but what was meant is known: it is replaced like an escaped one.
        text = stripped.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = stripped.decode("utf-8", "replace")
        damage = damage or "invalid UTF-8"
    del stripped  # A line may have 64 MiB: no more copies of it than needed.
    try:
        # The standard parser also takes what orjson refuses: lone surrogates, NaN, control characters, long numbers.
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _dig(text)
    if not isinstance(value, dict):
        return LineContent((), "not an object")
    return LineContent((cast("Record", value),), damage)


def _dig(text: str) -> LineContent:
    """Find whole records inside a line that is not one: two records spliced together, the first one cut short."""
    decoder = json.JSONDecoder(strict=False)
    found: list[Record] = []
    position = 0
    allowed = _SALVAGE_WORK * len(text)
    for _ in range(_MAX_SALVAGE_ATTEMPTS):
        start = _next_start(text, position)
        if start is None or allowed <= 0:
            break
        value: object = None
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
            allowed -= end - start
        except json.JSONDecodeError as exc:
            allowed -= exc.pos - start
        except (ValueError, RecursionError):  # a number of thousands of digits; brackets in brackets in brackets
            allowed -= len(text) - start
        if _looks_like_record(value, is_first=start == 0):
            found.append(value)
            position = end
        else:
            position = start + 1
    return LineContent(tuple(found), "several records in one line" if len(found) > 1 else "cut or unreadable")


def _next_start(text: str, position: int) -> int | None:
    if position == 0 and text[0] == "{":
        return 0
    match = _RECORD_START.search(text, position)
    return None if match is None else match.start()


def _looks_like_record(value: object, *, is_first: bool) -> TypeGuard[Record]:
    """Tell a record from an object inside one: what stands first in its line is always one, the rest must show it."""
    if not isinstance(value, dict):
        return False
    record = cast("Record", value)
    kind = record.get("type")
    if is_first:
        return True
    if kind in _CHAIN_TYPES:
        # The messages of a sub-agent that progress lines quote have no session of their own.
        return isinstance(record.get("sessionId"), str)
    return isinstance(kind, str) and any(key in record for key in _RECORD_KEYS)
