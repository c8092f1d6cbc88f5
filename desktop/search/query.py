"""Reads the search field: words to look for, and filters such as `project:api` or `after:7d`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from desktop import words
from engine.core.models.asking import SearchFilters
from engine.core.models.kinds import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

KEYS: Final = ("project", "after", "before", "role", "kind", "tool", "in")
"""Filters that can be typed, as the contract names them."""

_TOKEN = re.compile(rf"(?<!\S)({'|'.join(KEYS)}):(\"[^\"]*\"|[^\s\"]\S*)", re.IGNORECASE)
_AGO = re.compile(r"(\d{1,4})([hdwmy])")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_DAYS: Final = {"d": 1, "w": 7, "m": 30, "y": 365}
_ROLES: Final = {"me": Role.USER, "you": Role.USER, "claude": Role.ASSISTANT}
_KINDS: Final = (*(kind.value for kind in Kind), "tool")
_PLACES: Final = ("knowledge", "transcripts")


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter."""

    key: str
    value: str

    @property
    def text(self) -> str:
        """As one would type it."""
        return f'{self.key}:"{self.value}"' if " " in self.value else f"{self.key}:{self.value}"


@dataclass(frozen=True, slots=True)
class Typed:
    """What the field holds."""

    words: str
    """Without the filters."""
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters, understood."""

    filters: SearchFilters
    in_knowledge: bool = False
    problem: str | None = None
    """One sentence about a filter that is not understood."""


def read(text: str) -> Typed:
    """Split what is typed into words and filters, the one being typed included."""
    chips = tuple(_chip(match) for match in _TOKEN.finditer(text))
    return Typed(_TOKEN.sub("", text).strip() if chips else text, chips)


def absorb(text: str) -> Typed:
    """Take out the filters that are finished, which is when white space follows: they become chips."""
    chips: list[Chip] = []
    pieces: list[str] = []
    position = 0
    for match in _TOKEN.finditer(text):
        if match.end() < len(text) and text[match.end()].isspace():
            chips.append(_chip(match))
            pieces.append(text[position : match.start()])
            position = match.end() + 1
    pieces.append(text[position:])
    return Typed("".join(pieces), tuple(chips)) if chips else Typed(text)


def with_chip(chips: Iterable[Chip], new: Chip) -> tuple[Chip, ...]:
    """Return the filters with one more; a second of the same key replaces the first."""
    return (*(chip for chip in chips if chip.key != new.key), new)


def identity_in(text: str) -> str | None:
    """Return the session id or message uuid that was pasted, None when the text is anything else."""
    stripped = text.strip()
    return stripped.lower() if _UUID.fullmatch(stripped) else None


def project_prefix(text: str) -> str | None:
    """Return the beginning of a project's name when that is what is being typed at the end."""
    found = re.search(r"(?<!\S)project:(\S*)$", text, re.IGNORECASE)
    return found[1] if found else None


def wanted(chips: Iterable[Chip], *, everything: bool, now: datetime) -> Wanted:
    """Return the engine's filters for chips.

    Args:
        chips: In the order they were given.
        everything: Low-signal hits and subagents too.
        now: For "7d".
    """
    found = Wanted(SearchFilters(include_low_signal=everything, include_sidechains=everything))
    for chip in chips:
        found = _READERS[chip.key](found, chip, now)
    return found


def _read_project(found: Wanted, chip: Chip, _now: datetime) -> Wanted:
    return replace(found, filters=replace(found.filters, project=chip.value))


def _read_tool(found: Wanted, chip: Chip, _now: datetime) -> Wanted:
    return replace(found, filters=replace(found.filters, tool=chip.value))


def _read_date(found: Wanted, chip: Chip, now: datetime) -> Wanted:
    day = moment_of(chip.value, now)
    if day is None:
        return replace(found, problem=words.search.not_a_date(chip.text))
    if chip.key == "after":
        return replace(found, filters=replace(found.filters, date_from=day))
    return replace(found, filters=replace(found.filters, date_to=day))


def _read_role(found: Wanted, chip: Chip, _now: datetime) -> Wanted:
    known = {each.value for each in Role}
    role = _ROLES.get(chip.value.lower(), chip.value.lower())
    if role not in known:
        return replace(found, problem=words.search.not_a_role(chip.text, ", ".join(each.value for each in Role)))
    return replace(found, filters=replace(found.filters, role=Role(role)))


def _read_kind(found: Wanted, chip: Chip, _now: datetime) -> Wanted:
    if chip.value.lower() not in _KINDS:
        return replace(found, problem=words.search.not_a_kind(chip.text, ", ".join(_KINDS)))
    return replace(found, filters=replace(found.filters, kind=chip.value.lower()))


def _read_place(found: Wanted, chip: Chip, _now: datetime) -> Wanted:
    if chip.value.lower() not in _PLACES:
        return replace(found, problem=words.search.not_a_place(chip.text, ", ".join(_PLACES)))
    return replace(found, in_knowledge=chip.value.lower() == "knowledge")


_READERS: Final[Mapping[str, Callable[[Wanted, Chip, datetime], Wanted]]] = {
    "project": _read_project,
    "after": _read_date,
    "before": _read_date,
    "role": _read_role,
    "kind": _read_kind,
    "tool": _read_tool,
    "in": _read_place,
}


def moment_of(text: str, now: datetime) -> str | None:
    """Return a date or time as the engine takes it: "7d", "24h", "today", "2026-03", "2026-03-01", an ISO time."""
    lowered = text.strip().lower()
    today = now.date()
    if lowered == "today":
        return today.isoformat()
    if lowered == "yesterday":
        return (today - timedelta(days=1)).isoformat()
    ago = _AGO.fullmatch(lowered)
    if ago:
        number = int(ago[1])
        if ago[2] == "h":
            return (now - timedelta(hours=number)).astimezone(UTC).isoformat(timespec="seconds")
        return _day_before(today, number * _DAYS[ago[2]])
    if re.fullmatch(r"\d{4}-\d{2}", lowered):
        lowered += "-01"
    try:
        datetime.fromisoformat(lowered)
    except ValueError:
        return None
    return lowered.upper()


def _day_before(today: date, days: int) -> str:
    """Return the day so many days ago, or the first day there is."""
    return date.fromordinal(max(1, today.toordinal() - days)).isoformat()


def _chip(match: re.Match[str]) -> Chip:
    return Chip(match[1].lower(), match[2].strip('"'))
