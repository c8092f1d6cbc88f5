from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.arguments import OPERATIONS
from engine.cli import connect
from engine.cli.connect import is_connected
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE_TOOLS
from engine.mcp.catalogue import Catalogue, reading_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.cli.output import Output
    from tests.engine.cli.conftest import Run


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home without the program `claude`."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(home)
    return home


def test_connecting_registers_and_says_so(backscroll: Callable[..., Run], user: Path) -> None:
    run = backscroll("connect")
    assert run.code == 0
    assert run.out == "Register the server\nClaude Code is connected.\n"
    assert "restart" in run.err
    entry = json.loads((user / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]["backscroll"]
    assert entry["env"]["BACKSCROLL_HOME"] == str(run.access.paths.home)
    assert is_connected(run.access.paths)
    assert not (user / ".claude" / "settings.json").exists()


def test_a_dry_run_says_what_would_change(backscroll: Callable[..., Run], user: Path) -> None:
    run = backscroll("connect", "--dry-run", "--allow-reads", "--keep-days", "365")
    assert [line for line in run.out.splitlines() if not line.startswith("Would: ")] == []
    assert not list(user.iterdir())


def test_consent_adds_reading_tools_only(backscroll: Callable[..., Run], user: Path) -> None:
    backscroll("connect", "--allow-reads")
    settings = json.loads((user / ".claude" / "settings.json").read_text(encoding="utf-8"))
    rules = settings["permissions"]["allow"]
    assert rules == [f"mcp__backscroll__{tool}" for tool in reading_tools()]
    catalogue = Catalogue({*OPERATIONS, *KNOWLEDGE_TOOLS})
    shown = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in catalogue.wire("all")}
    assert {rule.removeprefix("mcp__backscroll__") for rule in rules} == {
        name for name, reads in shown.items() if reads
    }
    assert not any(rule.endswith(("__prune", "__reindex", "__doctor")) for rule in rules)


def test_removing_leaves_nothing(backscroll: Callable[..., Run], user: Path) -> None:
    backscroll("connect", "--allow-reads", "--keep-days", "365")
    run = backscroll("connect", "--remove")
    assert run.out.endswith("Claude Code is not connected.\n")
    assert not (user / ".claude.json").exists()
    assert backscroll("connect", "--remove").out == "Nothing was to be taken out.\nClaude Code is not connected.\n"


def test_another_path_is_named_in_the_status(backscroll: Callable[..., Run], user: Path) -> None:
    text = '{"mcpServers": {"backscroll": {"command": "/old/backscroll-mcp"}}}'
    (user / ".claude.json").write_text(text, encoding="utf-8")
    run = backscroll("connect", "--status")
    assert run.out == "Claude Code is connected to another path.\n"
    assert "/old/backscroll-mcp" in run.err
    assert (user / ".claude.json").read_text(encoding="utf-8") == text


def test_json_has_state_changes_and_registrations(backscroll: Callable[..., Run], user: Path) -> None:
    reply = json.loads(backscroll("connect", "--json").out)
    assert reply["state"] == "connected"
    assert reply["changes"] == [{"what": "Register the server", "file": str(user / ".claude.json")}]
    assert reply["registrations"][0]["retention_days"] == 30
    assert reply["server"]["command"]


def test_a_broken_configuration_is_refused_with_a_sentence(backscroll: Callable[..., Run], user: Path) -> None:
    (user / ".claude.json").write_text("{", encoding="utf-8")
    run = backscroll("connect")
    assert run.code == 3
    assert "left as it is" in run.err
    assert json.loads(backscroll("connect", "--json").err)["error"]["code"] == "configuration_refused"
    assert backscroll("connect", "--status").out == "Claude Code's configuration cannot be read.\n"


def test_nothing_is_asked_where_nobody_can_answer(
    backscroll: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert "?" not in backscroll("connect").err


def test_offers_are_taken_up_only_when_the_answer_is_yes(
    backscroll: Callable[..., Run], user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [True, False]
    questions: list[str] = []

    def confirm(question: str, *, err: bool) -> bool:
        assert err
        questions.append(question)
        return answers.pop(0)

    def somebody_is_there(_output: Output) -> bool:
        return True

    monkeypatch.setattr(connect, "_is_asked", somebody_is_there)
    monkeypatch.setattr(connect.typer, "confirm", confirm)
    backscroll("connect")
    settings = json.loads((user / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert len(questions) == 2
    assert list(settings) == ["permissions"]


def test_a_copy_that_cannot_be_found_again_is_not_connected(
    backscroll: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path("/private/AppTranslocation/x/Backscroll.app/backscroll")))
    run = backscroll("connect")
    assert run.code == 3
    assert "Applications" in run.err
    assert not is_connected(run.access.paths)
