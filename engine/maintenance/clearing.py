"""Leaves no trace of deleted text in index, log and copies, step by step while others go on writing and searching."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from engine.store import space

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.maintenance.backup import Backups
    from engine.store.connection import Connection
    from engine.store.writer import StoreWriter

LOG_TRIES: Final = 50
"""With the wait inside each some 15 seconds: a question takes milliseconds, a copy of a large index seconds."""

_PAUSE_S: Final = 0.1

STILL_READ: Final = (
    "Another program reads the index, so its log still holds what was deleted; it is cleared at the next start."
)


def clear(writer: StoreWriter, backups: Backups, step: Callable[[str], None]) -> tuple[int, bool]:
    """Clear what deleting leaves: segments of the word index, free pages, the log, backups and damaged databases.

    Args:
        writer: Of the database.
        backups: Copies that may hold it are deleted, and one is made anew.
        step: Told what comes next; raises to stop. What is not done is done at the next start.

    Returns:
        How many copies were deleted; and whether nothing is left. False while somebody reads an older state.

    Raises:
        StorageFailure: The database refused, or cannot be copied.
        OSError: A copy cannot be deleted.
    """
    for stage in space.STAGES:
        step(stage.what)
        while writer.write(stage.step, transaction=False):
            step(stage.what)
    copies = backups.renew()
    pause = threading.Event()
    for _ in range(LOG_TRIES):
        if writer.write(_finish, transaction=False):
            return copies, True
        pause.wait(_PAUSE_S)
    return copies, False


def _finish(connection: Connection) -> bool:
    if not space.empty_log(connection):
        return False
    space.forget_traces(connection)
    return True
