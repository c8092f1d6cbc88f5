"""Which rows of a list were asked for, capped, with the cap said."""

from __future__ import annotations

from dataclasses import dataclass

from engine.arguments import LIMIT_CAP
from engine.core.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    limit: int
    offset: int
    applied: int | None
    """The cap, where more was asked for."""


def page_of(limit: int, offset: int) -> Page:
    """Return the page that was asked for.

    Raises:
        InvalidArgument: A number below the first row.
    """
    if limit < 1 or offset < 0:
        raise InvalidArgument(
            "limit must be at least 1 and offset at least 0", f"You sent limit {limit} and offset {offset}.", ""
        )
    return Page(min(limit, LIMIT_CAP), offset, LIMIT_CAP if limit > LIMIT_CAP else None)
