"""Rows of replies: short ones for Claude Code, complete ones with citation and verified evidence for a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.replies import SHORT_HASH, Reply
from engine.knowledge.snippets import summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.knowledge.evidence import EvidenceCatalogue
    from engine.knowledge.records import EvidenceCitation, Record, RecordFile
    from engine.knowledge.snapshot import Snapshot

EVIDENCE_SHOWN = 3
"""Verified locators in a complete hit (R63)."""


def require_record(snapshot: Snapshot, name: str) -> tuple[RecordFile, Record]:
    """Return file and record of an id known to be eligible."""
    file = snapshot.by_id[name]
    return file, snapshot.eligible[name]


def short_row(file: RecordFile, record: Record, *, now_ns: int) -> Reply:
    """Return what every agent row begins with."""
    row: Reply = {
        "id": record.id,
        "kind": record.kind,
        "type": record.type,
        "title": record.title,
        "revision": record.revision,
        "hash": file.hash[:SHORT_HASH],
    }
    if record.lifecycle != "active":
        row["lifecycle"] = record.lifecycle
    if record.superseded_by is not None:
        row["supersededBy"] = record.superseded_by
    if record.is_expired(now_ns):
        row["expired"] = True
    return row


def full_row(snapshot: Snapshot, file: RecordFile, record: Record, body: str, *, now_ns: int) -> Reply:
    """Return a complete row without the parts that belong to one kind of question."""
    row: Reply = {
        "id": record.id,
        "kind": record.kind,
        "type": record.type,
        "title": record.title,
        "scope": record.scope,
        "lifecycle": record.lifecycle,
        "revision": record.revision,
        "path": file.path,
        "hash": file.hash,
        "citation": {"id": record.id, "path": file.path, "revision": record.revision, "hash": file.hash},
    }
    if record.superseded_by is not None:
        row["supersededBy"] = record.superseded_by
    if record.is_expired(now_ns):
        row["expired"] = True
    summary = summary_of(record.summary, body)
    if summary is not None:
        row["summary"] = summary
    if record.attribution is not None:
        via = {"via": record.attribution.via} if record.attribution.via is not None else {}
        row["attribution"] = {"by": record.attribution.by, **via}
    if record.assertion_origin is not None:
        row["assertionOrigin"] = record.assertion_origin
    row.update(_evidence(snapshot.evidence, record.evidence))
    return row


def add_common(row: Reply, record: Record) -> None:
    """Add the optional parts both views of a search row have."""
    if record.occurred_at is not None:
        row["date"] = record.occurred_at.text
    if record.tags:
        row["tags"] = list(record.tags)


def citation_json(evidence: EvidenceCatalogue, citation: EvidenceCitation) -> Reply:
    """Return one citation as a locator."""
    shown: Reply = {"id": citation.id}
    descriptor = evidence.descriptors.get(citation.id)
    if descriptor is not None:
        shown["path"] = descriptor.path
        for key, value in (
            ("filename", descriptor.filename),
            ("session", descriptor.session),
            ("messageUuid", descriptor.message_uuid),
        ):
            if value is not None:
                shown[key] = value
    if citation.lines is not None:
        shown["lines"] = list(citation.lines)
    if citation.quote is not None:
        shown["quote"] = citation.quote
    attribution = citation.attribution or (descriptor.attribution if descriptor is not None else None)
    if attribution is not None:
        shown["attribution"] = attribution
    return shown


def _evidence(evidence: EvidenceCatalogue, citations: Sequence[EvidenceCitation]) -> Reply:
    if not citations:
        return {}
    verified: list[Reply] = []
    unverified = 0
    truncated = False
    for citation in citations:
        if len(verified) == EVIDENCE_SHOWN:
            if evidence.state_of(citation) == "verified":
                truncated = True
                break
        elif evidence.state_of(citation) == "verified":
            verified.append(citation_json(evidence, citation))
        else:
            unverified += 1
    shown: Reply = {"evidence": verified, "evidenceTruncated": truncated}
    if unverified:
        shown["evidenceUnverified"] = unverified
    return shown
