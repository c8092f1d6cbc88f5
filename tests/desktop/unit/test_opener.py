from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from desktop.opener import SystemOpener, terminal_commands
from desktop.transcript_files import counted_roots, roots_of, transcript_of
from engine.core.settings import RootSetting, Settings

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "cd '/home/you/my api' && claude --resume 1"


def test_the_persons_own_terminal_comes_first() -> None:
    commands = terminal_commands(COMMAND, {"TERMINAL": "/opt/bin/kitty", "SHELL": "/bin/zsh"}, "linux")
    assert commands[0] == ["/opt/bin/kitty", "/bin/zsh", "-c", f"{COMMAND}; exec /bin/zsh"]
    assert ["xterm", "-e", "/bin/zsh", "-c", f"{COMMAND}; exec /bin/zsh"] in commands


def test_quotes_survive_the_way_into_an_apple_script() -> None:
    (command,) = terminal_commands('cd "a\\b" && claude', {}, "darwin")
    assert command[2] == 'tell application "Terminal" to do script "cd \\"a\\\\b\\" && claude"'


def test_windows_prefers_its_new_terminal() -> None:
    assert [command[0] for command in terminal_commands(COMMAND, {}, "win32")] == ["wt.exe", "cmd.exe"]


@pytest.mark.skipif(os.name != "posix", reason="makes an executable file")
def test_the_first_terminal_that_is_there_is_started(tmp_path: Path) -> None:
    program = tmp_path / "xterm"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    started: list[list[str]] = []
    opener = SystemOpener({"PATH": str(tmp_path)}, started.append)
    assert opener.terminal(COMMAND)
    assert started[0][0] == "xterm"
    assert not SystemOpener({"PATH": str(tmp_path / "none")}, started.append).terminal(COMMAND)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "ssh://host", "x", ""])
def test_only_web_pages_are_opened(url: str) -> None:
    assert not SystemOpener().link(url)


def test_a_transcript_is_found_below_every_root(tmp_path: Path) -> None:
    session = "0cb9f897-f72e-5bf5-a1c8-eaa152229fda"
    folder = tmp_path / "other" / "projects" / "-home-you"
    folder.mkdir(parents=True)
    (folder / f"{session}.jsonl").touch()
    settings = Settings(transcripts_roots=(RootSetting(str(tmp_path / "other" / "projects"), "other"),))
    roots = roots_of(settings, {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}, tmp_path)
    assert transcript_of(session, roots) == folder / f"{session}.jsonl"
    assert transcript_of("../../etc/passwd", roots) is None
    assert transcript_of("*", roots) is None


def test_transcripts_are_counted_below_each_root_that_exists(tmp_path: Path) -> None:
    own, other = tmp_path / ".claude" / "projects" / "-home-you", tmp_path / "other" / "-home-you"
    for folder, number in ((own, 3), (other, 1)):
        folder.mkdir(parents=True)
        for each in range(number):
            (folder / f"{each:08d}-f72e-5bf5-a1c8-eaa152229fda.jsonl").touch()
    (own / "notes.txt").touch()
    settings = Settings(
        transcripts_roots=(RootSetting(str(tmp_path / "other"), "other"), RootSetting(str(tmp_path / "gone"), "gone"))
    )

    counted = counted_roots(settings, {}, tmp_path)

    assert [(each.path, each.transcripts) for each in counted] == [(own.parent, 3), (other.parent, 1)]
