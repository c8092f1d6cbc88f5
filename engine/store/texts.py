"""How the texts of chunks are stored: short ones as they are, longer ones as a zstd frame each.

Texts were a third of an index (10.8 of 31.7 MB for 84 MB of transcripts); packed they are 5. Packing costs 0.05 s of
these, unpacking 5 microseconds a text. Both forms stand in one column, told apart by their type, so that a text is
read by its number whatever it is: whoever selects one wraps its column in `plain`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    import zstandard

PACKED_FROM: Final = 200
"""Bytes from which on a text is packed: shorter ones hardly get smaller (84 MB of transcripts: 4.26 MB with 200, 4.45
with 500)."""

LEVEL: Final = 3
"""zstd's own default; 1 takes three quarters of the time and leaves 1 % more."""

MAGIC: Final = b"\x28\xb5\x2f\xfd"
"""How a frame begins (RFC 8878, section 3.1.1). No UTF-8 does: its second byte continues a character not begun."""

FROM_BYTES: Final = f"iif(substr(value, 1, 4) = x'{MAGIC.hex()}', value, CAST(value AS TEXT))"
"""SQL that stores what `Packer.bytes_of` returned: one statement for many texts binds values of one type only."""


class Packer:
    """Makes of texts what is stored. For one thread."""

    def __init__(self) -> None:
        self._compressor: zstandard.ZstdCompressor | None = None

    def bytes_of(self, text: str) -> bytes:
        """Return a text as UTF-8, or packed where that is shorter."""
        plain_bytes = text.encode("utf-8")
        if len(plain_bytes) < PACKED_FROM:
            return plain_bytes
        if self._compressor is None:
            import zstandard  # noqa: PLC0415 - a reader that shows short texts does without

            self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=True)
        packed = self._compressor.compress(plain_bytes)
        return packed if len(packed) < len(plain_bytes) else plain_bytes

    def stored(self, text: str) -> str | bytes:
        """Return a text as its column holds it."""
        made = self.bytes_of(text)
        return made if made.startswith(MAGIC) else text


def plain(column: str) -> str:
    """Return the SQL of a text as it was said; `plain_text` alone does it, too, and is called for each text."""
    return f"CASE typeof({column}) WHEN 'blob' THEN plain_text({column}) ELSE {column} END"


class _Unpacker:
    """What `plain` calls. Of one connection: frames are unpacked by one thread at a time."""

    def __init__(self) -> None:
        self._decompressor: zstandard.ZstdDecompressor | None = None

    def __call__(self, *values: object) -> str | None:
        (packed,) = values
        if not isinstance(packed, bytes):
            return packed if isinstance(packed, str) else None
        import zstandard  # noqa: PLC0415 - as above

        if self._decompressor is None:
            self._decompressor = zstandard.ZstdDecompressor()
        try:
            return self._decompressor.decompress(packed).decode("utf-8")
        except (zstandard.ZstdError, UnicodeDecodeError) as exc:
            raise apsw.CorruptError(f"A text cannot be unpacked: {exc}") from exc


def teach(connection: apsw.Connection) -> None:
    """Teach a connection what `plain` calls."""
    connection.create_scalar_function("plain_text", _Unpacker(), 1, deterministic=True)
