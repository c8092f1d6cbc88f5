"""Autostart on Windows: one value below the person's Run key."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY: Final = r"Software\Microsoft\Windows\CurrentVersion\Run"
NAME: Final = "Backscroll"


class RegistryAutostart:
    """Sets and removes one value.

    Args:
        command: What is started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._line = subprocess.list2cmdline(_without_console(command))

    def is_enabled(self) -> bool:
        """Return whether the value is there."""
        if sys.platform != "win32":
            return False
        import winreg  # noqa: PLC0415 - exists on Windows only

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
                winreg.QueryValueEx(key, NAME)
        except OSError:
            return False
        return True

    def enable(self) -> None:
        """Set the value.

        Raises:
            OSError: The registry refuses.
        """
        if sys.platform == "win32":
            import winreg  # noqa: PLC0415 - as above

            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY) as key:
                winreg.SetValueEx(key, NAME, 0, winreg.REG_SZ, self._line)

    def disable(self) -> None:
        """Remove the value.

        Raises:
            OSError: The registry refuses.
        """
        if sys.platform == "win32":
            import winreg  # noqa: PLC0415 - as above

            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY, access=winreg.KEY_SET_VALUE) as key:
                    winreg.DeleteValue(key, NAME)
            except FileNotFoundError:
                return


def _without_console(command: Sequence[str]) -> list[str]:
    """Start from source without a black window: pythonw in place of python."""
    first, *rest = command
    return [first.replace("python.exe", "pythonw.exe"), *rest]
