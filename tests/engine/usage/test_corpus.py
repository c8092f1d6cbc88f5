"""Real transcripts: totals equal a plain count of the raw files, and resumes and forks of every version add nothing."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.usage.calls import time_of
from tests.engine.usage.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

CORPUS = Path(os.environ.get("BACKSCROLL_CORPUS") or Path(__file__).parents[4] / "shared" / "corpus")
VERSIONS = sorted(CORPUS.glob("versions/*/projects"), key=lambda folder: folder.parent.name)
UUID_AT_END = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

pytestmark = pytest.mark.skipif(not (CORPUS / "projects").is_dir(), reason=f"there is no corpus at {CORPUS}")

Line = dict[str, Any]


def lines_of(file: Path) -> list[Line]:
    """Return the lines that can matter to usage; most of a transcript cannot."""
    with file.open("rb") as raw:
        found = [json.loads(line) for line in raw if b'"usage"' in line or b'"cost-state"' in line]
    return [line for line in found if isinstance(line, dict)]


def began(file: Path) -> int | None:
    """Return the time of the first line that has one."""
    with file.open("rb") as raw:
        for line in raw:
            if (at_ms := time_of(json.loads(line).get("timestamp"))) is not None:
                return at_ms
    return None


def session_of(file: Path) -> str:
    """Return the session a file belongs to (transcripts.md, section 4)."""
    if "subagents" in file.parts:
        return file.parts[file.parts.index("subagents") - 1]
    stem = UUID_AT_END.search(file.stem)
    if stem is not None:
        return stem.group()
    with file.open("rb") as raw:
        return json.loads(raw.readline())["sessionId"]


def read(files: Iterable[Path]) -> History:
    history = History()
    for file in files:
        first = None if file.stem.startswith("agent-") else began(file)
        history.read_at(lines_of(file), session=session_of(file), began_ms=first)
    return history


def transcripts(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.jsonl") if file.name != "journal.jsonl" and file.stat().st_size)


# The independent count: it shares no code with the engine and knows nothing of sessions, prices or databases. ----


def plain_count(files: list[Path]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Return token totals, and totals per model, by section 5.2: one message id, one call, its greatest output."""
    best: dict[str, tuple[int, int, str, dict[str, int]]] = {}
    for number, file in enumerate(files):
        for raw in file.read_bytes().split(b"\n"):
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if line.get("type") != "assistant" or "usage" not in line["message"]:
                continue
            message: Line = line["message"]
            usage: Line = message["usage"]
            if message["model"] == "<synthetic>":
                continue
            tokens: dict[str, int] = {
                "calls": 1,
                "input": usage["input_tokens"],
                "output": usage["output_tokens"],
                "written": usage["cache_creation_input_tokens"],
                "read": usage["cache_read_input_tokens"],
            }
            key: str = message["id"]
            if key not in best or tokens["output"] >= best[key][0]:
                best[key] = (tokens["output"], number, message["model"], tokens)
    total: Counter[str] = Counter()
    models: dict[str, Counter[str]] = defaultdict(Counter)
    for _, _, model, tokens in best.values():
        total.update(tokens)
        models[model].update(tokens)
    return total, models


def recorded_count(history: History) -> tuple[Counter[str], dict[str, Counter[str]]]:
    report = history.report("model")
    models = {
        row.label: Counter(
            {
                "calls": row.amounts.calls,
                "input": row.amounts.input_tokens,
                "output": row.amounts.output_tokens,
                "written": row.amounts.cache_write_5m_tokens + row.amounts.cache_write_1h_tokens,
                "read": row.amounts.cache_read_tokens,
            }
        )
        for row in report.rows
    }
    return sum(models.values(), Counter[str]()), models


def test_totals_of_the_corpus_equal_a_plain_count_of_the_raw_files() -> None:
    files = transcripts(CORPUS / "projects")
    assert recorded_count(read(reversed(files))) == plain_count(files)


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.parent.name)
def test_resumes_and_forks_of_every_version_add_nothing(folder: Path) -> None:
    files = transcripts(folder)
    assert recorded_count(read(files)) == plain_count(files)


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.parent.name)
def test_the_calls_of_every_version_are_the_same_whichever_file_is_read_first(folder: Path) -> None:
    files = transcripts(folder)
    one, other = read(files), read(reversed(files))
    assert one.dump() == other.dump()


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.parent.name)
def test_a_call_of_every_version_is_its_oldest_sessions(folder: Path) -> None:
    holders: dict[str, set[str]] = defaultdict(set)
    starts: dict[str, int] = {}
    for file in transcripts(folder):
        session, first = session_of(file), began(file)
        if first is None:
            continue
        starts[session] = min(first, starts.get(session, first))
        for line in lines_of(file):
            if line.get("type") == "assistant" and line["message"]["model"] != "<synthetic>":
                holders[line["message"]["id"]].add(session)
    wanted = Counter(min(sessions, key=lambda session: starts[session]) for sessions in holders.values())
    rows = read(transcripts(folder)).report("session").rows
    assert Counter({row.label: row.amounts.calls for row in rows}) == wanted
