"""The values of Knowledge: a record as read from its file, its evidence citations, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.knowledge.dates import When
    from engine.knowledge.yamltext import YamlValue

FORMAT = "knowledge-record-v1"
DEFAULT_SCOPE = "default"

Kind = Literal["page", "claim", "relationship"]
Lifecycle = Literal["active", "superseded", "withdrawn", "merged"]
DateField = Literal["occurred_at", "recorded_at", "updated_at", "due_at"]

KINDS: tuple[Kind, ...] = ("page", "claim", "relationship")
LIFECYCLES: tuple[Lifecycle, ...] = ("active", "superseded", "withdrawn", "merged")
DATE_FIELDS: tuple[DateField, ...] = ("occurred_at", "recorded_at", "updated_at", "due_at")
ORIGINS = ("stated", "observed", "inferred", "imported")


@dataclass(frozen=True, slots=True)
class Issue:
    """One finding about the vault. Any finding makes coverage incomplete (R78)."""

    code: str
    message: str
    path: str
    line: int | None = None
    """One-based line in the file, where one can be named."""
    id: str | None = None
    fatal: bool = True
    """The record it is about is invalid, so it appears in the inventory only (R39)."""
    repair: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the finding as replies show it."""
        shown: dict[str, object] = {"code": self.code, "path": self.path, "message": self.message}
        optional = (("line", self.line), ("id", self.id), ("repair", self.repair))
        return shown | {key: value for key, value in optional if value is not None}


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who said it, and through whom it came here. `by` is a record id or a free text."""

    by: str
    via: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceCitation:
    """A record's reference to a retained original."""

    id: str
    lines: tuple[int, int] | None = None
    """First and last line, one-based, inclusive."""
    quote: str | None = None
    attribution: str | None = None


@dataclass(frozen=True, slots=True)
class LifecycleChange:
    """Why, when and by whom a record left the active state."""

    reason: str
    at: str
    actor: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One page, claim or relationship, as its file says. Fields a kind does not have are empty."""

    id: str
    revision: int
    kind: Kind
    type: str
    """The domain type of a page, the claim kind, or the predicate (contract 1.3)."""
    title: str
    scope: str
    lifecycle: Lifecycle
    recorded_at: When
    updated_at: When
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summary: str | None = None
    occurred_at: When | None = None
    """Of a page: `fields.occurred_at` (R85)."""
    valid_until: When | None = None
    due_at: When | None = None
    owner: str | None = None
    entities: tuple[str, ...] = ()
    start: str | None = None
    """`from` of a relationship."""
    end: str | None = None
    """`to` of a relationship."""
    sources: tuple[str, ...] = ()
    source_event: bool = False
    attribution: Attribution | None = None
    assertion_origin: str | None = None
    evidence: tuple[EvidenceCitation, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    lifecycle_change: LifecycleChange | None = None
    merged_into: str | None = None
    dependencies: tuple[str, ...] = ()

    def date_of(self, field: DateField) -> When | None:
        """Return one of the four structured dates; an unknown one is None, never another field's (R89)."""
        if field == "occurred_at":
            return self.occurred_at
        if field == "due_at":
            return self.due_at
        return self.recorded_at if field == "recorded_at" else self.updated_at

    def is_expired(self, now_ns: int) -> bool:
        """Return whether its validity has ended; a bare date lasts to the end of that UTC day (contract 3, 13)."""
        return self.valid_until is not None and self.valid_until.end_ns < now_ns

    def referenced_ids(self) -> tuple[str, ...]:
        """Return every record id this record names, whatever for."""
        single = tuple(one for one in (self.superseded_by, self.merged_into) if one is not None)
        return self.required_ids() + self.sources + self.supersedes + single

    def required_ids(self) -> tuple[str, ...]:
        """Return the ids without which this record is not available (R42 to R44; the owner counts as an entity)."""
        ends = tuple(end for end in (self.start, self.end, self.owner) if end is not None)
        return self.dependencies + self.entities + ends


@dataclass(frozen=True, slots=True)
class RecordFile:
    """One Markdown file of the vault as it was read."""

    path: str
    """Relative to the vault, with forward slashes."""
    hash: str
    """SHA-256 of the file's bytes: what fencing and citations use."""
    size: int
    id: str | None
    """The id, where the front matter could be read that far."""
    scope: str | None
    record: Record | None
    """None when the envelope is broken."""
    names: tuple[str, ...] = ()
    """Title and aliases, normalised for lookup (R31)."""
    body_line: int = 1
    """One-based line on which the body begins."""
    body_bytes: int = 0
    token: int = 0
    """Number made from path and hash, for the snapshot's name."""
    lines: Mapping[str, int] | None = None
    """Line in the file of each value, for the findings that need other files."""
    fields: Mapping[str, YamlValue] | None = None
    issues: tuple[Issue, ...] = ()

    def line_of(self, key: str) -> int | None:
        """Return the line of a value, or of the key that holds it."""
        lines = self.lines or {}
        while key not in lines and "." in key:
            key = key.rpartition(".")[0]
        return lines.get(key)
