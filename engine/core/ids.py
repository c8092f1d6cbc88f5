"""Identity: keys of messages and the short, stable ids of chunks."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from uuid import UUID

from engine.core.errors import NotFound

KEY_BITS = 60
"""Twelve base-32 digits. Ten million messages collide with a probability of 4e-5."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 (https://www.crockford.com/base32.html): no letters that are read as digits."""

_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_KEY_DIGITS = KEY_BITS // 5
_MAX_BLOCK = 32 * 32
_UUID_LENGTH = 36


@lru_cache(maxsize=8192)
def message_key(uuid: str) -> int:
    """Return the 60-bit key of a message uuid. Remembered: a line's parent is nearly always one of the lines before."""
    digest = hashlib.blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - KEY_BITS)


def chunk_id(key: int, block: int) -> str:
    """Return the public id of a chunk: 12 digits of the message's key and one or two of the block's number.

    Blocks beyond 1,023 of one line share the last id: no transcript has been seen with more than a few dozen.
    """
    digits = [_DIGITS[(key >> shift) & 31] for shift in range(KEY_BITS - 5, -1, -5)]
    block = min(block, _MAX_BLOCK - 1)
    if block >= 32:
        digits.append(_DIGITS[block >> 5])
    digits.append(_DIGITS[block & 31])
    return "".join(digits)


def parse_chunk_id(text: str) -> tuple[int, int]:
    """Return (message key, block number).

    Raises:
        NotFound: The text is not a chunk id.
    """
    digits = [_VALUES.get(character, -1) for character in text.strip().lower()]
    if not _KEY_DIGITS < len(digits) <= _KEY_DIGITS + 2 or min(digits) < 0:
        raise NotFound(
            f"There is no chunk {text[:40]!r}",
            "A chunk_id has 13 or 14 letters and digits.",
            "Take it from a hit of keyword_search or hybrid_search.",
        )
    key = 0
    for digit in digits[:_KEY_DIGITS]:
        key = key << 5 | digit
    block = 0
    for digit in digits[_KEY_DIGITS:]:
        block = block << 5 | digit
    return key, block


def pack_uuid(uuid: str) -> bytes | str:
    """Return the 16 bytes of a uuid written the usual way, else the text itself."""
    if len(uuid) == _UUID_LENGTH and uuid[8] == uuid[13] == uuid[18] == uuid[23] == "-":
        digits = uuid[:8] + uuid[9:13] + uuid[14:18] + uuid[19:23] + uuid[24:]
        try:
            packed = bytes.fromhex(digits)
        except ValueError:
            return uuid
        if packed.hex() == digits:  # not so for upper case, and for white space between digits
            return packed
    return uuid


def unpack_uuid(stored: bytes | str) -> str:
    """Return the text of a stored uuid."""
    return str(UUID(bytes=stored)) if isinstance(stored, bytes) else stored
