"""What the archive is doing, and which errors are of the whole disk."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Final

_OF_THE_DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """What the archive is doing."""

    enabled: bool
    busy: bool
    problem: str | None = None
    """Why it cannot go on, in words."""
    skipped: int = 0
    """Files that could not be stored in the last full pass (unreadable, or with names that cannot be kept)."""


def is_of_the_disk(error: Exception) -> bool:
    """Return True when no other file could be written either: full, over the quota, read-only."""
    return isinstance(error, OSError) and error.errno in _OF_THE_DISK
