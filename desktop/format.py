"""Numbers, sizes, times and places as people read them, in the system's language. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QLocale

from desktop import words

if TYPE_CHECKING:
    from datetime import date, tzinfo

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""ANSI colours and titles (ECMA-48): CSI, OSC, and two-letter sequences."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc\ud800-\udfff]"
)
"""Control characters, and those that reorder or hide their neighbours (Unicode TR 36): a text must not lie."""

_REPLACED = {"\u2028": "\n", "\u2029": "\n", "\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\r": ""}

_NOT_A_TAG = "\u2039"
"""Stands for a less-than sign where Qt would look for HTML."""


def plain(text: str) -> str:
    """Return other people's text fit to be shown: no escape sequences, no control or reordering characters."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _UNSEEN.sub(
        lambda match: _REPLACED.get(match[0], "\ufffd" if "\ud800" <= match[0] <= "\udfff" else ""), text
    )


def one_line(text: str, limit: int = 300) -> str:
    """Return other people's text on one line, cut after so many characters."""
    flat = " ".join(plain(text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def utf16_marks(text: str, marks: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return places counted in code points as Qt counts them: (start, length) in UTF-16 units."""
    if text.isascii():
        return [(start, end - start) for start, end in marks]
    places: list[tuple[int, int]] = []
    for start, end in marks:
        before = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
        places.append((before, len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2))
    return places


def count(number: int) -> str:
    """Return a whole number with the separators of the system's language."""
    return QLocale().toString(number)


def size(number: float) -> str:
    """Return a number of bytes."""
    return QLocale().formattedDataSize(int(number), 1, QLocale.DataSizeFormat.DataSizeSIFormat)


def percent(share: float) -> str:
    """Return a percentage that never says 100 while something is missing, nor 0 when there is something."""
    if 0 < share < 1:
        return words.amounts.LESS_THAN_ONE_PERCENT
    return words.amounts.percent(math.floor(share) if share < 100 else 100)


def duration(seconds: float) -> str:
    """Return how long something takes, in its largest unit: "4 min"."""
    if seconds < 60:
        return words.amounts.seconds(max(1, round(seconds)))
    if seconds < 3600:
        return words.amounts.minutes(round(seconds / 60))
    if seconds < 48 * 3600:
        return words.amounts.hours(round(seconds / 3600))
    return words.amounts.days(round(seconds / 86400))


def moment(timestamp: str | None) -> datetime | None:
    """Return an ISO timestamp as a time in its own zone, None for none or nonsense."""
    if not timestamp:
        return None
    try:
        return datetime.fromisoformat(timestamp)
    except ValueError:
        return None


def absolute(timestamp: str | None) -> str:
    """Return date and time in full, as the system's language writes them."""
    when = moment(timestamp)
    if when is None:
        return ""
    day = QLocale().toString(QDate(when.year, when.month, when.day), QLocale.FormatType.LongFormat)
    return words.amounts.day_and_time(day, when.strftime("%H:%M"))


def relative(timestamp: str | None, now: datetime) -> str:
    """Return how long ago something was: "just now", "12 min ago", "yesterday", "Mon", "3 Mar", "3 Mar 2024"."""
    when = moment(timestamp)
    if when is None:
        return ""
    zone: tzinfo | None = when.tzinfo
    here = now.astimezone(zone) if zone is not None else now.replace(tzinfo=None)
    age = (here - when).total_seconds()
    days = (here.date() - when.date()).days
    if age < 3600:
        return words.amounts.JUST_NOW if age < 60 else words.amounts.minutes_ago(int(age // 60))
    if days == 0 or age < 6 * 3600:
        return words.amounts.hours_ago(int(age // 3600))
    if days < 7:
        return words.amounts.YESTERDAY if days == 1 else words.amounts.days_ago(days)
    date = QDate(when.year, when.month, when.day)
    return QLocale().toString(date, "d MMM" if when.year == here.year else "d MMM yyyy")


def project_name(project: str | None) -> str:
    """Return the last part of a working directory, which is what people call it."""
    if not project:
        return ""
    pure = PureWindowsPath(project) if "\\" in project or project[1:2] == ":" else PurePosixPath(project)
    return one_line(pure.name or project, 60)


def for_tooltip(text: str) -> str:
    """Return a text that Qt's tooltips do not take for HTML: they look for tags."""
    return text.replace("<", _NOT_A_TAG)


def plain_marked(text: str, marks: tuple[tuple[int, int], ...]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return other people's text fit to be shown, on one line, with its marks moved along."""
    if text.isascii() and text.isprintable():
        return text, marks
    pieces: list[str] = []
    moved: list[tuple[int, int]] = []
    length = position = 0
    for start, end in marks:
        before = plain(text[position:start]).replace("\n", " ").replace("\t", " ")
        marked = plain(text[start:end]).replace("\n", " ").replace("\t", " ")
        length += len(before)
        moved.append((length, length + len(marked)))
        length += len(marked)
        pieces += [before, marked]
        position = end
    pieces.append(plain(text[position:]).replace("\n", " ").replace("\t", " "))
    return "".join(pieces), tuple(moved)


def month(day: date) -> str:
    """Return a month's short name."""
    return QLocale().monthName(day.month, QLocale.FormatType.ShortFormat)


def day(when: date) -> str:
    """Return a day with its weekday."""
    return QLocale().toString(QDate(when.year, when.month, when.day), "ddd d MMM yyyy")


def starts_right(text: str) -> bool:
    """Return whether a text is read from right to left: as its first letter is (UAX 9, P2 and P3)."""
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in {"L", "R", "AL"}:
            return kind != "L"
    return False
