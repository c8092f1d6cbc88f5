"""Connecting Claude Code, in its own window and on the pages that hold its panel."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Connect Claude Code"
WHAT: Final = (
    "Claude Code can then search this memory by itself. One entry is added to your user's configuration; a dated copy "
    "of the file is kept, and one click takes exactly this entry out again."
)
STATES: Final = {
    "connected": "Claude Code is connected.",
    "other_path": "Claude Code is connected to another path.",
    "not_connected": "Claude Code is not connected.",
    "unreadable": "Claude Code's configuration cannot be read.",
}
UNKNOWN: Final = "Looking at Claude Code's configuration…"
CONNECT: Final = "Connect"
RECONNECT: Final = "Connect to this one"
DISCONNECT: Final = "Disconnect"
ALLOW_READS: Final = "Let Claude Code use the reading tools without asking each time"
KEEP_LONG: Final = "Let Claude Code keep its transcripts for ten years"
TEST: Final = "Test"
TESTING: Final = "Starting what Claude Code starts…"
TRIAL_FAILED: Final = "The test failed"
NO_ANSWER: Final = "What Claude Code starts gave no answer."
ENGINE_REFUSED: Final = "What Claude Code starts works, but the engine did not answer."
NO_ANSWER_HINT: Final = "Run doctor; if that finds nothing, connect again."
ALLOWED: Final = "Claude Code may use the reading tools without asking."


def starts(command: str) -> str:
    return f"It starts {command}"


def trial(tools: int, seconds: float) -> str:
    return f"It works: {number_of(tools, 'tool', 'tools')}, answered in {seconds:.1f} s."


def not_started(command: str, why: str) -> str:
    return f"{command}: {why}."


def kept_days(days: int) -> str:
    return f"Claude Code deletes its transcripts after {number_of(days, 'day', 'days')}."
