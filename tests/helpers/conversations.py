"""Writes the invented chats of the retrieval benchmark as transcripts, with the questions about them.

A file of `tests/benchmarks/conversations` holds chats, line by line: `= name half` begins one, `@ day` a session,
`> said` an exchange, `< answered` goes on, `! tool | input | result` is a tool's call, and `? kind labels question`
asks for the exchanges that have one of the labels (`{label}` before what is said). `half` is `tune` for those that
weights were chosen on and `held` for those that they were only confirmed on.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.helpers.transcripts import START, TranscriptBuilder

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "conversations"
HOME = "/home/dev/chats"

EVENING = timedelta(hours=18)
_LABEL = re.compile(r"\{(\w+)\} ?")


@dataclass
class Chat:
    """One chat in the making."""

    name: str
    half: str
    sessions: list[TranscriptBuilder] = field(default_factory=list[TranscriptBuilder])
    labels: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The messages of the exchanges that have a label."""
    questions: list[tuple[str, str, list[str]]] = field(default_factory=list[tuple[str, str, list[str]]])
    """Kind, text, labels."""
    _exchange: list[str] = field(default_factory=list[str])
    _named: set[str] = field(default_factory=set[str])

    def begin(self, number: int, now: datetime) -> None:
        """Begin a session."""
        self.sessions.append(TranscriptBuilder(f"00000000-0000-4000-8000-{number:012d}", cwd=HOME, now=now))

    def add(self, mark: str, line: str) -> None:
        """Add what is said (`>`), answered (`<`) or done with a tool (`!`)."""
        session, text = self.sessions[-1], _LABEL.sub("", line)
        if mark == ">":
            self._exchange, self._named = [session.prompt(text)], set()
        elif mark == "<":
            self._exchange.append(session.answer(text))
        else:
            tool, given, result = text.split(" | ")
            self._exchange.append(session.tool(tool, {"command": given}, result))
        self._named.update(_LABEL.findall(line))
        self.labels.update(dict.fromkeys(self._named, self._exchange))


def write_conversations(folder: Path, *, half: str | None = None) -> tuple[Path, Path]:
    """Write the chats and return (folder of transcripts, file of questions); a question's type names its half, too.

    Args:
        folder: Where to.
        half: The one to take; both when it is None.
    """
    questions: list[dict[str, Any]] = []
    number = 0
    for file in sorted(SOURCE.glob("*.txt")):
        for chat in _chats(file, number):
            number += len(chat.sessions)
            if half not in (None, chat.half):
                continue
            for session in chat.sessions:
                session.write(folder / "projects")
            questions += [
                {
                    "id": f"{chat.name}.{index}",
                    "query": text,
                    "type": f"{chat.half}: {kind}",
                    "filters": {},
                    "relevant": [uuid for label in labels for uuid in chat.labels[label]],
                }
                for index, (kind, text, labels) in enumerate(chat.questions)
            ]
    asked = folder / "questions.jsonl"
    asked.write_text("".join(json.dumps(each) + "\n" for each in questions), encoding="utf-8")
    return folder, asked


def _chats(file: Path, first: int) -> list[Chat]:
    """Return the chats of a file; their sessions are numbered from the given number on."""
    found: list[Chat] = []
    number = first
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "=":
            name, half = rest.split()
            found.append(Chat(name, half))
        elif mark == "?":
            kind, labels, text = rest.split(" ", 2)
            found[-1].questions.append((kind, text, labels.split(",")))
        elif mark == "@":
            found[-1].begin(number, datetime.fromisoformat(rest).replace(tzinfo=UTC) + EVENING)
            number += 1
        elif mark in (">", "<", "!"):
            if not found[-1].sessions:
                found[-1].begin(number, START)
                number += 1
            found[-1].add(mark, rest)
    return found
