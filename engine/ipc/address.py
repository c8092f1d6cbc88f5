"""Where the engine of an installation is reached, the key to it, and the command lines that start one.

The socket file is `Paths.socket_file`; Windows has a named pipe, `pipe_name`. What the shim answers while no engine
runs lies in `Paths.catalogue_file(toolset)`, in the shape of `engine.ipc.catalogue.Catalogue`. Imported by the shim.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.paths import lasting_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.core.paths import Paths

KEY_BYTES = 32

PACKAGE_ROOT = Path(__file__).parents[2]
"""The folder that holds the packages `engine` and `desktop`: a checkout, or `site-packages`."""


class NoKey(FileNotFoundError):
    """No engine has ever run in this installation, or its key is damaged; the next engine makes a new one."""


def pipe_name(paths: Paths) -> str:
    """Return the name of the pipe an engine listens on, on Windows."""
    return rf"\\.\pipe\backscroll-{paths.token}"


def read_key(paths: Paths) -> bytes:
    """Return the key of the challenge.

    Raises:
        NoKey: There is none (yet).
        OSError: It belongs to somebody else.
    """
    try:
        key = paths.key_file.read_bytes()
    except FileNotFoundError as error:
        raise NoKey("this installation has no key yet") from error
    if len(key) != KEY_BYTES:
        raise NoKey("this installation's key is damaged")
    return key


def has_display(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Say whether a window or a tray icon started from here would be seen by the person.

    A desktop of Windows or macOS is there unless we are called over SSH; elsewhere a display server must be named.
    """
    if platform in {"win32", "darwin"}:
        return not environment.get("SSH_CONNECTION")
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def engine_commands(
    *, display: bool, desktop: bool | None = None, frozen: bool | None = None, executable: str | None = None
) -> list[list[str]]:
    """Return the command lines that start an engine in the background, the one to try first at the front.

    Where there is a display that is the tray app, and behind it the engine alone: a `DISPLAY` that leads nowhere must
    not leave Claude Code without answers.

    Args:
        display: See `has_display`.
        desktop: Whether the tray app is installed; found out when not given.
        frozen: Whether we are a bundled executable; found out when not given.
        executable: Our own; `sys.executable` when not given.
    """
    executable = executable or sys.executable
    app: list[str] | None = None
    if getattr(sys, "frozen", False) if frozen is None else frozen:
        beside = Path(executable)
        folder = lasting_folder(beside)
        start = [str(folder / f"backscroll{beside.suffix}")]
        desktop = desktop is not False
        if beside.suffix:  # Windows opens a console for a program of the command line, and none for this one
            app = [str(folder / f"BackscrollTray{beside.suffix}")]
    else:
        # -P: we are started in the folder of somebody's project, which may well have a folder called `engine`.
        start = [executable, "-P", "-m", "engine"]
        desktop = display and (_desktop_installed() if desktop is None else desktop)
    commands = [[*start, "serve", "--on-demand"]]
    if display and desktop:
        commands.insert(0, [*(app or start), "run", "--background"])
    return commands


def engine_environment(
    environment: Mapping[str, str], *, home: Path | None, root: Path = PACKAGE_ROOT
) -> dict[str, str]:
    """Return what an engine started from a session inherits: everything but that session's own identity.

    Args:
        environment: Of the session.
        home: `Paths.home`, which the session may have named relative to its own folder.
        root: A checkout that is not installed is found through `PYTHONPATH`, since the engine does not start in it.
    """
    inherited = {name: value for name, value in environment.items() if name not in _OF_ONE_SESSION}
    if home is not None:
        inherited["BACKSCROLL_HOME"] = str(home)
    if (root / "pyproject.toml").is_file():
        known = [part for part in inherited.get("PYTHONPATH", "").split(os.pathsep) if part]
        if str(root) not in known:
            inherited["PYTHONPATH"] = os.pathsep.join([str(root), *known])
    return inherited


_OF_ONE_SESSION = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"})


def _desktop_installed() -> bool:
    # Looked for beside ourselves and not on `sys.path`, where a project's own `desktop` folder may come first.
    if not (PACKAGE_ROOT / "desktop" / "__init__.py").is_file():
        return False
    from importlib.util import find_spec  # noqa: PLC0415 - needed only where an engine has to be started

    return find_spec("PySide6") is not None
