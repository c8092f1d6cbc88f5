"""One scope of the vault at one moment: who is valid, available, current; names, dates and links ready to be asked.

Everything here is derived from a scan and the guards, and thrown away when either changes.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Literal

from engine.knowledge.availability import Node, available_ids, chain_end, dead_ends, survivor_of
from engine.knowledge.dates import DAY_NS
from engine.knowledge.validation import ReferenceChecker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from engine.knowledge.dates import When

    Dated = tuple[When, str]
    from engine.knowledge.evidence import EvidenceCatalogue
    from engine.knowledge.filters import RecordFilter
    from engine.knowledge.grep import Found
    from engine.knowledge.ontology import Ontology
    from engine.knowledge.records import DateField, Issue, Record, RecordFile
    from engine.knowledge.vault import Scan

SCHEMA = "knowledge-1"
"""Part of every snapshot id: raise it when the meaning of a reply changes."""

FILTERS_KEPT = 8
"""Answers of `passing` remembered by a snapshot; each holds one id for each record."""

Flag = Literal["duplicate", "invalid", "stale", "unavailable"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is available, and the verdicts on evidence that hung on retained files and not on records."""

    available: frozenset[str]
    on_evidence: Mapping[str, bool]
    """Records that lost a source, and whether their evidence still verified (contract 3, point 15)."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """What a snapshot takes from the one before, when a change left the graph of availability as it was.

    None and empty where the one before was never asked.
    """

    standing: Standing
    eligible: dict[str, Record]
    hashes: dict[str, str] | None
    current: dict[str, Record] | None
    replacements: dict[str, str] | None
    names: dict[str, tuple[str, ...]] | None
    passing: dict[RecordFilter, frozenset[str]]


@dataclass(frozen=True)
class Snapshot:
    """The records of one scope. Built by `ScopeIndex`, which carries over what a change does not touch."""

    scan: Scan
    scope: str
    evidence: EvidenceCatalogue
    files: tuple[RecordFile, ...]
    """Every record file of the scope by path; one whose scope cannot be read is in none (R67)."""
    inventory: tuple[RecordFile, ...]
    """The scope's files and those too broken to say their scope: what an exhaustive list must show (R2)."""
    at: Mapping[str, RecordFile]
    """The inventory by path."""
    by_id: dict[str, RecordFile]
    """Files that alone hold their id, broken ones included."""
    duplicates: dict[str, tuple[RecordFile, ...]]
    """Files that share an id."""
    issues: tuple[Issue, ...]
    """Every finding that makes coverage incomplete, by path and line."""
    nodes: dict[str, Node]
    """The availability graph of the scope."""
    merged: frozenset[str]
    """Ids of merged pages."""
    referrers: Mapping[str, AbstractSet[str]]
    """Paths of the files that name an id."""
    total: int
    """Made from every path and hash of the scope, whatever their order."""
    guard_rows: str
    """The safeguards of this scope's records, as part of the snapshot's name."""
    without_descriptor: str
    """The citations of this scope that lead nowhere, as part of the snapshot's name: what they cost is no change of
    any record file."""
    carried: CarriedOver | None = None

    @property
    def ontology(self) -> Ontology:
        """The vocabulary of the store."""
        return self.scan.ontology

    @cached_property
    def id(self) -> str:
        """The snapshot's name: equal exactly while nothing in the scope changed (contract 3, point 12)."""
        lost = sorted(name for name, holds in self.standing.on_evidence.items() if not holds)
        parts = (
            self.scope,
            SCHEMA,
            self.ontology.fingerprint,
            str(len(self.files)),
            str(self.total),
            self.guard_rows,
            self.without_descriptor,
            json.dumps(lost),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @cached_property
    def checker(self) -> ReferenceChecker:
        """The reference rules over this snapshot."""
        return ReferenceChecker(self.by_id, self.duplicates, self.evidence.descriptors, self.ontology)

    @cached_property
    def issues_by_path(self) -> dict[str, tuple[Issue, ...]]:
        """The findings of each file."""
        grouped: dict[str, list[Issue]] = {}
        for issue in self.issues:
            grouped.setdefault(issue.path, []).append(issue)
        return {path: tuple(group) for path, group in grouped.items()}

    @property
    def available(self) -> frozenset[str]:
        """Ids other records may rely on."""
        return self.standing.available

    @cached_property
    def standing(self) -> Standing:
        """Who is available. A claim whose source is out stays only while its retained evidence verifies (3, 15)."""
        if self.carried is not None:
            return self.carried.standing
        nodes = self.nodes
        verdicts: dict[str, bool] = {}
        while True:
            available = available_ids(nodes)
            for name in self._with_lost_sources(available) - verdicts.keys():
                if self._needs_its_evidence(name, available):
                    verdicts[name] = self._evidence_holds(name)
            lost = [name for name, holds in verdicts.items() if not holds and name in available]
            if not lost:
                return Standing(available, verdicts)
            nodes = {**nodes, **{name: Node("gone") for name in lost}}

    def _with_lost_sources(self, available: frozenset[str]) -> set[str]:
        """Return the available records that name anything which is not."""
        paths = {path for name, naming in self.referrers.items() if name not in available for path in naming}
        return {name for path in paths if (name := self.at[path].id) is not None and name in available}

    def _needs_its_evidence(self, name: str, available: frozenset[str]) -> bool:
        record = self.by_id[name].record
        if record is None or record.kind == "page":
            return False
        return not available.issuperset(record.sources)

    def _evidence_holds(self, name: str) -> bool:
        record = self.by_id[name].record
        citations = record.evidence if record is not None else ()
        return any(self.evidence.state_of(citation) == "verified" for citation in citations)

    def ground_moved(self) -> bool:
        """Return whether a retained file came, went or changed in a way that changes who is available."""
        if "standing" not in vars(self):
            return False
        return any(self._evidence_holds(name) != held for name, held in self.standing.on_evidence.items())

    @cached_property
    def eligible(self) -> dict[str, Record]:
        """Available records that are active or superseded, by id: all that any search or dated view may show."""
        if self.carried is not None:
            return self.carried.eligible
        by_id = self.by_id
        found = ((name, by_id[name].record) for name in sorted(self.available) if name in by_id)
        return {
            name: record
            for name, record in found
            if record is not None and (record.lifecycle == "active" or record.lifecycle == "superseded")  # noqa: PLR1714 - twice as fast, 20,000 times a query
        }

    @cached_property
    def current(self) -> dict[str, Record]:
        """Eligible records that are active."""
        if self.carried is not None and self.carried.current is not None:
            return self.carried.current
        return {name: record for name, record in self.eligible.items() if record.lifecycle == "active"}

    def passing(self, wanted: RecordFilter) -> frozenset[str]:
        """Return the eligible ids a filter leaves. Remembered, because most questions have no filter."""
        if wanted not in self._passing:
            if len(self._passing) >= FILTERS_KEPT:
                self._passing.clear()
            self._passing[wanted] = frozenset(compress(self.eligible, map(wanted.passes, self.eligible.values())))
        return self._passing[wanted]

    @cached_property
    def _passing(self) -> dict[RecordFilter, frozenset[str]]:
        return self.carried.passing if self.carried is not None else {}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The hash of every eligible record's file."""
        if self.carried is not None and self.carried.hashes is not None:
            return self.carried.hashes
        return {name: self.by_id[name].hash for name in self.eligible}

    def carry_over(self, changed: Mapping[str, RecordFile]) -> CarriedOver:
        """Return what holds on after files changed in ways that leave the graph as it is.

        Args:
            changed: The files that are not as they were, by id.
        """
        now = {name: file.record for name, file in changed.items() if name in self.eligible and file.record is not None}
        made = vars(self)
        same_standing = all(
            (record.lifecycle, record.superseded_by)
            == (self.eligible[name].lifecycle, self.eligible[name].superseded_by)
            for name, record in now.items()
        )
        same_names = all(changed[name].names == self.by_id[name].names for name in now)
        passing = {
            wanted: ids ^ moved if (moved := {n for n in now if wanted.passes(now[n]) != (n in ids)}) else ids
            for wanted, ids in self._passing.items()
        }
        hashes = {**self.hashes, **{name: changed[name].hash for name in now}} if "hashes" in made else None
        active = {name: record for name, record in now.items() if record.lifecycle == "active"}
        return CarriedOver(
            standing=self.standing,
            eligible={**self.eligible, **now},
            hashes=hashes,
            current={**self.current, **active} if same_standing and "current" in made else None,
            replacements=self.replacements if same_standing and "replacements" in made else None,
            names=self.names if same_names and "names" in made else None,
            passing=passing,
        )

    @cached_property
    def source_events(self) -> dict[str, str]:
        """Active event claims that stand for a meeting, with that meeting (R117; contract 3, point 22)."""
        found: dict[str, str] = {}
        for name, record in self.eligible.items():
            if record.source_event and record.lifecycle == "active" and record.type == "event":
                named = self.checker.meeting_of(record)
                meeting = self.survivor(named) if named is not None else None
                if meeting is not None and meeting in self.current:
                    found[name] = meeting
        return found

    @cached_property
    def selections(self) -> dict[object, list[Dated]]:
        """Answers of dated views, remembered by them for the pages that follow."""
        return {}

    @cached_property
    def rankings(self) -> dict[object, Found]:
        """Answers of keyword searches, remembered by them for the pages that follow."""
        return {}

    @cached_property
    def replacements(self) -> dict[str, str]:
        """For each superseded record whose chain ends well, the current record (R48)."""
        if self.carried is not None and self.carried.replacements is not None:
            return self.carried.replacements
        replaced_by = {
            name: record.superseded_by
            for name, record in self.eligible.items()
            if record.lifecycle == "superseded" and record.superseded_by
        }
        current = frozenset(self.current)
        ends = {name: chain_end(name, replaced_by, current) for name in replaced_by}
        return {name: end for name, end in ends.items() if end is not None}

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Eligible ids by each normalised title and alias, in id order."""
        if self.carried is not None and self.carried.names is not None:
            return self.carried.names
        found: dict[str, list[str]] = {}
        for name in self.eligible:
            for text in self.by_id[name].names:
                found.setdefault(text, []).append(name)
        return {text: tuple(ids) for text, ids in found.items()}

    def linked(self, entity: str) -> frozenset[str]:
        """Return the eligible ids tied to an available record: entities, owner, ends, sources, itself (R107)."""
        if entity not in self._linked:
            names = {entity, *self._merged_into.get(entity, ())}
            paths = {path for name in names for path in self.referrers.get(name, ())}
            found = {name for path in paths if (name := self.at[path].id) is not None and self._links_to(name, names)}
            self._linked[entity] = frozenset(found | ({entity} & self.eligible.keys()))
        return self._linked[entity]

    def _links_to(self, name: str, names: set[str]) -> bool:
        record = self.eligible.get(name)
        if record is None:
            return False
        ends = (record.owner, record.start, record.end)
        return not names.isdisjoint((*record.entities, *record.sources, *(end for end in ends if end is not None)))

    @cached_property
    def _linked(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _merged_into(self) -> dict[str, tuple[str, ...]]:
        """Merged ids by their survivor."""
        found: dict[str, tuple[str, ...]] = {}
        for name in sorted(self.merged):
            if (survivor := self.survivor(name)) is not None:
                found[survivor] = (*found.get(survivor, ()), name)
        return found

    def survivor(self, name: str) -> str | None:
        """Return the available record an id stands for: itself, or what it was merged into."""
        if name not in self.available:
            return None
        return name if self.nodes[name].standing == "present" else survivor_of(name, self.nodes)

    def sources_of(self, record: Record) -> tuple[str, ...]:
        """Return a record's available sources, each once; a merged page counts as its survivor (contract 3, 14)."""
        survivors = (self.survivor(name) for name in record.sources)
        return tuple(dict.fromkeys(name for name in survivors if name is not None))

    def dated(self, field: DateField, since_ns: int | None = None, until_ns: int | None = None) -> tuple[Dated, ...]:
        """Return eligible records whose date may touch a range, by start instant, then id (R100).

        A date is at most a day long, so it is enough to look a day before the range begins.
        """
        if field not in self._dated:
            rows = [(when, name) for name, record in self.eligible.items() if (when := record.date_of(field))]
            self._dated[field] = tuple(sorted(rows, key=lambda row: (row[0].start_ns, row[1])))
        rows = self._dated[field]
        low = 0 if since_ns is None else bisect_left(rows, since_ns - DAY_NS, key=_start)
        high = len(rows) if until_ns is None else bisect_right(rows, until_ns, key=_start)
        return rows[low:high]

    @cached_property
    def _dated(self) -> dict[DateField, tuple[Dated, ...]]:
        return {}

    def last_expiry(self, now_ns: int) -> int:
        """Return the latest end of validity before a time: between two of them nothing changes by time alone."""
        position = bisect_left(self._expiries, now_ns)
        return self._expiries[position - 1] if position else 0

    @cached_property
    def _expiries(self) -> list[int]:
        return sorted({one.valid_until.end_ns for one in self.eligible.values() if one.valid_until is not None})

    def flags(self, file: RecordFile) -> tuple[Flag, ...]:
        """Return why a file is not used, for the inventory."""
        found: list[Flag] = []
        if file.id is not None and file.id in self.duplicates:
            found.append("duplicate")
        issues = self.issues_by_path.get(file.path, ())
        if any(issue.code.startswith("stale_") for issue in issues):
            found.append("stale")
        if file.record is None or any(
            issue.fatal and issue.code != "duplicate_id" and not issue.code.startswith("stale_") for issue in issues
        ):
            found.append("invalid")
        if not found and file.id not in self.available and file.record is not None:
            lifecycle = file.record.lifecycle
            if lifecycle in ("active", "superseded") or (
                lifecycle == "merged" and self.survivor(file.record.id) is None
            ):
                found.append("unavailable")
        return tuple(found)

    def missing_for(self, record: Record) -> tuple[str, ...]:
        """Return the ids whose absence keeps a record out."""
        return dead_ends(record.required_ids(), self.available)


def _start(row: Dated) -> int:
    return row[0].start_ns
