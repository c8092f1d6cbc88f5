"""From a file's bytes to a record: every rule that one file alone can break, each finding with its line.

Rules that need other files (duplicates, references, guards) are in `engine.knowledge.validation`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, TypeVar, get_args

from engine.knowledge.dates import parse_when
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

_Word = TypeVar("_Word", Kind, Lifecycle)

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""Ids as read (contract 4); our own are `k_` and 16 of `[a-z0-9]`."""
SCOPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}")
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


class _RecordReader:
    """Reads one front matter. Collects findings instead of stopping at the first."""

    def __init__(self, path: str, parts: RecordText, front: YamlText, ontology: Ontology) -> None:
        self._path = path
        self._parts = parts
        self._values = front.values
        self._lines = {key: line + 1 for key, line in front.lines.items()}
        self._ontology = ontology
        self._issues: list[Issue] = []
        self._id: str | None = None

    def read(self, digest: str, size: int) -> RecordFile:
        identity = self._values.get("id")
        self._id = identity if isinstance(identity, str) and ID.fullmatch(identity) else None
        scope = self._values.get("scope")
        scope = scope if isinstance(scope, str) and SCOPE.fullmatch(scope) else None
        record = self._record(scope)
        names = (record.title, *record.aliases) if record is not None else ()
        fields = self._values.get("fields")
        return RecordFile(
            path=self._path,
            hash=digest,
            size=size,
            id=self._id,
            scope=scope,
            record=record,
            names=tuple(dict.fromkeys(normal_name(name) for name in names)),
            body_line=self._parts.body_line,
            body_bytes=len(self._parts.body.encode()),
            token=file_token(self._path, digest),
            lines=self._lines,
            fields=fields if isinstance(fields, dict) and fields else None,
            issues=tuple(self._issues),
        )

    def _record(self, scope: str | None) -> Record | None:
        values = self._values
        if values.get("format") != FORMAT:
            self._wrong("format", f"format must be {FORMAT}", code="not_a_record")
            return None
        if self._id is None:
            self._wrong("id", "id must be a text of 1 to 64 letters, digits, dots, dashes and underscores")
        if scope is None:
            self._wrong("scope", "scope must be a word")
        revision = values.get("revision")
        if not isinstance(revision, int) or isinstance(revision, bool) or revision < 1:
            self._wrong("revision", "revision must be a whole number from 1")
            revision = None
        kind = self._choice("kind", _KIND_OF, KINDS)
        lifecycle = self._choice("lifecycle", _LIFECYCLE_OF, LIFECYCLES)
        title = self._title()
        recorded_at, updated_at = self._instant("recorded_at"), self._instant("updated_at")
        if None in (self._id, scope, revision, kind, lifecycle, title, recorded_at, updated_at):
            return None
        assert self._id and scope and revision and kind and lifecycle and title and recorded_at and updated_at  # noqa: S101, PT018 - for the type checker: the line above has decided it
        self._only_own_keys(kind)
        occurred_at = self._occurred_at(kind)
        record = Record(
            id=self._id,
            revision=revision,
            kind=kind,
            type=self._type(kind),
            title=title,
            scope=scope,
            lifecycle=lifecycle,
            recorded_at=recorded_at,
            updated_at=updated_at,
            aliases=self._texts("aliases"),
            tags=self._texts("tags"),
            summary=self._text("summary"),
            occurred_at=occurred_at,
            valid_until=self._date("valid_until"),
            due_at=self._date("due_at"),
            owner=self._reference("owner"),
            entities=self._references("entities"),
            start=self._reference("from"),
            end=self._reference("to"),
            sources=self._references("sources"),
            source_event=self._flag("source_event"),
            attribution=self._attribution(),
            assertion_origin=self._text("assertion_origin"),
            evidence=self._evidence(),
            supersedes=self._references("supersedes"),
            superseded_by=self._reference("superseded_by"),
            lifecycle_change=self._lifecycle_change(),
            merged_into=self._reference("merged_into"),
            dependencies=self._references("dependencies"),
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
            self._wrong("from" if record.start is None else "to", "a relationship has both endpoints, from and to")
        if record.kind != "page" and not record.evidence:
            self._wrong("evidence", f"a {record.kind} cites at least one piece of evidence")
        self._lifecycle_rules(record)

    def _claim_rules(self, record: Record) -> None:
        if record.attribution is None:
            self._wrong("attribution", "a claim says who stated it: attribution {by}")
        if record.assertion_origin not in ORIGINS:
            self._wrong("assertion_origin", f"a claim's assertion_origin is one of {', '.join(ORIGINS)}")
        if record.type != "commitment":
            for key in ("owner", "due_at"):
                if key in self._values:
                    self._wrong(key, f"only a commitment has {key}")
        if record.source_event and record.type != "event":
            self._wrong("source_event", "only an event claim can be a source_event")

    def _lifecycle_rules(self, record: Record) -> None:
        if record.lifecycle == "superseded" and record.superseded_by is None:
            self._wrong("superseded_by", "a superseded record names its replacement in superseded_by")
        if record.lifecycle == "active" and record.superseded_by is not None:
            self._wrong("superseded_by", "an active record has no superseded_by")
        if record.lifecycle == "merged" and record.merged_into is None:
            self._wrong("merged_into", "a merged page names its survivor in merged_into")

    def _type(self, kind: Kind) -> str:
        if kind == "page":
            declared = self._text("type")
            name = declared or self._ontology.classify(self._path)
            if name is None:
                self._wrong("type", "a page needs a type, or a folder the ontology gives one")
                return "page"
        elif kind == "claim":
            name = self._text("claim_kind") or self._text("type")
            if name is None:
                self._wrong("claim_kind", "a claim has a claim_kind")
                return "claim"
        else:
            name = self._text("type")
            if name is None:
                self._wrong("type", "a relationship has a type, its predicate")
                return "relationship"
        if self._ontology.rule(kind, name) is None:
            key = "claim_kind" if "claim_kind" in self._values else "type"
            self._wrong(key, f'the ontology has no {kind} type "{name}"', code="unknown_type")
        return name

    def _title(self) -> str | None:
        title = self._values.get("title")
        if not isinstance(title, str) or not title.strip():
            self._wrong("title", "title must be a text; quote it when it looks like a number, a date or a truth value")
            return None
        if utf16_length(title) > MAX_TITLE or "\n" in title or "\r" in title:
            self._wrong("title", f"title must be one line of at most {MAX_TITLE} characters")
        return title

    def _occurred_at(self, kind: Kind) -> When | None:
        if kind != "page":
            return self._date("occurred_at")
        if "occurred_at" in self._values:
            self._wrong("occurred_at", "a page keeps its date in fields.occurred_at", fatal=False)
        fields = self._values.get("fields")
        if not isinstance(fields, dict) or "occurred_at" not in fields:
            return None
        return self._when("fields.occurred_at", fields["occurred_at"])

    def _fields(self, page_type: str) -> None:
        fields = self._values.get("fields")
        if fields is None:
            fields = {}
        if not isinstance(fields, dict):
            self._wrong("fields", "fields must be a mapping")
            return
        rule = self._ontology.rule("page", page_type)
        for name, field in rule.fields if rule is not None else ():
            if name not in fields:
                if field.required:
                    self._wrong("fields", f"a {page_type} needs fields.{name}")
            elif not _fits(fields[name], field):
                allowed = f"one of {', '.join(field.values)}" if field.values else f"of type {field.type}"
                if name != "occurred_at":
                    self._wrong(f"fields.{name}", f"fields.{name} must be {allowed}")

    def _attribution(self) -> Attribution | None:
        value = self._values.get("attribution")
        if value is None:
            return None
        if isinstance(value, str) and value.strip():
            return Attribution(value)
        by = value.get("by") if isinstance(value, dict) else None
        via = value.get("via") if isinstance(value, dict) else None
        if not isinstance(by, str) or not by.strip() or not (via is None or isinstance(via, str)):
            self._wrong("attribution", "attribution is {by: text, via: text}")
            return None
        return Attribution(by, via)

    def _evidence(self) -> tuple[EvidenceCitation, ...]:
        value = self._values.get("evidence")
        if value is None:
            return ()
        if not isinstance(value, list):
            self._wrong("evidence", "evidence must be a list")
            return ()
        citations = (self._citation(f"evidence.{number}", item) for number, item in enumerate(value))
        return tuple(citation for citation in citations if citation is not None)

    def _citation(self, key: str, value: YamlValue) -> EvidenceCitation | None:
        if not isinstance(value, dict):
            self._wrong(key, "an evidence item is a mapping with an id")
            return None
        identity, quote, attribution = value.get("id"), value.get("quote"), value.get("attribution")
        if not isinstance(identity, str) or not ID.fullmatch(identity):
            self._wrong(f"{key}.id", "an evidence item names its descriptor's id")
            return None
        if not (quote is None or isinstance(quote, str)) or not (attribution is None or isinstance(attribution, str)):
            self._wrong(key, "quote and attribution of an evidence item are texts")
            return None
        lines = value.get("lines")
        if lines is None:
            return EvidenceCitation(identity, None, quote, attribution)
        pair = [number for number in lines if type(number) is int] if isinstance(lines, list) else []
        if not isinstance(lines, list) or len(lines) != 2 or len(pair) != 2 or not 1 <= pair[0] <= pair[1]:
            self._wrong(f"{key}.lines", "lines of an evidence item are [first, last], from 1")
            return None
        return EvidenceCitation(identity, (pair[0], pair[1]), quote, attribution)

    def _lifecycle_change(self) -> LifecycleChange | None:
        value = self._values.get("lifecycle_change")
        if value is None:
            return None
        texts = {key: item for key, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}
        if "reason" not in texts or "at" not in texts:
            self._wrong("lifecycle_change", "lifecycle_change is {reason, at, actor, request_id}")
            return None
        return LifecycleChange(texts["reason"], texts["at"], texts.get("actor"), texts.get("request_id"))

    def _only_own_keys(self, kind: Kind) -> None:
        for key, kinds in _ONLY.items():
            if key in self._values and kind not in kinds:
                self._wrong(key, f"a {kind} has no {key}")

    def _choice(self, key: str, choices: Mapping[str, _Word], shown: tuple[_Word, ...]) -> _Word | None:
        value = self._values.get(key)
        chosen = choices.get(value) if isinstance(value, str) else None
        if chosen is None:
            self._wrong(key, f"{key} is one of {', '.join(shown)}")
        return chosen

    def _instant(self, key: str) -> When | None:
        value = self._values.get(key)
        when = parse_when(value) if isinstance(value, str) else None
        if when is None or not when.utc:
            self._wrong(key, f"{key} must be a UTC timestamp such as 2026-03-05T10:00:00Z")
            return None
        return when

    def _date(self, key: str) -> When | None:
        return self._when(key, self._values[key]) if self._values.get(key) is not None else None

    def _when(self, key: str, value: YamlValue) -> When | None:
        when = parse_when(value) if isinstance(value, str) else None
        if when is None:
            self._wrong(key, f"{key} must be YYYY-MM-DD or a timestamp with seconds and zone")
        return when

    def _flag(self, key: str) -> bool:
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            self._wrong(key, f"{key} must be true or false")
        return value is True

    def _text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            self._wrong(key, f"{key} must be a text")
            return None
        return value or None

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is None:
            return ()
        items = [item for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []
        if not isinstance(value, list) or len(items) != len(value):
            self._wrong(key, f"{key} must be a list of texts")
            return ()
        return tuple(dict.fromkeys(items))

    def _reference(self, key: str) -> str | None:
        value = self._text(key)
        if value is not None and not ID.fullmatch(value):
            self._wrong(key, f"{key} must be a record id")
            return None
        return value

    def _references(self, key: str) -> tuple[str, ...]:
        items = self._texts(key)
        for number, item in enumerate(items):
            if not ID.fullmatch(item):
                self._wrong(f"{key}.{number}", f"{key} must hold record ids")
        return items

    def _wrong(self, key: str, message: str, *, code: str = "invalid", fatal: bool = True) -> None:
        while key not in self._lines and "." in key:
            key = key.rpartition(".")[0]
        self._issues.append(Issue(code, message, self._path, self._lines.get(key, 1), self._id, fatal=fatal))


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
