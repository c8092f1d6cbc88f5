"""A change to the vault before it happens: which files get which bytes, and what the store will remember of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.knowledge.errors import HashConflict, InvalidRecord, LifecycleConflict, RecordNotFound, RevisionConflict
from engine.knowledge.parsing import parse_record
from engine.knowledge.replies import SHORT_HASH
from engine.knowledge.validation import ReferenceChecker

if TYPE_CHECKING:
    from engine.knowledge.evidence import Descriptor
    from engine.knowledge.records import Record, RecordFile
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that will be written."""

    path: str
    old: str | None
    """Hash of what is there now; None when nothing is."""
    new: str
    data: bytes | None = None
    staged: str | None = None
    """Path in the vault where a large original already lies."""


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One record as it will be."""

    file: NewFile
    parsed: RecordFile
    event: str
    reason: str | None = None
    guard: bool = False
    """The lifecycle changes: older copies of the file must not count any more (R81)."""


@dataclass(slots=True)
class Plan:
    """Everything one publication does."""

    message: str
    """Of the Git commit."""
    changes: list[RecordChange] = field(default_factory=list[RecordChange])
    originals: list[NewFile] = field(default_factory=list[NewFile])
    """Retained originals and descriptors, installed before the records that cite them."""
    descriptors: dict[str, Descriptor] = field(default_factory=dict[str, "Descriptor"])
    """New evidence, by id."""
    warnings: list[str] = field(default_factory=list[str])

    def add(
        self,
        snapshot: Snapshot,
        path: str,
        data: bytes,
        event: str,
        *,
        before: RecordFile | None = None,
        reason: str | None = None,
        guard: bool = False,
    ) -> Record:
        """Add a record's new text and return it as it will be read.

        Raises:
            InvalidRecord: It would not be valid.
        """
        parsed = parse_record(path, data, snapshot.ontology)
        problems = [issue.message for issue in parsed.issues if issue.fatal]
        if parsed.record is None or problems:
            raise InvalidRecord("The record would not be valid", f"{'; '.join(problems[:3])}.")
        digest = hashlib.sha256(data).hexdigest()
        file = NewFile(path, before.hash if before is not None else None, digest, data)
        self.changes.append(RecordChange(file, parsed, event, reason, guard))
        return parsed.record

    def check_references(self, snapshot: Snapshot) -> None:
        """Refuse references that would not hold once everything is written.

        Raises:
            InvalidRecord: A reference is dangling, unavailable or of the wrong kind.
        """
        by_id = dict(snapshot.by_id)
        leaving = {change.parsed.id for change in self.changes if _leaves(change.parsed.record)}
        for change in self.changes:
            if change.parsed.id is not None:
                by_id[change.parsed.id] = change.parsed
        descriptors = {**snapshot.evidence.descriptors, **self.descriptors}
        checker = ReferenceChecker(by_id, snapshot.duplicates, descriptors, snapshot.ontology)
        new = {change.parsed.id for change in self.changes if change.file.old is None}
        for change in self.changes:
            record = change.parsed.record
            if record is None or _leaves(record):
                continue
            # What a hand-made record had before may stay; the tools add nothing that the check would name.
            before = snapshot.issues_by_path.get(change.file.path, ()) if change.file.old is not None else ()
            had = {issue.message for issue in before if not issue.fatal}
            problems = [issue.message for issue in checker.issues_of(change.parsed) if issue.message not in had]
            lost = [
                name
                for name in record.required_ids()
                if name in leaving or (name not in snapshot.available and name not in new)
            ]
            problems += [f'"{name}" is not available' for name in lost if not problems]
            if problems:
                raise InvalidRecord("A reference of the record does not hold", f"{'; '.join(problems[:3])}.")


def _leaves(record: Record | None) -> bool:
    return record is not None and record.lifecycle in ("withdrawn", "merged")


@dataclass(frozen=True, slots=True)
class Target:
    """A record about to be changed, as it is now."""

    file: RecordFile
    record: Record
    data: bytes


def require_target(store: OpenStore, snapshot: Snapshot, name: str, revision: int, digest: str | None) -> Target:
    """Return the record a write is about, fenced by what the caller read.

    Raises:
        RecordNotFound: No single valid file has the id.
        RevisionConflict, HashConflict: It is not what the caller read.
        LifecycleConflict: The file is an older copy of a record that was retracted or replaced.
    """
    file = snapshot.by_id.get(name)
    if file is None or file.record is None:
        several = name in snapshot.duplicates
        raise RecordNotFound(
            f'{"Several files have" if several else "No readable record has"} the id "{name[:80]}"',
            "",
            "knowledge_records lists all files and what is wrong with them.",
        )
    data = store.reader.read_again(file)
    if data is None:
        raise HashConflict("The file is being changed right now", "", "Read the record again, then repeat the change.")
    if "stale" in snapshot.flags(file):
        raise LifecycleConflict(
            "The file is an older copy of a record that was retracted or replaced",
            "",
            "Restore its last version from knowledge_history, or write a new record.",
        )
    if file.record.revision != revision:
        raise RevisionConflict(
            f"The record has revision {file.record.revision}, not {revision}",
            "Somebody changed it since it was read.",
            "Read it again with knowledge_record, then repeat the change.",
        )
    if digest is None:
        digest = store.journal.published_hash(snapshot.scope, name)
    if digest is not None and not matches_hash(digest, file.hash):
        raise HashConflict(
            "The file has other bytes than the ones that were read",
            "It was edited by hand or by another program.",
            f"Read it again with knowledge_record; its hash is {file.hash[:SHORT_HASH]}.",
        )
    return Target(file, file.record, data)


def matches_hash(given: str, digest: str) -> bool:
    """Return whether a hash, or its first 12 or more digits, names these bytes."""
    return len(given) >= SHORT_HASH and digest.startswith(given.lower())
