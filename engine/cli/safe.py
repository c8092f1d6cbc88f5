"""Other people's text on a terminal: it may show, and may not act.

Every function maps one character to one character, so that offsets of matches stay right. A transcript can hold escape
sequences (a program's coloured output, or somebody's attack), NULs, lone surrogates, and marks that reverse the order
of what is read.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

REPLACEMENT: Final = "\ufffd"

_PICTURES: Final = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
"""U+2400 and following show a control character as a small picture of its name."""

_INVISIBLE: Final = (
    *range(0x80, 0xA0),  # C1 controls: a terminal takes U+009B for ESC [
    *range(0x202A, 0x202F),  # direction overrides and embeddings
    *range(0x2066, 0x206A),  # direction isolates
    *range(0xD800, 0xE000),  # halves of surrogate pairs
)

_ALL: Final[Mapping[int, str]] = MappingProxyType(
    {**_PICTURES, 0x7F: "\u2421", **dict.fromkeys(_INVISIBLE, REPLACEMENT)}
)
_ONE_LINE: Final[Mapping[int, str]] = MappingProxyType(
    {**_ALL, ord("\t"): " ", ord("\n"): " ", ord("\r"): " ", 0x2028: " ", 0x2029: " "}
)


def visible(text: str) -> str:
    """Return the text with nothing in it that a terminal would act on; lines and tabs stay."""
    return text.translate(_ALL)


def one_line(text: str) -> str:
    """Return the text as `visible` does, its line breaks and tabs as spaces."""
    return text.translate(_ONE_LINE)
