"""What an autostart is, and which one this system has. Asking changes nothing; both changes are idempotent."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.ipc.address import engine_commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Autostart(Protocol):
    """Starts the app in the background when the person logs in."""

    def is_enabled(self) -> bool:
        """Return whether it does. Never raises."""
        ...

    def enable(self) -> None:
        """Let it.

        Raises:
            OSError: The system's place for it cannot be written.
        """
        ...

    def disable(self) -> None:
        """Let it no longer.

        Raises:
            OSError: As above.
        """
        ...


def start_command(env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return what starts the app in the background: this installation, from source, installed or frozen."""
    env = os.environ if env is None else env
    image = env.get("APPIMAGE", "")
    if getattr(sys, "frozen", False) and image:
        return (image, "run", "--background")
    return tuple(engine_commands(display=True, desktop=True)[0])


def this_autostart(
    platform: str = sys.platform, env: Mapping[str, str] | None = None, command: Sequence[str] | None = None
) -> Autostart:
    """Return the autostart of this system."""
    env = os.environ if env is None else env
    wanted = tuple(command or start_command(env))
    # Each file uses what exists on its own system only.
    if platform == "win32":
        from desktop.autostart.registry import RegistryAutostart  # noqa: PLC0415 - see above

        return RegistryAutostart(wanted)
    if platform == "darwin":
        from desktop.autostart.launchagent import LaunchAgentAutostart  # noqa: PLC0415 - see above

        return LaunchAgentAutostart(Path.home() / "Library" / "LaunchAgents", wanted)
    from desktop.autostart.xdg import XdgAutostart  # noqa: PLC0415 - see above

    folder = Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "autostart"
    return XdgAutostart(folder, wanted, working_directory=_source())


def _source() -> Path | None:
    """Return the checkout that the command has to be started in, None when the packages are installed."""
    root = Path(__file__).parents[2]
    return root if (root / "pyproject.toml").is_file() else None
