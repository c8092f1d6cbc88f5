"""`knowledge_lookup` and the resolution of entities: exact id, title or alias, never fuzzy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.errors import AmbiguousEntity, UnknownEntity
from engine.knowledge.filters import LOOKUP_UNITS, check_length, filter_of
from engine.knowledge.hits import add_common, full_row, require_record, short_row
from engine.knowledge.names import normal_name
from engine.knowledge.replies import BUDGET_BYTES, INDEX_NOT_USED, Reply, coverage, freshness, page
from engine.knowledge.snippets import AGENT_UNITS, opening

if TYPE_CHECKING:
    from engine.knowledge.queries import LookupQuery
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore


def lookup(store: OpenStore, snapshot: Snapshot, query: LookupQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return whether a name is found, ambiguous or missing; the verdict is over all matches (R33).

    Raises:
        EmptyQuery, QueryTooLong: The name is not acceptable.
        MovedOn: A file changed since the scan.
    """
    check_length(query.query, LOOKUP_UNITS)
    wanted = filter_of(query, snapshot.ontology)
    names = [name for name in _matching(snapshot, query.query) if wanted.passes(snapshot.eligible[name])]
    now = store.clock.now()
    status = "missing" if not names else "found" if len(names) == 1 else "ambiguous"
    rows: list[Reply] = []
    for name in names[query.offset : query.offset + query.limit]:
        file, record = require_record(snapshot, name)
        body = store.body(file)
        if query.view == "full":
            row = full_row(snapshot, file, record, body, now_ns=int(now * 1e9))
        else:
            row = short_row(file, record, now_ns=int(now * 1e9))
            row["snippet"] = opening("body", body, AGENT_UNITS).text
        add_common(row, record)
        rows.append(row)
    reply: Reply = {
        "status": status,
        "rows": [],
        "snapshot": snapshot.id[:32],
        "index": INDEX_NOT_USED,
        "coverage": coverage(snapshot, query.view),
    }
    if query.view == "full":
        reply["freshness"] = freshness(snapshot, now)
    if not names:
        survivor = _merged_into(snapshot, query.query)
        if survivor is not None:
            reply["mergedInto"] = survivor
    page(reply, rows, offset=query.offset, total=len(names), budget=budget)
    return reply


def resolve_entity(snapshot: Snapshot, entity: str) -> str:
    """Return the available record an id or exact name stands for; a merged id gives its survivor (R110).

    Raises:
        UnknownEntity: There is none.
        AmbiguousEntity: Several records have this name.
        EmptyQuery, QueryTooLong: The name is not acceptable.
    """
    check_length(entity, LOOKUP_UNITS)
    survivor = snapshot.survivor(entity)
    if survivor is not None:
        return survivor
    names = [name for name in _matching(snapshot, entity) if name in snapshot.current]
    if len(names) == 1:
        return names[0]
    if names:
        raise AmbiguousEntity(
            f'"{entity}" is the name of {len(names)} records',
            "",
            "Call again with one of their ids.",
            candidates=tuple(names[:10]),
        )
    raise UnknownEntity(
        f'No available record has the id or name "{entity}"',
        "Names must be exact titles or aliases.",
        "Find the id with knowledge_lookup or knowledge_grep.",
    )


def _matching(snapshot: Snapshot, text: str) -> list[str]:
    found = set(snapshot.names.get(normal_name(text), ()))
    if text in snapshot.eligible:
        found.add(text)
    return sorted(found)


def _merged_into(snapshot: Snapshot, text: str) -> str | None:
    if text in snapshot.nodes:
        survivor = snapshot.survivor(text)
        return survivor if survivor != text else None
    normal = normal_name(text)
    survivors = {
        survivor
        for name in snapshot.merged
        if normal in snapshot.by_id[name].names and (survivor := snapshot.survivor(name))
    }
    return survivors.pop() if len(survivors) == 1 else None
