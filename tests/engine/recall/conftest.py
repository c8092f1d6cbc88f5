"""One project with a long session, a sub-agent, a spilled output, an image, and a copy of it in a fork."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine

LONG = "11111111-0000-4000-8000-000000000001"
LATER = "22222222-0000-4000-8000-000000000002"
REPOSITORY = "/home/dev/shop"


def write_history(root: Path) -> dict[str, str]:
    """Write the files and return the uuids of the messages that tests ask for, by name."""
    named: dict[str, str] = {}
    long = TranscriptBuilder(LONG, cwd=REPOSITORY)
    named["prompt"] = long.prompt("Plan the checkout migration, please.")
    named["thinking"] = long.answer({"type": "thinking", "thinking": "Two steps look safe.", "signature": "sig"})
    named["answer"] = long.answer("First the schema, then the callers. " + "Details follow. " * 5000)
    preview = (
        "<persisted-output>\nOutput too large (100KB). Full output saved to: "
        f"/somewhere/else/{LONG}/tool-results/toolu_spill.txt\n\nPreview (first 2KB):\nrow 1"
    )
    named["spilled"] = long.tool("Bash", {"command": "cat big.log"}, preview)
    image = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 40_000}}]
    named["image"] = long.tool("Read", {"file_path": "shot.png"}, image)
    named["edit"] = long.tool("Edit", {"file_path": "cart.py", "old_string": "a", "new_string": "b"}, "ok")
    named["failed"] = long.tool("Bash", {"command": "make test"}, "3 failed", is_error=True)
    named["second"] = long.prompt("Now commit it.")
    named["commit"] = long.tool("Bash", {"command": "git commit -m 'Migrate the checkout'"}, "[main 1a2b3c] ok")
    named["end"] = long.answer("Committed. The secret is \x1b[31mred\x1b[0m and \x00gone.")
    long.record("custom-title", customTitle="Checkout migration")
    file = long.write(root)
    results = file.with_suffix("") / "tool-results"
    results.mkdir(parents=True)
    (results / "toolu_spill.txt").write_text("row 1\n" * 1000 + "the last row\n", encoding="utf-8")

    agent = TranscriptBuilder(LONG, cwd=REPOSITORY, last_uuid=None)
    agent.add("user", message={"role": "user", "content": "Look for callers."}, isSidechain=True, agentId="a1b2c3")
    agent.lines[-1]["uuid"] = agent.uuid("side-0")
    named["agent"] = agent.answer("Seven callers found.", isSidechain=True, agentId="a1b2c3")
    agent.lines[-1]["uuid"] = named["agent"] = agent.uuid("side-1")
    folder = file.with_suffix("") / "subagents"
    folder.mkdir()
    (folder / "agent-a1b2c3.jsonl").write_bytes(agent.data())

    later = TranscriptBuilder(LATER, cwd=f"{REPOSITORY}/web", now=datetime(2026, 3, 4, 8, 0, tzinfo=UTC))
    later.prompt("What is left of the checkout?")
    later.answer("Only the e-mail templates.")
    later.write(root)
    (root / "names.json").write_text(json.dumps(named), encoding="utf-8")
    return named


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, dict[str, str], Path]]:
    """Give the engine, the uuids by name, and the root."""
    folder = tmp_path_factory.mktemp("recall")
    root = folder / "projects"
    root.mkdir()
    named = write_history(root)
    with running_engine(Paths.below(folder / "home"), root) as engine:
        yield engine, named, root
