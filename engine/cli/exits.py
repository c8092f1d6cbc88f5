"""Exit codes (interface.md, "CLI") and which error means which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.core.errors import Ambiguous, Cancelled, InvalidArgument, NotFound

# Loading them has a second use: a running engine's error comes back as its class only where that is loaded.
from engine.knowledge.errors import (
    AmbiguousEntity,
    EmptyQuery,
    InvalidDate,
    InvalidRange,
    InvalidTimeZone,
    QueryTooLong,
    SnapshotChanged,
    TooManyTokens,
    UnknownEntity,
)

if TYPE_CHECKING:
    from engine.core.errors import EngineError

DONE: Final = 0
NOTHING_FOUND: Final = 1
WRONG_USE: Final = 2
FAILED: Final = 3
"""No engine, or it failed."""
FINDINGS: Final = 4
"""Something is wrong with what was looked at, and the answer says what."""
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells count."""
BROKEN_PIPE: Final = 141
"""128 + SIGPIPE: whoever read our output has seen enough."""


def exit_code(error: EngineError) -> int:
    """Return the exit code for an error."""
    match error:
        case NotFound() | UnknownEntity():
            return NOTHING_FOUND
        case (
            InvalidArgument() | Ambiguous() | AmbiguousEntity() | EmptyQuery() | QueryTooLong() | TooManyTokens()
            | InvalidDate() | InvalidRange() | InvalidTimeZone() | SnapshotChanged()
        ):  # fmt: skip
            return WRONG_USE
        case Cancelled():
            return INTERRUPTED
        case _:
            return FAILED
