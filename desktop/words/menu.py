"""The entries of the tray's menu; the list of actions has the same ones."""

from __future__ import annotations

from typing import Final

SEARCH: Final = "Search…"
STATUS: Final = "Status…"
USAGE: Final = "Usage…"
KNOWLEDGE: Final = "Knowledge…"
PAUSE: Final = "Pause indexing"
PAUSE_HOUR: Final = "For 1 hour"
PAUSE_RESTART: Final = "Until restart"
RESUME: Final = "Resume indexing"
DOCTOR: Final = "Run doctor"
PRUNE: Final = "Prune…"
CONNECT: Final = "Connect Claude Code"
CONNECTED: Final = "Connected ✓"
SETTINGS: Final = "Settings…"
ABOUT: Final = "About"
QUIT: Final = "Quit Backscroll"


def search_with_key(key: str) -> str:
    return f"{SEARCH}\t{key}"
