"""The front class of Knowledge: one typed method for each tool, values in, JSON-ready replies out.

`call` is the door for anything that comes from outside (MCP, CLI): it checks names, types and ranges. The typed methods
expect values in range. Every method holds the store's lane for its whole length; nothing runs between two calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from engine.arguments import validate
from engine.knowledge import audit, inventory, timeline, vocabulary
from engine.knowledge import grep as search
from engine.knowledge import lookup as names
from engine.knowledge.arguments import snake
from engine.knowledge.checkpoint import Checkpoints
from engine.knowledge.errors import NotAuthorized
from engine.knowledge.manifest import StoreLayout, store_exists
from engine.knowledge.publish import NoSteps, Publisher, clean_up
from engine.knowledge.queries import MutationQuery
from engine.knowledge.records import DEFAULT_SCOPE
from engine.knowledge.replies import BUDGET_BYTES, Reply, coverage
from engine.knowledge.requests import Caller
from engine.knowledge.scan import ScanLimits
from engine.knowledge.storable import readable, storable
from engine.knowledge.store import OpenStore, StoreLane, retrying
from engine.knowledge.tools import OPERATIONS, tool_named
from engine.knowledge.writes import Writer, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.knowledge.plan import Plan
    from engine.knowledge.publish import Steps
    from engine.knowledge.queries import (
        DayQuery,
        GrepQuery,
        HistoryQuery,
        LastSeenQuery,
        LookupQuery,
        OntologyQuery,
        RecordQuery,
        RecordsQuery,
        SinceQuery,
        TimelineQuery,
    )
    from engine.knowledge.requests import (
        AttachFile,
        Correct,
        CreateRecord,
        EditBody,
        Merge,
        Resume,
        SavePage,
        Unmerge,
        Withdraw,
        WriteRequest,
    )
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.transcripts import TranscriptSource

_T = TypeVar("_T")

CHECKPOINT_PAUSE_S = 60.0
"""How long reads leave Git alone after a checkpoint they tried in vain: one that hangs costs 20 s."""


class KnowledgeService:
    """Knowledge as the rest of the engine sees it. Thread-safe; the store is opened when first needed.

    Args:
        root: Folder of the store (`Paths.knowledge`). Not created by looking.
        clock: Time.
        transcripts: Finds the messages evidence is taken from; without it only texts and files can be cited.
        redact: Takes secrets out of what is retained as evidence; None keeps every text as it was said.
        scopes: What the caller of this instance may see; one scope for each call.
        limits: The most a vault may hold.
        git: The program that makes checkpoints.
        steps: Told where a publication stands.
    """

    def __init__(
        self,
        root: Path,
        clock: Clock,
        transcripts: TranscriptSource | None = None,
        *,
        redact: Callable[[str], str] | None = None,
        scopes: frozenset[str] = frozenset({DEFAULT_SCOPE}),
        limits: ScanLimits | None = None,
        git: str = "git",
        steps: Steps | None = None,
    ) -> None:
        self.layout = StoreLayout(root)
        self.budget = BUDGET_BYTES
        self._clock = clock
        self._transcripts = transcripts
        self._redact = redact
        self._scopes = scopes
        self._steps = steps or NoSteps()
        self._no_checkpoint_before = 0.0
        self._git = Checkpoints(self.layout.vault, git)
        self._lane = StoreLane(self.layout, clock, limits or ScanLimits(), self._recover)

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

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        caller: Caller | None = None,
        scope: str = DEFAULT_SCOPE,
    ) -> Reply:
        """Run a tool by name with arguments from outside.

        Raises:
            EngineError: Wrong arguments, or whatever the tool refuses; `errors.error_reply` renders it.
        """
        checked = validate(tool, arguments, OPERATIONS)
        spec = tool_named(tool)
        checked = readable(checked) if spec.read_only else storable(checked)
        request = spec.request(**{snake(name): value for name, value in checked.items()})
        method: Callable[..., Reply] = getattr(self, spec.method)
        if spec.read_only:
            return method(request, scope=scope)
        return method(request, caller or Caller(), scope=scope)

    def grep(self, query: GrepQuery, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Search by keyword (`knowledge_grep`)."""
        return self._read(scope, lambda store, snapshot: search.grep(store, snapshot, query, budget=self.budget))

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
        return self._read(scope, lambda store, snapshot: timeline.last_seen(store, snapshot, query, budget=self.budget))

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

    def save_page(self, request: SavePage, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Create or save a page (`knowledge_save_page`)."""
        return self._write("knowledge_save_page", request, caller, scope, lambda writer: writer.save_page(request))

    def edit_body(self, request: EditBody, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Change one passage of a page (`knowledge_edit_body`)."""
        return self._write("knowledge_edit_body", request, caller, scope, lambda writer: writer.edit_body(request))

    def create(self, request: CreateRecord, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Record a claim or relationship (`knowledge_create`)."""
        return self._write("knowledge_create", request, caller, scope, lambda writer: writer.create(request))

    def correct(self, request: Correct, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Supersede a claim or relationship (`knowledge_correct`)."""
        return self._write("knowledge_correct", request, caller, scope, lambda writer: writer.correct(request))

    def withdraw(self, request: Withdraw, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Retract a record (`knowledge_withdraw`)."""
        return self._write("knowledge_withdraw", request, caller, scope, lambda writer: writer.withdraw(request))

    def merge(self, request: Merge, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Let one page stand for another (`knowledge_merge`)."""
        return self._write("knowledge_merge", request, caller, scope, lambda writer: writer.merge(request))

    def unmerge(self, request: Unmerge, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Undo a merge (`knowledge_unmerge`)."""
        return self._write("knowledge_unmerge", request, caller, scope, lambda writer: writer.unmerge(request))

    def attach_file(self, request: AttachFile, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Retain a file as evidence (`knowledge_attach_file`)."""
        return self._write("knowledge_attach_file", request, caller, scope, lambda writer: writer.attach_file(request))

    def resume(self, request: Resume, caller: Caller, *, scope: str = DEFAULT_SCOPE) -> Reply:
        """Try the Git checkpoint of a publication again (`knowledge_resume`)."""
        del caller
        self._authorise(scope)
        with self._lane.lane() as store:
            self._checkpoint(store, request.request_id)
            return audit.mutation(store, scope, MutationQuery(request.request_id))

    def abandon(self, request_id: str) -> None:
        """Give up a publication that conflicts with the files; they stay as they are (`knowledge check`).

        Raises:
            StoreUnavailable: There is no store.
        """
        with self._lane.lane(recover=False) as store:
            store.journal.abandon(request_id)

    def _write(
        self,
        tool: str,
        request: WriteRequest,
        caller: Caller,
        scope: str,
        build: Callable[[Writer], Plan],
    ) -> Reply:
        self._authorise(scope)
        with self._lane.lane(create=True) as store:

            def make(request_id: str) -> Plan:
                writer = Writer(store, store.snapshot(scope), caller, self._transcripts, request_id, self._redact)
                writer.check_vault(request.expected_vault_id)
                plan = build(writer)
                files = [change.file for change in plan.changes]
                sizes = [len(file.data or b"") for file in files]
                store.reader.require_room(sizes, sum(file.old is None for file in files))
                return plan

            publisher = Publisher(store, self._steps)
            publication = publisher.publish(
                tool, request.request_id, canonical(request), caller=caller, scope=scope, make=make
            )
            self._checkpoint(store, publication.request_id)
            published = store.journal.find(publication.request_id) or publication
            receipt = audit.receipt_of(store, published, scope)
            warnings = cast("list[str]", receipt.get("warnings", []))
            return {"note": " ".join(warnings), "receipt": receipt} if warnings else {"receipt": receipt}

    def _checkpoint(self, store: OpenStore, request_id: str) -> None:
        state = self._git.flush(store.journal)
        if state != "committed":
            store.journal.note_git(request_id, state)
        self._steps.reached("checkpointed")

    def _recover(self, store: OpenStore, *, first: bool) -> None:
        """Finish what a crash interrupted, before anything is read."""
        Publisher(store, self._steps).recover()
        if first:
            clean_up(store)

    def _read(self, scope: str, operation: Callable[[OpenStore, Snapshot], _T]) -> _T:
        self._authorise(scope)
        with self._lane.lane() as store:
            self._catch_up(store)
            return retrying(lambda: operation(store, store.snapshot(scope)))

    def _catch_up(self, store: OpenStore) -> None:
        """Try the checkpoints again that publications still wait for; after one in vain reads pause.

        Edits by hand wait for the next publication: a read alone leaves the vault's repository as it is (R155).
        """
        now = self._clock.now()
        if now < self._no_checkpoint_before or not store.journal.awaits_commit():
            return
        if self._git.flush(store.journal) != "committed":
            self._no_checkpoint_before = now + CHECKPOINT_PAUSE_S

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
