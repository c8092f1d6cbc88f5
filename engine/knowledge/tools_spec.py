"""The declaration of one tool: everything a server needs to list it, and nothing of any protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.arguments import Arg, object_schema
from engine.knowledge.records import DATE_FIELDS, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of Knowledge."""

    name: str
    description: str
    """At most 900 characters; the first sentence says when to use it."""
    arguments: tuple[Arg, ...]
    method: str
    """Of `KnowledgeService`."""
    request: Callable[..., object]
    """The frozen value the method takes, built from the checked arguments by keyword."""
    read_only: bool = True
    destructive: bool = False
    """It takes something away from view (it never deletes)."""
    idempotent: bool = True
    """The same call again changes nothing more."""

    def input_schema(self) -> dict[str, object]:
        """Return the closed JSON schema of the arguments."""
        return object_schema(self.arguments)


VIEW = Arg("view", "string", "full adds evidence", choices=("agent", "full"))
KIND = Arg("kind", "string", choices=KINDS)
TYPE = Arg("type", "string", "ontology type or alias")
TAG = Arg("tag", "string")
EXACT_KIND = Arg("kind", "string", "exact type: decision, meeting, …")
SNAPSHOT = Arg("snapshot", "string", "of page one")
DATE_FIELD = Arg("timeField", "string", choices=DATE_FIELDS)
SINCE = Arg("since", "string", "YYYY-MM-DD or timestamp")
UNTIL = Arg("until", "string")
ORDER = Arg("order", "string", choices=("asc", "desc"))
ENTITY = Arg("entity", "string", "record id or exact name")


def limit(highest: int) -> Arg:
    """Return the argument for the length of a page."""
    return Arg("limit", "integer", minimum=1, maximum=highest)


def offset(highest: int = 10_000) -> Arg:
    """Return the argument for the start of a page."""
    return Arg("offset", "integer", minimum=0, maximum=highest)
