"""What can be written to Knowledge: one frozen value for each writing tool, and who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Tools carry none of this; the host knows it."""

    session_id: str | None = None
    """The Claude Code session the call comes from: what `session: "current"` means."""
    actor: str = "person"
    """Written into `lifecycle_change` and history: `person`, `agent:claude-code`, …"""


@dataclass(frozen=True, slots=True)
class SavePage:
    """Create a page (`expected_revision` 0) or save it whole. What is left out stays as it is."""

    expected_revision: int
    title: str | None = None
    type: str | None = None
    body: str | None = None
    id: str | None = None
    expected_hash: str | None = None
    fields: Mapping[str, object] | None = None
    aliases: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    entities: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    evidence: Sequence[JsonObject] | None = None
    summary: str | None = None
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class EditBody:
    """Replace one passage of a page's body."""

    id: str
    expected_revision: int
    expected_hash: str
    find: str
    replace: str
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class CreateRecord:
    """Record a claim or a relationship, with its evidence."""

    record: JsonObject
    expected_ontology_fingerprint: str | None = None
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class Correct:
    """Supersede a claim or relationship by a whole new record of the same kind."""

    id: str
    expected_revision: int
    expected_hash: str
    reason: str
    replacement: JsonObject
    expected_ontology_fingerprint: str | None = None
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Retract a record. Its file, evidence and history stay."""

    id: str
    expected_revision: int
    expected_hash: str
    reason: str
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """Let one page stand for another that describes the same thing. Fenced on the page that goes."""

    survivor: str
    merged: str
    expected_revision: int
    expected_hash: str
    reason: str = "describes the same thing"
    expected_survivor_revision: int | None = None
    expected_survivor_hash: str | None = None
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class Unmerge:
    """Give a merged page its own standing back."""

    id: str
    expected_revision: int
    expected_hash: str
    reason: str = "not the same thing"
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class AttachFile:
    """Retain a file as evidence, to be cited by its descriptor's id."""

    file_path: str
    sha256: str
    attribution: str
    filename: str | None = None
    request_id: str | None = None
    expected_vault_id: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """Try a publication's Git checkpoint again."""

    request_id: str


WriteRequest = SavePage | EditBody | CreateRecord | Correct | Withdraw | Merge | Unmerge | AttachFile
