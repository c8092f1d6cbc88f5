"""One transcript's records, in file order, to messages, facts and counts. Total: any JSON object gives an answer.

The table of every kind of record and what becomes of it is `docs/transcripts.md`; a test holds each row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import orjson

from engine.core.models.kinds import Role
from engine.core.text import clean
from engine.transcripts import chunking
from engine.transcripts.blocks import Speaker, content_blocks, read_block
from engine.transcripts.facts import FACT_TYPES, command_of, fact_of, opening_of, started_agent
from engine.transcripts.fields import MAX_NAME, digest63, milliseconds, name_field, object_field, text_field
from engine.transcripts.records import Kept, ParsedMessage
from engine.transcripts.roles import WARM_UP, role_of_prompt, role_of_user_line, texts_of

if TYPE_CHECKING:
    from engine.transcripts.blocks import ReadBlock
    from engine.transcripts.lines import Record
    from engine.transcripts.records import AgentFact, CopyKind, Parsed

KEPT_TYPES = frozenset(
    {
        "progress", "file-history-snapshot", "file-history-delta", "permission-mode", "mode", "queue-operation",
        "bridge-session", "agent-name", "tag", "content-replacement", "agent-color", "agent-setting",
        "saved_hook_context", "frame-link", "attribution-snapshot", "observer-ref", "ended-by-model",
        "history-suppression", "isolation-latch", "dev-mods", "memory-mode", "artifact-comment-monitor",
        "artifact-autoreact-ledger", "atis-latch", "tools-used", "api-request", "api-request-shape",
        "api-request-blob", "cost-state", "relocated", "pr-link", "started", "result", "launched", "failed",
    }
)  # fmt: skip
"""Record types that are known and deliberately not indexed (transcripts.md, section 2)."""

READ_ATTACHMENTS = {
    "hook_additional_context": "content",
    "hook_success": "stdout",
    "hook_non_blocking_error": "stderr",
    "hook_blocking_error": "blockingError",
    "hook_system_message": "content",
    "edited_text_file": "snippet",
    "file": "content",
    "directory": "content",
    "selected_lines_in_ide": "content",
    "diagnostics": "files",
    "plan_file_reference": "planContent",
    "invoked_skills": "skills",
}
"""Attachments with text worth finding, and the field that holds it. All of them are injected, low signal."""

KEPT_ATTACHMENTS = frozenset(
    {
        "task_reminder", "todo_reminder", "skill_listing", "deferred_tools_delta", "mcp_instructions_delta",
        "command_permissions", "date_change", "date", "plan_mode", "plan_mode_exit", "plan_mode_reentry", "auto_mode",
        "auto_mode_exit", "agent_listing_delta", "opened_file_in_ide", "ultra_effort_enter", "goal_status",
        "hook_cancelled", "environment", "model", "session_context", "remote_session_change", "prompt_snapshot",
    }
)  # fmt: skip
"""Attachments that are known and deliberately not indexed: prompts of the program, lists, reminders."""

KEPT_SYSTEM = frozenset({"compact_boundary", "stop_hook_summary", "turn_duration", "api_error"})
"""System lines without text of their own. A boundary's content is the words "Conversation compacted"."""

READ_SYSTEM = frozenset({"away_summary", "local_command", "bridge_status", "informational", "(none)"})
"""System lines that are indexed when they have text. So are unknown ones."""

_NO_MODEL = "<synthetic>"
_NOT_FORKED: dict[str, Any] = {}
_APPENDS_SINCE = (1, 0, 128)
"""From this version on a resumed session goes on in its own file, so a file that copies another is a fork
(transcripts.md, section 4; 1.0.110 still wrote a new file)."""

_MAX_OPEN_TOOLS = 400
"""Calls that never got a result (crashes, interruptions) are forgotten beyond this many, oldest first."""


@dataclass(slots=True)
class ParserState:
    """What a parser must remember between two readings of the same file. JSON in the `files` table."""

    open_tools: dict[str, str] = field(default_factory=dict[str, str])
    """Tool calls without a result yet: id to tool name."""
    last_timestamp_ms: int | None = None
    warmup: bool = False
    cwd: str | None = None
    """Working directory of the last line that names one; lines without belong to it, too."""
    unfinished: tuple[tuple[str, bool], ...] = ()
    """What was counted of a last line without a line feed, which is read again: types, and whether they are known."""

    def dump(self) -> str:
        """Return the state as JSON text."""
        state = [self.last_timestamp_ms, self.warmup, self.cwd, self.unfinished, self.open_tools]
        return orjson.dumps(state).decode()

    @classmethod
    def load(cls, text: str | None) -> ParserState:
        """Return the state from its JSON text."""
        if not text:
            return cls()
        last_timestamp_ms, warmup, cwd, unfinished, open_tools = orjson.loads(text)
        return cls(open_tools, last_timestamp_ms, warmup, cwd, tuple((name, known) for name, known in unfinished))

    def copy(self) -> ParserState:
        """Return a state of its own with the same content."""
        return ParserState(dict(self.open_tools), self.last_timestamp_ms, self.warmup, self.cwd, self.unfinished)


@dataclass(slots=True)
class TranscriptParser:
    """Interprets the records of one file.

    Args of the constructor:
        session_id: The session the file belongs to.
        is_agent_file: A sub-agent's file: everything in it is a sidechain.
        trust_line_session: Old `agent-*` files beside the sessions: each line names its own session.
        agent_id: The sub-agent's id, from the file name.
    """

    session_id: str
    is_agent_file: bool = False
    trust_line_session: bool = False
    agent_id: str | None = None
    state: ParserState = field(default_factory=ParserState)

    def parse(self, record: Record, line: bytes) -> Parsed:
        """Return what a record is.

        Args:
            record: One JSON object.
            line: The bytes it was read from.
        """
        kind = record.get("type")
        if not isinstance(kind, str):
            return Kept("(no type)", known=False)
        if kind in FACT_TYPES:
            return fact_of(record, kind, self.session_id) or Kept(kind, known=True)
        match kind:
            case "assistant":
                parsed = self._assistant(record, line)
            case "user":
                parsed = self._user(record, line)
            case "attachment":
                parsed = self._attachment(record, line)
            case "system":
                parsed = self._system(record, line)
            case _:
                parsed = Kept(clean(kind)[:MAX_NAME], kind in KEPT_TYPES)
        return parsed

    def started_agent(self, record: Record) -> AgentFact | None:
        """Return the sub-agent whose start a message's record tells, beside its content; None for nearly all."""
        if record.get("type") != "user" or "agentId" not in object_field(record, "toolUseResult"):
            return None
        _, blocks = _message_of(record)
        answered = next((text_field(block, "tool_use_id") for block in blocks if "tool_use_id" in block), None)
        return started_agent(record, self.session_id, answered)

    def _assistant(self, record: Record, line: bytes) -> Parsed:
        message, blocks = _message_of(record)
        if not blocks and not message:
            return Kept("assistant (empty)", known=True)
        synthetic = message.get("model") == _NO_MODEL or record.get("isApiErrorMessage") is True
        speaker = Speaker(Role.ASSISTANT, synthetic, self.state.warmup and self._is_sidechain(record))
        return self._assemble(record, blocks, speaker, message, line)

    def _user(self, record: Record, line: bytes) -> Parsed:
        message, blocks = _message_of(record)
        if not blocks and not message:
            return Kept("user (empty)", known=True)
        sidechain = self._is_sidechain(record)
        role = role_of_user_line(record, blocks, sidechain=sidechain)
        if sidechain and role is Role.INJECTED and (self.is_agent_file or record.get("parentUuid") is None):
            self.state.warmup = "".join(texts_of(blocks)).strip() == WARM_UP
        speaker = Speaker(role, synthetic=False, warmup=self.state.warmup and sidechain)
        return self._assemble(record, blocks, speaker, message, line)

    def _attachment(self, record: Record, line: bytes) -> Parsed:
        attachment = object_field(record, "attachment")
        kind = text_field(attachment, "type") or "(no type)"
        if kind == "queued_command":
            blocks = content_blocks(attachment.get("prompt"))
            if not blocks:
                return Kept("attachment/queued_command (empty)", known=True)
            typed = attachment.get("commandMode", "prompt") == "prompt" and not self._is_sidechain(record)
            role = role_of_prompt(blocks, texts_of(blocks)) if typed else Role.INJECTED
        else:
            text = attachment_text(attachment, kind)
            if not text:
                known = kind in READ_ATTACHMENTS or kind in KEPT_ATTACHMENTS
                return Kept(f"attachment/{clean(kind)[:MAX_NAME]}", known)
            blocks = [{"type": "text", "text": text}]
            role = Role.INJECTED
        return self._assemble(record, blocks, Speaker(role, synthetic=False, warmup=False), {}, line)

    def _system(self, record: Record, line: bytes) -> Parsed:
        subtype = text_field(record, "subtype") or "(none)"
        content = text_field(record, "content")
        if subtype in KEPT_SYSTEM or content is None:
            return Kept(f"system/{clean(subtype)[:MAX_NAME]}", subtype in KEPT_SYSTEM or subtype in READ_SYSTEM)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": chunking.without_tags(content)}]
        return self._assemble(record, blocks, Speaker(Role.INJECTED, synthetic=False, warmup=False), {}, line)

    def _assemble(
        self,
        record: Record,
        raw_blocks: list[dict[str, Any]],
        speaker: Speaker,
        message: dict[str, Any],
        line: bytes,
    ) -> ParsedMessage:
        open_tools = self.state.open_tools
        read = [read_block(number, raw, speaker, open_tools) for number, raw in enumerate(raw_blocks)]
        while len(open_tools) > _MAX_OPEN_TOOLS:
            del open_tools[next(iter(open_tools))]
        blocks = tuple([each.block for each in read])
        session_id = (name_field(record, "sessionId") if self.trust_line_session else None) or self.session_id
        parent = text_field(record, "parentUuid")
        sidechain = self._is_sidechain(record)
        opening = None
        if speaker.role is Role.USER:
            opening = opening_of(blocks)
        elif speaker.role is Role.INJECTED and not sidechain:
            opening = command_of(texts_of(raw_blocks))
        fingerprint, strong = _fingerprint(record, message, read, synthetic=speaker.synthetic)
        forked = object_field(record, "forkedFrom") if "forkedFrom" in record else _NOT_FORKED
        copied_from = _copied_from(record, forked, session_id, is_agent_file=self.is_agent_file)
        return ParsedMessage(
            uuid=_uuid(record) or _made_uuid(record, line),
            parent_uuid=parent or text_field(record, "logicalParentUuid"),
            original_uuid=text_field(forked, "messageUuid"),
            session_id=session_id,
            copied_from=copied_from,
            copy_kind=_copy_kind(record, marked=copied_from is not None),
            timestamp_ms=self._time(record),
            role=speaker.role,
            is_sidechain=sidechain,
            agent_id=name_field(record, "agentId") or self.agent_id,
            cwd=name_field(record, "cwd", limit=4096),
            branch=name_field(record, "gitBranch"),
            version=name_field(record, "version"),
            model=name_field(message, "model"),
            fingerprint=fingerprint,
            has_strong_id=strong,
            starts_exchange=speaker.role is Role.USER or (sidechain and parent is None and record["type"] == "user"),
            blocks=blocks,
            opening=opening,
            unknown_blocks=tuple(
                [_unknown(raw) for raw, each in zip(raw_blocks, read, strict=True) if not each.is_known]
            ),
        )

    def _is_sidechain(self, record: Record) -> bool:
        return self.is_agent_file or record.get("isSidechain") is True

    def _time(self, record: Record) -> int | None:
        """Return a record's time; where it has none, that of the record before it."""
        timestamp = milliseconds(record.get("timestamp"))
        if timestamp is None:
            return self.state.last_timestamp_ms
        self.state.last_timestamp_ms = timestamp
        return timestamp


def _message_of(record: Record) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    raw = record.get("message")
    if isinstance(raw, dict):
        message = cast("dict[str, Any]", raw)
        return message, content_blocks(message.get("content"))
    return {}, content_blocks(raw)


def attachment_text(attachment: dict[str, Any], kind: str) -> str:
    """Return the text of an attachment of a kind; empty where there is none worth finding."""
    field_name = READ_ATTACHMENTS.get(kind)
    if field_name is None:
        return ""
    text = chunking.other_text({"content": attachment.get(field_name)}).removeprefix("content: ").strip()
    name = text_field(attachment, "filename") or text_field(attachment, "displayPath")
    return f"{name}\n{text}" if name and text else text


def _fingerprint(
    record: Record, message: dict[str, Any], blocks: list[ReadBlock], *, synthetic: bool
) -> tuple[int, bool]:
    """Return what stays the same in a copy with a new uuid, and whether it identifies the message by itself."""
    identity = [str(record["type"])]
    strong = False
    message_id = text_field(message, "id")
    if message_id is not None and not synthetic:
        identity.append(message_id)
        strong = message_id.startswith("msg_")
    for each in blocks:
        identity.append(each.identity)
        if record["type"] == "user" and each.tool_use_id is not None:
            strong = strong or each.tool_use_id.startswith("toolu_")
    return digest63("\x1f".join(identity).encode("utf-8", "surrogatepass")), strong


def _copied_from(record: Record, forked: dict[str, Any], session_id: str, *, is_agent_file: bool) -> str | None:
    """Return the session a line says it was copied from: forks and background copies keep a trace of it."""
    source = name_field(forked, "sessionId") if forked else None
    if source is not None or is_agent_file:
        return source
    if "requestSessionId" not in record and record.get("sessionId") == session_id:
        return None
    for key in ("requestSessionId", "sessionId"):
        named = name_field(record, key)
        if named is not None and named != session_id:
            return named
    return None


def _copy_kind(record: Record, *, marked: bool) -> CopyKind:
    if record.get("sessionKind") == "bg":
        return "background"
    version = record.get("version")
    if not marked and isinstance(version, str) and _resumes_in_a_new_file(version):
        return "resumed"
    return "forked"


@lru_cache(maxsize=256)
def _resumes_in_a_new_file(version: str) -> bool:
    try:
        numbers = tuple(int(part) for part in version.partition("-")[0].split(".")[:3])
    except ValueError:
        return False
    return numbers < _APPENDS_SINCE


def _made_uuid(record: Record, line: bytes) -> str:
    """Return an identity for a message without one: its content's, so that it does not change with a line's ending."""
    try:
        content = orjson.dumps(record)
    except TypeError:  # what orjson cannot write back (lone surrogates, endless brackets) came from a damaged line
        content = line.strip(b"\0 \t\r\n")
    return f"line-{digest63(content):016x}"


def _uuid(record: Record) -> str | None:
    uuid = record.get("uuid")
    if not isinstance(uuid, str) or not 0 < len(uuid) <= MAX_NAME:
        return None
    return uuid if uuid.isascii() and "\0" not in uuid else clean(uuid)


def _unknown(raw: dict[str, Any]) -> str:
    return clean(text_field(raw, "type") or "(no type)")[:MAX_NAME]
