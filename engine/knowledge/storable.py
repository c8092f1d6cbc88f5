"""What may be written into a record at all, whatever its form: text that UTF-8 can hold, numbers that JSON can."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from engine.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_DEPTH = 32
"""Of values inside one another: more is no record of anything, and would exhaust the stack of whoever reads it."""


MAX_REQUEST_ID = 200
"""Characters: it stands in the journal and in the record itself."""


def readable(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a question as every room takes them: half a surrogate pair matches nothing."""
    return {name: _whole(value) if isinstance(value, str) else value for name, value in arguments.items()}


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def storable(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Look at every value of a write, keys included, and return them as they are.

    Raises:
        InvalidArgument: A NUL, half a surrogate pair, an infinite number, values nested too deep, or a request id that
            is too long or empty.
    """
    request_id = arguments.get("requestId")
    if isinstance(request_id, str) and not request_id.strip():
        raise InvalidArgument("requestId is empty", "", "Any short text that is new serves; left out, one is made.")
    if isinstance(request_id, str) and len(request_id) > MAX_REQUEST_ID:
        raise InvalidArgument(
            f"requestId has {len(request_id)} characters",
            f"At most {MAX_REQUEST_ID} are accepted.",
            "Any short text that is new serves; left out, one is made.",
        )
    for name, value in arguments.items():
        problem = _problem(value)
        if problem is not None:
            raise InvalidArgument(
                f"{name} holds {problem}", "It cannot be stored in a file of text.", "Take it out and call again."
            )
    return arguments


def _problem(value: object) -> str | None:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for each in level:
            if isinstance(each, str):
                found = _problem_of_text(each)
                if found is not None:
                    return found
            elif isinstance(each, float) and not math.isfinite(each):
                return "a number that is not finite"
            elif isinstance(each, dict):
                below += [*cast("dict[object, object]", each).keys(), *cast("dict[object, object]", each).values()]
            elif isinstance(each, (list, tuple)):
                below += cast("Sequence[object]", each)
        if not below:
            return None
        level = below
    return f"values more than {MAX_DEPTH} levels deep"


def _problem_of_text(text: str) -> str | None:
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return None
