"""How the command line says times, durations and places."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path


def moment(timestamp: str | None) -> str:
    """Return an ISO timestamp to the minute, in the zone it carries; a dash for none."""
    if not timestamp:
        return "-"
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return timestamp[:16]


def duration(seconds: float | None) -> str:
    """Return a duration as people say it: the two largest units."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place(path: str | None, home: Path) -> str:
    """Return a folder with the person's home as `~`."""
    if not path:
        return "-"
    try:
        inside = Path(path).relative_to(home)
    except ValueError:
        return path
    return "~" if inside == Path() else f"~/{inside.as_posix()}"
