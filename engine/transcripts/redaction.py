"""Finds secrets of well-known shapes in text and replaces each by `[redacted:<kind>]`. Pure.

Applied before text enters the index and to every text that is handed out; the archive stays exact. A text is first
searched for the few characters each shape begins with, and only the rules whose characters are there are tried:
measured 27 MB of text a second, which is a ninth of the transcripts it comes from.

detect-secrets was looked at instead: it works line by line, its entropy rules take every hash for a secret, and it
brings `requests` into a program that must never use the network.
"""

from __future__ import annotations

import string
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.transcripts.secret_shapes import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.transcripts.secret_shapes import Rule

_GAP: Final = "\n…\n"
"""Where `chunking.cut` left out the middle of a text."""

_ELLIPSIS: Final = "…"
_CUT_TOKEN: Final = 60
"""`chunking.cut` looks for white space so far; a longer run of characters may be half of a secret."""

_SHORTENED_TOKEN: Final = 57
"""`core.text.shorten` leaves a longer run of characters in two where it shortens to 200 characters."""


class Redacted(NamedTuple):
    """A text without its secrets."""

    text: str
    counts: Mapping[str, int]
    """How many of each kind were replaced."""


_RUN: Final = 16
"""Letters, digits, `_` and `-` in a row: no shape that is known by its prefix or by a rare anchor has fewer."""

_MARKED: Final = b"x" * _RUN
_MARKS: Final = bytes(120 if (byte < 128 and chr(byte).isalnum()) or byte in b"_-" else 32 for byte in range(256))
_SHORTEST: Final = 12
"""Characters of the shortest text that holds anything: `password=a1`."""


def redact(text: str) -> Redacted:
    """Return the text with its secrets replaced, and how many of each kind there were. Never raises."""
    if len(text) < _SHORTEST:
        return Redacted(text, {})
    counts: Counter[str] = Counter()
    redacted = text
    for rule in _worth_trying(text):
        redacted = _apply(rule, redacted, counts)
    if _GAP in text or text.endswith(_ELLIPSIS):
        redacted = _without_halves(redacted, counts)
    return Redacted(redacted, counts)


def _worth_trying(text: str) -> list[Rule]:
    """Return the rules whose prefix or anchor is in a text, in the order of the table."""
    numbers: set[int] = set()
    starts = _starts_of_runs(text)
    if starts:
        for start in starts & _PREFIXES:
            numbers.update(_BY_PREFIX[start])
        numbers.update(number for anchor, number in _BY_LONG_ANCHOR if anchor in text)
    lowered = text.lower()
    for word, more in _BY_WORD:
        if word in lowered:
            numbers.update(number for anchor, number, lower in more if anchor in (lowered if lower else text))
    return [RULES[number] for number in sorted(numbers)]


def _starts_of_runs(text: str) -> set[str]:
    """Return the first three characters of every long run.

    Looking for sixteen marks in a row leaps over the text; a pattern for such runs would try every character of it.
    """
    marks = text.encode("ascii", "replace").translate(_MARKS)
    starts: set[str] = set()
    is_escaped = "\\" in text
    at = marks.find(_MARKED)
    while at >= 0:
        starts.add(text[at : at + 3])
        if is_escaped and text[at] in "nrt":
            # `\\nsk-…`: in a text that quotes JSON, an escaped line feed stands directly before the secret.
            starts.add(text[at + 1 : at + 4])
        end = marks.find(b" ", at + _RUN)
        if end < 0:
            break
        at = marks.find(_MARKED, end)
    return starts


def redacted_text(text: str) -> str:
    """Return the text with its secrets replaced."""
    return redact(text).text


def _apply(rule: Rule, text: str, counts: Counter[str]) -> str:
    group = 1 if rule.pattern.groups else 0
    parts: list[str] = []
    position = 0
    searched = text.lower() if rule.lower else text
    if len(searched) != len(text):
        # One of the few letters whose lower case is longer: places must stay the same.
        searched = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
    for match in rule.pattern.finditer(searched):
        start, end = match.span(group)
        if rule.accept is not None and not rule.accept(text[start:end]):
            continue
        parts += (text[position:start], f"[redacted:{rule.kind}]")
        position = end
        counts[rule.kind] += 1
    return "".join((*parts, text[position:])) if parts else text


_LAST_HALF: Final = string.ascii_letters + string.digits + "_+=~-"
"""Not a path: people ask about long ones, and a shape with slashes is told by less."""

_PATH: Final = ("/", ".")
_HALF: Final = f"{_LAST_HALF}/."
_HALVED: Final = "[redacted:cut]"


def _without_halves(text: str, counts: Counter[str]) -> str:
    """Take out long runs that were cut in two: half a secret has no shape any more."""
    at = text.find(_GAP)
    while at >= 0:
        if _is_half(text[max(0, at - _CUT_TOKEN) : at]):
            head = text[:at].rstrip(_HALF) + _HALVED
            text = head + text[at:]
            at = len(head)
            counts["cut"] += 1
        end = at + len(_GAP)
        if _is_half(text[end : end + _CUT_TOKEN]):
            text = text[:end] + _HALVED + text[end:].lstrip(_HALF)
            counts["cut"] += 1
        at = text.find(_GAP, at + 1)
    if text.endswith(_ELLIPSIS):
        rest = text.removesuffix(_ELLIPSIS).rstrip(_LAST_HALF)
        if len(text) - len(_ELLIPSIS) - len(rest) >= _SHORTENED_TOKEN and rest[-1:] not in _PATH:
            text = f"{rest}{_HALVED}{_ELLIPSIS}"
            counts["cut"] += 1
    return text


def _is_half(text: str) -> bool:
    return len(text) == _CUT_TOKEN and not text.strip(_HALF)


def _numbers_by_prefix() -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for number, rule in enumerate(RULES):
        for prefix in rule.prefixes:
            found[prefix] = (*found.get(prefix, ()), number)
    return found


_BY_PREFIX: Final = _numbers_by_prefix()
_PREFIXES: Final = frozenset(_BY_PREFIX)

_WORDS: Final = (
    "pass",
    "token",
    "secret",
    "key",
    "://",
    "bearer",
    "authorization",
    "curl",
    "aws",
    "-us",
    "pwd=",
    "discord",
    "bot ",
    "login",
    "mysql",
    "identified",
    "credential",
    "cookie",
    "redis-cli",
    "mongo",
)
"""Searched for in every text; an anchor that holds one of them is searched for only where that is there."""


def _anchors() -> list[tuple[str, int, bool]]:
    return [(anchor, number, rule.lower) for number, rule in enumerate(RULES) for anchor in rule.anchors]


_BY_WORD: Final = tuple((word, tuple(each for each in _anchors() if word in each[0].lower())) for word in _WORDS)
_BY_LONG_ANCHOR: Final = tuple(
    (anchor, number) for anchor, number, _ in _anchors() if not any(word in anchor.lower() for word in _WORDS)
)
"""What is left: shapes with a long run of characters, such as `ya29.…`."""
