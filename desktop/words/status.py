"""The status window: figures, backlog, coverage, days and last errors."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Status"
REINDEX: Final = "Look again"
BACKLOG: Final = "Backlog"
COVERAGE: Final = "Coverage by project"
DAYS_TITLE: Final = "Activity by day"
CALENDAR: Final = "Messages by day"
TROUBLES: Final = "Last errors"
NO_TROUBLES: Final = "None."
FIGURES: Final = ("Sessions", "Messages", "Database", "Archive", "Connected programs")
SIZES: Final = frozenset({"Database", "Archive"})


def active_days(number: int) -> str:
    return f"Messages on {number_of(number, 'day', 'days')}"


def on_day(count: str, day: str) -> str:
    return f"{count} on {day}"


def at_most(number: str) -> str:
    return f"{number} at most"


def coverage_line(chunks: str, share: str) -> str:
    found = f"{chunks} passages can be found by their words"
    return f"{found}, {share} of them also by meaning" if share else found


def reading(files_: str, size: str) -> str:
    return f"Reading: {files_} ({size}) to go"


def per_second(size: str) -> str:
    return f"{size} a second"


def last_change(when: str) -> str:
    return f"Last message read {when}"


def embedding_left(number: str) -> str:
    return f"{number} passages still to embed"


def embedded_too(day: str, share: str) -> str:
    return f"{day}, {share} of it also by meaning"
