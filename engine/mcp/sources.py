"""What the rows of a dated Knowledge reply are drawn from: it goes and stays with them, and counts in their budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from engine.mcp.measure import SEPARATOR, cost

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SourcesOfRows:
    """The summaries of sources that a reply carries beside its rows, by id."""

    by_id: Mapping[str, Row]

    @classmethod
    def taken_from(cls, method: str, reply: Row) -> Self | None:
        """Take them out of a reply, None when it has none."""
        found = reply.get("sources")
        if not method.startswith("knowledge_") or not isinstance(found, list):
            return None
        del reply["sources"]
        return cls({row["id"]: row for row in cast("list[Row]", found)})

    def of(self, rows: list[Any]) -> list[Row]:
        """Return those of some rows, each once, in the order the rows name them."""
        named = (name for row in rows if isinstance(row, Mapping) for name in cast("Row", row).get("sources", ()))
        return [self.by_id[name] for name in dict.fromkeys(named) if name in self.by_id]

    def prefix(self, rows: list[Any], room: int) -> int:
        """Return how many rows from the first on fit in the room together with their sources."""
        counted: set[str] = set()

        def along(row: Any) -> int:
            new = [one for one in self.of([row]) if one["id"] not in counted]
            counted.update(one["id"] for one in new)
            return sum(cost(one) + SEPARATOR for one in new)

        return prefix(rows, room, along)


def prefix(rows: list[Any], room: int, along: Callable[[Any], int] = lambda _: 0) -> int:
    """Return how many rows from the first on fit in the room, each with what comes along with it."""
    used = 0
    for number, row in enumerate(rows):
        used += cost(row) + SEPARATOR + along(row)
        if used > room:
            return number
    return len(rows)
