"""The window of the first start."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Welcome to Backscroll"
HEAD: Final = "Everything you ever said to Claude Code, searchable"
LOOKING: Final = "Looking for your history…"
NONE: Final = "No history of Claude Code was found on this machine yet. It appears here by itself once there is some."
WHAT: Final = (
    "It is being read now, newest first: search works at once, and search by meaning fills in behind it. Claude Code "
    "deletes its transcripts after a while; Backscroll keeps what they held. Nothing leaves this machine."
)
HOTKEY: Final = "Press these keys anywhere to search"
AUTOSTART: Final = "Start Backscroll when I log in"
GO: Final = "Start searching"
CHANGE: Final = "Change…"
STEP_FOUND: Final = "Found on this machine"
STEP_SEARCH: Final = "Search"
STEP_CLAUDE: Final = "Claude Code"


def found(sessions_: int, days_: int, roots: int) -> str:
    places = "" if roots < 2 else f" in {roots} places"
    over = "" if days_ < 2 else f" over {number_of(days_, 'day', 'days')}"
    return f"{number_of(sessions_, 'session', 'sessions')}{over}{places}"
