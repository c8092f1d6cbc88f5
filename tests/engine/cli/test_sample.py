from __future__ import annotations

import json
import re
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[3] / "assets" / "sample"
FILES = sorted((SAMPLE / "projects").rglob("*.jsonl"))
CHAIN = {"user", "assistant", "system", "attachment"}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]


def everything() -> list[dict[str, Any]]:
    return [line for file in FILES for line in lines(file)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem[:8])
def test_each_line_has_the_fields_of_its_type(file: Path) -> None:
    folder = file.relative_to(SAMPLE / "projects").parts[0]
    known: set[str] = set()
    for line in lines(file):
        assert uuid.UUID(line.get("sessionId") or line["messageId"])
        if line["type"] not in CHAIN:
            continue
        assert uuid.UUID(line["uuid"])
        assert line["uuid"] not in known
        assert line["parentUuid"] is None or line["parentUuid"] in known
        known.add(line["uuid"])
        assert re.sub(r"[^a-zA-Z0-9]", "-", line["cwd"]) == folder
        assert line["timestamp"].endswith("Z")
        assert datetime.fromisoformat(line["timestamp"]).year == 2026
        assert {"isSidechain", "userType", "version", "gitBranch"} <= line.keys()
        assert line["isSidechain"] == ("subagents" in file.parts)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem[:8])
def test_each_tool_call_has_its_result(file: Path) -> None:
    calls, results = list[str](), list[str]()
    for line in lines(file):
        content: list[dict[str, Any]] | str = line.get("message", {}).get("content", [])
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                calls.append(block["id"])
            if block["type"] == "tool_result":
                results.append(block["tool_use_id"])
    assert calls == results


def test_lines_of_one_call_agree_on_its_usage() -> None:
    usages: dict[str, set[str]] = {}
    for line in everything():
        if line["type"] == "assistant":
            message = line["message"]
            assert isinstance(message["usage"]["output_tokens"], int)
            usages.setdefault(message["id"], set()).add(json.dumps(message["usage"]))
    assert all(len(each) == 1 for each in usages.values())


def test_it_shows_what_the_program_can_show() -> None:
    all_lines = everything()
    text = json.dumps(all_lines, ensure_ascii=False)
    assert len({line["sessionId"] for line in all_lines if line.get("sessionId")}) == 8
    assert len({line["cwd"] for line in all_lines if "cwd" in line}) == 3
    assert len({line["timestamp"][:10] for line in all_lines if line["type"] == "user"}) >= 6
    for kind in ("thinking", "queued_command", "compact_boundary", "ai-title", "TodoWrite", "ExitPlanMode", "Agent"):
        assert f'"{kind}"' in text
    assert any(line.get("isCompactSummary") for line in all_lines)
    assert any(line.get("isApiErrorMessage") for line in all_lines)
    assert re.search("[ぁ-ん]", text)
    assert "¿" in text


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in SAMPLE.rglob("*") if file.is_file()) < 300_000
