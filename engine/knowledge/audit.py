"""`knowledge_history` and `knowledge_mutation`: what was published, with receipts that tell the present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.errors import RecordNotFound
from engine.knowledge.replies import BUDGET_BYTES, Reply, page

if TYPE_CHECKING:
    from engine.knowledge.queries import HistoryQuery, MutationQuery
    from engine.knowledge.store import OpenStore
    from engine.store.knowledge_journal import Event, Publication


def receipt_of(store: OpenStore, publication: Publication, scope: str) -> Reply:
    """Return a receipt as it stands now: its state, whether it is indexed (R73), and its Git checkpoint."""
    git: Reply = {"state": publication.git_state}
    if publication.git_commit is not None:
        git["commit"] = publication.git_commit
    return {
        **publication.receipt,
        "state": publication.state,
        "indexed": publication.state == "complete" and _is_indexed(store, publication.request_id, scope),
        "git": git,
    }


def mutation(store: OpenStore, scope: str, query: MutationQuery) -> Reply:
    """Return the receipt of one publication.

    Raises:
        RecordNotFound: No publication has this request id.
    """
    publication = store.journal.find(query.request_id)
    if publication is None or publication.receipt.get("scope") != scope:
        raise RecordNotFound(
            f'No publication has the request id "{query.request_id[:80]}"',
            "Nothing was written under it.",
            "knowledge_history lists what was written.",
        )
    return {"receipt": receipt_of(store, publication, scope)}


def history(store: OpenStore, scope: str, query: HistoryQuery, *, budget: int = BUDGET_BYTES) -> Reply:
    """Return what happened to a record, or to the whole scope, newest first.

    With `revision`, each row of that revision also carries the exact text it had.
    """
    events, total = store.journal.history(scope, query.id, query.limit, query.offset)
    rows = [_row(store, scope, event, query) for event in events]
    reply: Reply = {"rows": []}
    page(reply, rows, offset=query.offset, total=total, budget=budget)
    return reply


def _row(store: OpenStore, scope: str, event: Event, query: HistoryQuery) -> Reply:
    row: Reply = {
        "seq": event.seq,
        "id": event.id,
        "event": event.event,
        "revision": event.revision,
        "hash": event.hash,
        "at": event.at,
        "path": event.path,
    }
    for key, value in (("actor", event.actor), ("reason", event.reason), ("requestId", event.request_id)):
        if value is not None:
            row[key] = value
    row["indexed"] = event.seq <= _indexed_up_to(store, scope)
    publication = store.journal.find(event.request_id) if event.request_id is not None else None
    if publication is not None:
        git: Reply = {"state": publication.git_state}
        if publication.git_commit is not None:
            git["commit"] = publication.git_commit
        row["git"] = git
    if query.revision is not None and event.revision == query.revision:
        data = store.journal.blob(event.hash)
        if data is not None:
            row["text"] = data.decode("utf-8", "replace")
    return row


def _is_indexed(store: OpenStore, request_id: str, scope: str) -> bool:
    seq = store.journal.last_seq_of(request_id)
    return seq == 0 or seq <= _indexed_up_to(store, scope)


def _indexed_up_to(store: OpenStore, scope: str) -> int:
    """Return the newest line of history the keyword index holds; 0 while there is no index."""
    mark = store.index_mark(scope)
    return mark.history_seq if mark is not None else 0
