"""The zone of days: the person's setting, else the machine's, as an IANA zone on every system."""

from __future__ import annotations

import logging
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

logger = logging.getLogger(__name__)


def zone_of(setting: str | None) -> ZoneInfo:
    """Return the zone that `time_zone` names, or the system's; UTC where neither can be told."""
    import tzlocal  # noqa: PLC0415 - 10 ms that only those pay who show times

    try:
        return ZoneInfo(setting) if setting else tzlocal.get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        logger.warning("The time zone is unknown; days are shown in UTC")
        return ZoneInfo("UTC")
