"""Writes the invented chats of the retrieval benchmark as transcripts, with the questions about them."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

from tests.helpers.transcripts import TranscriptBuilder


class Chat(TypedDict):
    """One invented chat."""

    turns: list[tuple[str, str]]
    """What is said and what is answered."""
    questions: list[tuple[str, str, list[int]]]
    """Kind, question, and the turns that answer it."""


SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "conversations.json"
HOME = "/home/dev/chats"


def write_conversations(folder: Path) -> tuple[Path, Path]:
    """Write the chats and return (folder of transcripts, file of questions)."""
    chats: list[Chat] = json.loads(SOURCE.read_text(encoding="utf-8"))
    projects = folder / "projects"
    questions: list[dict[str, Any]] = []
    for number, chat in enumerate(chats):
        builder = TranscriptBuilder(f"00000000-0000-4000-8000-{number:012d}", cwd=HOME)
        uuids: list[tuple[str, str]] = []
        for said, answered in chat["turns"]:
            uuids.append((builder.prompt(said), builder.answer(answered)))
        builder.write(projects)
        questions += [
            {
                "id": f"c{number}.{index}",
                "query": text,
                "type": kind,
                "filters": {},
                "relevant": list(chain.from_iterable(uuids[turn] for turn in turns)),
            }
            for index, (kind, text, turns) in enumerate(chat["questions"])
        ]
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in questions), encoding="utf-8")
    return folder, file
