"""The command line as a process of its own, over the sample history: it answers, and says nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers import programs

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.paths import Paths

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SAMPLE = programs.ROOT / "assets" / "sample" / "projects"
TIMEOUT_S = 110


class Terminal:
    """A person's terminal on a machine with a history."""

    def __init__(self, home: Path, claude: Path) -> None:
        self.claude = claude
        self._env = programs.environment(BACKSCROLL_HOME=str(home), CLAUDE_CONFIG_DIR=str(claude))

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the program; its exit code must be this one."""
        done = subprocess.run(
            programs.command_line(*arguments),
            env=self._env,
            cwd=self.claude,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def answer(self, *arguments: str) -> dict[str, Any]:
        """Run a command for its JSON, beside which nothing may be said."""
        done = self.run(*arguments, "--json")
        assert done.stderr == ""
        return json.loads(done.stdout)


@pytest.fixture
def terminal(paths: Paths, tmp_path: Path) -> Terminal:
    assert paths.home is not None
    # Loading the model takes longer than everything else together; packaging/smoke.py does it.
    paths.settings_file.write_text("[embedding]\nenabled = false\n", encoding="utf-8")
    claude = tmp_path / "claude"
    shutil.copytree(SAMPLE, claude / "projects")
    made = Terminal(paths.home, claude)
    made.run("serve", "--once", "--until", "keyword")
    return made


def test_what_was_indexed_is_found_shown_and_counted(terminal: Terminal) -> None:
    found = terminal.answer("search", "samesite")
    session = found["hits"][0]["session_id"]

    assert terminal.answer("show", session)["session"]["session_id"] == session
    assert session in {each["session_id"] for each in terminal.answer("sessions")["sessions"]}
    assert terminal.answer("status")["sessions"] == 8
    assert terminal.answer("coverage")["files"]["indexed"] == len([*SAMPLE.rglob("*.jsonl")])
    assert "cost" in json.dumps(terminal.answer("usage"))


def test_a_typing_error_is_forgiven(terminal: Terminal) -> None:
    assert terminal.answer("search", "samesiet")["total"] > 0


def test_words_that_nobody_said_end_with_the_code_for_that(terminal: Terminal) -> None:
    assert terminal.run("search", "xylophonist", code=1).stdout == ""


def test_a_wrong_word_is_answered_with_the_way_on_and_without_a_traceback(terminal: Terminal) -> None:
    said = terminal.run("search", "x", "--mode", "telepathy", code=2).stderr

    assert "telepathy" in said
    assert "Traceback" not in said


def test_help_and_version_need_nothing(terminal: Terminal) -> None:
    assert terminal.run("--help").stderr == ""
    assert terminal.run("--version").stdout.startswith("backscroll ")


def test_connecting_registers_a_program_that_is_there_and_disconnecting_takes_it_out(terminal: Terminal) -> None:
    file = terminal.claude / ".claude.json"
    terminal.run("connect")
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["backscroll"]
    assert shutil.which(entry["command"]) is not None

    terminal.run("connect", "--remove")
    assert not file.exists()


def test_the_doctor_mends_the_entry_of_a_copy_that_was_moved(terminal: Terminal) -> None:
    file = terminal.claude / ".claude.json"
    terminal.run("connect")
    right = file.read_text(encoding="utf-8")
    moved = json.loads(right)
    moved["mcpServers"]["backscroll"]["command"] = "/where/it/was/backscroll-mcp"
    file.write_text(json.dumps(moved), encoding="utf-8")

    terminal.run("doctor", code=4)
    terminal.run("doctor", "--fix")

    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(right)
    terminal.run("doctor")
