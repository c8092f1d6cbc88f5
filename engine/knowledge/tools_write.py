"""The writing tools of Knowledge."""

from __future__ import annotations

from types import MappingProxyType

from engine.arguments import Operation
from engine.knowledge.arguments import Arg, object_schema
from engine.knowledge.records import ORIGINS
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
)
from engine.knowledge.tools_spec import ToolSpec

_TEXT = Arg("", "string")
_REQUEST_ID = Arg("requestId", "string")
_VAULT_ID = Arg("expectedVaultId", "string")
_ID = Arg("id", "string", required=True)
_REVISION = Arg("expectedRevision", "integer", required=True, minimum=1, maximum=1_000_000_000)
_HASH = Arg("expectedHash", "string", required=True)
_REASON = Arg("reason", "string", required=True)
_FINGERPRINT = Arg("expectedOntologyFingerprint", "string")

_EVIDENCE_ITEM = (
    Arg("quote", "string", "exact words of one message"),
    Arg("session", "string", '"current" (default when known) or a session id'),
    Arg("message_uuid", "string"),
    Arg("text", "string"),
    Arg("attribution", "string", "who said or wrote it"),
    Arg("filename", "string"),
    Arg("id", "string"),
    Arg("lines", "array", "[first, last]", items=Arg("", "integer")),
)
_EVIDENCE = Arg(
    "evidence",
    "array",
    "{quote, session?, message_uuid?} found in a session; {text, attribution}; or {id} of retained evidence",
    items=Arg("", "object", properties=_EVIDENCE_ITEM),
)


def _texts(name: str, description: str = "") -> Arg:
    return Arg(name, "array", description, items=_TEXT)


_RECORD = (
    Arg("kind", "string", choices=("claim", "relationship")),
    Arg("claim_kind", "string", "fact, preference, decision, commitment, event, belief"),
    Arg("type", "string", "predicate of a relationship, e.g. works_on"),
    Arg("title", "string", "one line somebody will search for"),
    Arg("body", "string", "the statement, readable on its own"),
    Arg("summary", "string"),
    _texts("aliases"),
    _texts("tags"),
    Arg("occurred_at", "string", "date or timestamp; default: of the quoted message"),
    Arg("valid_until", "string"),
    Arg("due_at", "string", "commitments only"),
    Arg("owner", "string", "page id, commitments only"),
    _texts("entities", "page ids"),
    Arg("from", "string", "page id"),
    Arg("to", "string", "page id"),
    _texts("sources", "page ids"),
    Arg("source_event", "boolean"),
    _texts("dependencies"),
    Arg(
        "attribution",
        "object",
        "who stated it; default: of the evidence",
        properties=(Arg("by", "string", required=True), Arg("via", "string")),
    ),
    Arg("assertion_origin", "string", "default stated", choices=ORIGINS),
    _EVIDENCE,
)


PARTS = MappingProxyType(
    {
        name: Operation.from_schema(name, object_schema(properties))
        for name, properties in (("record", _RECORD), ("evidence", _EVIDENCE_ITEM))
    },
)
"""Objects inside arguments, as `engine.arguments` checks them: some schemas only point to another tool's."""

_RECORD_IN_SHORT = (
    "claim: kind, claim_kind (fact, preference, decision, commitment, event, belief), title, body, evidence; "
    "relationship: kind, type (works_on…), from, to, evidence. Optional: summary, aliases, tags, occurred_at (by "
    "default the message's), valid_until, entities, sources (page ids), source_event, attribution "
    f"{{by, via?}}, assertion_origin ({', '.join(ORIGINS)}), due_at, owner. evidence: [{{quote, session?, "
    "message_uuid?}], exact words of one message, session current or an id; [{text, attribution, filename?}]; "
    "[{id, lines?, quote?}]"
)
"""What a reader of the catalogue gets instead of the schema of a record, which takes three times the room."""

WRITE_TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "knowledge_create",
        "Use right after something was decided, promised or found out that a later session must know. One call "
        "records it: quote the exact words from this session as evidence, they are found and kept. Look with "
        "knowledge_grep first; what changed goes through knowledge_correct.",
        (
            Arg("record", "object", _RECORD_IN_SHORT, required=True, properties=_RECORD),
            _FINGERPRINT,
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "create",
        CreateRecord,
        read_only=False,
    ),
    ToolSpec(
        "knowledge_save_page",
        "Use to keep a page about a person, project, meeting or topic. To save one again pass id, revision and "
        "hash as read; what is left out stays.",
        (
            Arg("id", "string"),
            Arg("expectedRevision", "integer", "0 creates", required=True, minimum=0, maximum=1_000_000_000),
            Arg("expectedHash", "string"),
            Arg("title", "string"),
            Arg("type", "string", "of knowledge_ontology"),
            Arg("body", "string"),
            Arg("fields", "object", "of the type; meetings: occurred_at"),
            _texts("aliases"),
            _texts("tags"),
            _texts("entities", "page ids"),
            _texts("sources"),
            Arg("evidence", "array", "as in knowledge_create", items=Arg("", "object")),
            Arg("summary", "string"),
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "save_page",
        SavePage,
        read_only=False,
    ),
    ToolSpec(
        "knowledge_edit_body",
        "Use to change one passage of a page: find must stand in its body exactly once.",
        (
            _ID,
            _REVISION,
            _HASH,
            Arg("find", "string", required=True),
            Arg("replace", "string", required=True),
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "edit_body",
        EditBody,
        read_only=False,
    ),
    ToolSpec(
        "knowledge_correct",
        "Use when a recorded claim or relationship no longer holds because something newer was decided: the "
        "replacement supersedes it.",
        (
            _ID,
            _REVISION,
            _HASH,
            _REASON,
            Arg("replacement", "object", "whole record as in knowledge_create", required=True),
            _FINGERPRINT,
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "correct",
        Correct,
        read_only=False,
        destructive=True,
    ),
    ToolSpec(
        "knowledge_withdraw",
        "Use when a record was wrong and nothing replaces it: it and what depends on it leave every answer, its "
        "file stays.",
        (_ID, _REVISION, _HASH, _REASON, _REQUEST_ID, _VAULT_ID),
        "withdraw",
        Withdraw,
        read_only=False,
        destructive=True,
    ),
    ToolSpec(
        "knowledge_merge",
        "Use when two pages describe the same thing: survivor then stands for both.",
        (
            Arg("survivor", "string", required=True),
            Arg("merged", "string", required=True),
            Arg("expectedRevision", "integer", required=True, minimum=1, maximum=1_000_000_000),
            Arg("expectedHash", "string", required=True),
            Arg("expectedSurvivorRevision", "integer", minimum=1, maximum=1_000_000_000),
            Arg("expectedSurvivorHash", "string"),
            Arg("reason", "string"),
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "merge",
        Merge,
        read_only=False,
        destructive=True,
    ),
    ToolSpec(
        "knowledge_unmerge",
        "Use to undo a merge.",
        (_ID, _REVISION, _HASH, Arg("reason", "string"), _REQUEST_ID, _VAULT_ID),
        "unmerge",
        Unmerge,
        read_only=False,
    ),
    ToolSpec(
        "knowledge_attach_file",
        "Use to retain a file as evidence; cite it by the id in the receipt.",
        (
            Arg("filePath", "string", required=True),
            Arg("sha256", "string", required=True),
            Arg("attribution", "string", required=True),
            Arg("filename", "string"),
            _REQUEST_ID,
            _VAULT_ID,
        ),
        "attach_file",
        AttachFile,
        read_only=False,
    ),
    ToolSpec(
        "knowledge_resume",
        "Use when a receipt's git.state is pending or unavailable: tries the checkpoint again.",
        (Arg("requestId", "string", required=True),),
        "resume",
        Resume,
        read_only=False,
    ),
)
