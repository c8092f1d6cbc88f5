"""Single fields of a record, whatever stands in them: texts, objects, times, digests."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from engine.core.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

LATEST_MS = 4_102_444_800_000
"""2100-01-01: a later time is damage."""

MAX_NAME = 300
"""Characters of a name (model, branch, agent, version) that are kept: a longer one is damage."""


def text_field(record: Mapping[str, Any], key: str) -> str | None:
    """Return a non-empty string field, else None."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def name_field(record: Mapping[str, Any], key: str, *, limit: int = MAX_NAME) -> str | None:
    """Return a non-empty string field, cleaned and at most `limit` characters long, else None."""
    value = record.get(key)
    if not isinstance(value, str) or not value:
        return None
    if value.isascii() and len(value) <= limit and "\0" not in value:
        return value
    return clean(value)[:limit] or None


def object_field(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object field, an empty one where there is none."""
    value = record.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def milliseconds(value: object) -> int | None:
    """Return epoch milliseconds of an ISO timestamp or of a number of seconds or milliseconds, else None.

    A time without a zone is UTC, as Claude Code writes them.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            found = round(moment.timestamp() * 1000)
        except (ValueError, OverflowError):
            return None
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < LATEST_MS:
        found = round(value if value > 1e11 else value * 1000)
    else:
        return None
    return found if 0 <= found < LATEST_MS else None


def digest63(data: bytes) -> int:
    """Return 63 bits of BLAKE2b: fits SQLite's signed integer and stays positive."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 1
