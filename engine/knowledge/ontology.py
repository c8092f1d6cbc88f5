"""The vocabulary of a store: page types, claim kinds, predicates, their aliases and constraints.

A store starts from the default vocabulary (`default_ontology`); `vault/ontology.yaml` adds to it or overrides by name.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from engine.knowledge.records import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.knowledge.records import Kind

FIELD_TYPES = ("string", "integer", "number", "boolean", "date", "list")


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A structured field of a page type."""

    type: str = "string"
    values: tuple[str, ...] = ()
    """The only values allowed, when there are any."""
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class TypeRule:
    """One name of the vocabulary."""

    name: str
    kind: Kind
    label: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    folder: str | None = None
    """Where new records of this type are filed."""
    fields: tuple[tuple[str, FieldRule], ...] = ()
    start_types: tuple[str, ...] = ()
    """Page types a relationship may start from; empty allows every type."""
    end_types: tuple[str, ...] = ()
    origin: str = "default"
    """The source this rule came from: "default" or "ontology.yaml"."""

    def to_json(self) -> dict[str, object]:
        """Return the whole definition as `knowledge_ontology` shows it."""
        shown: dict[str, object] = {"name": self.name, "kind": self.kind, "label": self.label or self.name}
        if self.description:
            shown["description"] = self.description
        if self.aliases:
            shown["aliases"] = list(self.aliases)
        if self.folder:
            shown["folder"] = self.folder
        if self.fields:
            shown["fields"] = {name: _field_json(rule) for name, rule in self.fields}
        if self.kind == "relationship":
            shown["from"] = list(self.start_types) or "any"
            shown["to"] = list(self.end_types) or "any"
        shown["origin"] = self.origin
        return shown


@dataclass(frozen=True)
class Ontology:
    """A complete vocabulary."""

    rules: tuple[TypeRule, ...]
    prefixes: tuple[tuple[str, str], ...]
    """Path prefix and page type, in order: classifies a page without a declared type, without rewriting it."""
    chain: tuple[str, ...] = field(default=("default",))
    """Where the rules came from, first to last."""

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all rules: equal exactly when the vocabulary is."""
        body = json.dumps([[asdict(rule) for rule in self.rules], self.prefixes], sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], TypeRule]:
        return {(rule.kind, rule.name): rule for rule in self.rules}

    @cached_property
    def _names(self) -> dict[str, tuple[TypeRule, ...]]:
        names: dict[str, tuple[TypeRule, ...]] = {}
        for rule in self.rules:
            for name in dict.fromkeys((rule.name, *rule.aliases)):
                names[name] = (*names.get(name, ()), rule)
        return names

    def rule(self, kind: Kind, name: str) -> TypeRule | None:
        """Return the rule of a declared name. Aliases are for asking, never for declaring."""
        return self._by_name.get((kind, name))

    def expand(self, name: str) -> frozenset[tuple[str, str]]:
        """Return the (kind, type) pairs a name or alias stands for (R12); a type nobody declared stands for itself."""
        rules = self._names.get(name, ())
        if rules:
            return frozenset((rule.kind, rule.name) for rule in rules)
        return frozenset((kind, name) for kind in KINDS)

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the declared names of a kind."""
        return tuple(rule.name for rule in self.rules if rule.kind == kind)

    def classify(self, path: str) -> str | None:
        """Return the page type the first matching path prefix gives."""
        return next((name for prefix, name in self.prefixes if path.startswith(prefix)), None)

    def of_kind(self, kind: Kind | None) -> Iterator[TypeRule]:
        """Yield the rules of a kind, or all."""
        return (rule for rule in self.rules if kind is None or rule.kind == kind)


def _field_json(rule: FieldRule) -> dict[str, object]:
    shown: dict[str, object] = {"type": rule.type}
    if rule.values:
        shown["values"] = list(rule.values)
    if rule.required:
        shown["required"] = True
    if rule.description:
        shown["description"] = rule.description
    return shown
