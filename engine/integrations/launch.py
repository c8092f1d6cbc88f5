"""How Backscroll itself is started: the path other programs should call, from source, installed or frozen.

What is registered with Claude Code must outlive this process and the next update, so a stable path is taken: never a
mount of an AppImage, never a folder macOS made up for a downloaded app.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import ConfigurationRefused
from engine.core.paths import lasting_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.core.paths import Paths

SHIM = "backscroll-mcp"


@dataclass(frozen=True, slots=True)
class Installation:
    """What this process knows about how it was started. Made by `this_installation`; by hand in tests."""

    executable: Path
    """The Python interpreter, or the frozen program."""
    frozen: bool
    scripts: tuple[Path, ...]
    """Folders where console scripts of this Python are put."""
    source: Path
    """The folder that holds the package `engine`."""
    appimage: Path | None = None
    windows: bool = False


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How Claude Code starts the shim."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


def this_installation(env: Mapping[str, str] | None = None) -> Installation:
    """Return how this very process was started."""
    env = os.environ if env is None else env
    executable = Path(sys.executable)
    user_scheme = f"{os.name}_user"
    schemes = (None, user_scheme) if user_scheme in sysconfig.get_scheme_names() else (None,)
    folders = (sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes)
    named = env.get("APPIMAGE", "")
    return Installation(
        executable=executable,
        frozen=bool(getattr(sys, "frozen", False)),
        scripts=(executable.parent, *(Path(folder) for folder in folders)),
        source=Path(__file__).parents[2],
        appimage=Path(named) if named else None,
        windows=os.name == "nt",
    )


def server_command(installation: Installation, paths: Paths) -> ServerCommand:
    """Return what to register with Claude Code: the path of `backscroll-mcp`, and `BACKSCROLL_HOME` when it is set.

    Raises:
        ConfigurationRefused: This copy lies where it cannot be found again.
    """
    env = (("BACKSCROLL_HOME", str(paths.home)),) if paths.home else ()
    if "/AppTranslocation/" in installation.executable.as_posix():
        raise ConfigurationRefused(
            "Backscroll runs from a temporary place",
            "macOS started it from a folder that is gone after the next start, so Claude Code could not find it again.",
            "Move Backscroll into the Applications folder, open it from there, and connect again.",
        )
    if installation.frozen and installation.appimage:
        # The AppImage's own mount point changes with each start; the file itself stays.
        return ServerCommand(str(installation.appimage), ("mcp",), env)
    name = f"{SHIM}.exe" if installation.windows else SHIM
    folders = (lasting_folder(installation.executable),) if installation.frozen else installation.scripts
    for folder in folders:
        script = folder / name
        if script.is_file():
            return ServerCommand(str(script), (), env)
    if installation.frozen:
        return ServerCommand(str(installation.executable), ("mcp",), env)
    # A checkout that was never installed: the interpreter must be told where the package lies.
    source = (("PYTHONPATH", str(installation.source)),)
    return ServerCommand(str(installation.executable), ("-m", "engine", "mcp"), env + source)


def assets_folder() -> Path:
    """Return the folder of icons and of the sample history: in the bundle, or beside the packages."""
    return Path(getattr(sys, "_MEIPASS", Path(__file__).parents[2])) / "assets"


def has_app() -> bool:
    """Return whether the tray app is installed with us."""
    if getattr(sys, "frozen", False):
        return find_spec("desktop.app") is not None
    # Beside ourselves and not anywhere on `sys.path`, where somebody's project may have a folder of that name.
    return (Path(__file__).parents[2] / "desktop" / "app.py").is_file() and find_spec("PySide6") is not None
