"""`knowledge_records` and `knowledge_record`: everything that is there, whatever its state, and one record in full.

Needs no keyword index (R4).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from engine.knowledge.errors import InvalidArgument, RecordNotFound, SnapshotChanged
from engine.knowledge.frontmatter import split_record
from engine.knowledge.hits import citation_json, full_row
from engine.knowledge.replies import (
    BUDGET_BYTES,
    INDEX_NOT_USED,
    SHORT_HASH,
    Reply,
    coverage,
    freshness,
    json_bytes,
    leaner_evidence,
    page,
    trimmed,
)

if TYPE_CHECKING:
    from engine.knowledge.evidence import EvidenceCatalogue
    from engine.knowledge.queries import RecordQuery, RecordsQuery
    from engine.knowledge.records import EvidenceCitation, Record, RecordFile
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore
    from engine.knowledge.transcripts import TranscriptSource
    from engine.knowledge.yamltext import YamlValue


def records(store: OpenStore, snapshot: Snapshot, query: RecordsQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return the exhaustive list of record files, broken and excluded ones flagged (R2).

    Raises:
        SnapshotChanged: The store changed since the first page.
    """
    cursor = snapshot.id[:32]
    if query.snapshot is not None and query.snapshot != cursor:
        raise SnapshotChanged("The store changed since the first page", "", "Start again without offset and snapshot.")
    types = snapshot.ontology.expand(query.type) if query.type is not None else None
    files = [file for file in snapshot.inventory if _wanted(file, query, types)]
    now = store.clock.now()
    rows: list[Reply] = []
    for file in files[query.offset : query.offset + query.limit]:
        row = _row(snapshot, file, full=query.view == "full")
        if file.record is not None and file.record.is_expired(int(now * 1e9)):
            row["expired"] = True
        rows.append(row)
    reply: Reply = {
        "rows": [],
        "snapshot": cursor,
        "index": INDEX_NOT_USED,
        "coverage": coverage(snapshot, query.view),
    }
    if query.view == "full":
        reply["freshness"] = freshness(snapshot, now)
    page(reply, rows, offset=query.offset, total=len(files), budget=budget)
    return reply


def record(
    store: OpenStore,
    snapshot: Snapshot,
    query: RecordQuery,
    transcripts: TranscriptSource | None,
    *,
    budget: int = BUDGET_BYTES,
) -> Reply:
    """Return one record whole: body, every citation with its state, findings, what stands in its way.

    Raises:
        RecordNotFound: No file, or several, have this id.
        InvalidArgument: bodyOffset lies behind the body.
        MovedOn: The file changed since the scan.
    """
    file = snapshot.by_id.get(query.id)
    if file is None:
        if query.id in snapshot.duplicates:
            paths = [one.path for one in snapshot.duplicates[query.id]]
            raise RecordNotFound(
                f'{len(paths)} files have the id "{query.id}", so none of them counts',
                f"They are {', '.join(paths[:5])}.",
                "Delete the copies that are not wanted.",
            )
        raise RecordNotFound(f'No record has the id "{query.id}"', "", "knowledge_records lists all ids.")
    data = store.reader.read_again(file)
    now = store.clock.now()
    reply: Reply = {"snapshot": snapshot.id[:32]}
    if data is not None and file.record is not None:
        body = split_record(data).body
        reply["record"] = shown = full_row(snapshot, file, file.record, body, now_ns=int(now * 1e9))
        shown.update(_details(file, file.record))
        shown["evidence"] = [_evidence(snapshot.evidence, one, transcripts) for one in file.record.evidence]
        shown.pop("evidenceTruncated", None)
        missing = snapshot.missing_for(file.record)
        if missing:
            shown["unavailableReferences"] = list(missing)
        if query.body_offset > len(body):
            raise InvalidArgument("bodyOffset lies behind the end of the body", f"It has {len(body)} characters.")
        piece = body[query.body_offset : query.body_offset + query.max_chars]
        shown["body"] = piece
        if query.body_offset + len(piece) < len(body):
            shown["nextBodyOffset"] = query.body_offset + len(piece)
    else:
        reply["record"] = shown = _row(snapshot, file, full=True)
    flags = snapshot.flags(file)
    if flags:
        shown["flags"] = list(flags)
    issues = snapshot.issues_by_path.get(file.path, ())
    if issues:
        shown["issues"] = [issue.to_json() for issue in issues[:20]]
    reply["coverage"] = coverage(snapshot, "agent")
    reply["freshness"] = freshness(snapshot, now)
    _fit(reply, shown, query, budget)
    return reply


def _fit(reply: Reply, shown: Reply, query: RecordQuery, budget: int) -> None:
    """Shorten body, then evidence, then everything else, until the reply fits.

    The rest of the body is read by offset. Every citation stays, because only here all of them are shown (R63): first
    go their texts, then descriptors, then what their descriptors also say.
    """
    body = shown.get("body")
    while json_bytes(reply) > budget and isinstance(body, str) and len(body) > 200:
        body = body[: len(body) // 2]
        shown["body"] = body
        shown["nextBodyOffset"] = query.body_offset + len(body)
    for leaner in leaner_evidence(cast("list[Reply]", shown.get("evidence", []))):
        if json_bytes(reply) <= budget:
            return
        shown.update(evidence=leaner, truncated=True)
    if json_bytes(reply) > budget:
        reply["record"] = trimmed(shown, budget - 2_000)


def _wanted(file: RecordFile, query: RecordsQuery, types: frozenset[tuple[str, str]] | None) -> bool:
    one = file.record
    if one is None:
        return query.kind is None and types is None and query.tag is None and query.lifecycle is None
    if query.kind is not None and one.kind != query.kind:
        return False
    if types is not None and (one.kind, one.type) not in types:
        return False
    if query.tag is not None and query.tag not in one.tags:
        return False
    return query.lifecycle is None or one.lifecycle == query.lifecycle


def _row(snapshot: Snapshot, file: RecordFile, *, full: bool) -> Reply:
    row: Reply = {} if file.id is None else {"id": file.id}
    row["path"] = file.path
    if file.record is not None:
        one = file.record
        row.update(kind=one.kind, type=one.type, title=one.title, revision=one.revision, lifecycle=one.lifecycle)
    row["hash"] = file.hash if full else file.hash[:SHORT_HASH]
    flags = snapshot.flags(file)
    if flags:
        row["flags"] = list(flags)
        problem = next((issue.message for issue in snapshot.issues_by_path.get(file.path, ()) if issue.fatal), None)
        if problem is not None:
            row["problem"] = problem
        elif file.record is not None and "unavailable" in flags:
            row["problem"] = f"needs {', '.join(snapshot.missing_for(file.record)[:5])}"
    return row


def _details(file: RecordFile, one: Record) -> Reply:
    """Return the fields only the whole record shows; absent ones stay absent (R89)."""
    change = one.lifecycle_change
    values: Reply = {
        "recordedAt": one.recorded_at.text,
        "updatedAt": one.updated_at.text,
        "occurredAt": one.occurred_at.text if one.occurred_at else None,
        "validUntil": one.valid_until.text if one.valid_until else None,
        "dueAt": one.due_at.text if one.due_at else None,
        "owner": one.owner,
        "from": one.start,
        "to": one.end,
        "aliases": list(one.aliases),
        "tags": list(one.tags),
        "fields": _as_json(dict(file.fields)) if file.fields else None,
        "entities": list(one.entities),
        "sources": list(one.sources),
        "sourceEvent": one.source_event or None,
        "dependencies": list(one.dependencies),
        "supersedes": list(one.supersedes),
        "mergedInto": one.merged_into,
        "lifecycleChange": {
            key: value
            for key, value in (
                ("reason", change.reason),
                ("at", change.at),
                ("actor", change.actor),
                ("requestId", change.request_id),
            )
            if value is not None
        }
        if change is not None
        else None,
    }
    return {key: value for key, value in values.items() if value is not None and value != []}


def _as_json(value: YamlValue) -> object:
    """Return a value as JSON can hold it: numbers YAML knows and JSON does not are shown as YAML writes them."""
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return value


def _evidence(catalogue: EvidenceCatalogue, citation: EvidenceCitation, transcripts: TranscriptSource | None) -> Reply:
    shown = citation_json(catalogue, citation)
    state = catalogue.state_of(citation)
    shown["state"] = state
    descriptor = catalogue.descriptors.get(citation.id)
    if descriptor is None:
        return shown
    shown["descriptor"] = descriptor.to_json()
    if state == "verified":
        text = catalogue.text_of(citation)
        if text is not None:
            shown["text"] = text[:1_000]
    if transcripts is not None and descriptor.session is not None and descriptor.message_uuid is not None:
        message = transcripts.message(descriptor.session, descriptor.message_uuid)
        if message is None:
            shown["transcript"] = "gone"
        else:
            shown["transcript"] = "verified" if message.sha256 == descriptor.sha256 else "changed"
    return shown
