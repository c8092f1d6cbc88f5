"""Calendar days and weeks of an IANA time zone as windows of UTC nanoseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.knowledge.dates import DAY_NS, When
from engine.knowledge.errors import InvalidTimeZone

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_NOT_ZONES = frozenset({"posix", "right", "posixrules", "localtime"})
"""Files and folders that lie beside the zones on many systems without being names of the tz database."""


@dataclass(frozen=True, slots=True)
class DayWindow:
    """Calendar days `first` to `last` of a zone."""

    first: date
    last: date
    start_ns: int
    """First nanosecond of `first`."""
    stop_ns: int
    """First nanosecond after `last`."""

    @property
    def since_ns(self) -> int:
        """Earliest instant a date of these days may begin at, whatever its precision."""
        return min(self.start_ns, (self.first.toordinal() - _EPOCH_DAY) * DAY_NS)

    @property
    def until_ns(self) -> int:
        """Latest such instant."""
        return max(self.stop_ns, (self.last.toordinal() + 1 - _EPOCH_DAY) * DAY_NS)

    def holds(self, when: When) -> bool:
        """Return whether a record belongs to these days: instants by the zone (R135), bare dates by calendar (R137)."""
        if when.precision == "day":
            return self.first.isoformat() <= when.text <= self.last.isoformat()
        return self.start_ns <= when.start_ns < self.stop_ns


def require_zone(name: str) -> ZoneInfo:
    """Return the zone of this name.

    Raises:
        InvalidTimeZone: The tz database has no such name; paths and abbreviations such as CEST are none (R138).
    """
    if len(name) <= 64 and _NAME.fullmatch(name) and name.split("/", 1)[0] not in _NOT_ZONES:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            # A folder of zones ("Europe") is an OSError on some systems and a ValueError on others.
            pass
    raise InvalidTimeZone(
        "timeZone is not a name of the tz database",
        f'You sent "{name[:60]}".',
        'Use an IANA name such as "Europe/Berlin", "America/New_York" or "UTC".',
    )


def day_window(day: date, zone: ZoneInfo, *, week: bool = False) -> DayWindow:
    """Return one day, or the Monday to Sunday week around it (R134), as long as the zone says (R136)."""
    first = last = day
    if week:
        monday = day.toordinal() - day.weekday()
        first = date.fromordinal(max(monday, 1))
        last = date.fromordinal(min(monday + 6, date.max.toordinal()))
    start = _midnight(first.toordinal(), zone)
    return DayWindow(first, last, start, max(start, _midnight(last.toordinal() + 1, zone)))


def _midnight(ordinal: int, zone: ZoneInfo) -> int:
    """Return when a local day begins.

    A midnight that a clock change skips takes the offset before the change (fold 0), which is the change itself; of
    two midnights the first counts. The day after the calendar's end uses the last day's offset.
    """
    known = date.fromordinal(min(ordinal, date.max.toordinal()))
    offset = datetime.combine(known, time(), tzinfo=zone).utcoffset() or timedelta()
    return (ordinal - _EPOCH_DAY) * DAY_NS - (offset.days * 86_400 + offset.seconds) * 1_000_000_000
