"""Writes histories as Claude Code leaves them on disk, invented and as large as wanted: the same seed, the same bytes.

The mix is measured from real transcripts (84 MB, 23,612 lines): how many lines of each type, which share of the bytes
are tool results, their copies in `toolUseResult`, thinking with signatures, images, progress lines; how large sessions
are. Sessions lie in forty projects, half an hour apart, the newest last; one in six has a sub-agent with a file of its
own. Every session's first prompt holds a word of its own (`Made.words`), by which it can be found.
"""

from __future__ import annotations

import base64
import os
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from tests.helpers.speech import Lengths, Speech
from tests.helpers.transcripts import encoded

if TYPE_CHECKING:
    from pathlib import Path

NEWEST = datetime(2026, 11, 30, 12, tzinfo=UTC)
PROJECTS = 40
SESSION_BYTES = Lengths(
    (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0),
    (4_000, 20_000, 80_000, 350_000, 1_200_000, 2_500_000, 7_000_000, 16_000_000),
)
TOOLS_A_PROMPT = Lengths((0.0, 0.2, 0.5, 0.75, 0.9, 1.0), (0, 2, 7, 14, 28, 90))
TOOLS = ("Bash",) * 40 + ("Read",) * 21 + ("Edit",) * 19 + ("Grep",) * 5 + ("Write",) * 3 + ("TaskUpdate",) * 5
PROGRESS_SHARE = 1.8
"""Progress lines for each call of a tool: of the years in which they were written, half of all sessions have them."""

SIDECHAIN_SHARE = 1 / 6
IMAGE_SHARE = 1 / 1_500
USAGE = {
    "input_tokens": 4, "cache_creation_input_tokens": 812, "cache_read_input_tokens": 41_200, "output_tokens": 230,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 812}, "service_tier": "standard",
}  # fmt: skip
_HEX = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Made:
    """What was written."""

    files: int
    bytes: int
    lines: int
    words: tuple[str, ...]
    """A word of each session, oldest first."""
    newest: tuple[str, ...]
    """Those of the newest day."""


@dataclass
class _Session:
    """One transcript in the making."""

    writer: HistoryWriter
    session_id: str
    cwd: str
    now: datetime
    agent: str | None = None
    lines: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    last: str | None = None

    def put(self, line: dict[str, Any]) -> None:
        data = orjson.dumps(line)
        self.lines.append(data)
        self.size += len(data) + 1

    def message(self, kind: str, **fields: Any) -> None:
        """Add a line of the chain."""
        self.now += timedelta(seconds=self.writer.chance.random() * 30)
        uuid = self.writer.uuid()
        line: dict[str, Any] = {
            "parentUuid": self.last, "isSidechain": self.agent is not None, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session_id, "version": "2.1.119", "gitBranch": "main", "type": kind, **fields,
            "uuid": uuid, "timestamp": f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z",
        }  # fmt: skip
        if self.agent is not None:
            line["agentId"] = self.agent
        self.put(line)
        self.last = uuid

    def assistant(self, block: dict[str, Any], message_id: str) -> None:
        self.message(
            "assistant",
            message={
                "id": message_id, "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [block], "stop_reason": "tool_use", "stop_sequence": None, "usage": USAGE,
            },
            requestId=f"req_{message_id[4:]}",
        )  # fmt: skip


class HistoryWriter:
    """Writes sessions below a folder of projects.

    Args:
        seed: The same seed gives the same history.
    """

    def __init__(self, seed: int = 1) -> None:
        self.chance = random.Random(seed)
        self._speech = Speech(self.chance)
        # Data, not words: signatures and images are cut out of it.
        self._base64 = base64.b64encode(self.chance.randbytes(1_500_000)).decode("ascii")

    def write(self, projects: Path, size: int) -> Made:
        """Write sessions until so many bytes are there."""
        sizes: list[int] = []
        while sum(sizes) < size:
            sizes.append(min(SESSION_BYTES.draw(self.chance), size - sum(sizes) + 1))
        words: list[str] = []
        newest: list[str] = []
        files = lines = written = 0
        for number, wanted in enumerate(sizes):
            start = NEWEST - timedelta(minutes=30 * (len(sizes) - number))
            words.append(f"zq{number}x{self.chance.getrandbits(32):08x}")
            if start > NEWEST - timedelta(days=1):
                newest.append(words[-1])
            for session in self._sessions(number, wanted, start, words[-1]):
                data = b"\n".join([*session.lines, b""])
                self._put(projects, session, data)
                files, lines, written = files + 1, lines + len(session.lines), written + len(data)
        return Made(files, written, lines, tuple(words), tuple(newest))

    def uuid(self) -> str:
        """Return a random UUID."""
        digits = f"{self.chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def _put(self, projects: Path, session: _Session, data: bytes) -> None:
        folder = projects / encoded(session.cwd)
        file = folder / f"{session.session_id}.jsonl"
        if session.agent is not None:
            file = folder / session.session_id / "subagents" / f"agent-{session.agent}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        seconds = session.now.timestamp()
        os.utime(file, (seconds, seconds))

    def _sessions(self, number: int, wanted: int, start: datetime, word: str) -> list[_Session]:
        """Return a session and the sub-agents it started."""
        main = _Session(self, self.uuid(), f"/home/dev/project{number * 7 % PROJECTS}", start)
        has_progress = number % 2 == 0
        made = [main]
        self._exchange(main, f"{word} {self._speech.prompt()}", has_progress=has_progress, until=wanted)
        while main.size < wanted:
            self._exchange(main, self._speech.prompt(), has_progress=has_progress, until=wanted)
        if self.chance.random() < SIDECHAIN_SHARE:
            agent = _Session(self, main.session_id, main.cwd, main.now, f"a{self.chance.getrandbits(28):07x}")
            self._exchange(agent, self._speech.prompt(), has_progress=False, until=wanted // 4)
            made.append(agent)
        return made

    def _exchange(self, session: _Session, prompt: str, *, has_progress: bool, until: int) -> None:
        chance = self.chance
        session.message("user", message={"role": "user", "content": prompt}, promptId=self.uuid())
        self._asides(session, prompt)
        for _ in range(TOOLS_A_PROMPT.draw(chance)):
            message_id = self._id("msg_01")
            if chance.random() < 0.35:
                self._think(session, message_id)
            if chance.random() < 0.4:
                session.assistant({"type": "text", "text": self._speech.answer()}, message_id)
            self._call(session, message_id, has_progress=has_progress)
            if session.size >= until:
                break
        session.assistant({"type": "text", "text": self._speech.answer()}, self._id("msg_01"))

    def _asides(self, session: _Session, prompt: str) -> None:
        """Add what Claude Code itself writes around a prompt."""
        chance = self.chance
        snapshot: dict[str, Any] = {
            "messageId": self.uuid(),
            "trackedFileBackups": {},
            "timestamp": f"{session.now:%Y-%m-%dT%H:%M:%S}Z",
        }
        session.put({"type": "file-history-snapshot", "messageId": self.uuid(), "snapshot": snapshot})
        if chance.random() < 0.6:
            content = f"<system-reminder>{self._speech.injected()}</system-reminder>"
            session.message("user", message={"role": "user", "content": content}, isMeta=True)
        if chance.random() < 0.5:
            attachment = {"type": "task_reminder", "content": [self._speech.injected()], "itemCount": 1}
            session.message("attachment", attachment=attachment)
        session.put({"type": "last-prompt", "lastPrompt": prompt[:200], "sessionId": session.session_id})
        if chance.random() < 0.5:
            title = prompt[:40].strip()
            session.put({"type": "ai-title", "aiTitle": title, "sessionId": session.session_id})
        session.message("system", subtype="turn_duration", durationMs=chance.getrandbits(17), isMeta=False)

    def _think(self, session: _Session, message_id: str) -> None:
        said = self._speech.thought() if self.chance.random() < 0.5 else ""
        block = {"type": "thinking", "thinking": said, "signature": self._data(300 + self.chance.getrandbits(12))}
        session.assistant(block, message_id)

    def _call(self, session: _Session, message_id: str, *, has_progress: bool) -> None:
        chance = self.chance
        name = chance.choice(TOOLS)
        call = self._id("toolu_01")
        code = self._speech.code()
        path = f"{session.cwd}/src/{code[:12].strip().replace(' ', '_').replace('/', '_')}.py"
        made: dict[str, Any] = {"file_path": path, "old_string": code[: len(code) // 2], "new_string": code}
        if name in ("Bash", "Grep"):
            made = {"command": code, "description": code[:40]}
        session.assistant({"type": "tool_use", "id": call, "name": name, "input": made}, message_id)
        result = self._speech.result()
        if has_progress:
            for _ in range(int(2 * PROGRESS_SHARE + chance.random())):
                data = {
                    "type": "bash_progress",
                    "output": result[-2_000:],
                    "fullOutput": result,
                    "elapsedTimeSeconds": 3,
                }
                session.message("progress", data=data, toolUseID=call, parentToolUseID=call)
        content: Any = result
        if chance.random() < IMAGE_SHARE:
            source = {"type": "base64", "media_type": "image/png", "data": self._data(400_000)}
            content = [{"type": "image", "source": source}]
        copy: Any = {"stdout": result, "stderr": "", "interrupted": False, "isImage": False}
        if name in ("Read", "Edit", "Write"):
            # Claude Code keeps the file as it was, beside the few lines that changed.
            copy = {
                "filePath": path,
                "originalFile": f"{result}{code}{self._speech.result()}{self._speech.result()}{result}",
                "structuredPatch": [{"lines": [code]}],
            }
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": chance.random() < 0.05}
        session.message("user", message={"role": "user", "content": [block]}, toolUseResult=copy)

    def _id(self, prefix: str) -> str:
        return f"{prefix}{self.chance.getrandbits(96):024x}"

    def _data(self, length: int) -> str:
        start = int(self.chance.random() * (len(self._base64) - length))
        return self._base64[start : start + length]


def write_history(projects: Path, size: int, seed: int = 1) -> Made:
    """Write a history of so many bytes below a folder of projects."""
    return HistoryWriter(seed).write(projects, size)
