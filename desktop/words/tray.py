"""The tray's tooltip: what the engine is doing, in a few words."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of
from desktop.words.shared import APP

NO_TRAY: Final = (
    "This desktop has no place for tray icons, so Backscroll is an ordinary window here. Closing it ends Backscroll; "
    "everything else is under Ctrl+K."
)
STARTING: Final = "starting"
PAUSED: Final = "indexing is paused"
STOPPED: Final = "the engine is not running"


def tooltip(state: str) -> str:
    return f"{APP}: {state}"


def up_to_date(count: str) -> str:
    return f"{count} messages, up to date"


def indexing(count: str, left: str) -> str:
    return f"{count} messages, reading {left}"


def embedding(count: str, share: str) -> str:
    return f"{count} messages, embedding {share}"


def files_left(number: int) -> str:
    return number_of(number, "file", "files")


def with_left(state: str, left: str) -> str:
    return f"{state} ({left})"
