"""The best window of a text around what matched, with marks, never cutting a character in half."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.text import camel_parts, is_camel, stem
from engine.search.query import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.query import Query, Term

SNIPPET_CHARACTERS = 240
"""About three lines on a terminal, two in the search window, 100 tokens for Claude."""

_SPACE = re.compile(r"\s+")
_TOKEN = re.compile(r"[^\W_]+")
_BEGINNING = 3
"""Letters that a word and another form of it have in common: stemming changes endings only."""

_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text on one line."""

    text: str
    marks: tuple[tuple[int, int], ...]
    """Start and end of each match in `text`, code points, in order, without overlaps."""


def snippet_of(text: str, query: Query | None, *, limit: int = SNIPPET_CHARACTERS) -> Snippet:
    """Return the window of a text that shows most of the query's terms, the earliest such window.

    Args:
        text: The chunk's text.
        query: None to show the beginning.
        limit: Longest window in code points.
    """
    found = matches_in(text, query) if query is not None else []
    start, end = _window(text, found, limit)
    return _flatten(text, start, end, [(m.start, m.end) for m in found if start <= m.start and m.end <= end])


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Where a term of the query stands in a text."""

    start: int
    end: int
    term: int


def matches_in(text: str, query: Query) -> list[TextMatch]:
    """Return every place where a term of the query stands in a text, in order."""
    if not query.terms:
        return []
    # Words next to each other need every word; otherwise those that cannot match are not even made.
    alone = text.isascii() and all(len(term.words) == 1 for term in query.terms)
    tokens = _possible_tokens(text, query.terms) if alone else tokens_of(text)
    found: list[TextMatch] = []
    for number, term in enumerate(query.terms):
        found += [TextMatch(start, _whole(text, end, 1), number) for start, end in _places(tokens, term)]
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[TextMatch] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _possible_tokens(text: str, terms: Sequence[Term]) -> list[Token]:
    """Return the words of an ASCII text that hold a term's word or begin as its stem does, in order."""
    lowered = text.lower()
    needles: list[str] = []
    for term in terms:
        word = term.words[0]
        needles.append(re.escape(word))
        if not (term.is_phrase or term.is_prefix):
            needles.append(f"(?<![^\\W_]){re.escape(stem(word)[:_BEGINNING])}")
    found: list[Token] = []
    position = 0
    possible = re.compile("|".join(needles))
    while (match := possible.search(lowered, position)) is not None:
        start = match.start()
        while start > 0 and lowered[start - 1].isalnum():
            start -= 1
        word = _TOKEN.match(lowered, start)
        if word is None:
            position = match.end() + 1
            continue
        position = word.end()
        found.append(Token(word[0], start, position, text[start:position]))
    return found


def _places(tokens: list[Token], term: Term) -> list[tuple[int, int]]:
    words = term.words
    size = len(words)
    if size == 1 and not term.is_phrase and not term.is_prefix:
        return _single(tokens, term)
    places: list[tuple[int, int]] = []
    first, last = words[0], words[-1]
    for index in range(len(tokens) - size + 1):
        if size == 1:
            fits = tokens[index].word.startswith(first) if term.is_prefix else tokens[index].word == first
        else:
            if tokens[index].word != first:
                continue
            ending = tokens[index + size - 1].word
            fits = (ending.startswith(last) if term.is_prefix else ending == last) and all(
                tokens[index + step].word == words[step] for step in range(1, size - 1)
            )
        if fits:
            end = tokens[index + size - 1]
            places.append((tokens[index].start, end.start + len(last) if term.is_prefix else end.end))
    return places


def _single(tokens: list[Token], term: Term) -> list[tuple[int, int]]:
    word = term.words[0]
    stemmed = stem(word)
    parts = camel_parts(term.text) if is_camel(term.text) else [word]
    exact: list[tuple[int, int]] = []
    near: list[tuple[int, int]] = []
    beginning = stemmed[:_BEGINNING]
    for token in tokens:
        if token.word == word:
            exact.append((token.start, token.end))
        # Stemming changes endings only, so most words need not be stemmed to see that they differ.
        elif token.word.startswith(beginning) and stem(token.word) == stemmed:
            near.append((token.start, token.end))
        elif len(token.raw) > len(word) and token.raw != token.word and is_camel(token.raw):
            place = _inside(token, parts)
            if place is not None:
                near.append(place)
    return exact + near


def _inside(token: Token, parts: list[str]) -> tuple[int, int] | None:
    """Where the parts of an identifier stand inside a longer one."""
    inner = camel_parts(token.raw)
    for index in range(len(inner) - len(parts) + 1):
        if inner[index : index + len(parts)] == parts:
            start = token.start + sum(len(each) for each in inner[:index])
            return start, start + sum(len(each) for each in parts)
    return None


def _window(text: str, found: list[TextMatch], limit: int) -> tuple[int, int]:
    if len(text) <= limit:
        return 0, len(text)
    if not found:
        return 0, _whole(text, limit, -1)
    best, best_last, best_value = 0, 0, (-1, -1)
    last = 0
    for first in range(len(found)):
        last = max(last, first)
        while last + 1 < len(found) and found[last + 1].end - found[first].start <= limit:
            last += 1
        inside = found[first : last + 1]
        value = (len({each.term for each in inside}), min(len(inside), 6))
        if value > best_value:
            best, best_last, best_value = first, last, value
    span_start, span_end = found[best].start, found[best_last].end
    spare = max(0, limit - (span_end - span_start))
    # A third of the spare room before the first match: what follows explains more than what precedes.
    start = max(0, min(span_start - spare // 3, len(text) - limit))
    end = min(len(text), start + limit)
    start, end = _at_words(text, start, end, span_start, min(span_end, start + limit))
    return start, end


def _at_words(text: str, start: int, end: int, keep_start: int, keep_end: int) -> tuple[int, int]:
    """Move both ends inwards to white space where some is near, without losing a match."""
    if start > 0:
        for position in range(start, min(start + 24, keep_start)):
            if text[position].isspace():
                start = position + 1
                break
        else:
            start = _whole(text, start, 1)
    if end < len(text):
        for position in range(end, max(end - 24, keep_end), -1):
            if text[position - 1].isspace():
                end = position - 1
                break
        else:
            end = _whole(text, end, -1)
    return start, max(end, start)


def _whole(text: str, position: int, direction: int) -> int:
    """Move a cut out of a character made of several code points (accents, emoji sequences, flags)."""
    for _ in range(16):
        if not 0 < position < len(text) or not _joined(text[position - 1], text[position]):
            return position
        position += direction
    return position


def _joined(before: str, after: str) -> bool:
    if unicodedata.combining(after) or after in _JOINERS or before == "\u200d":
        return True
    code = ord(after)
    if 0x1F3FB <= code <= 0x1F3FF or unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    return 0x1F1E6 <= code <= 0x1F1FF and 0x1F1E6 <= ord(before) <= 0x1F1FF


def _flatten(text: str, start: int, end: int, marks: list[tuple[int, int]]) -> Snippet:
    """Put the window on one line, with ellipses where the text goes on, and move the marks along."""
    pieces: list[str] = ["… "] if start > 0 else []
    length = len(pieces[0]) if pieces else 0
    moved: list[tuple[int, int]] = []
    position = start
    for mark_start, mark_end in marks:
        plain = _squeeze(text[position:mark_start], (length > 0 and pieces[-1][-1:] == " ") or length == 0)
        pieces.append(plain)
        length += len(plain)
        marked = _SPACE.sub(" ", text[mark_start:mark_end])
        moved.append((length, length + len(marked)))
        pieces.append(marked)
        length += len(marked)
        position = mark_end
    pieces.append(_squeeze(text[position:end], length == 0 or pieces[-1][-1:] == " ").rstrip())
    if end < len(text):
        pieces.append(" …")
    return Snippet("".join(pieces), tuple(moved))


def _squeeze(text: str, after_space: bool) -> str:  # noqa: FBT001 - private, one meaning
    flat = _SPACE.sub(" ", text)
    return flat.lstrip() if after_space else flat
