"""Which records a question may see: kind, type, tag, lifecycle and dates, cut before anything is counted (R67)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.dates import Bounds, require_bounds
from engine.knowledge.errors import EmptyQuery, QueryTooLong
from engine.knowledge.names import utf16_length

if TYPE_CHECKING:
    from engine.knowledge.ontology import Ontology
    from engine.knowledge.queries import GrepQuery, LookupQuery, SearchLifecycle
    from engine.knowledge.records import DateField, Record

GREP_UNITS = 500
LOOKUP_UNITS = 200
"""UTF-16 units of a query (R20, R29), measured before trimming."""


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A predicate over records."""

    lifecycle: SearchLifecycle = "active"
    kind: str | None = None
    types: frozenset[tuple[str, str]] | None = None
    tag: str | None = None
    time_field: DateField = "occurred_at"
    bounds: Bounds | None = None

    def passes(self, record: Record) -> bool:
        """Return whether a record is in the corpus of the question."""
        if self.lifecycle not in ("all", record.lifecycle):
            return False
        if self.kind is not None and record.kind != self.kind:
            return False
        if self.types is not None and (record.kind, record.type) not in self.types:
            return False
        if self.tag is not None and self.tag not in record.tags:
            return False
        if self.bounds is None:
            return True
        when = record.date_of(self.time_field)
        return when is not None and self.bounds.holds(when)


def filter_of(query: GrepQuery | LookupQuery, ontology: Ontology) -> RecordFilter:
    """Return the filter of a search.

    Raises:
        InvalidDate: A bound is no date.
        InvalidRange: since lies after until.
    """
    bounds = None
    time_field: DateField = "occurred_at"
    since, until = getattr(query, "since", None), getattr(query, "until", None)
    if since is not None or until is not None:
        bounds = require_bounds(since, until)
        time_field = getattr(query, "time_field", "occurred_at")
    types = ontology.expand(query.type) if query.type is not None else None
    return RecordFilter(query.lifecycle, query.kind, types, query.tag, time_field, bounds)


def check_length(query: str, limit: int) -> None:
    """Refuse a query that is too long or blank.

    Raises:
        QueryTooLong: More UTF-16 units than the limit.
        EmptyQuery: Nothing but blanks.
    """
    length = utf16_length(query)
    if length > limit:
        raise QueryTooLong(
            f"The query has {length} characters",
            f"At most {limit} are accepted.",
            "Shorten it to the words that matter.",
        )
    if not query.strip():
        raise EmptyQuery("The query is empty", "", "Pass the words or the name to look for.")
