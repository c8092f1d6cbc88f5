"""The doctor window: what was looked at, what was found and what is mended."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Doctor"
LOOKING: Final = "Looking at everything…"
MENDING: Final = "Mending…"
WELL: Final = "Everything is well"
MENDED: Final = "Mended. Everything is well"
STOPPED: Final = "The doctor did not finish"
NO_ENGINE: Final = "The engine is not running yet. The doctor looks as soon as it is."
AGAIN: Final = "Look again"
FIX: Final = "Fix"
GO: Final = {"connect": "Connect…", "settings": "Settings…"}
"""What stands on the button that opens a window, in which something can be mended."""
FIX_ALL: Final = "Fix all…"
FIX_NOW: Final = "Fix now"
ASK: Final = "This will be done"
COPIED_FIRST: Final = "The index is copied before it is changed."
FINDINGS: Final = "Findings"
PROGRESS: Final = "Progress of the doctor"
FIXED: Final = "Mended"
NOT_FIXED: Final = "Could not be mended"
MARK_NAMES: Final = {"ok": "in order", "info": "note", "warning": "warning", "error": "error", "fixed": "mended"}
HOTKEY_CHECK: Final = "Hotkey"
HOTKEY_WORKS: Final = "It is claimed."
TRAY_CHECK: Final = "Tray icon"
TRAY_MISSING: Final = "This desktop has no place for tray icons."
TRAY_MEANS: Final = "Backscroll is an ordinary window here; everything is under Ctrl+K."


def found(number: int) -> str:
    return f"{number_of(number, 'thing needs', 'things need')} attention"


def fix_of(title: str) -> str:
    return f"{FIX}: {title}"


def finding_name(mark: str, title: str, found_: str) -> str:
    return f"{title}: {mark}. {found_}"


def will_be_done(title: str, what: str) -> str:
    return f"{title}: {what}"
