"""Starts other programs: a terminal that resumes a session, the editor of a file, the browser for a link."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("x-terminal-emulator", ("-e",)),
    ("gnome-terminal", ("--",)),
    ("kgx", ("--",)),
    ("konsole", ("-e",)),
    ("xfce4-terminal", ("-x",)),
    ("mate-terminal", ("-x",)),
    ("tilix", ("-e",)),
    ("kitty", ()),
    ("alacritty", ("-e",)),
    ("wezterm", ("start", "--")),
    ("foot", ()),
    ("xterm", ("-e",)),
)
"""Terminals of Linux and the options before a command, as their manual pages have them. The first found is taken."""


class Opener(Protocol):
    """What windows ask for; a fake stands here in tests."""

    def terminal(self, command: str) -> bool:
        """Run a shell command in a new terminal. False when none was found."""
        ...

    def file(self, path: Path) -> bool:
        """Open a file or folder in the program the person chose for it."""
        ...

    def link(self, url: str) -> bool:
        """Open a web page in the browser. Anything but http and https is refused."""
        ...


class SystemOpener:
    """The real one.

    Args:
        env: Of this process; `TERMINAL` names the person's own terminal.
        start: Starts a program.
    """

    def __init__(self, env: Mapping[str, str] | None = None, start: Callable[[list[str]], None] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._start = start or _start

    def terminal(self, command: str) -> bool:
        """Run a shell command in a new terminal that stays open afterwards. False when none was found."""
        for argv in terminal_commands(command, self._env, sys.platform):
            if shutil.which(argv[0], path=self._env.get("PATH")) is None:
                continue
            try:
                self._start(argv)
            except OSError:
                continue  # the next one may be there in earnest
            return True
        return False

    def file(self, path: Path) -> bool:
        """Open a file or folder in the program the person chose for it."""
        return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

    def link(self, url: str) -> bool:
        """Open a web page in the browser. Anything but http and https is refused: the text may be hostile."""
        parsed = QUrl(url)
        return parsed.scheme() in {"http", "https"} and QDesktopServices.openUrl(parsed)


def terminal_commands(command: str, env: Mapping[str, str], platform: str) -> list[list[str]]:
    """Return the command lines that would run a shell command in a new terminal, the best first."""
    if platform == "darwin":
        script = command.replace("\\", "\\\\").replace('"', '\\"')
        return [["osascript", "-e", f'tell application "Terminal" to do script "{script}"', "-e",
                 'tell application "Terminal" to activate']]  # fmt: skip
    if platform == "win32":
        return [["wt.exe", "cmd", "/k", command], ["cmd.exe", "/c", "start", "cmd", "/k", command]]
    shell = env.get("SHELL") or "/bin/sh"
    inside = [shell, "-c", f"{command}; exec {shlex.quote(shell)}"]
    named = env.get("TERMINAL", "").strip()
    known = dict(TERMINALS)
    order = [(named, known.get(os.path.basename(named), ("-e",))), *TERMINALS] if named else list(TERMINALS)  # noqa: PTH119 - a name, no path of ours
    return [[name, *options, *inside] for name, options in order]


def _start(argv: list[str]) -> None:
    """Start a program that outlives this one."""
    null = subprocess.DEVNULL
    if sys.platform == "win32":
        subprocess.Popen(argv, creationflags=subprocess.CREATE_NEW_CONSOLE)
        return
    subprocess.Popen(argv, stdin=null, stdout=null, stderr=null, start_new_session=True)
