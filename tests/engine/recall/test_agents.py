"""A sub-agent's messages say which sub-agent it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.paths import Paths

SESSION = "11111111-0000-4000-8000-000000000001"


def test_a_sub_agents_messages_carry_its_kind_and_task(paths: Paths, tmp_path: Path) -> None:
    root = tmp_path / "projects"
    builder = TranscriptBuilder(SESSION)
    builder.prompt("who calls it?")
    folder = builder.write(root).with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for name in ("a1", "a2"):
        agent = TranscriptBuilder(name)
        agent.prompt(f"Look, {name}.", isSidechain=True, agentId=name, sessionId=SESSION)
        (folder / f"agent-{name}.jsonl").write_bytes(agent.data())
    meta = {"agentType": "Explore", "description": "Find callers", "toolUseId": "toolu_1"}
    (folder / "agent-a1.meta.json").write_text(json.dumps(meta), encoding="utf-8")

    with running_engine(paths, root) as engine:
        messages = engine.api.get_session(SESSION, include_sidechains=True).messages

    assert [(each.blocks[0].text, each.agent) for each in messages] == [
        ("who calls it?", None),
        ("Look, a1.", "Explore: Find callers"),
        ("Look, a2.", "a2"),
    ]
