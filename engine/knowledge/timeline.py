"""Dated views: timeline, one day or week, since a date, last seen. Only validated structured dates count (R83)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

from engine.knowledge.dates import Bounds, require_bounds, require_day, require_when
from engine.knowledge.errors import InvalidArgument, SnapshotChanged
from engine.knowledge.grouped import grouped_rows
from engine.knowledge.hits import full_row, require_record, short_row
from engine.knowledge.lookup import resolve_entity
from engine.knowledge.records import KINDS
from engine.knowledge.replies import (
    BUDGET_BYTES,
    Reply,
    coverage,
    fit_sources,
    freshness,
    json_bytes,
    page,
    trimmed,
)
from engine.knowledge.snippets import summary_of
from engine.knowledge.zones import day_window, require_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.knowledge.dates import When
    from engine.knowledge.queries import DayQuery, LastSeenQuery, Order, SinceQuery, TimelineQuery, View
    from engine.knowledge.records import DateField, Record
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore

NO_PROOF = "A dated record is no proof of contact or presence, and no match is not proof of absence."
"""R109, R149."""


PROJECTION: Reply = {"state": "ready", "lag": False}
"""Of the dates: made from the snapshot that is asked, so it never lags behind (R84, R153)."""

ANSWERS_KEPT = 4
"""Whole answers a snapshot remembers, for the pages that follow."""


class Window(Protocol):
    """A range of time that a date may fall into."""

    @property
    def since_ns(self) -> int | None:
        """First instant that may count, None for no bound."""
        ...

    @property
    def until_ns(self) -> int | None:
        """Last instant that may count, None for no bound."""
        ...

    def holds(self, when: When) -> bool:
        """Return whether the date belongs to it."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """What a dated view shows, before paging."""

    field: DateField
    window: Window
    now_ns: int
    kind: str | None = None
    entity: str | None = None
    """Already resolved."""
    include_inactive: bool = False
    order: Order = "asc"


def select(snapshot: Snapshot, wanted: Selection) -> list[tuple[When, str]]:
    """Return dated records in order, source meetings replaced by their event claims (R117 to R120).

    The answer is kept with the snapshot: the next page asks for it again.
    """
    key = replace(wanted, now_ns=snapshot.last_expiry(wanted.now_ns))
    if key not in snapshot.selections:
        if len(snapshot.selections) >= ANSWERS_KEPT:
            snapshot.selections.clear()
        snapshot.selections[key] = _select(snapshot, wanted)
    return snapshot.selections[key]


def _select(snapshot: Snapshot, wanted: Selection) -> list[tuple[When, str]]:
    eligible = snapshot.eligible
    if wanted.entity is not None:
        records = ((name, eligible[name]) for name in snapshot.linked(wanted.entity))
        dated = [(when, name) for name, record in records if (when := record.date_of(wanted.field)) is not None]
    else:
        dated = list(snapshot.dated(wanted.field, wanted.window.since_ns, wanted.window.until_ns))
    rows = [row for row in dated if wanted.window.holds(row[0]) and _shown(eligible[row[1]], wanted)]
    if wanted.field == "occurred_at":
        present = {name for _, name in rows}
        hidden = {meeting for claim, meeting in snapshot.source_events.items() if claim in present}
        rows = [row for row in rows if row[1] not in hidden]
    return ordered(rows, wanted.order)


def _shown(record: Record, wanted: Selection) -> bool:
    if wanted.kind is not None and record.type != wanted.kind:
        return False
    return wanted.include_inactive or (record.lifecycle == "active" and not record.is_expired(wanted.now_ns))


def ordered(rows: Sequence[tuple[When, str]], order: Order) -> list[tuple[When, str]]:
    """Return rows by start instant; ids ascend in both directions (R100)."""
    sign = 1 if order == "asc" else -1
    return sorted(rows, key=lambda row: (sign * row[0].start_ns, row[1]))


def timeline(store: OpenStore, snapshot: Snapshot, query: TimelineQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return records by a structured date.

    Raises:
        EngineError: A bound, an entity, a combination or the snapshot is not acceptable.
        MovedOn: A file changed since the scan.
    """
    if query.group is not None and (
        query.entity is None or query.time_field != "occurred_at" or query.kind is not None
    ):
        raise InvalidArgument(
            'group "source" needs an entity and works on occurred_at only, without kind',
            "",
            "Leave kind and timeField out and pass an entity.",
        )
    bounds = require_bounds(query.since, query.until)
    now_ns = int(store.clock.now() * 1e9)
    entity = resolve_entity(snapshot, query.entity) if query.entity is not None else None
    wanted = Selection(
        query.time_field,
        bounds,
        now_ns,
        query.kind,
        entity,
        include_inactive=query.eligibility == "include_inactive",
        order=query.order,
    )
    filters = [
        "timeline", entity, query.kind, query.time_field, query.since, query.until, query.order, query.eligibility,
        query.include_sources, query.group,
    ]  # fmt: skip
    paging = _Paging(store, snapshot, query.view, filters, query.limit, query.offset, query.snapshot, budget, now_ns)
    paging.check()
    if query.group is not None and entity is not None:
        found = grouped_rows(snapshot, entity, bounds, now_ns, include_inactive=wanted.include_inactive)
        dated = {name: row for _, name, row in found}
        rows = ordered([(when, name) for when, name, _ in found], query.order)
        reply = paging.reply(rows, lambda when, name: dated[name].to_json(store, snapshot, when, query.view, now_ns))
    else:
        rows = select(snapshot, wanted)
        reply = paging.reply(
            rows,
            lambda when, name: dated_row(
                store, snapshot, when, name, field=wanted.field, view=query.view, now_ns=now_ns
            ),
            include_sources=query.include_sources,
        )
    return _with_note(reply, query.kind)


def chronicle_day(store: OpenStore, snapshot: Snapshot, query: DayQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return what occurred on a calendar day or in the week around it (R133 to R140).

    Raises:
        EngineError: The date, the zone or the snapshot is not acceptable.
        MovedOn: A file changed since the scan.
    """
    zone = require_zone(query.time_zone)
    window = day_window(require_day(query.date, "date"), zone, week=query.week)
    now_ns = int(store.clock.now() * 1e9)
    wanted = Selection("occurred_at", window, now_ns, query.kind, order=query.order)
    filters = ["day", query.date, query.week, query.time_zone, query.kind, query.order]
    paging = _Paging(store, snapshot, query.view, filters, query.limit, query.offset, query.snapshot, budget, now_ns)
    paging.check()
    head: Reply = {
        "firstDay": window.first.isoformat(),
        "lastDay": window.last.isoformat(),
        "timeZone": query.time_zone,
    }
    reply = paging.reply(
        select(snapshot, wanted),
        lambda when, name: dated_row(store, snapshot, when, name, field="occurred_at", view=query.view, now_ns=now_ns),
        head=head,
    )
    return _with_note(reply, query.kind)


def chronicle_since(store: OpenStore, snapshot: Snapshot, query: SinceQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return what occurred since a date, oldest first (R141 to R143).

    Raises:
        EngineError: A bound or the snapshot is not acceptable.
        MovedOn: A file changed since the scan.
    """
    bounds = require_bounds(query.since, query.until)
    now_ns = int(store.clock.now() * 1e9)
    wanted = Selection("occurred_at", bounds, now_ns, query.kind)
    filters = ["since", query.since, query.until, query.kind]
    paging = _Paging(store, snapshot, query.view, filters, query.limit, query.offset, query.snapshot, budget, now_ns)
    paging.check()
    reply = paging.reply(
        select(snapshot, wanted),
        lambda when, name: dated_row(store, snapshot, when, name, field="occurred_at", view=query.view, now_ns=now_ns),
    )
    return _with_note(reply, query.kind)


def last_seen(store: OpenStore, snapshot: Snapshot, query: LastSeenQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return an entity's most recent dated record not later than a bound, now by default (R144 to R150).

    Raises:
        EngineError: The bound or the entity is not acceptable.
        MovedOn: A file changed since the scan.
    """
    now = store.clock.now()
    now_ns = int(now * 1e9)
    latest = now_ns
    if query.occurred_on_or_before is not None:
        latest = require_when(query.occurred_on_or_before, "occurredOnOrBefore").end_ns
    entity = resolve_entity(snapshot, query.entity)
    wanted = Selection("occurred_at", Bounds(until_ns=latest), now_ns, entity=entity, order="desc")
    rows = select(snapshot, wanted)
    reply: Reply = {"note": NO_PROOF, "found": bool(rows), "entity": entity, "snapshot": snapshot.id[:32]}
    reply["coverage"] = coverage(snapshot, query.view)
    if query.view == "full":
        reply["freshness"] = freshness(snapshot, now)
    if rows:
        when, name = rows[0]
        row = dated_row(store, snapshot, when, name, field="occurred_at", view=query.view, now_ns=now_ns)
        reply["record"] = trimmed(row, budget * 3 // 4 - json_bytes(reply))
        fit_sources(reply, _source_summaries(store, snapshot, [name], now_ns), budget)
    return reply


def dated_row(
    store: OpenStore,
    snapshot: Snapshot,
    when: When,
    name: str,
    *,
    field: DateField,
    view: View,
    now_ns: int,
) -> Reply:
    """Return a row with its date as authored and that date's precision (R96, R98)."""
    file, record = require_record(snapshot, name)
    body = store.body(file)
    if view == "full":
        row = full_row(snapshot, file, record, body, now_ns=now_ns)
    else:
        row = short_row(file, record, now_ns=now_ns)
        summary = summary_of(record.summary, body)
        if summary is not None:
            row["summary"] = summary
    row.update(field=field, date=when.text, precision=when.precision)
    sources = snapshot.sources_of(record)
    if sources:
        row["sources"] = list(sources)
    return row


def _source_summaries(store: OpenStore, snapshot: Snapshot, names: Sequence[str], now_ns: int) -> list[Reply]:
    """Return each available source of these records once, in order of appearance (R114)."""
    found: dict[str, Reply] = {}
    for name in names:
        for source in snapshot.sources_of(snapshot.eligible[name]):
            if source in found or source not in snapshot.eligible:
                continue
            file, record = require_record(snapshot, source)
            row = short_row(file, record, now_ns=now_ns)
            if record.occurred_at is not None:
                row.update(date=record.occurred_at.text, precision=record.occurred_at.precision)
            summary = summary_of(record.summary, store.body(file))
            if summary is not None:
                row["summary"] = summary
            found[source] = row
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Paging:
    """One page of a dated view, bound to a snapshot and its filters (R115, R116)."""

    store: OpenStore
    snapshot: Snapshot
    view: View
    filters: Sequence[object]
    limit: int
    offset: int
    given: str | None
    budget: int
    now_ns: int

    @property
    def cursor(self) -> str:
        """Name the snapshot, the filters and the last expiry that changed what is eligible (contract 3, point 12)."""
        body = json.dumps([self.snapshot.id, list(self.filters), self.snapshot.last_expiry(self.now_ns)])
        return hashlib.sha256(body.encode()).hexdigest()[:32]

    def check(self) -> None:
        """Refuse a page that does not continue the one before.

        Raises:
            SnapshotChanged: Store or filters changed.
            InvalidArgument: A later page without the snapshot of the first.
        """
        if self.given is not None and self.given != self.cursor:
            raise SnapshotChanged(
                "The store or the filters changed since the first page",
                "",
                "Start again without offset and snapshot.",
            )
        if self.offset > 0 and self.given is None:
            raise InvalidArgument(
                "A later page needs the snapshot of the first",
                "",
                "Pass the snapshot of the first reply, with the same filters.",
            )

    def reply(
        self,
        rows: Sequence[tuple[When, str]],
        row_of: Callable[[When, str], Reply],
        *,
        include_sources: bool = False,
        head: Reply | None = None,
    ) -> Reply:
        """Return the page; with sources, only those of rows that are on it."""
        reply: Reply = {
            **(head or {}),
            "rows": [],
            "snapshot": self.cursor,
            "projection": PROJECTION,
            "coverage": coverage(self.snapshot, self.view),
        }
        if self.view == "full":
            reply["freshness"] = freshness(self.snapshot, self.store.clock.now())
        shown = rows[self.offset : self.offset + self.limit]
        built = [row_of(when, name) for when, name in shown]
        page(reply, built, offset=self.offset, total=len(rows), budget=self.budget)
        if include_sources:
            self._add_sources(reply, built, shown, len(rows))
        return reply

    def _add_sources(self, reply: Reply, built: list[Reply], shown: Sequence[tuple[When, str]], total: int) -> None:
        """Add the sources of as many rows as fit together with them; of a single row, as many as fit."""
        count = len(built)
        while count > 1:
            reply["sources"] = self._sources(shown[:count])
            page(reply, built[:count], offset=self.offset, total=total, budget=self.budget)
            taken = len(cast("list[Reply]", reply["rows"]))
            if taken == count:
                return
            count = taken
        reply["sources"] = []
        page(reply, built[:count], offset=self.offset, total=total, budget=self.budget * 3 // 4)
        fit_sources(reply, self._sources(shown[:count]), self.budget)

    def _sources(self, shown: Sequence[tuple[When, str]]) -> list[Reply]:
        return _source_summaries(self.store, self.snapshot, [name for _, name in shown], self.now_ns)


def _with_note(reply: Reply, kind: str | None) -> Reply:
    notes: list[str] = []
    if kind in KINDS:
        notes.append(f'kind is the exact type of a record such as "decision" or "meeting"; "{kind}" is a category.')
    if reply["total"] == 0:
        notes.append(NO_PROOF)
    return {"note": " ".join(notes), **reply} if notes else reply
