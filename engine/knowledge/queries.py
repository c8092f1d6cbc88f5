"""What can be asked of Knowledge: one frozen value for each read tool. Ranges are checked where tools are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engine.knowledge.records import DateField, Kind, Lifecycle

View = Literal["agent", "full"]
Mode = Literal["all", "any", "phrase"]
SearchLifecycle = Literal["active", "superseded", "all"]
Order = Literal["asc", "desc"]
Eligibility = Literal["active", "include_inactive"]
OntologyView = Literal["catalog", "definitions", "sources", "diagnostics"]


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """Ranked keyword search."""

    query: str
    mode: Mode = "all"
    kind: Kind | None = None
    type: str | None = None
    tag: str | None = None
    lifecycle: SearchLifecycle = "active"
    time_field: DateField = "occurred_at"
    since: str | None = None
    until: str | None = None
    min_score: float | None = None
    limit: int = 20
    offset: int = 0
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class LookupQuery:
    """Exact id, title or alias."""

    query: str
    kind: Kind | None = None
    type: str | None = None
    tag: str | None = None
    lifecycle: SearchLifecycle = "active"
    limit: int = 20
    offset: int = 0
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class RecordsQuery:
    """The exhaustive inventory."""

    kind: Kind | None = None
    type: str | None = None
    tag: str | None = None
    lifecycle: Lifecycle | None = None
    limit: int = 50
    offset: int = 0
    snapshot: str | None = None
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """One record in full."""

    id: str
    body_offset: int = 0
    max_chars: int = 12_000


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """Records by a structured date."""

    entity: str | None = None
    kind: str | None = None
    time_field: DateField = "occurred_at"
    since: str | None = None
    until: str | None = None
    order: Order = "desc"
    eligibility: Eligibility = "active"
    include_sources: bool = False
    group: Literal["source"] | None = None
    limit: int = 20
    offset: int = 0
    snapshot: str | None = None
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class DayQuery:
    """One calendar day, or the week around it."""

    date: str
    week: bool = False
    time_zone: str = "UTC"
    kind: str | None = None
    order: Order = "asc"
    limit: int = 20
    offset: int = 0
    snapshot: str | None = None
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class SinceQuery:
    """What occurred since a date, oldest first."""

    since: str
    until: str | None = None
    kind: str | None = None
    limit: int = 20
    offset: int = 0
    snapshot: str | None = None
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class LastSeenQuery:
    """An entity's most recent dated record."""

    entity: str
    occurred_on_or_before: str | None = None
    view: View = "agent"


@dataclass(frozen=True, slots=True)
class OntologyQuery:
    """The vocabulary."""

    view: OntologyView = "catalog"
    name: str | None = None
    kind: Kind | None = None
    include_records: bool = False
    source_path: str | None = None
    max_chars: int = 12_000
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What was published, newest first."""

    id: str | None = None
    revision: int | None = None
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class MutationQuery:
    """The receipt of one publication."""

    request_id: str
