"""Timeline grouped by source: each dated source tied to an entity once, with what was said there (R121 to R132)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.hits import full_row, require_record, short_row
from engine.knowledge.names import cut_utf16, normal_name

if TYPE_CHECKING:
    from engine.knowledge.dates import Bounds, When
    from engine.knowledge.queries import View
    from engine.knowledge.records import Record
    from engine.knowledge.replies import Reply
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore

SUMMARY_UNITS = 2_000
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A source, or a claim that stays a row of its own."""

    name: str
    claims: int | None = None
    """Of a source: the entity's eligible claims drawn from it."""
    note: str | None = None
    """The relationship between entity and source."""
    text_of: str | None = None
    """The record whose body is the summary."""

    def to_json(self, store: OpenStore, snapshot: Snapshot, when: When, view: View, now_ns: int) -> Reply:
        """Return the row with its summary and the links of it that resolve."""
        file, record = require_record(snapshot, self.name)
        if view == "full":
            row = full_row(snapshot, file, record, store.body(file), now_ns=now_ns)
            row.pop("summary", None)
        else:
            row = short_row(file, record, now_ns=now_ns)
        row.update(field="occurred_at", date=when.text, precision=when.precision)
        text = store.body(snapshot.by_id[self.text_of]).strip() if self.text_of is not None else ""
        if text:
            row["summary"] = cut_utf16(text, SUMMARY_UNITS)
        if self.note is not None:
            row["noteRecord"] = {"id": self.note, "revision": snapshot.eligible[self.note].revision}
        if self.claims is not None:
            row["claims"] = self.claims
            row["links"] = resolved_links(snapshot, text)
        return row


def grouped_rows(
    snapshot: Snapshot,
    entity: str,
    bounds: Bounds,
    now_ns: int,
    *,
    include_inactive: bool,
) -> list[tuple[When, str, GroupRow]]:
    """Return the rows of an entity whose own date lies in the range."""

    def shown(record: Record) -> bool:
        return include_inactive or (record.lifecycle == "active" and not record.is_expired(now_ns))

    linked = [snapshot.eligible[name] for name in sorted(snapshot.linked(entity))]
    claims: dict[str, int] = {}
    notes: dict[str, Record] = {}
    found: list[tuple[When, str, GroupRow]] = []
    for record in linked:
        if not shown(record):
            continue
        if record.kind == "relationship":
            _note(snapshot, entity, record, notes)
        elif record.kind == "claim" and _is_about(snapshot, entity, record):
            sources = [source for source in snapshot.sources_of(record) if _date_of_source(snapshot, source)]
            for source in sources:
                claims[source] = claims.get(source, 0) + 1
            when = record.occurred_at
            if when is not None and not any(_falls_into(when, _date_of_source(snapshot, name)) for name in sources):
                found.append((when, record.id, GroupRow(record.id)))
        elif record.kind == "page" and record.id != entity and _date_of_source(snapshot, record.id) is not None:
            claims.setdefault(record.id, 0)
    for source in dict.fromkeys((*claims, *notes)):
        found += _source_row(snapshot, source, claims.get(source, 0), notes.get(source), now_ns)
    return [row for row in found if bounds.holds(row[0])]


def _source_row(
    snapshot: Snapshot, source: str, claims: int, note: Record | None, now_ns: int
) -> list[tuple[When, str, GroupRow]]:
    """Return the row of a dated source: the note between entity and source, else its event claim, is the summary."""
    when = _date_of_source(snapshot, source)
    if when is None:
        return []
    text_of = note.id if note is not None else _event_claim(snapshot, source, now_ns)
    return [(when, source, GroupRow(source, claims, note.id if note is not None else None, text_of))]


def resolved_links(snapshot: Snapshot, text: str) -> list[str]:
    """Return the ids that wikilinks of a text name: one record of the scope, or nothing (R127)."""
    found: dict[str, None] = {}
    for target in _WIKILINK.findall(text):
        names = [name for name in snapshot.names.get(normal_name(target), ()) if name in snapshot.current]
        if len(names) == 1:
            found[names[0]] = None
    return list(found)


def _note(snapshot: Snapshot, entity: str, record: Record, notes: dict[str, Record]) -> None:
    """Keep the newest relationship between the entity and each dated source (contract 3, point 19)."""
    ends = [snapshot.survivor(end) for end in (record.start, record.end) if end is not None]
    for source in ends:
        if source is None or source == entity or entity not in ends or _date_of_source(snapshot, source) is None:
            continue
        known = notes.get(source)
        if known is None or (-record.updated_at.start_ns, record.id) < (-known.updated_at.start_ns, known.id):
            notes[source] = record


def _is_about(snapshot: Snapshot, entity: str, record: Record) -> bool:
    named = (*record.entities, record.owner) if record.owner is not None else record.entities
    return any(snapshot.survivor(name) == entity for name in named)


def _date_of_source(snapshot: Snapshot, name: str) -> When | None:
    record = snapshot.current.get(name)
    return record.occurred_at if record is not None and record.kind == "page" else None


def _falls_into(when: When, source: When | None) -> bool:
    """Return whether a claim's date touches the UTC days of its source's date (contract 3, point 21)."""
    if source is None:
        return False
    first, last = source.day_window()
    return when.end_ns >= first and when.start_ns <= last


def _event_claim(snapshot: Snapshot, source: str, now_ns: int) -> str | None:
    """Return the source's event claim: earliest, then lowest id."""
    events = [
        record
        for name in snapshot.linked(source)
        if (record := snapshot.current.get(name)) is not None
        and snapshot.source_events.get(name) == source
        and not record.is_expired(now_ns)
    ]
    if not events:
        return None
    return min(events, key=lambda one: (one.occurred_at.start_ns if one.occurred_at else 0, one.id)).id
