"""The front class of Knowledge: one typed method for each tool, values in, JSON-ready replies out.

`call` is the door for anything that comes from outside (MCP, CLI): it checks names, types and ranges. The typed methods
expect values in range. Every method holds the store's lane for its whole length; nothing runs between two calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engine.knowledge import audit, inventory, keyword, timeline, vocabulary
from engine.knowledge import lookup as names
from engine.knowledge.arguments import check_arguments
from engine.knowledge.errors import NotAuthorized
from engine.knowledge.manifest import StoreLayout, store_exists
from engine.knowledge.records import DEFAULT_SCOPE
from engine.knowledge.replies import BUDGET_BYTES, Reply, coverage
from engine.knowledge.scan import ScanLimits
from engine.knowledge.store import OpenStore, StoreLane, retrying
from engine.knowledge.tools import tool_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.knowledge.queries import (
        DayQuery,
        GrepQuery,
        HistoryQuery,
        LastSeenQuery,
        LookupQuery,
        MutationQuery,
        OntologyQuery,
        RecordQuery,
        RecordsQuery,
        SinceQuery,
        TimelineQuery,
    )
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.transcripts import TranscriptSource

_T = TypeVar("_T")


class KnowledgeService:
    """Knowledge as the rest of the engine sees it. Thread-safe; the store is opened when first needed.

    Args:
        root: Folder of the store (`Paths.knowledge`). Not created by looking.
        clock: Time.
        transcripts: Finds the messages evidence is taken from; without it only texts and files can be cited.
        scopes: What the caller of this instance may see; one scope for each call.
        limits: The most a vault may hold.
    """

    def __init__(
        self,
        root: Path,
        clock: Clock,
        transcripts: TranscriptSource | None = None,
        *,
        scopes: frozenset[str] = frozenset({DEFAULT_SCOPE}),
        limits: ScanLimits | None = None,
    ) -> None:
        self.layout = StoreLayout(root)
        self.budget = BUDGET_BYTES
        self._clock = clock
        self._transcripts = transcripts
        self._scopes = scopes
        self._lane = StoreLane(self.layout, clock, limits or ScanLimits(), lambda store: None)

    def exists(self) -> bool:
        """Return whether a store was ever created here. Creates nothing."""
        return store_exists(self.layout)

    def init(self) -> Reply:
        """Create the store; a store that exists is left as it is (`backscroll knowledge init`).

        Raises:
            StoreUnavailable: There are the remains of a store.
        """
        created = not self.exists()
        with self._lane.lane(create=True) as store:
            return {"created": created, "storeId": store.manifest.store_id, "vaultId": store.manifest.vault_id}

    def close(self) -> None:
        """Close the database. The next call opens it again."""
        self._lane.close()

    def call(self, tool: str, arguments: Mapping[str, object], *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Run a tool by name with arguments from outside.

        Raises:
            EngineError: Wrong arguments, or whatever the tool refuses; `errors.error_reply` renders it.
        """
        spec = tool_named(tool)
        request = spec.request(**check_arguments(spec.arguments, arguments))
        method: Callable[..., Reply] = getattr(self, spec.method)
        return method(request, scope=scope)

    def grep(self, query: GrepQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Search by keyword (`knowledge_grep`)."""
        return self._read(scope, lambda store, snapshot: keyword.grep(store, snapshot, query, budget=self.budget))

    def lookup(self, query: LookupQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Find an exact id, title or alias (`knowledge_lookup`)."""
        return self._read(scope, lambda store, snapshot: names.lookup(store, snapshot, query, budget=self.budget))

    def records(self, query: RecordsQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """List every record file (`knowledge_records`)."""
        return self._read(scope, lambda store, snapshot: inventory.records(store, snapshot, query, budget=self.budget))

    def record(self, query: RecordQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Show one record in full (`knowledge_record`)."""
        return self._read(
            scope,
            lambda store, snapshot: inventory.record(store, snapshot, query, self._transcripts, budget=self.budget),
        )

    def timeline(self, query: TimelineQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """List records by a structured date (`knowledge_timeline`)."""
        return self._read(scope, lambda store, snapshot: timeline.timeline(store, snapshot, query, budget=self.budget))

    def chronicle_day(self, query: DayQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """List what occurred on a day or in its week (`knowledge_chronicle_day`)."""
        return self._read(
            scope, lambda store, snapshot: timeline.chronicle_day(store, snapshot, query, budget=self.budget)
        )

    def chronicle_since(self, query: SinceQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """List what occurred since a date (`knowledge_chronicle_since`)."""
        return self._read(
            scope, lambda store, snapshot: timeline.chronicle_since(store, snapshot, query, budget=self.budget)
        )

    def chronicle_last_seen(self, query: LastSeenQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Find an entity's most recent dated record (`knowledge_chronicle_last_seen`)."""
        return self._read(scope, lambda store, snapshot: timeline.last_seen(store, snapshot, query))

    def ontology(self, query: OntologyQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Show the vocabulary (`knowledge_ontology`)."""
        return self._read(
            scope, lambda store, snapshot: vocabulary.ontology(store, snapshot, query, budget=self.budget)
        )

    def history(self, query: HistoryQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """List what was published (`knowledge_history`)."""
        return self._read(scope, lambda store, _: audit.history(store, scope, query, budget=self.budget))

    def mutation(self, query: MutationQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Show the receipt of one publication (`knowledge_mutation`)."""
        return self._read(scope, lambda store, _: audit.mutation(store, scope, query))

    def check(self, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Return every finding about the vault, all evidence verified (`backscroll knowledge check`)."""
        return self._read(scope, _check)

    def _read(self, scope: str, operation: Callable[[OpenStore, Snapshot], _T]) -> _T:
        self._authorise(scope)
        with self._lane.lane() as store:
            return retrying(lambda: operation(store, store.snapshot(scope)))

    def _authorise(self, scope: str) -> None:
        if scope not in self._scopes:
            raise NotAuthorized("There is no grant for this scope", "", "Ask in a scope this caller was given.")


def _check(store: OpenStore, snapshot: Snapshot) -> Reply:
    issues = [issue.to_json() for issue in snapshot.issues]
    for file in snapshot.files:
        for number, citation in enumerate(file.record.evidence if file.record is not None else ()):
            state = snapshot.evidence.state_of(citation)
            if state not in ("verified", "no_descriptor"):
                issues.append(
                    {
                        "code": f"evidence_{state}",
                        "path": file.path,
                        "line": file.line_of(f"evidence.{number}"),
                        "id": file.id,
                        "message": f'evidence "{citation.id}" does not verify',
                    },
                )
    return {
        "ok": not issues,
        "issues": issues,
        "files": len(snapshot.inventory),
        "usable": len(snapshot.eligible),
        "waitingForGit": store.journal.without_commit(),
        "coverage": coverage(snapshot, "full"),
    }
