"""The prune window: what would go, that it is lost for ever, and what went."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Prune"
WHAT: Final = (
    "Takes whole sessions out of Backscroll in which nothing was said for a long time. Claude Code's own files are "
    "never touched."
)
AGE: Final = "Nothing was said for"
PROJECT: Final = "In"
EVERYWHERE: Final = "all projects"
ARCHIVE: Final = "Their archived copies, too"
ONLY: Final = "Also sessions that exist nowhere else"
GOES: Final = "This would go"
COUNTING: Final = "Counting…"
FIGURES: Final = ("Sessions", "Passages", "Vectors", "Usage records", "Space")
NOTHING: Final = "Nothing is that old."
NEXT: Final = "Go on…"
SURE: Final = "Take this out of Backscroll?"
FOREVER: Final = (
    "What only Backscroll has is lost for ever. Backups and damaged indexes that hold the same text are deleted, and a "
    "new backup is made of what stays. This cannot be undone."
)
UNDERSTOOD: Final = "I know that these sessions cannot be brought back"
BACK: Final = "Back"
NOW: Final = "Take out now"
RUNNING: Final = "Taking out…"
PROGRESS: Final = "Progress of pruning"
DONE: Final = "Done"
FAILED: Final = "Pruning did not finish"
MORE: Final = "Prune more"
TITLES: Final = "Sessions that exist nowhere else"
NO_ENGINE: Final = "The engine is not running yet."


def days_suffix(number: int) -> str:
    return " day" if number == 1 else " days"


def only_copies(number: int, *, go: bool) -> str:
    which = number_of(number, "session exists", "sessions exist")
    return f"{which} nowhere else: Claude Code has deleted {'its' if number == 1 else 'their'} transcripts. " + (
        "They would be lost for ever." if go else "They stay."
    )


def projects_inside(names: str) -> str:
    return f"Other projects lie in this folder and go with it: {names}"


def and_more(number: int) -> str:
    return f"and {number:,} more"


def titled_on(title: str, day: str) -> str:
    return f"{title} ({day})" if day else title


def summary(sessions_: str, passages: str, size: str) -> str:
    return f"{sessions_} with {passages}, about {size}"


def result(sessions_: str, passages: str, size: str) -> str:
    return f"{sessions_} with {passages} went; {size} are free again."


def passages(number: int) -> str:
    return number_of(number, "passage", "passages")
