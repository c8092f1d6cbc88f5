"""Fixture F of the contract (section 2) as real files, and the small hand that edits them.

Every claim and relationship cites retained evidence that verifies, as the contract says.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.clock import FixedClock
from engine.knowledge.frontmatter import edit_record, new_record
from engine.knowledge.queries import (
    DayQuery,
    GrepQuery,
    LastSeenQuery,
    LookupQuery,
    RecordQuery,
    RecordsQuery,
    SinceQuery,
    TimelineQuery,
)
from engine.knowledge.service import KnowledgeService

if TYPE_CHECKING:
    from engine.knowledge.requests import Caller
    from engine.knowledge.scan import ScanLimits
    from engine.knowledge.yamltext import YamlValue

Reply = dict[str, Any]

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
RECORDED = "2026-03-05T10:00:00Z"
EVIDENCE_TEXT = "Notes taken by hand.\nScope agreed.\nForty euros, for now.\nAna delivers the pilot build.\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def call_tool(service: KnowledgeService, tool: str, arguments: Reply, caller: Caller | None = None) -> Reply:
    """Call a tool as a client does; its JSON is not typed any further."""
    return service.call(tool, arguments, caller=caller)


def ids(reply: Reply) -> list[str]:
    return [row["id"] for row in reply["rows"]]


@dataclass
class Store:
    """A store on disk, its service, and shorthands for the calls of the contract's examples."""

    root: Path
    clock: FixedClock
    service: KnowledgeService
    paths: dict[str, Path] = field(default_factory=dict[str, Path])

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    def write(self, path: str, values: dict[str, YamlValue], body: str) -> Path:
        """Write a record file with the envelope filled in."""
        envelope: dict[str, YamlValue] = {
            "format": "knowledge-record-v1",
            "revision": 1,
            "scope": "default",
            "lifecycle": "active",
            "recorded_at": RECORDED,
            "updated_at": RECORDED,
        }
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(new_record({**envelope, **values}, body))
        self.paths[str(values.get("id", path))] = file
        return file

    def page(self, name: str, kind: str, title: str, body: str = "", **more: YamlValue) -> Path:
        return self.write(f"{kind}/{name}.md", {"id": name, "kind": "page", "type": kind, "title": title, **more}, body)

    def claim(self, name: str, kind: str, title: str, body: str = "", **more: YamlValue) -> Path:
        values: dict[str, YamlValue] = {
            "id": name,
            "kind": "claim",
            "claim_kind": kind,
            "title": title,
            "attribution": {"by": "Ben Okafor"},
            "assertion_origin": "stated",
            "evidence": [{"id": self.evidence()}],
            **more,
        }
        return self.write(f"claims/{name}.md", values, body)

    def relation(self, name: str, kind: str, ends: tuple[str, str], title: str, body: str, **more: YamlValue) -> Path:
        values: dict[str, YamlValue] = {
            "id": name,
            "kind": "relationship",
            "type": kind,
            "title": title,
            "from": ends[0],
            "to": ends[1],
            "evidence": [{"id": self.evidence()}],
            **more,
        }
        return self.write(f"relationships/{name}.md", values, body)

    def evidence(self, name: str = "ev_notes", text: str = EVIDENCE_TEXT) -> str:
        """Retain a text and return its descriptor's id."""
        descriptor = self.vault / "evidence" / f"{name}.yaml"
        if descriptor.exists():
            return name
        digest = sha256(text.encode())
        original = self.vault / "evidence" / "files" / digest[:2] / f"{digest}.txt"
        original.parent.mkdir(parents=True, exist_ok=True)
        original.write_text(text, encoding="utf-8", newline="")
        descriptor.write_text(
            f"id: {name}\npath: evidence/files/{digest[:2]}/{digest}.txt\nsha256: {digest}\nattribution: Ben Okafor\n"
            f"media_type: text/plain\nsize: {len(text.encode())}\n",
            encoding="utf-8",
        )
        return name

    def edit(self, name: str, *, body: str | None = None, remove: tuple[str, ...] = (), **changes: YamlValue) -> None:
        """Change a record's file by hand, as Obsidian would."""
        path = self.paths[name]
        path.write_bytes(edit_record(path.read_bytes(), changes, remove=frozenset(remove), body=body))

    def withdraw(self, name: str) -> None:
        """Withdraw by hand, without a guard."""
        self.edit(name, lifecycle="withdrawn", revision=2)

    def call(self, tool: str, arguments: Reply) -> Reply:
        return call_tool(self.service, tool, arguments)

    def check(self) -> Reply:
        return self.service.check()

    def grep(self, query: str, **options: Any) -> Reply:
        return self.service.grep(GrepQuery(query, **options))

    def lookup(self, query: str, **options: Any) -> Reply:
        return self.service.lookup(LookupQuery(query, **options))

    def records(self, **options: Any) -> Reply:
        return self.service.records(RecordsQuery(**options))

    def record(self, name: str) -> Reply:
        return self.service.record(RecordQuery(name))

    def tl(self, **options: Any) -> Reply:
        return self.service.timeline(TimelineQuery(**options))

    def day(self, date: str, **options: Any) -> Reply:
        return self.service.chronicle_day(DayQuery(date, **options))

    def since(self, since: str, **options: Any) -> Reply:
        return self.service.chronicle_since(SinceQuery(since, **options))

    def seen(self, entity: str, before: str | None = None) -> Reply:
        return self.service.chronicle_last_seen(LastSeenQuery(entity, before))


def empty_store(folder: Path, *, limits: ScanLimits | None = None, scopes: frozenset[str] | None = None) -> Store:
    """Create a store without records."""
    clock = FixedClock(NOW)
    root = folder / "knowledge"
    options: dict[str, Any] = {} if scopes is None else {"scopes": scopes}
    service = KnowledgeService(root, clock, limits=limits, **options)
    service.init()
    return Store(root, clock, service)


def fixture_f(store: Store) -> Store:
    """Write the sixteen records of the contract."""
    store.page("P-ana", "person", "Ana Ruiz", "Product lead at Acme. Prefers short memos.",
               aliases=["A. Ruiz", "Ana"], tags=["team"])  # fmt: skip
    store.page("P-ben", "person", "Ben Okafor", "Engineer.", aliases=["Ben"])
    store.page("P-ben2", "person", "Ben Stone", "Lawyer.", aliases=["Ben"])
    store.page("P-acme", "company", "Acme GmbH", "Payments customer.")
    store.page("P-atlas", "project", "Atlas", "Payments pilot.", tags=["Q2"], fields={"status": "active"})
    store.page("M-kick", "meeting", "Atlas kickoff", "Agenda: scope, budget. Ben joined late.",
               fields={"occurred_at": "2026-03-05T09:00:00Z"}, entities=["P-atlas"])  # fmt: skip
    store.page("M-rev", "meeting", "Atlas review", "Price discussion.",
               fields={"occurred_at": "2026-03-12"}, entities=["P-atlas"])  # fmt: skip
    store.page("M-nod", "meeting", "Coffee chat", "Timeline: 2026-03-20 talked.")
    store.claim("C-p1", "decision", "Atlas launch price", "The launch price of Atlas is forty euros.", revision=2,
                lifecycle="superseded", superseded_by="C-p2", occurred_at="2026-03-05", entities=["P-ana"],
                sources=["M-kick"])  # fmt: skip
    store.claim("C-p2", "decision", "Atlas list price", "Atlas lists at 49 EUR from April.", tags=["Q2"],
                supersedes=["C-p1"], occurred_at="2026-03-12", entities=["P-ana", "P-atlas"],
                sources=["M-rev"])  # fmt: skip
    store.claim("C-kick", "event", "Kickoff held", "Scope agreed with Acme.", source_event=True,
                occurred_at="2026-03-05T09:00:00Z", entities=["P-atlas"], sources=["M-kick"])  # fmt: skip
    store.claim("C-ship", "commitment", "Pilot delivery", "Ana delivers the pilot build.", owner="P-ana",
                due_at="2026-04-01", occurred_at="2026-03-05", entities=["P-atlas"], sources=["M-kick"])  # fmt: skip
    store.claim("C-exp", "preference", "Prefers mornings", "No calls after noon.", valid_until="2026-03-31",
                occurred_at="2026-02-01", entities=["P-ana"])  # fmt: skip
    store.claim("C-wd", "fact", "Ana in Oslo", "Ana is based in Oslo.", revision=2, lifecycle="withdrawn",
                occurred_at="2026-03-06", entities=["P-ana"])  # fmt: skip
    store.relation("R-att", "attended", ("P-ana", "M-kick"), "Ana Ruiz attended Atlas kickoff",
                   "Ana presented the scope, see [[Atlas]] and [[Nowhere]].")  # fmt: skip
    store.relation("R-emp", "works_at", ("P-ana", "P-acme"), "Ana Ruiz works at Acme GmbH", "Product lead.")
    return store
