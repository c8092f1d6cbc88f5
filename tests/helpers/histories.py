"""Strategies for histories as they lie on disk: sessions, their copies and sub-agents, damaged lines included."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.helpers.transcripts import TranscriptBuilder, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

CWD = "/home/dev/api"
ORIGINAL = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"
RESUMED = "33333333-3333-4333-8333-333333333333"
RESUMED_AGAIN = "55555555-5555-4555-8555-555555555555"
SDK_FORK = "44444444-4444-4444-8444-444444444444"

WORDS = ("deploy", "getUserName", "retries", "日本語", "naïve", "sqlite-vec", "the same words", "\ud83d\ude00")


@dataclass(frozen=True)
class DiskFile:
    """A file of a history: where it lies below the root, and its bytes."""

    relative: str
    data: bytes

    def write(self, root: Path, size: int | None = None) -> None:
        """Write the file, or only its first bytes."""
        path = root / self.relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data[:size])


Step = tuple[str, str]
"""What a session does next, and a word that tells it from others."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("prompt", "answer", "tool", "question", "sidechain", "title", "summary", "compaction", "unknown", "queued")
        ),
        st.sampled_from(WORDS),
    ),
    min_size=1,
    max_size=9,
)


def play(builder: TranscriptBuilder, steps: Sequence[Step]) -> None:
    """Let a session do what the steps say."""
    for kind, word in steps:
        _PLAYS[kind](builder, word)


def _compaction(builder: TranscriptBuilder, word: str) -> None:
    builder.add(
        "system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None,
        logicalParentUuid=builder.last_uuid,
    )  # fmt: skip
    builder.prompt(f"This session is being continued from a previous conversation. {word}", isCompactSummary=True)


def _sidechain(builder: TranscriptBuilder, word: str) -> None:
    parent = builder.last_uuid
    builder.prompt(f"Look for {word}", isSidechain=True, parentUuid=None)
    builder.answer(f"Found {word}", isSidechain=True)
    builder.last_uuid = parent


_PLAYS: dict[str, Callable[[TranscriptBuilder, str], object]] = {
    "prompt": lambda builder, word: builder.prompt(f"Please explain {word}"),
    "answer": lambda builder, word: builder.answer({"type": "thinking", "thinking": word}, f"It is about {word}."),
    "tool": lambda builder, word: builder.tool("Bash", {"command": f"grep {word}"}, f"{word}: 3 lines"),
    "question": lambda builder, word: builder.tool("AskUserQuestion", {"questions": [{"question": word}]}, word),
    "sidechain": _sidechain,
    "title": lambda builder, word: builder.record("ai-title", aiTitle=f"About {word}"),
    "summary": lambda builder, word: builder.record("summary", summary=f"Summary {word}", leafUuid=builder.last_uuid),
    "compaction": _compaction,
    "unknown": lambda builder, word: builder.record("from-the-future", payload=word),
    "queued": lambda builder, word: builder.add(
        "attachment", attachment={"type": "queued_command", "prompt": f"and {word}", "commandMode": "prompt"}
    ),
}


def original(steps: Sequence[Step], version: str = "2.1.119") -> TranscriptBuilder:
    """Return a session that did what the steps say."""
    builder = TranscriptBuilder(ORIGINAL, cwd=CWD, version=version)
    play(builder, steps)
    return builder


def fork(source: TranscriptBuilder, steps: Sequence[Step]) -> TranscriptBuilder:
    """Return a fork by the command line: the same uuids and times under a new session id, and then its own way."""
    builder = TranscriptBuilder(FORK, cwd=CWD, version=source.version, now=source.now)
    builder.record("queue-operation", operation="dequeue", timestamp=_later(builder))
    for line in source.lines:
        if "uuid" in line and not line["isSidechain"]:
            builder.lines.append({**line, "sessionId": FORK})
    builder.last_uuid = source.last_uuid
    play(builder, steps)
    return builder


def resume(source: TranscriptBuilder, steps: Sequence[Step], *, session_id: str = RESUMED) -> TranscriptBuilder:
    """Return a resumed session of an old version: a new file with new uuids and one time for all copies."""
    builder = TranscriptBuilder(session_id, cwd=CWD, version=source.version, now=source.now)
    time = _later(builder)
    uuids = {line["uuid"]: builder.uuid(f"copy {line['uuid']}") for line in source.lines if "uuid" in line}
    for line in source.lines:
        if "uuid" in line and not line["isSidechain"]:
            copied = {**line, "sessionId": session_id, "uuid": uuids[line["uuid"]], "timestamp": time}
            copied.pop("requestId", None)
            for parent in ("parentUuid", "logicalParentUuid"):
                if copied.get(parent) is not None:
                    copied[parent] = uuids.get(copied[parent], copied[parent])
            builder.lines.append(copied)
            builder.last_uuid = copied["uuid"]
    play(builder, steps)
    return builder


def sdk_fork(source: TranscriptBuilder, steps: Sequence[Step]) -> TranscriptBuilder:
    """Return a fork by the SDK: new uuids that name their originals."""
    builder = TranscriptBuilder(SDK_FORK, cwd=CWD, version=source.version, now=source.now)
    uuids = {line["uuid"]: builder.uuid(f"copy {line['uuid']}") for line in source.lines if "uuid" in line}
    for line in source.lines:
        if "uuid" in line and not line["isSidechain"]:
            parent = line["parentUuid"]
            builder.lines.append(
                {
                    **line,
                    "sessionId": SDK_FORK,
                    "uuid": uuids[line["uuid"]],
                    "parentUuid": uuids.get(parent, parent),
                    "forkedFrom": {"sessionId": line["sessionId"], "messageUuid": line["uuid"]},
                }
            )
            builder.last_uuid = uuids[line["uuid"]]
    play(builder, steps)
    return builder


def agent(source: TranscriptBuilder, word: str) -> DiskFile:
    """Return the transcript of a sub-agent of a session."""
    builder = TranscriptBuilder("agent of " + source.session_id, cwd=source.cwd, now=source.now)
    said: dict[str, Any] = {"isSidechain": True, "agentId": "a1b2c3d", "sessionId": source.session_id}
    builder.prompt(f"Find {word}", **said)
    builder.answer(f"Found {word}", **said)
    return DiskFile(f"{encoded(CWD)}/{source.session_id}/subagents/agent-a1b2c3d.jsonl", builder.data())


def on_disk(builder: TranscriptBuilder) -> DiskFile:
    """Return a session as its file."""
    return DiskFile(f"{encoded(CWD)}/{builder.session_id}.jsonl", builder.data())


def _later(builder: TranscriptBuilder) -> str:
    return builder.now.replace(minute=(builder.now.minute + 7) % 60).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@st.composite
def families(draw: st.DrawFn) -> list[DiskFile]:
    """Draw a session, sometimes with copies as its version makes them, and a sub-agent."""
    version = draw(st.sampled_from(("1.0.24", "2.1.119")))
    source = original(draw(STEPS), version)
    sessions = [source]
    for copy in (resume,) if version == "1.0.24" else (fork, sdk_fork):
        if draw(st.booleans()):
            sessions.append(copy(draw(st.sampled_from(sessions)), draw(STEPS)))
    if version == "1.0.24" and len(sessions) > 1 and draw(st.booleans()):
        sessions.append(resume(sessions[1], draw(STEPS), session_id=RESUMED_AGAIN))
    files = [on_disk(each) for each in sessions]
    if draw(st.booleans()):
        files.append(agent(source, draw(st.sampled_from(WORDS))))
    return files


DAMAGE: tuple[Callable[[bytes], bytes], ...] = (
    lambda line: b"\0" * 7 + line,
    lambda line: line[:-1] + b"\0" * 9 + b"\n",
    lambda line: line[: len(line) // 2] + line,
    lambda line: line[:-1] + line,
    lambda line: line[: len(line) // 2] + b"\n",
    lambda line: line[:-1] + b"\r\n",
    lambda line: b"\n" + line,
    lambda line: b"\xef\xbb\xbf" + line,
    lambda line: line.replace(b"e", b"\xff", 3),
    lambda line: line.replace(b"about", b"\xed\xa0\x80"),
    lambda line: line.replace(b"about", b"\\ud800 \\u0000"),
    lambda line: line.replace(b"about", "\u2028 \u0085 \u2029".encode()),
    lambda line: line.replace(b'"type"', b'"type":"x","type"', 1),
    lambda line: line.replace(b"true", b"1" + b"0" * 30),
    lambda line: b"[" * 2000 + line,
    lambda line: b"[1, 2, 3]\n" + line,
    lambda line: line[:-1] + b" trailing words\n",
)
"""What becomes of lines: transcripts.md, section 6."""


@st.composite
def damaged_families(draw: st.DrawFn) -> list[DiskFile]:
    """Draw a family of which some lines are damaged or repeated, and whose files may lack the last line feed."""
    files: list[DiskFile] = []
    for file in draw(families()):
        lines = [each + b"\n" for each in file.data.split(b"\n")[:-1]]
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(lines) - 1))
            lines[at] = draw(st.sampled_from(DAMAGE))(lines[at])
        if draw(st.booleans()):
            lines += lines[: draw(st.integers(0, len(lines)))]
        data = b"".join(lines)
        files.append(DiskFile(file.relative, data.removesuffix(b"\n") if draw(st.booleans()) else data))
    return files


def differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return what two dumps do not have in common, shortened for a failing test."""
    found: list[str] = []
    for name, rows in one.items():
        if rows != other[name]:
            found += [f"{name} only here: {row!r}"[:700] for row in rows if row not in other[name]][:3]
            found += [f"{name} only there: {row!r}"[:700] for row in other[name] if row not in rows][:3]
    return "\n".join(found)


def as_lines(*records: dict[str, Any]) -> bytes:
    """Return records as the lines of a transcript."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
