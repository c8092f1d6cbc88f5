"""The writing tools: each turns its request into a plan, fenced by the revision and hash the caller read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from engine.arguments import validate
from engine.knowledge import drafts
from engine.knowledge.dates import utc_text
from engine.knowledge.errors import (
    EvidenceRefused,
    HashConflict,
    InvalidArgument,
    InvalidRecord,
    LifecycleConflict,
    StoreIdentityMismatch,
)
from engine.knowledge.frontmatter import FrontMatterRefused, edit_record, new_record, split_record
from engine.knowledge.plan import Plan, Target, require_target
from engine.knowledge.retain import Retainer, stage_file
from engine.knowledge.tools_write import PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.knowledge.records import Kind, Record
    from engine.knowledge.requests import (
        AttachFile,
        Caller,
        Correct,
        CreateRecord,
        EditBody,
        JsonObject,
        Merge,
        SavePage,
        Unmerge,
        Withdraw,
    )
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.store import OpenStore
    from engine.knowledge.transcripts import TranscriptSource
    from engine.knowledge.yamltext import YamlValue

_PAGE_KEYS = ("aliases", "tags", "entities", "sources", "summary")


def canonical(request: object) -> dict[str, object]:
    """Return what makes two requests the same: everything but the request id, without what was left out."""
    values = asdict(cast("CreateRecord", request))
    return {key: value for key, value in values.items() if key != "request_id" and value is not None}


@dataclass(frozen=True, slots=True)
class Writer:
    """Builds the plans of one call."""

    store: OpenStore
    snapshot: Snapshot
    caller: Caller
    transcripts: TranscriptSource | None
    request_id: str
    redact: Callable[[str], str] | None = None

    @property
    def now(self) -> str:
        """The time written into records."""
        return utc_text(self.store.clock.now())

    def check_vault(self, expected: str | None) -> None:
        """Refuse a write meant for another vault.

        Raises:
            StoreIdentityMismatch: The vault has another identity.
        """
        if expected is not None and expected != self.store.manifest.vault_id:
            raise StoreIdentityMismatch(
                "The request is meant for another vault", f"This one is {self.store.manifest.vault_id}."
            )

    def save_page(self, request: SavePage) -> Plan:
        """Create a page or save one whole."""
        if request.expected_revision == 0:
            return self._create_page(request)
        if request.id is None:
            raise InvalidArgument("id is missing", "A saved page is named by its id; expectedRevision 0 creates one.")
        target = self._target(request.id, request.expected_revision, request.expected_hash, ("active",), ("page",))
        plan = Plan(f"Save {target.record.title}")
        changes: dict[str, YamlValue] = {"revision": target.record.revision + 1, "updated_at": self.now}
        remove: set[str] = set()
        given: dict[str, object] = {key: getattr(request, key) for key in ("title", "type", "fields", *_PAGE_KEYS)}
        for key, value in given.items():
            if value is not None:
                (changes.update({key: cast("YamlValue", value)}) if value else remove.add(key))
        if request.evidence is not None:
            changes["evidence"] = self._cited(request.evidence, plan)
        body = None if request.body is None else _body(request.body)
        self._edit(plan, target, changes, "saved", remove=frozenset(remove), body=body)
        plan.check_references(self.snapshot)
        return plan

    def _create_page(self, request: SavePage) -> Plan:
        if request.expected_hash is not None:
            raise InvalidArgument("expectedHash does not go with expectedRevision 0", "There is no file yet.")
        if not request.title or not request.type:
            raise InvalidArgument("A new page needs title and type", "", "knowledge_ontology lists the page types.")
        name = request.id
        if name is not None and (name in self.snapshot.by_id or name in self.snapshot.duplicates):
            raise LifecycleConflict(f'There is already a record "{name}"', "", "Leave id out to get a new one.")
        plan = Plan(f"Add {request.title}")
        values = drafts.envelope("page", self.snapshot.scope, self.now, name)
        title = " ".join(request.title.split())
        values.update(title=title, type=request.type)
        if request.fields:
            values["fields"] = cast("YamlValue", dict(request.fields))
        for key in _PAGE_KEYS:
            value = getattr(request, key)
            if value:
                values[key] = value if isinstance(value, str) else list(value)
        if request.evidence:
            values["evidence"] = self._cited(request.evidence, plan)
        day = str((request.fields or {}).get("occurred_at", ""))[:10] or None
        self._add_new(plan, values, request.body or "", type_name=request.type, day=day)
        return plan

    def edit_body(self, request: EditBody) -> Plan:
        """Replace one passage of a page's body."""
        target = self._target(request.id, request.expected_revision, request.expected_hash, ("active",), ("page",))
        body = split_record(target.data).body
        find, replace = request.find, request.replace
        if "\r\n" in body:
            find, replace = (text.replace("\r\n", "\n").replace("\n", "\r\n") for text in (find, replace))
        count = body.count(find) if find else 0
        if count != 1:
            raise InvalidArgument(
                "find must stand in the body exactly once",
                f"It stands there {count} times.",
                "Copy a longer passage from knowledge_record.",
            )
        plan = Plan(f"Edit {target.record.title}")
        changes: dict[str, YamlValue] = {"revision": target.record.revision + 1, "updated_at": self.now}
        self._edit(plan, target, changes, "edited", body=body.replace(find, replace))
        return plan

    def create(self, request: CreateRecord) -> Plan:
        """Record a claim or a relationship."""
        self._check_fingerprint(request.expected_ontology_fingerprint)
        plan = Plan("Record")
        record = self._assertion(plan, request.record, {})
        plan.message = f"Record {record.title}"
        return plan

    def correct(self, request: Correct) -> Plan:
        """Supersede a claim or relationship by a new record of the same kind."""
        self._check_fingerprint(request.expected_ontology_fingerprint)
        _require_reason(request.reason)
        target = self._target(
            request.id, request.expected_revision, request.expected_hash, ("active",), ("claim", "relationship")
        )
        if request.replacement.get("kind", target.record.kind) != target.record.kind:
            raise InvalidRecord(f"The replacement must be a {target.record.kind} like the original")
        plan = Plan(f"Correct {target.record.title}")
        self._refuse_dependence(request.replacement, request.id)
        replacement = {**request.replacement, "kind": target.record.kind}
        new = self._assertion(plan, replacement, {"supersedes": [request.id]}, but=request.id)
        self._close(plan, target, "superseded", request.reason, {"superseded_by": new.id})
        return plan

    def withdraw(self, request: Withdraw) -> Plan:
        """Retract a record."""
        _require_reason(request.reason)
        target = self._target(
            request.id,
            request.expected_revision,
            request.expected_hash,
            ("active", "superseded"),
            ("page", "claim", "relationship"),
        )
        plan = Plan(f"Withdraw {target.record.title}")
        self._close(plan, target, "withdrawn", request.reason, {})
        return plan

    def merge(self, request: Merge) -> Plan:
        """Let one page stand for another."""
        _require_reason(request.reason)
        if request.survivor == request.merged:
            raise InvalidArgument("A page cannot be merged into itself")
        target = self._target(request.merged, request.expected_revision, request.expected_hash, ("active",), ("page",))
        survivor = self.snapshot.current.get(request.survivor)
        if survivor is None or survivor.kind != "page":
            raise LifecycleConflict(f'The survivor "{request.survivor[:80]}" is not an available active page')
        if request.expected_survivor_revision is not None:
            require_target(
                self.store,
                self.snapshot,
                request.survivor,
                request.expected_survivor_revision,
                request.expected_survivor_hash,
            )
        if target.record.id in survivor.required_ids():
            raise LifecycleConflict("The survivor needs the page that would be merged into it")
        plan = Plan(f"Merge {target.record.title} into {survivor.title}")
        self._close(plan, target, "merged", request.reason, {"merged_into": request.survivor})
        return plan

    def unmerge(self, request: Unmerge) -> Plan:
        """Give a merged page its own standing back."""
        _require_reason(request.reason)
        target = self._target(request.id, request.expected_revision, request.expected_hash, ("merged",), ("page",))
        plan = Plan(f"Unmerge {target.record.title}")
        changes = self._lifecycle(target, "active", request.reason)
        self._edit(
            plan, target, changes, "unmerged", remove=frozenset({"merged_into"}), reason=request.reason, guard=True
        )
        plan.check_references(self.snapshot)
        return plan

    def attach_file(self, request: AttachFile) -> Plan:
        """Retain a file as evidence."""
        if not request.attribution.strip():
            raise EvidenceRefused("attribution is empty", "It says where the file comes from.")
        plan = Plan("Retain a file")
        descriptor = stage_file(self.store.layout.vault, request, self.store.clock.now(), plan)
        plan.message = f"Retain {descriptor.filename}"
        return plan

    def _assertion(
        self,
        plan: Plan,
        record: JsonObject,
        more: Mapping[str, YamlValue],
        but: str | None = None,
    ) -> Record:
        record = validate("record", record, PARTS)
        kind = record.get("kind")
        if kind not in ("claim", "relationship"):
            raise InvalidArgument(
                "kind must be claim or relationship", "", "Pages are written with knowledge_save_page."
            )
        items = record.get("evidence")
        if not isinstance(items, list) or not items:
            raise EvidenceRefused(
                f"A {kind} needs evidence",
                "It must be possible to read where it was said.",
                'Add evidence: [{"quote": "the exact words", "session": "current"}].',
            )
        checked_kind: Kind = "claim" if kind == "claim" else "relationship"
        cited = self._retainer().cite(cast("list[JsonObject]", items), plan)
        values = drafts.assertion_values(record, checked_kind, cited, self.snapshot.scope, self.now)
        title = drafts.title_of(record, checked_kind, self.snapshot)
        values.update(title=title, **more)
        type_name = str(values.get("claim_kind" if kind == "claim" else "type", ""))
        day = str(values.get("occurred_at", values["recorded_at"]))[:10] if kind == "claim" else None
        return self._add_new(plan, values, str(record.get("body", "")), type_name=type_name, day=day, but=but)

    def _add_new(
        self,
        plan: Plan,
        values: dict[str, YamlValue],
        body: str,
        *,
        type_name: str,
        day: str | None,
        but: str | None = None,
    ) -> Record:
        kind, title = str(values["kind"]), str(values["title"])
        see = drafts.see_links(self.snapshot, values)
        if see:
            values["see"] = see
        twins = drafts.same_title(self.snapshot, title, kind, but)
        if twins:
            plan.warnings.append(f"There is already a {kind} with this title: {', '.join(twins[:5])}.")
        path = drafts.new_path(self.store.layout.vault, self.snapshot, values, type_name=type_name, day=day)
        record = plan.add(self.snapshot, path, new_record(values, body), "created")
        plan.check_references(self.snapshot)
        return record

    def _close(self, plan: Plan, target: Target, lifecycle: str, reason: str, more: Mapping[str, YamlValue]) -> None:
        changes = {**self._lifecycle(target, lifecycle, reason), **more}
        self._edit(plan, target, changes, lifecycle, reason=reason, guard=True)

    def _lifecycle(self, target: Target, lifecycle: str, reason: str) -> dict[str, YamlValue]:
        change: dict[str, YamlValue] = {
            "reason": " ".join(reason.split()),
            "at": self.now,
            "actor": self.caller.actor,
            "request_id": self.request_id,
        }
        return {
            "revision": target.record.revision + 1,
            "updated_at": self.now,
            "lifecycle": lifecycle,
            "lifecycle_change": change,
        }

    def _edit(
        self,
        plan: Plan,
        target: Target,
        changes: Mapping[str, YamlValue],
        event: str,
        *,
        remove: frozenset[str] = frozenset(),
        body: str | None = None,
        reason: str | None = None,
        guard: bool = False,
    ) -> None:
        try:
            data = edit_record(target.data, changes, remove=remove, body=body)
        except FrontMatterRefused as error:
            raise InvalidRecord("The file's front matter cannot be changed", f"{target.file.path}: {error}.") from error
        plan.add(self.snapshot, target.file.path, data, event, before=target.file, reason=reason, guard=guard)

    def _target(
        self,
        name: str,
        revision: int,
        digest: str | None,
        lifecycles: Sequence[str],
        kinds: Sequence[str],
    ) -> Target:
        target = require_target(self.store, self.snapshot, name, revision, digest)
        if target.record.kind not in kinds:
            raise LifecycleConflict(f'"{name}" is a {target.record.kind}', f"This tool changes {' and '.join(kinds)}.")
        if target.record.lifecycle not in lifecycles:
            raise LifecycleConflict(f'"{name}" is {target.record.lifecycle}', "This change is not possible any more.")
        if any(issue.fatal for issue in self.snapshot.issues_by_path.get(target.file.path, ())):
            problem = next(issue for issue in self.snapshot.issues_by_path[target.file.path] if issue.fatal)
            raise InvalidRecord("The record is not valid as it stands", problem.message, "Repair the file first.")
        return target

    def _refuse_dependence(self, replacement: JsonObject, original: str) -> None:
        """Refuse a replacement that would rest on what it replaces, or on what rests on that."""
        tainted = {original}
        while True:
            more = {
                name
                for name, record in self.snapshot.eligible.items()
                if name not in tainted and tainted.intersection((*record.dependencies, *record.sources))
            }
            if not more:
                break
            tainted |= more
        needed = [name for key in ("dependencies", "sources") for name in cast("list[str]", replacement.get(key) or [])]
        wrong = [name for name in needed if name in tainted]
        if wrong:
            raise InvalidRecord("The replacement depends on the record it replaces", f"Through {', '.join(wrong[:3])}.")

    def _check_fingerprint(self, expected: str | None) -> None:
        if expected is not None and expected != self.snapshot.ontology.fingerprint:
            raise HashConflict(
                "The vocabulary changed since it was read",
                "",
                "Read knowledge_ontology again and check the type.",
            )

    def _cited(self, items: Sequence[JsonObject], plan: Plan) -> list[YamlValue]:
        checked = [validate("evidence", item, PARTS) for item in items]
        return [dict(one.item) for one in self._retainer().cite(checked, plan)]

    def _retainer(self) -> Retainer:
        return Retainer(self.snapshot.evidence, self.transcripts, self.caller, self.store.clock.now(), self.redact)


def _body(text: str) -> str:
    plain = text.strip("\n")
    return f"\n{plain}\n" if plain else ""


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise InvalidArgument("reason is empty", "It is kept with the record.", "Say in a few words why.")
