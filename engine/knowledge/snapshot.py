"""One scope of the vault at one moment: who is valid, available, current; names, dates and links ready to be asked.

Everything here is derived from a scan and the guards, and thrown away when either changes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from engine.knowledge.availability import Node, available_ids, chain_end, dead_ends, survivor_of
from engine.knowledge.records import Issue
from engine.knowledge.validation import ReferenceChecker, duplicate_issues, guard_issue, unique_by_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.knowledge.dates import When
    from engine.knowledge.evidence import EvidenceCatalogue
    from engine.knowledge.ontology import Ontology
    from engine.knowledge.records import DateField, Record, RecordFile
    from engine.knowledge.validation import Guard
    from engine.knowledge.vault import Scan

SCHEMA = "knowledge-1"
"""Part of every snapshot id: raise it when the meaning of a reply changes."""

Flag = Literal["duplicate", "invalid", "stale", "unavailable"]


@dataclass(frozen=True)
class Snapshot:
    """The records of one scope."""

    scan: Scan
    scope: str
    guards: Mapping[str, Guard]
    evidence: EvidenceCatalogue

    @property
    def ontology(self) -> Ontology:
        """The vocabulary of the store."""
        return self.scan.ontology

    @cached_property
    def files(self) -> tuple[RecordFile, ...]:
        """Every record file of the scope by path; one whose scope cannot be read is in none (R67)."""
        return tuple(file for file in self.scan.files if file.scope == self.scope)

    @cached_property
    def inventory(self) -> tuple[RecordFile, ...]:
        """The scope's files and those too broken to say their scope: what an exhaustive list must show (R2)."""
        return tuple(file for file in self.scan.files if file.scope in (self.scope, None))

    @cached_property
    def id(self) -> str:
        """The snapshot's name: equal exactly while nothing in the scope changed (contract 3, point 12)."""
        digest = hashlib.sha256()
        digest.update(f"{self.scope}\0{SCHEMA}\0{self.ontology.fingerprint}\0".encode())
        digest.update("\n".join(f"{file.path}\0{file.hash}" for file in self.files).encode())
        known = {file.id for file in self.files}
        rows = sorted(
            (guard.id, guard.revision, guard.lifecycle, guard.superseded_by or "")
            for guard in self.guards.values()
            if guard.id in known
        )
        digest.update(json.dumps(rows).encode())
        return digest.hexdigest()

    @cached_property
    def _unique(self) -> tuple[dict[str, RecordFile], dict[str, tuple[RecordFile, ...]]]:
        return unique_by_id(self.files)

    @property
    def by_id(self) -> dict[str, RecordFile]:
        """Files that alone hold their id, broken ones included."""
        return self._unique[0]

    @property
    def duplicates(self) -> dict[str, tuple[RecordFile, ...]]:
        """Files that share an id."""
        return self._unique[1]

    @cached_property
    def checker(self) -> ReferenceChecker:
        """The reference rules over this snapshot."""
        return ReferenceChecker(self.by_id, self.duplicates, self.evidence.descriptors, self.ontology)

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """Every finding that makes coverage incomplete, by path and line."""
        found = list(self.scan.issues)
        for file in self.inventory:
            found += file.issues
        found += duplicate_issues(self.duplicates)
        for file in self.by_id.values():
            found += self.checker.issues_of(file)
            stale = guard_issue(file, self.guards.get(file.id or ""))
            if stale is not None:
                found.append(stale)
        return tuple(sorted(set(found), key=lambda issue: (issue.path, issue.line or 0, issue.code, issue.message)))

    @cached_property
    def issues_by_path(self) -> dict[str, tuple[Issue, ...]]:
        """The findings of each file."""
        grouped: dict[str, list[Issue]] = {}
        for issue in self.issues:
            grouped.setdefault(issue.path, []).append(issue)
        return {path: tuple(group) for path, group in grouped.items()}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The availability graph of the scope."""
        broken = {issue.path for issue in self.issues if issue.fatal}
        nodes = {name: Node("gone") for name in self.duplicates}
        for name, file in self.by_id.items():
            record = file.record
            if record is None or file.path in broken or record.lifecycle == "withdrawn":
                nodes[name] = Node("gone")
            elif record.lifecycle == "merged":
                nodes[name] = Node("merged", (record.merged_into,) if record.merged_into else ())
            else:
                nodes[name] = Node("present", record.required_ids())
        return nodes

    @cached_property
    def available(self) -> frozenset[str]:
        """Ids other records may rely on.

        A claim whose source is out stays only while its retained evidence verifies (contract 3, point 15).
        """
        nodes = dict(self.nodes)
        while True:
            available = available_ids(nodes)
            lost = [name for name in available if self._lost_its_ground(name, available)]
            if not lost:
                return available
            nodes.update((name, Node("gone")) for name in lost)

    def _lost_its_ground(self, name: str, available: frozenset[str]) -> bool:
        record = self.by_id[name].record
        if record is None or record.kind == "page" or not record.sources:
            return False
        if all(source in available for source in record.sources):
            return False
        return not any(self.evidence.state_of(citation) == "verified" for citation in record.evidence)

    @cached_property
    def eligible(self) -> dict[str, Record]:
        """Available records that are active or superseded, by id: all that any search or dated view may show."""
        found: dict[str, Record] = {}
        for name in sorted(self.available):
            record = self.by_id[name].record
            if record is not None and record.lifecycle in ("active", "superseded"):
                found[name] = record
        return found

    @cached_property
    def current(self) -> dict[str, Record]:
        """Eligible records that are active."""
        return {name: record for name, record in self.eligible.items() if record.lifecycle == "active"}

    @cached_property
    def replacements(self) -> dict[str, str]:
        """For each superseded record whose chain ends well, the current record (R48)."""
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
        found: dict[str, list[str]] = {}
        for name in self.eligible:
            for text in self.by_id[name].names:
                found.setdefault(text, []).append(name)
        return {text: tuple(ids) for text, ids in found.items()}

    @cached_property
    def links(self) -> dict[str, frozenset[str]]:
        """Eligible ids associated with each entity: entities, owner, endpoints, sources, itself (R107)."""
        found: dict[str, set[str]] = {}
        for name, record in self.eligible.items():
            ends = [end for end in (record.owner, record.start, record.end) if end is not None]
            for entity in (*record.entities, *ends, *record.sources, name):
                survivor = self.survivor(entity)
                if survivor is not None:
                    found.setdefault(survivor, set()).add(name)
        return {entity: frozenset(names) for entity, names in found.items()}

    def survivor(self, name: str) -> str | None:
        """Return the available record an id stands for: itself, or what it was merged into."""
        if name not in self.available:
            return None
        return survivor_of(name, self.nodes)

    def dated(self, field: DateField) -> tuple[tuple[When, str], ...]:
        """Return eligible records that have this date, by start instant, then id (R100)."""
        if field not in self._dated:
            rows = [(when, name) for name, record in self.eligible.items() if (when := record.date_of(field))]
            self._dated[field] = tuple(sorted(rows, key=lambda row: (row[0].start_ns, row[1])))
        return self._dated[field]

    @cached_property
    def _dated(self) -> dict[DateField, tuple[tuple[When, str], ...]]:
        return {}

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
