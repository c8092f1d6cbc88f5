"""Writes transcripts in Claude Code's real format, line by line, for tests."""

from __future__ import annotations

import json
import uuid as uuids
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def encoded(cwd: str) -> str:
    """Return the folder name Claude Code gives a working directory."""
    return "".join(character if character.isalnum() and character.isascii() else "-" for character in cwd)


@dataclass
class TranscriptBuilder:
    """One session's file in the making. Each method adds a line and returns its uuid.

    Uuids, ids and times follow from the session id and the number of lines, so the same calls give the same bytes.
    """

    session_id: str
    cwd: str = "/home/dev/api"
    version: str = "2.1.119"
    branch: str = "main"
    now: datetime = START
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    last_uuid: str | None = None

    def uuid(self, name: str) -> str:
        """Return a uuid that belongs to this session and name."""
        return str(uuids.uuid5(uuids.NAMESPACE_URL, f"{self.session_id}/{name}"))

    def add(self, kind: str, **fields: Any) -> str:
        """Add a line with the fields every message has; `fields` override them."""
        uuid = self.uuid(str(len(self.lines)))
        self.now += timedelta(seconds=5)
        line: dict[str, Any] = {
            "parentUuid": self.last_uuid,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
            "type": kind,
            "uuid": uuid,
            "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            **fields,
        }
        self.lines.append(line)
        self.last_uuid = line["uuid"]
        return line["uuid"]

    def record(self, kind: str, **fields: Any) -> None:
        """Add a line that is no message (titles, snapshots), without uuid and time."""
        self.lines.append({"type": kind, "sessionId": self.session_id, **fields})

    def prompt(self, text: str, **fields: Any) -> str:
        """Add what a person typed."""
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def answer(self, *blocks: dict[str, Any] | str, message_id: str | None = None, **fields: Any) -> str:
        """Add a line of Claude's: texts or content blocks."""
        content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
        number = len(self.lines)
        message = {
            "id": message_id or f"msg_{self.session_id[:8]}{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": content,
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 0},
        }
        return self.add("assistant", message=message, requestId=f"req_{number}", **fields)

    def tool(
        self, name: str, tool_input: dict[str, Any], result: object, *, is_error: bool = False, **fields: Any
    ) -> str:
        """Add a tool call and its result; returns the uuid of the result's line."""
        call = f"toolu_{self.session_id[:8]}{len(self.lines):04d}"
        self.answer({"type": "tool_use", "id": call, "name": name, "input": tool_input}, **fields)
        block = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": is_error}
        return self.add("user", message={"role": "user", "content": [block]}, toolUseResult="copy", **fields)

    def data(self) -> bytes:
        """Return the file's bytes."""
        return b"".join(
            json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for line in self.lines
        )

    def write(self, root: Path, *, name: str | None = None) -> Path:
        """Write the file below a root of project folders and return its path."""
        folder = root / encoded(self.cwd)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / (name or f"{self.session_id}.jsonl")
        file.write_bytes(self.data())
        return file
