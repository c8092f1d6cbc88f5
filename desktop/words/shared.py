"""Words that windows of several kinds use: the name of the app, the usual buttons, what is loading or missing."""

from __future__ import annotations

from typing import Final

APP: Final = "Backscroll"
CLOSE: Final = "Close"
CANCEL: Final = "Cancel"
COPIED: Final = "Copied"
LOADING: Final = "Loading…"
STARTING: Final = "Backscroll is starting…"
UNTITLED: Final = "Untitled session"
NO_PROJECT: Final = "no project"
TRY_SAMPLE: Final = "Try the sample history"
BACK: Final = "‹ Back"
EXPORTED: Final = "Exported"
RECORDED_LAST: Final = "Recorded last"
NO_RECORDS: Final = (
    "No records yet\n\nKnowledge holds decisions, commitments and facts that were kept on purpose. Claude Code "
    "records them when it is asked to, with the words they rest on."
)
LIFECYCLES: Final = {"superseded": "superseded", "withdrawn": "withdrawn", "merged": "merged"}
EXPIRED: Final = "expired"
MARKS: Final = {"ok": "✓", "info": "i", "warning": "!", "error": "✗", "fixed": "✓"}


def time_left(duration: str) -> str:
    return f"about {duration} left"


def named(name: str, what: str) -> str:
    return f"{name}: {what}"
