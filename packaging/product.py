"""The names that the parts of packaging share."""

from __future__ import annotations

import sys
from typing import NamedTuple

NAME = "Backscroll"
BUNDLE_ID = "org.backscroll.app"
"""As in desktop/autostart/launchagent.py."""


class Executables(NamedTuple):
    """The programs of a bundle, without `.exe`."""

    tray: str
    command_line: str
    shim: str


def executables(platform: str = sys.platform) -> Executables:
    """Return the programs of a system's bundle.

    `Backscroll` and `backscroll` would be one file on Windows and macOS, which do not tell capitals apart.
    """
    tray = NAME if platform == "linux" else f"{NAME}Tray"
    return Executables(tray, "backscroll", "backscroll-mcp")


EXECUTABLES = executables()
