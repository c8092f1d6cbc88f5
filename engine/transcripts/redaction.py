"""Finds secrets of well-known shapes in text and replaces each by `[redacted:<kind>]`. Pure.

Applied before text enters the index and to every text that is handed out; the archive stays exact. A text is first
searched for the few characters each shape begins with, and only the rules whose characters are there are tried:
measured 27 MB of text a second, which is a ninth of the transcripts it comes from.

detect-secrets was looked at instead: it works line by line, its entropy rules take every hash for a secret, and it
brings `requests` into a program that must never use the network.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.transcripts.secret_shapes import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.transcripts.secret_shapes import Rule

_GAP: Final = "\n…\n"
"""Where `chunking.cut` left out the middle of a text."""

_CUT_TOKEN: Final = 60
"""`chunking.cut` looks for white space so far; a longer run of characters may be half of a secret."""

_SHORTENED_TOKEN: Final = 57
"""`core.text.shorten` leaves a longer run of characters in two where it shortens to 200 characters."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    counts: Mapping[str, int]
    """How many of each kind were replaced."""


_RUN: Final = re.compile(r"[A-Za-z0-9_-]{16,}")
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
    if _GAP in text or text.endswith("…"):
        redacted = _without_halves(redacted, counts)
    return Redacted(redacted, counts)


def _worth_trying(text: str) -> list[Rule]:
    """Return the rules whose prefix or anchor is in a text, in the order of the table."""
    numbers: set[int] = set()
    runs = _RUN.findall(text)
    if runs:
        starts = {run[:3] for run in runs}
        if "\\" in text:
            # `\\nsk-…`: in a text that quotes JSON, an escaped line feed stands directly before the secret.
            starts.update(run[1:4] for run in runs if run[0] in "nrt")
        for start in starts & _PREFIXES:
            numbers.update(_BY_PREFIX[start])
        numbers.update(number for anchor, number in _BY_LONG_ANCHOR if anchor in text)
    lowered = text.lower()
    for word, more in _BY_WORD:
        if word in lowered:
            numbers.update(number for anchor, number, lower in more if anchor in (lowered if lower else text))
    return [RULES[number] for number in sorted(numbers)]


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


_HALF: Final = r"[A-Za-z0-9_+/=.~-]"
_HEAD_HALF: Final = re.compile(rf"{_HALF}{{{_CUT_TOKEN},}}(?={_GAP})")
_TAIL_HALF: Final = re.compile(rf"(?<={_GAP}){_HALF}{{{_CUT_TOKEN},}}")
_LAST_HALF: Final = re.compile(rf"(?<!{_HALF})[A-Za-z0-9_+=~-]{{{_SHORTENED_TOKEN},}}(?=…\Z)")
"""Not a path: people ask about long ones, and a shape with slashes is told by less."""


def _without_halves(text: str, counts: Counter[str]) -> str:
    """Take out long runs that were cut in two: half a secret has no shape any more."""
    for pattern in (_HEAD_HALF, _TAIL_HALF, _LAST_HALF):
        text, found = pattern.subn("[redacted:cut]", text)
        if found:
            counts["cut"] += found
    return text


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
)
"""Searched for in every text; an anchor that holds one of them is searched for only where that is there."""


def _anchors() -> list[tuple[str, int, bool]]:
    return [(anchor, number, rule.lower) for number, rule in enumerate(RULES) for anchor in rule.anchors]


_BY_WORD: Final = tuple((word, tuple(each for each in _anchors() if word in each[0].lower())) for word in _WORDS)
_BY_LONG_ANCHOR: Final = tuple(
    (anchor, number) for anchor, number, _ in _anchors() if not any(word in anchor.lower() for word in _WORDS)
)
"""What is left: shapes with a long run of characters, such as `ya29.…`."""
