"""Secrets are replaced before they enter the index, in every reply, and where they were stored while that was off."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import Cancelled
from engine.core.settings import Settings
from engine.service import open_reader
from engine.store import upkeep
from tests.engine.maintenance.conftest import SETTINGS, History, found, session_id
from tests.engine.maintenance.test_doctor import examined

if TYPE_CHECKING:
    from engine.api import EngineApi

UNREDACTED = Settings(time_zone="UTC", embedding_enabled=False, privacy_redact=False)
SECRET = "a1B2c3D4e5F6" * 3
KEY = "gh" + "p_" + SECRET


def write_secrets(history: History) -> None:
    """Write a session that has a key in every place whose text a reply may show."""
    builder = history.session(1, "quince", days_ago=200)
    # Wherever a snippet or a title is cut, some of these are cut in two.
    for length in range(60, 260, 10):
        builder.prompt("damson " + "w" * length + f" {KEY} and the rest of it")
    builder.answer(f"The damson needs {KEY}.")
    builder.tool("Bash", {"command": f"git push https://x:{KEY}@example.org/damson"}, f"pushed with {KEY}")
    builder.record("custom-title", customTitle=f"damson with {KEY}")
    builder.record("ai-title", aiTitle=f"damson by {KEY}")
    builder.record("last-prompt", lastPrompt=f"damson {KEY}")
    builder.record("summary", summary=f"damson and {KEY}", leafUuid=builder.last_uuid)
    agent = history.files[1].with_suffix("") / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    lines = [
        {**line, "isSidechain": True, "agentId": "a1", "uuid": f"side-{n}"} for n, line in enumerate(builder.lines)
    ]
    agent.write_text("".join(json.dumps(line) + "\n" for line in lines[2:6]), encoding="utf-8")
    meta = {"agentType": "Explore", "description": f"damson {KEY}", "toolUseId": "toolu_1"}
    agent.with_name("agent-a1.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    builder.write(history.root)


def replies(api: EngineApi) -> dict[str, Any]:
    """Return what every method that reads says."""
    one = {"session_id": session_id(1)}
    search = {
        "query": "damson", "limit": 100, "include_low_signal": True, "include_sidechains": True, "read": 5,
    }  # fmt: skip
    told: dict[str, Any] = {mode: api.call(f"{mode}_search", search) for mode in ("keyword", "semantic", "hybrid")}
    chunk = told["keyword"]["hits"][0]["chunk_id"]
    return told | {
        "typo": api.call("keyword_search", {**search, "query": "damsn"}),
        "context": api.call("get_context", {"chunk_id": chunk, "before": 50, "after": 50}),
        "session": api.call("get_session", {**one, "limit": 500, "include_sidechains": True}),
        "sessions": api.call("list_sessions", {}),
        "period": api.call("get_period", {"date_from": "2020-01-01", "date_to": "2030-01-01"}),
        "usage": api.call("get_usage", {"by": "session"}),
        "status": api.call("status", {}),
        "coverage": api.call("coverage", {}),
        "doctor": api.call("doctor", {}),
        "prune": api.call("prune", {"older_than_days": 30, "archive": True}),
        "export": api.export_session(session_id(1)),
    }


@pytest.mark.parametrize("left", ["transcript", "archive", "index"])
def test_no_reply_shows_a_secret_that_was_stored_while_the_setting_was_off(history: History, left: str) -> None:
    write_secrets(history)
    history.settings = UNREDACTED
    with history.engine() as engine:
        shown = replies(engine.api)
        for name in ("keyword", "hybrid", "context", "session", "sessions", "period", "usage", "export"):
            assert SECRET[:12] in json.dumps(shown[name]), name
        if left != "transcript":
            for file in history.root.rglob("*.jsonl"):
                file.unlink()
            engine.run_once()
    if left == "index":
        for file in history.paths.archive.rglob("*.zst"):
            file.unlink()

    history.settings = SETTINGS
    with history.engine() as engine:
        assert holders(replies(engine.api)) == []
    with open_reader(history.paths, SETTINGS, history.clock) as api:
        assert holders(replies(api)) == []


@pytest.mark.parametrize("gone", [False, True])
def test_lines_are_exported_without_secrets(history: History, *, gone: bool) -> None:
    write_secrets(history)
    with history.engine() as engine:
        if gone:
            history.files[1].unlink()
            engine.run_once()
        lines = engine.api.export_session(session_id(1), form="jsonl")

        assert SECRET[:12] not in lines
        assert lines.count("[redacted:github]") > 20


def holders(told: dict[str, Any]) -> list[str]:
    """Return the replies that show a piece of the key."""
    return [name for name, reply in told.items() if SECRET[:12] in json.dumps(reply, ensure_ascii=False)]


def test_secrets_that_were_indexed_before_are_replaced_and_leave_no_trace(history: History) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    builder = history.session(1, "quince", days_ago=3)
    builder.prompt(f"Use {key} to push.")
    builder.record("custom-title", customTitle=f"Pushing with {key}")
    builder.write(history.root)
    history.settings = Settings(time_zone="UTC", embedding_enabled=False, privacy_redact=False)
    with history.engine() as engine:
        assert any("index.db" in name for name in history.traces(key))
        assert examined(engine)["secrets"]["severity"] == "info"
        shown = engine.api.get_session(session_id(1)).messages[-1].blocks[0].text or ""
        assert key in shown

    history.settings = SETTINGS
    with history.engine() as engine:
        shown = engine.api.get_session(session_id(1)).messages[-1].blocks[0].text or ""
        assert "[redacted:github]" in shown
        assert examined(engine)["secrets"]["severity"] == "warning"

        assert examined(engine, fix=True)["secrets"]["fixed"]

        assert [name for name in history.traces(key) if "archive" not in name] == []
        assert engine.api.status().redacted == {"github": 1}
        assert found(engine, "redacted github") == {session_id(1)}


@pytest.mark.parametrize("steps", [5, 6, 8])
def test_a_replacing_of_secrets_that_was_cut_short_is_said_and_done_again(
    history: History, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(upkeep, "STEP_ROWS", 3)
    write_secrets(history)
    history.settings = UNREDACTED
    with history.engine():
        pass
    history.settings = SETTINGS
    cancelled = threading.Event()
    done = 0

    def told(_done: int, _all: int | None, what: str) -> None:
        nonlocal done
        done += "secret" in what.lower()
        if done == steps:
            cancelled.set()

    with history.engine() as engine:
        with pytest.raises(Cancelled):
            engine.api.call("doctor", {"fix": True, "only": ["secrets"]}, progress=told, cancelled=cancelled)
        before = len(history.sql("SELECT 1 FROM texts WHERE instr(text, '[redacted') > 0"))
        assert before > 0
    with history.engine() as engine:
        # What was replaced is cleared, the rest is still said to be there.
        assert history.sql("SELECT count(*) FROM meta WHERE name = 'traces'") == [(0,)]
        assert examined(engine)["secrets"]["severity"] == "warning"
        assert "secrets" in [each.id for each in engine.notices()]

        assert examined(engine, fix=True)["secrets"]["fixed"]

        assert [name for name in history.traces(SECRET) if "archive" not in name] == []
        assert examined(engine)["secrets"]["severity"] == "ok"


def test_secrets_never_enter_an_index_that_replaces_them(history: History) -> None:
    key = "sk-" + "ant-api03-" + "a1B2c3D4e5F6" * 6
    builder = history.session(1, "quince", days_ago=3)
    builder.prompt(f"My key is {key}.")
    builder.tool("Bash", {"command": f"export ANTHROPIC_API_KEY={key}"}, f"ok {key}")
    builder.record("last-prompt", lastPrompt=f"My key is {key}.")
    builder.write(history.root)
    with history.engine() as engine:
        assert history.traces(key) == []
        assert (engine.api.status().redacted or {})["anthropic"] == 4
        exported = engine.api.export_session(session_id(1), form="jsonl")
        shown = engine.api.export_session(session_id(1))
        context = str(engine.api.get_session(session_id(1)))
        assert key not in exported + shown + context
        assert exported.count("[redacted:anthropic]") == 3
        assert examined(engine)["secrets"]["severity"] == "ok"
