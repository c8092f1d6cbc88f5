"""Findings that need more than one file: duplicate ids, dangling references, endpoint types, source events, guards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.records import DEFAULT_SCOPE, Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engine.knowledge.evidence import Descriptor
    from engine.knowledge.ontology import Ontology
    from engine.knowledge.records import Record, RecordFile

MEETING = "meeting"
EVIDENCE_MISSING = "evidence_missing"
"""Code of the finding about a citation whose descriptor is not there."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What the store knows of a record whose lifecycle it changed: a file that says otherwise is stale (R81)."""

    id: str
    revision: int
    lifecycle: str
    superseded_by: str | None = None

    def refuses(self, record: Record) -> bool:
        """Return whether the file is older than, or disagrees with, what was published."""
        if record.lifecycle != self.lifecycle or record.revision < self.revision:
            return True
        return self.lifecycle == "superseded" and record.superseded_by != self.superseded_by


def guard_key(scope: str, name: str) -> str:
    """Return what a safeguard is kept under: an id counts within its scope, and neither may hold a slash."""
    return name if scope == DEFAULT_SCOPE else f"{scope}/{name}"


def guarded(key: str) -> tuple[str, str]:
    """Return scope and id of a safeguard's key."""
    scope, _, name = key.rpartition("/")
    return scope or DEFAULT_SCOPE, name


def duplicate_issues(duplicates: Mapping[str, tuple[RecordFile, ...]]) -> Iterator[Issue]:
    """Yield one finding for each copy of a shared id."""
    for name, group in duplicates.items():
        for file in group:
            other = next(one.path for one in group if one.path != file.path)
            more = f" and {len(group) - 2} more" if len(group) > 2 else ""
            yield Issue(
                "duplicate_id",
                f'the id "{name}" also stands in {other}{more}; neither copy is used',
                file.path,
                file.line_of("id"),
                name,
                repair="delete the copies that are not wanted",
            )


def guard_issue(file: RecordFile, guard: Guard | None) -> Issue | None:
    """Return the finding about a file that contradicts its guard."""
    if guard is None or file.record is None or not guard.refuses(file.record):
        return None
    return Issue(
        f"stale_{guard.lifecycle}",
        f"this record was {guard.lifecycle} at revision {guard.revision}; the file is an older or altered version",
        file.path,
        file.line_of("lifecycle"),
        file.id,
        repair="restore the last version from history, or write a new record",
    )


class ReferenceChecker:
    """Checks one record's references against the records of its scope."""

    def __init__(
        self,
        by_id: Mapping[str, RecordFile],
        duplicates: Mapping[str, tuple[RecordFile, ...]],
        descriptors: Mapping[str, Descriptor],
        ontology: Ontology,
    ) -> None:
        self._by_id = by_id
        self._duplicates = duplicates
        self._descriptors = descriptors
        self._ontology = ontology

    def issues_of(self, file: RecordFile) -> Iterator[Issue]:
        """Yield what is wrong with the references of a record."""
        record = file.record
        if record is None:
            return
        for key, names in (("dependencies", record.dependencies), ("entities", record.entities)):
            for number, name in enumerate(names):
                yield from self._reference(file, f"{key}.{number}", name, must_be_page=key == "entities")
        for key, name in (("owner", record.owner), ("from", record.start), ("to", record.end)):
            if name is not None:
                yield from self._reference(file, key, name, must_be_page=True)
        yield from self._soft_references(file, record)
        if record.kind == "relationship":
            yield from self._endpoints(file, record)
        if record.evidence:
            yield from self._evidence(file, record)
        if record.source_event and record.lifecycle == "active" and self.meeting_of(record) is None:
            yield _about(
                file, "source_event", "a source event names exactly one meeting among its sources", fatal=False
            )

    def meeting_of(self, record: Record) -> str | None:
        """Return the one meeting a source event stands for (contract 3, point 22)."""
        meetings = [name for name in record.sources if self._type_of(name) == MEETING]
        return meetings[0] if len(meetings) == 1 else None

    def _soft_references(self, file: RecordFile, record: Record) -> Iterator[Issue]:
        """Yield references whose failure leaves the record itself usable."""
        soft = [(f"sources.{number}", name) for number, name in enumerate(record.sources)]
        soft += [(f"supersedes.{number}", name) for number, name in enumerate(record.supersedes)]
        soft += [("superseded_by", record.superseded_by)] if record.superseded_by else []
        soft += [("merged_into", record.merged_into)] if record.merged_into else []
        for key, name in soft:
            if name not in self._by_id and name not in self._duplicates:
                yield _about(file, key, f'no record has the id "{name}"', code="dangling_reference", fatal=False)

    def _reference(self, file: RecordFile, key: str, name: str, *, must_be_page: bool) -> Iterator[Issue]:
        if name in self._duplicates:
            yield _about(file, key, f'several files have the id "{name}"', code="ambiguous_reference", fatal=False)
            return
        target = self._by_id.get(name)
        if target is None:
            yield _about(file, key, f'no record has the id "{name}"', code="dangling_reference")
        elif must_be_page and target.record is not None and target.record.kind != "page":
            yield _about(file, key, f'"{name}" is a {target.record.kind}, not a page', code="wrong_reference")

    def _endpoints(self, file: RecordFile, record: Record) -> Iterator[Issue]:
        rule = self._ontology.rule("relationship", record.type)
        if rule is None:
            return
        for key, name, allowed in (("from", record.start, rule.start_types), ("to", record.end, rule.end_types)):
            found = self._type_of(name) if name is not None else None
            if allowed and found is not None and found not in allowed:
                wanted = " or ".join(allowed)
                yield _about(file, key, f'"{record.type}" goes {key} {wanted}, not {found}', code="wrong_endpoint")

    def _evidence(self, file: RecordFile, record: Record) -> Iterator[Issue]:
        missing = [n for n, citation in enumerate(record.evidence) if citation.id not in self._descriptors]
        fatal = record.kind != "page" and len(missing) == len(record.evidence)
        for number in missing:
            name = record.evidence[number].id
            problem = f'no descriptor "{name}" in the evidence folder'
            yield _about(file, f"evidence.{number}.id", problem, code=EVIDENCE_MISSING, fatal=fatal)

    def _type_of(self, name: str) -> str | None:
        target = self._by_id.get(name)
        record = target.record if target is not None else None
        return record.type if record is not None and record.kind == "page" else None


def _about(file: RecordFile, key: str, message: str, *, code: str = "invalid", fatal: bool = True) -> Issue:
    return Issue(code, f"{key.partition('.')[0]}: {message}", file.path, file.line_of(key), file.id, fatal=fatal)
