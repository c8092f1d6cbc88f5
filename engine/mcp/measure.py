"""What a reply costs the model that reads it, and cutting texts so that it costs less.

Cost is additive over characters, so the cost of a list is the sum of its rows: everything here is linear in the reply.
It is counted in thirtieths of a token, which makes both estimates whole numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

UNITS_PER_TOKEN: Final = 30
CHARACTER_UNITS: Final = 12
"""2.5 characters a token (interface.md, "Every reply obeys a token budget")."""
WIDE_UNITS: Final = 25
"""1.2 characters a token for East Asian text. Characters outside the basic plane count the same: they are emoji and
rarer Han, and two units of a JavaScript string, in which Claude Code counts its limit of 50,000."""

_WIDE: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00010000-\U0010ffff]"
)
"""Unicode's East Asian Width W and F, by blocks (15.1, Blocks.txt)."""

SEPARATOR: Final = 2 * CHARACTER_UNITS
"""`, ` between two rows and `: ` after a name. Claude Code writes no blanks; with them we err on the safe side."""

TEXT_KEYS: Final = frozenset(
    {"snippet", "text", "input", "opening", "highlights", "prompt", "answer", "summary", "body"}
)
"""Where history is quoted, and Knowledge's prose: what may be cut without breaking an id, a path or a date."""

SHORTEST_CUT: Final = 60
"""A quotation is not cut below this many characters."""

_BOTH_ENDS_FROM: Final = 400
"""From this length on a cut keeps the end as well: answers conclude there, and programs print their error last."""

Cutter = Callable[[str, int], str]


def cost(value: Any) -> int:
    """Return what a JSON value costs, in thirtieths of a token."""
    return text_cost(json.dumps(value, ensure_ascii=False))


def text_cost(text: str) -> int:
    """Return what characters cost as they stand, without quotes or escapes."""
    if text.isascii():
        return CHARACTER_UNITS * len(text)
    return CHARACTER_UNITS * len(text) + (WIDE_UNITS - CHARACTER_UNITS) * len(_WIDE.findall(text))


def printable(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which no JSON encoder of a client takes."""
    if isinstance(value, str):
        # Halves of a pair that were escaped one by one become the character they mean, single ones the mark for damage.
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {printable(key): printable(item) for key, item in members.items()}
    if isinstance(value, (list, tuple)):
        return [printable(item) for item in cast("list[Any]", value)]
    return value


def cut(text: str, length: int) -> str:
    """Return a text of at most `length` characters that says what is missing; both ends when there is room."""
    if len(text) <= length:
        return text
    if length < _BOTH_ENDS_FROM:
        return head(text, length)
    marker = f"\n[… {len(text) - length:,} characters left out …]\n"
    kept = length - len(marker)
    tail = kept // 3
    return text[: kept - tail] + marker + text[len(text) - tail :]


def head(text: str, length: int) -> str:
    """Return the beginning of a text, at most `length` characters with the ellipsis that says there was more."""
    return text if len(text) <= length else text[: max(length - 1, 0)] + "…"


def longest_prefix(text: str, room: int) -> int:
    """Return how many characters from the start on cost at most `room` inside a JSON text."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def longest_text(value: Any, *, quoted: bool = False) -> int:
    """Return the length of the longest quotation inside a value."""
    if isinstance(value, str):
        return len(value) if quoted else 0
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return max((longest_text(v, quoted=quoted or k in TEXT_KEYS) for k, v in members.items()), default=0)
    if isinstance(value, list):
        return max((longest_text(item, quoted=quoted) for item in cast("list[Any]", value)), default=0)
    return 0


def with_texts_cut(value: Any, length: int, more: str) -> Any:
    """Return a value with every quotation cut to `length` characters.

    Args:
        value: A row of a reply.
        length: Characters each quotation may keep.
        more: How to read what is missing; said in the block that was cut.
    """
    if isinstance(value, list):
        return [with_texts_cut(item, length, more) for item in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    members = cast("Mapping[str, Any]", value)
    result: dict[str, Any] = {}
    lost = 0
    for key, item in members.items():
        if key == "snippet" and isinstance(item, str):
            result[key] = head(item, length)
        elif key in TEXT_KEYS:
            result[key], missing = _quotation_cut(item, length)
            lost += missing
        else:
            result[key] = with_texts_cut(item, length, more)
    if "marks" in result and result.get("snippet") != members.get("snippet"):
        end = len(result["snippet"]) - 1
        result["marks"] = [mark for mark in result["marks"] if mark[1] <= end]
    if lost and "kind" in result:
        said = f"{lost:,} characters left out; {more}"
        result["truncated"] = f"{result['truncated']} {said}" if result.get("truncated") else said
    return result


def _quotation_cut(value: Any, length: int) -> tuple[Any, int]:
    """Return a quotation, or all texts of a structured one, cut; and how many characters that took away."""
    if isinstance(value, str):
        shorter = cut(value, length)
        return shorter, max(len(value) - length, 0)
    if isinstance(value, Mapping):
        members = {k: _quotation_cut(v, length) for k, v in cast("Mapping[str, Any]", value).items()}
        return {k: item for k, (item, _) in members.items()}, sum(missing for _, missing in members.values())
    if isinstance(value, list):
        items = [_quotation_cut(item, length) for item in cast("list[Any]", value)]
        return [item for item, _ in items], sum(missing for _, missing in items)
    return value, 0


def cut_to_fit(value: Any, room: int, more: str) -> Any:
    """Return a value whose quotations are as long as they can be for it to cost at most `room`.

    When even the shortest are too much, the value with the shortest is returned.
    """
    if cost(value) <= room:
        return value
    fitting = SHORTEST_CUT
    low, high = SHORTEST_CUT, longest_text(value)
    while low < high:  # about sixteen rounds
        middle = (low + high + 1) // 2
        if cost(with_texts_cut(value, middle, more)) <= room:
            low = fitting = middle
        else:
            high = middle - 1
    return with_texts_cut(value, fitting, more)
