"""Autostart on macOS: a property list in the person's LaunchAgents.

`launchctl` is not called: it would start the app a second time at once. launchd reads the folder at the next login.
"""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING, Any, Final, cast

from engine.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LABEL: Final = "org.backscroll.app"


class LaunchAgentAutostart:
    """Writes and removes one file.

    Args:
        folder: `~/Library/LaunchAgents`.
        command: What is started.
    """

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        self._file = folder / f"{LABEL}.plist"
        self._command = list(command)

    def is_enabled(self) -> bool:
        """Return whether the agent is there and not disabled in the file."""
        try:
            with self._file.open("rb") as stream:
                agent: Any = plistlib.load(stream)
        except (OSError, plistlib.InvalidFileException, ValueError):
            return False
        if not isinstance(agent, dict):
            return False
        keys = cast("dict[str, Any]", agent)
        return bool(keys.get("RunAtLoad")) and not keys.get("Disabled")

    def enable(self) -> None:
        """Write the agent.

        Raises:
            OSError: It cannot be written.
        """
        agent = {
            "Label": LABEL,
            "ProgramArguments": self._command,
            "RunAtLoad": True,
            "ProcessType": "Interactive",
            "LimitLoadToSessionType": "Aqua",
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file, plistlib.dumps(agent))

    def disable(self) -> None:
        """Remove the agent.

        Raises:
            OSError: It cannot be removed.
        """
        self._file.unlink(missing_ok=True)
