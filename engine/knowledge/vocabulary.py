"""`knowledge_ontology`: the vocabulary as a catalogue, as definitions, as source text, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.errors import InvalidArgument
from engine.knowledge.ontology_file import ONTOLOGY_PATH
from engine.knowledge.replies import BUDGET_BYTES, Reply, fit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.knowledge.ontology import TypeRule
    from engine.knowledge.queries import OntologyQuery
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore

RECORDS_PER_TYPE = 20
_PAGE = 50
_DEFINITIONS_PAGE = 10


def ontology(store: OpenStore, snapshot: Snapshot, query: OntologyQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return one view of the vocabulary (contract 1.4).

    Raises:
        InvalidArgument: A name or source that is not there.
    """
    reply: Reply = {"fingerprint": snapshot.ontology.fingerprint, "snapshot": snapshot.id[:32]}
    if query.view == "sources":
        return {**reply, **_sources(store, snapshot, query)}
    if query.view == "diagnostics":
        issues = [issue.to_json() for issue in snapshot.issues if issue.path == ONTOLOGY_PATH]
        issues += [issue.to_json() for issue in snapshot.issues if issue.code in ("unknown_type", "wrong_endpoint")]
        reply["chain"] = list(snapshot.ontology.chain)
        return _page(reply, issues, query, _PAGE, budget)
    if query.view == "definitions":
        rules = _named(snapshot, query)
        return _page(reply, [rule.to_json() for rule in rules], query, _DEFINITIONS_PAGE, budget)
    counts = _counts(snapshot)
    rows = [_summary(snapshot, rule, counts, query) for rule in snapshot.ontology.of_kind(query.kind)]
    return _page(reply, rows, query, _PAGE, budget)


def _named(snapshot: Snapshot, query: OntologyQuery) -> Sequence[TypeRule]:
    rules = tuple(snapshot.ontology.of_kind(query.kind))
    if query.name is None:
        return rules
    found = [rule for rule in rules if query.name == rule.name or query.name in rule.aliases]
    if not found:
        raise InvalidArgument(
            f'The ontology has no type "{query.name}"',
            "",
            "knowledge_ontology without arguments lists all types.",
            candidates=tuple(rule.name for rule in rules)[:20],
        )
    return found


def _counts(snapshot: Snapshot) -> dict[tuple[str, str], list[str]]:
    counts: dict[tuple[str, str], list[str]] = {}
    for name, record in snapshot.current.items():
        counts.setdefault((record.kind, record.type), []).append(name)
    return counts


def _summary(
    snapshot: Snapshot,
    rule: TypeRule,
    counts: dict[tuple[str, str], list[str]],
    query: OntologyQuery,
) -> Reply:
    names = counts.get((rule.kind, rule.name), [])
    row: Reply = {"name": rule.name, "kind": rule.kind, "label": rule.label or rule.name, "records": len(names)}
    if rule.description:
        row["description"] = rule.description
    if rule.aliases:
        row["aliases"] = list(rule.aliases)
    if query.include_records:
        row["examples"] = [{"id": name, "title": snapshot.current[name].title} for name in names[:RECORDS_PER_TYPE]]
        row["recordsTruncated"] = len(names) > RECORDS_PER_TYPE
    return row


def _sources(store: OpenStore, snapshot: Snapshot, query: OntologyQuery) -> Reply:
    path = store.layout.vault / ONTOLOGY_PATH
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() and not path.is_symlink() else None
    valid = not any(issue.path == ONTOLOGY_PATH for issue in snapshot.issues)
    if query.source_path is None:
        rows = [] if text is None else [{"path": ONTOLOGY_PATH, "valid": valid, "bytes": len(text.encode())}]
        return {"rows": rows, "total": len(rows), "builtIn": ["default"]}
    if query.source_path != ONTOLOGY_PATH or text is None:
        raise InvalidArgument(
            f'There is no ontology source "{query.source_path[:60]}"',
            "",
            'knowledge_ontology {"view": "sources"} lists them.',
        )
    piece = text[query.offset : query.offset + query.max_chars]
    shown: Reply = {"path": ONTOLOGY_PATH, "valid": valid, "text": piece, "totalChars": len(text)}
    if query.offset + len(piece) < len(text):
        shown["nextOffset"] = query.offset + len(piece)
    return shown


def _page(reply: Reply, rows: Sequence[Reply], query: OntologyQuery, default: int, budget: int) -> Reply:
    limit = query.limit or default
    reply["total"] = len(rows)
    count = fit_rows(reply, rows[query.offset : query.offset + limit], budget)
    if query.offset + count < len(rows):
        reply["nextOffset"] = query.offset + count
    return reply
