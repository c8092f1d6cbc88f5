"""From a file's bytes to a record: every rule that one file alone can break, each finding with its line.

Rules that need other files (duplicates, references, guards) are in `engine.knowledge.validation`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, get_args

from engine.knowledge.dates import parse_when
from engine.knowledge.front_values import ID, FrontValues
from engine.knowledge.frontmatter import FrontMatterRefused, read_front, split_record
from engine.knowledge.names import normal_name, utf16_length
from engine.knowledge.records import (
    FORMAT,
    KINDS,
    LIFECYCLES,
    ORIGINS,
    Attribution,
    EvidenceCitation,
    Issue,
    Kind,
    Lifecycle,
    LifecycleChange,
    Record,
    RecordFile,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.knowledge.dates import When
    from engine.knowledge.frontmatter import RecordText
    from engine.knowledge.ontology import FieldRule, Ontology
    from engine.knowledge.yamltext import YamlText, YamlValue

SCOPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}")
MAX_REVISION = 1_000_000_000
"""What the tools take; a larger number would not fit into the history."""
MAX_TITLE = 200
"""UTF-16 units, so that lookup can reach every title (R29)."""

_KIND_OF: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
_LIFECYCLE_OF: Mapping[str, Lifecycle] = {name: name for name in get_args(Lifecycle)}
_ONLY: Mapping[str, frozenset[Kind]] = {
    "claim_kind": frozenset(("claim",)),
    "valid_until": frozenset(("claim", "relationship")),
    "due_at": frozenset(("claim",)),
    "owner": frozenset(("claim",)),
    "entities": frozenset(("page", "claim")),
    "from": frozenset(("relationship",)),
    "to": frozenset(("relationship",)),
    "source_event": frozenset(("claim",)),
    "fields": frozenset(("page",)),
}
"""Keys that only some kinds have (contract 4). A page's `occurred_at` at the top is a finding of its own (R85)."""


def parse_record(path: str, data: bytes, ontology: Ontology) -> RecordFile:
    """Return the file as a record, or as what can be said about it when it is none. Never raises for content."""
    digest = hashlib.sha256(data).hexdigest()
    try:
        parts = split_record(data)
        front = read_front(parts)
    except FrontMatterRefused as error:
        issue = Issue("unreadable", error.problem, path, error.line)
        return RecordFile(path, digest, len(data), None, None, None, token=file_token(path, digest), issues=(issue,))
    return _RecordReader(path, parts, front, ontology).read(digest, len(data))


def file_token(path: str, digest: str) -> int:
    """Return the number a file adds to its snapshot's name."""
    return int.from_bytes(hashlib.sha256(f"{path}\0{digest}".encode("utf-8", "surrogateescape")).digest()[:20])


class _RecordReader(FrontValues):
    """Makes a record of one front matter, by the rules of its kind."""

    def __init__(self, path: str, parts: RecordText, front: YamlText, ontology: Ontology) -> None:
        super().__init__(path, front)
        self._parts = parts
        self._ontology = ontology

    def read(self, digest: str, size: int) -> RecordFile:
        identity = self.values.get("id")
        self.id = identity if isinstance(identity, str) and ID.fullmatch(identity) else None
        scope = self.values.get("scope")
        scope = scope if isinstance(scope, str) and SCOPE.fullmatch(scope) else None
        record = self._record(scope)
        names = (record.title, *record.aliases) if record is not None else ()
        fields = self.values.get("fields")
        return RecordFile(
            path=self.path,
            hash=digest,
            size=size,
            id=self.id,
            scope=scope,
            record=record,
            names=tuple(dict.fromkeys(normal_name(name) for name in names)),
            body_line=self._parts.body_line,
            body_bytes=len(self._parts.body.encode()),
            token=file_token(self.path, digest),
            lines=self.lines,
            fields=fields if isinstance(fields, dict) and fields else None,
            issues=tuple(self.issues),
        )

    def _record(self, scope: str | None) -> Record | None:
        values = self.values
        if values.get("format") != FORMAT:
            self.wrong("format", f"format must be {FORMAT}", code="not_a_record")
            return None
        if self.id is None:
            self.wrong("id", "id must be a text of 1 to 64 letters, digits, dots, dashes and underscores")
        if scope is None:
            self.wrong("scope", "scope must be a word")
        revision = values.get("revision")
        if not isinstance(revision, int) or isinstance(revision, bool) or not 1 <= revision <= MAX_REVISION:
            self.wrong("revision", f"revision must be a whole number from 1 to {MAX_REVISION}")
            revision = None
        kind = self.choice("kind", _KIND_OF, KINDS)
        lifecycle = self.choice("lifecycle", _LIFECYCLE_OF, LIFECYCLES)
        title = self._title()
        recorded_at, updated_at = self.instant("recorded_at"), self.instant("updated_at")
        if None in (self.id, scope, revision, kind, lifecycle, title, recorded_at, updated_at):
            return None
        assert self.id and scope and revision and kind and lifecycle and title and recorded_at and updated_at  # noqa: S101, PT018 - for the type checker: the line above has decided it
        self._only_own_keys(kind)
        occurred_at = self._occurred_at(kind)
        record = Record(
            id=self.id,
            revision=revision,
            kind=kind,
            type=self._type(kind),
            title=title,
            scope=scope,
            lifecycle=lifecycle,
            recorded_at=recorded_at,
            updated_at=updated_at,
            aliases=self.texts("aliases"),
            tags=self.texts("tags"),
            summary=self.text("summary"),
            occurred_at=occurred_at,
            valid_until=self.date("valid_until"),
            due_at=self.date("due_at"),
            owner=self.reference("owner"),
            entities=self.references("entities"),
            start=self.reference("from"),
            end=self.reference("to"),
            sources=self.references("sources"),
            source_event=self.flag("source_event"),
            attribution=self._attribution(),
            assertion_origin=self.text("assertion_origin"),
            evidence=self._evidence(),
            supersedes=self.references("supersedes"),
            superseded_by=self.reference("superseded_by"),
            lifecycle_change=self._lifecycle_change(),
            merged_into=self.reference("merged_into"),
            dependencies=self.references("dependencies"),
        )
        self._rules(record)
        return record

    def _rules(self, record: Record) -> None:
        """Check what depends on several keys."""
        if record.kind == "claim":
            self._claim_rules(record)
        elif record.kind == "page":
            self._fields(record.type)
        elif record.start is None or record.end is None:
            self.wrong("from" if record.start is None else "to", "a relationship has both endpoints, from and to")
        if record.kind != "page" and not record.evidence:
            self.wrong("evidence", f"a {record.kind} cites at least one piece of evidence")
        self._lifecycle_rules(record)

    def _claim_rules(self, record: Record) -> None:
        if record.attribution is None:
            self.wrong("attribution", "a claim says who stated it: attribution {by}")
        if record.assertion_origin not in ORIGINS:
            self.wrong("assertion_origin", f"a claim's assertion_origin is one of {', '.join(ORIGINS)}")
        if record.type != "commitment":
            for key in ("owner", "due_at"):
                if self.has(key):
                    self.wrong(key, f"only a commitment has {key}")
        if record.source_event and record.type != "event":
            self.wrong("source_event", "only an event claim can be a source_event")

    def _lifecycle_rules(self, record: Record) -> None:
        if record.lifecycle == "superseded" and record.superseded_by is None:
            self.wrong("superseded_by", "a superseded record names its replacement in superseded_by")
        if record.lifecycle == "active" and record.superseded_by is not None:
            self.wrong("superseded_by", "an active record has no superseded_by")
        if record.lifecycle == "merged" and record.merged_into is None:
            self.wrong("merged_into", "a merged page names its survivor in merged_into")

    def _type(self, kind: Kind) -> str:
        if kind == "page":
            declared = self.text("type")
            name = declared or self._ontology.classify(self.path)
            if name is None:
                self.wrong("type", "a page needs a type, or a folder the ontology gives one")
                return "page"
        elif kind == "claim":
            name = self.text("claim_kind") or self.text("type")
            if name is None:
                self.wrong("claim_kind", "a claim has a claim_kind")
                return "claim"
        else:
            name = self.text("type")
            if name is None:
                self.wrong("type", "a relationship has a type, its predicate")
                return "relationship"
        if self._ontology.rule(kind, name) is None:
            key = "claim_kind" if self.has("claim_kind") else "type"
            self.wrong(key, f'the ontology has no {kind} type "{name}"', code="unknown_type")
        return name

    def _title(self) -> str | None:
        title = self.values.get("title")
        if not isinstance(title, str) or not title.strip():
            self.wrong("title", "title must be a text; quote it when it looks like a number, a date or a truth value")
            return None
        if utf16_length(title) > MAX_TITLE or "\n" in title or "\r" in title:
            self.wrong("title", f"title must be one line of at most {MAX_TITLE} characters")
        return title

    def _occurred_at(self, kind: Kind) -> When | None:
        if kind != "page":
            return self.date("occurred_at")
        if self.has("occurred_at"):
            self.wrong("occurred_at", "a page keeps its date in fields.occurred_at", fatal=False)
        fields = self.values.get("fields")
        if not isinstance(fields, dict) or fields.get("occurred_at") is None:
            return None
        return self.when("fields.occurred_at", fields["occurred_at"])

    def _fields(self, page_type: str) -> None:
        fields = self.values.get("fields")
        if fields is None:
            fields = {}
        if not isinstance(fields, dict):
            self.wrong("fields", "fields must be a mapping")
            return
        rule = self._ontology.rule("page", page_type)
        for name, field in rule.fields if rule is not None else ():
            if fields.get(name) is None:
                if field.required:
                    self.wrong("fields", f"a {page_type} needs fields.{name}")
            elif not _fits(fields[name], field):
                allowed = f"one of {', '.join(field.values)}" if field.values else f"of type {field.type}"
                if name != "occurred_at":
                    self.wrong(f"fields.{name}", f"fields.{name} must be {allowed}")

    def _attribution(self) -> Attribution | None:
        value = self.values.get("attribution")
        if value is None:
            return None
        if isinstance(value, str) and value.strip():
            return Attribution(value)
        by = value.get("by") if isinstance(value, dict) else None
        via = value.get("via") if isinstance(value, dict) else None
        if not isinstance(by, str) or not by.strip() or not (via is None or isinstance(via, str)):
            self.wrong("attribution", "attribution is {by: text, via: text}")
            return None
        return Attribution(by, via)

    def _evidence(self) -> tuple[EvidenceCitation, ...]:
        value = self.values.get("evidence")
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong("evidence", "evidence must be a list")
            return ()
        citations = (self._citation(f"evidence.{number}", item) for number, item in enumerate(value))
        return tuple(citation for citation in citations if citation is not None)

    def _citation(self, key: str, value: YamlValue) -> EvidenceCitation | None:
        if not isinstance(value, dict):
            self.wrong(key, "an evidence item is a mapping with an id")
            return None
        identity, quote, attribution = value.get("id"), value.get("quote"), value.get("attribution")
        if not isinstance(identity, str) or not ID.fullmatch(identity):
            self.wrong(f"{key}.id", "an evidence item names its descriptor's id")
            return None
        if not (quote is None or isinstance(quote, str)) or not (attribution is None or isinstance(attribution, str)):
            self.wrong(key, "quote and attribution of an evidence item are texts")
            return None
        lines = value.get("lines")
        if lines is None:
            return EvidenceCitation(identity, None, quote, attribution)
        pair = [number for number in lines if type(number) is int] if isinstance(lines, list) else []
        if not isinstance(lines, list) or len(lines) != 2 or len(pair) != 2 or not 1 <= pair[0] <= pair[1]:
            self.wrong(f"{key}.lines", "lines of an evidence item are [first, last], from 1")
            return None
        return EvidenceCitation(identity, (pair[0], pair[1]), quote, attribution)

    def _lifecycle_change(self) -> LifecycleChange | None:
        value = self.values.get("lifecycle_change")
        if value is None:
            return None
        texts = {key: item for key, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}
        if "reason" not in texts or "at" not in texts:
            self.wrong("lifecycle_change", "lifecycle_change is {reason, at, actor, request_id}")
            return None
        return LifecycleChange(texts["reason"], texts["at"], texts.get("actor"), texts.get("request_id"))

    def _only_own_keys(self, kind: Kind) -> None:
        for key, kinds in _ONLY.items():
            if self.has(key) and kind not in kinds:
                self.wrong(key, f"a {kind} has no {key}")


def _fits(value: YamlValue, rule: FieldRule) -> bool:  # noqa: PLR0911 - one return for each type of field
    if rule.values:
        return isinstance(value, str) and value in rule.values
    if rule.type == "date":
        return isinstance(value, str) and parse_when(value) is not None
    if rule.type == "list":
        return isinstance(value, list)
    if rule.type == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if rule.type == "integer":
        return isinstance(value, int)
    if rule.type == "number":
        return isinstance(value, int | float)
    return isinstance(value, str)
