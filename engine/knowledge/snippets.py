"""The piece of a field that shows why it matched, with offsets in UTF-16 units and lines of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.names import cut_utf16, utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.store.knowledge_index import Token

FULL_UNITS = 480
"""UTF-16 units of a snippet in a complete hit (R61)."""
AGENT_UNITS = 160
SUMMARY_UNITS = 280
LOCATED_BYTES = 65_536
"""A body larger than this is searched and scored, but its snippet is the opening (R64)."""

MATCHES_WEIGHED = 2_000
"""Matches of one field among which the densest place is looked for."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of one field."""

    field: str
    text: str
    start: int
    """Zero-based, in UTF-16 units of the field."""
    end: int
    located: bool
    """It shows the match; otherwise it is the field's opening."""
    start_line: int | None = None
    """One-based, of the file, for bodies."""
    end_line: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the snippet as complete hits show it."""
        shown: dict[str, object] = {
            "text": self.text,
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "matchLocated": self.located,
        }
        if self.start_line is not None:
            shown["startLine"] = self.start_line
            shown["endLine"] = self.end_line
        return shown


@dataclass(frozen=True, slots=True)
class Sought:
    """The words of a question, and whether they must stand together."""

    words: tuple[str, ...]
    phrase: bool


def opening(field: str, text: str, units: int, body_line: int | None = None) -> Snippet:
    """Return the beginning of a field, behind leading blank lines."""
    start = len(text) - len(text.lstrip())
    piece = cut_utf16(text[start:], units).rstrip()
    return _snippet(field, text, start, start + len(piece), body_line, located=False)


def locate(
    field: str,
    text: str,
    sought: Sought,
    units: int,
    *,
    words_of: Callable[[str], Sequence[Token]],
    body_line: int | None = None,
) -> Snippet | None:
    """Return the densest piece that holds words of the question, None when the field holds none."""
    data = text.encode("utf-8", "replace")
    tokens = words_of(text)
    spans = _phrases(tokens, sought.words) if sought.phrase else _matches(tokens, set(sought.words))
    if not spans:
        return None
    places = _in_characters(data, spans[:MATCHES_WEIGHED])
    first, last = _densest(places, units)
    begin, end = places[first][0], places[last][1]
    piece_units = utf16_length(text[begin:end])
    if piece_units > units:
        end = begin + len(cut_utf16(text[begin:end], units))
    else:
        begin, end = _trimmed(text, *_widen(text, begin, end, units - piece_units))
    return _snippet(field, text, begin, end, body_line, located=True)


def summary_of(authored: str | None, body: str) -> str | None:
    """Return the authored summary, else the first paragraph that is no heading (contract 3, point 7)."""
    if authored:
        return cut_utf16(authored, SUMMARY_UNITS)
    for paragraph in body.replace("\r\n", "\n").split("\n\n"):
        text = " ".join(line.strip() for line in paragraph.split("\n") if line.strip() and not line.startswith("#"))
        if text:
            return cut_utf16(text, SUMMARY_UNITS)
    return None


def _in_characters(data: bytes, spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return spans of UTF-8 bytes as spans of characters; one pass, because a body may hold thousands of matches."""
    found: list[tuple[int, int, str]] = []
    at, count = 0, 0
    for start, stop, word in spans:
        if start < at:
            # Phrases may overlap.
            at, count = 0, 0
        begin = count + len(data[at:start].decode())
        at, count = start, begin
        found.append((begin, begin + len(data[start:stop].decode()), word))
    return found


def _matches(tokens: Sequence[Token], words: set[str]) -> list[tuple[int, int, str]]:
    return [(token.start, token.stop, token.word) for token in tokens if token.word in words]


def _phrases(tokens: Sequence[Token], words: tuple[str, ...]) -> list[tuple[int, int, str]]:
    return [
        (tokens[index].start, tokens[index + len(words) - 1].stop, "")
        for index in range(len(tokens) - len(words) + 1)
        if all(tokens[index + shift].word == word for shift, word in enumerate(words))
    ]


def _densest(places: Sequence[tuple[int, int, str]], units: int) -> tuple[int, int]:
    """Return first and last match of the window with the most different words, then the most matches, then first."""
    best, chosen = (0, 0), (0, 0)
    last = 0
    counts: dict[str, int] = {}
    for first, (begin, _, _) in enumerate(places):
        while last < len(places) and (last <= first or places[last][1] - begin <= units):
            counts[places[last][2]] = counts.get(places[last][2], 0) + 1
            last += 1
        worth = (len(counts), last - first)
        if worth > best:
            best, chosen = worth, (first, last - 1)
        word = places[first][2]
        counts[word] -= 1
        if not counts[word]:
            del counts[word]
    return chosen


def _widen(text: str, begin: int, end: int, spare: int) -> tuple[int, int]:
    """Return the piece with context on both sides, whole words where there is room."""
    before = 0
    while begin > 0 and before + (2 if text[begin - 1] > "\uffff" else 1) <= spare // 2:
        begin -= 1
        before += 2 if text[begin] > "\uffff" else 1
    left = spare - before
    while end < len(text) and (2 if text[end] > "\uffff" else 1) <= left:
        left -= 2 if text[end] > "\uffff" else 1
        end += 1
    while begin > 0 and left >= (2 if text[begin - 1] > "\uffff" else 1):
        begin -= 1
        left -= 2 if text[begin] > "\uffff" else 1
    return begin, end


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the piece without blank space around it, so that its lines are those of what it shows (R62)."""
    piece = text[begin:end]
    return begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())


def _snippet(field: str, text: str, begin: int, end: int, body_line: int | None, *, located: bool) -> Snippet:
    start = utf16_length(text[:begin])
    piece = text[begin:end]
    lines: tuple[int | None, int | None] = (None, None)
    if body_line is not None:
        first = body_line + text.count("\n", 0, begin)
        lines = (first, first + piece.count("\n"))
    return Snippet(field, piece, start, start + utf16_length(piece), located, *lines)
